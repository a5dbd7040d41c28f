"""Words for tensors, operations and places: short, and never more than is known.

Which names and attributes a statement binds and reads, without what the blocks in it do.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from .. import ops
from ..autograd import Facts, Node, ProgramPoint, SavedTensor
from ..domain.facets import is_facet
from ..domain.state import State
from ..domain.values import Const, Frame, HeapRef, Instance, TensorRef, Unknown, Value
from ..ops import layers_by_op
from ..ops.conversions import OF_TENSORS
from ..rules.support.story import tensor_name
from ..rules.support.walked_twice import unit as unit_of_lap
from ..source import cached_on_node, dotted, written

INDEXING = {"getitem": "indexing", "setitem": "the assignment to a part of it"}
NAMELESS = frozenset({"gradient", "T", "H", "mT", "mH"})
"""Operations whose ``grad_fn`` differs with shapes, or that stand for many nodes."""


def op_name(node: Node) -> str:
    """```sigmoid```, ```linear```, ```nn.LSTM```, indexing."""
    head, _, last = node.op.rpartition(".")
    layer = layers_by_op().get(last)
    named = "view" if last == "as_strided" else f"nn.{layer}" if layer is not None else last
    return INDEXING.get(head) or f"`{named}`"


def grad_fn(node: Node) -> str:
    """What ``repr(tensor.grad_fn)`` would call the node; empty where that depends on shapes or on a copy being made."""
    created_at = node.created_at.node
    turned = isinstance(created_at, ast.Attribute) and created_at.attr in NAMELESS
    if node.assumption or not node.certain or turned or node.op in NAMELESS or is_conversion(created_at):
        return ""
    return node.grad_fn.rpartition("::")[2]


def conversion(node: ast.AST) -> str | None:
    """The name of the conversion that ``node`` calls as a method: ``"float"`` for ``x.float()``."""
    method = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    return method if method in OF_TENSORS else None


def is_conversion(node: ast.AST) -> bool:
    """Whether ``node`` calls a conversion as a method."""
    return conversion(node) is not None


def role(saved: SavedTensor) -> str:
    if saved.role.startswith("result"):
        return "as its result"
    return "as its input" if saved.role in ("self", "input", "other", "tensors", "mat2") else f"as its `{saved.role}`"


def listed(items: Iterable[str], most: int = 3) -> str:
    """``a, b and 4 more``."""
    unique = list(dict.fromkeys(items))
    if len(unique) > most + 1:
        return f"{', '.join(unique[:most])} and {len(unique) - most} more"
    return unique[0] if len(unique) == 1 else f"{', '.join(unique[:-1])} and {unique[-1]}" if unique else ""


def tensors(facts: Facts, keys: Iterable[int]) -> str:
    """Tensors by name, the nameless ones counted."""
    keys = list(dict.fromkeys(keys))
    named = [name for key in keys if (name := tensor_name(facts, key)) is not None]
    rest = len(keys) - len(named)
    if not named:
        return "a tensor without a name" if rest == 1 else f"{rest} tensors without a name"
    if len(keys) > 4:
        named = named[:3]
    rest = len(keys) - len(named)
    return listed([*named, f"{rest} more"] if rest else named)


def number_of_leaves(count: int) -> str:
    """``1 leaf``, ``2 leaves``."""
    return "1 leaf" if count == 1 else f"{count} leaves"


def saves_result(node: Node) -> bool:
    return any(saved.role.startswith("result") for saved in node.saved)


def may_save_more(node: Node) -> bool:
    """Whether the operation may have saved a tensor argument that is not known: another of its overloads would."""
    if not node.saves_anything or node.saved:
        return False
    created_at = node.created_at.node
    operands = (
        (created_at.left, created_at.right)
        if isinstance(created_at, ast.BinOp)
        else (created_at.value,)
        if isinstance(created_at, ast.AugAssign)
        else ()
    )
    if any(is_number(part) for part in operands):
        return False
    return any(not s.what.startswith(("result", "~")) for op in ops.candidates(node.op) for s in op.saves)


def is_number(node: ast.AST) -> bool:
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float))


def laps_of(point: ProgramPoint) -> tuple[int, ...]:
    return tuple(lap.number for lap in point.iterations if not isinstance(lap.loop, ast.comprehension))


def unit(point: ProgramPoint) -> str:
    """What the innermost repetition is called."""
    laps = [lap for lap in point.iterations if not isinstance(lap.loop, ast.comprehension)]
    return unit_of_lap(laps[-1]) if laps else "iteration"


def by_lap(remarks: Sequence[tuple[ProgramPoint, str]]) -> str:
    """``iteration 1: a; from iteration 2: b``; empty where every iteration is reported the same."""
    if len({text for _, text in remarks}) < 2:
        return ""
    depth = min(len(laps_of(point)) for point, _ in remarks)
    for level in range(1, depth + 1):
        texts: dict[int, set[str]] = {}
        for point, text in remarks:
            texts.setdefault(laps_of(point)[-level], set()).add(text)
        if all(len(found) == 1 for found in texts.values()):
            word = unit(remarks[0][0]) if level == 1 else "iteration"
            outer = "" if level == 1 else " of the outer loop"
            return _ranges({n: next(iter(found)) for n, found in texts.items()}, word, outer)
    return _by_call(remarks) or "depending on the path: " + " or ".join(
        list(dict.fromkeys(text for _, text in remarks))[:2]
    )


def _by_call(remarks: Sequence[tuple[ProgramPoint, str]]) -> str:
    """``called from line 3: a; called from line 7: b``; empty where the calls do not tell the texts apart."""
    calls = {
        point.calls[-1].lineno: text for point, text in remarks if point.calls and hasattr(point.calls[-1], "lineno")
    }
    if len(set(calls.values())) < 2:
        return ""
    return "; ".join(f"called from line {row}: {text}" for row, text in sorted(calls.items())[:3])


def lines_by_lap(found: Iterable[tuple[ProgramPoint, str]]) -> list[str]:
    """One line for what each iteration was reported, or for all of them; none if nothing was reported, which an empty
    text says as well.
    """
    remarks = [(point, text) for point, text in found if text]
    return [f"- {by_lap(remarks) or remarks[-1][1]}"] if remarks else []


def _ranges(texts: dict[int, str], word: str, outer: str) -> str:
    parts: list[str] = []
    numbers = sorted(texts)
    start = 0
    for index, number in enumerate(numbers):
        if index + 1 < len(numbers) and texts[numbers[index + 1]] == texts[number]:
            continue
        first = numbers[start]
        label = f"{word} {first}" if first == number else f"{word}s {first} to {number}"
        if index + 1 == len(numbers) and start:
            label = f"from {word} {first}"
        parts.append(f"{label}{outer}: {texts[number]}")
        start = index + 1
    return "; ".join(parts)


Place = ast.Name | ast.Attribute
SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
"""Expressions with names of their own."""


def last_row(statement: ast.stmt) -> int:
    """The last row of a statement without the blocks in it."""
    end = statement.end_lineno or statement.lineno
    blocks: list[ast.stmt] = [
        *getattr(statement, "body", ()),
        *(case.body[0] for case in getattr(statement, "cases", ())),
    ]
    inner = min((_first_row(each) for each in blocks), default=end + 1)
    return max(min(end, inner - 1), statement.lineno)


def _first_row(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(each.lineno for each in decorators)])


@cached_on_node
def places(statement: ast.AST) -> tuple[dict[str, Place], dict[str, Place]]:
    """What a statement binds, and what it only reads, by how it is written."""
    bound: dict[str, Place] = {}
    read: dict[str, Place] = {}
    for part in _own_parts(statement):
        for node in _walk(part):
            is_bound = isinstance(node.ctx, ast.Store)
            (bound if is_bound else read).setdefault(written(node), node)
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, (ast.Name, ast.Attribute)):
        bound[written(statement.target)] = statement.target
    return bound, {name: node for name, node in read.items() if name not in bound}


@cached_on_node
def read_by(statement: ast.AST) -> dict[str, Place]:
    """What a statement reads, by how it is written, also what it then binds anew (``loss = loss.mean()``)."""
    bound, read = places(statement)
    loaded = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    is_in_place = isinstance(statement, ast.AugAssign)
    return {**{name: place for name, place in bound.items() if is_in_place or name in loaded}, **read}


def _own_parts(statement: ast.AST) -> Iterator[ast.AST]:
    match statement:
        case ast.If(test=test) | ast.While(test=test):
            yield test
        case ast.For(target=target, iter=iterable) | ast.AsyncFor(target=target, iter=iterable):
            yield from (target, iterable)
        case ast.With(items=items) | ast.AsyncWith(items=items):
            yield from items
        case ast.Match(subject=subject):
            yield subject
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Try():
            return
        case _:
            yield statement


def _walk(node: ast.AST) -> Iterator[Place]:
    """The names, and attributes of names, of the scope that a node is in; ``self.net.weight`` as a whole."""
    if isinstance(node, ast.Name):
        yield node
    elif isinstance(node, ast.Attribute) and dotted(node):
        yield node
        yield from _walk(node.value)
    elif not isinstance(node, SCOPES):
        for child in ast.iter_child_nodes(node):
            yield from _walk(child)


def value_at(state: State, place: Place) -> Value | None:
    """What a name or an attribute holds on a path, if that is stored there; nothing is evaluated."""
    if isinstance(place, ast.Name):
        key: int = state.frame
        while key:
            frame = state.get(key, Frame)
            key = frame.shared.get(place.id, key)
            frame = state.get(key, Frame)
            value: Value | None = frame.variables.get(place.id)
            if value is not None:
                return value
            key = frame.parent
        return None
    if not isinstance(place.value, (ast.Name, ast.Attribute)):
        return None
    match value_at(state, place.value):
        case HeapRef(id=owner) if isinstance(thing := state.heap.get(owner), Instance):
            return thing.attributes.get(place.attr)
        case TensorRef(id=tensor) if place.attr == "grad" and tensor in state.grads:
            return TensorRef(state.grads[tensor])
    return None


def named_values(state: State) -> Iterator[tuple[str, Value]]:
    """The values of the running scope that autograd or a condition may depend on: tensors, constants, unknown values;
    attributes of objects too.
    """
    for name, value in state.get(state.frame, Frame).variables.items():
        if isinstance(value, (TensorRef, Const, Unknown)):
            yield name, value
        elif isinstance(value, HeapRef) and isinstance(thing := state.heap.get(value.id), Instance):
            for attribute, held in thing.attributes.items():
                if isinstance(held, (TensorRef, Const, Unknown)) and not is_facet(attribute):
                    yield f"{name}.{attribute}", held
