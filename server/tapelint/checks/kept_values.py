"""How a file uses what it keeps under a name, an attribute or a variable: may a backward reach it, who empties it.

self.losses.append(loss)                   kept
print(sum(self.losses).item())             read as a number: nothing goes backward through it
with torch.no_grad(): x = self.losses[0]   nor through what is read here
return torch.stack(self.log_probs)         the caller may go backward
self.losses.clear(); self.losses = []      emptied
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum, auto

from ..engine.paths.conditions import ADDING, TAKING
from ..models.torch.autograd.grad_mode import switches_off
from ..ops.torch_attributes import CUTS, NUMBERS
from ..source import Definition, Loop, cached_on_node, called_on, children, own_attribute, walk, written

READ_AS_NUMBER = NUMBERS | CUTS | {"shape", "size", "dtype", "device", "ndim", "grad", "requires_grad"}
"""Attributes and methods of a tensor by which no graph leaves it."""
PLAIN = frozenset("len float int str bool print isinstance round type repr id hasattr format".split())
"""Functions of Python that make no tensor of what they are given (https://docs.python.org/3/library/functions.html)."""


@dataclass(slots=True)
class Uses:
    """The uses of one name in one file."""

    # Whether it is read as a number, or shown.
    shown: bool = False
    # Whether some code takes it as a tensor, which may go backward.
    taken: bool = False
    # The functions that empty it, or bind it anew, each with its innermost loop around that.
    emptied: list[tuple[Definition | None, ast.AST | None]] = field(default_factory=list)


def uses_of_name(name: str, tree: ast.AST) -> Uses:
    """How a file uses the attributes called ``.x``, or the variables called ``x``, by their ``name``."""
    return _uses(tree).get(name, Uses())


def emptied_by(name: str, tree: ast.AST, filling: ast.AST) -> tuple[str, ...] | None:
    """The functions that empty what ``filling`` fills; None where one does so as often as that is called."""
    found: list[str] = []
    for function, loop in uses_of_name(name, tree).emptied:
        if function is None or function is filling or function.name == "__init__":
            continue
        if _calls(loop if loop is not None else function, getattr(filling, "name", "")):
            return None
        found.append(function.name)
    return tuple(dict.fromkeys(found))


def _calls(scope: ast.AST, name: str) -> bool:
    todo = [scope]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Call) and name in (getattr(node.func, "attr", ""), getattr(node.func, "id", "")):
            return True
        todo += children(node)
    return False


def takes_off(name: str, scope: ast.AST) -> bool:
    """Whether code takes items off a list again, which then holds the last ones and does not grow: ``last.pop(0)``,
    ``del last[0]``, ``last = last[-9:]``.
    """
    lists: list[ast.expr] = []
    for node in walk(scope):
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr=attr)) if attr in TAKING - {"clear"}:
                lists.append(owner)
            case ast.Delete(targets=targets):
                lists += [target.value for target in targets if isinstance(target, ast.Subscript)]
            case ast.Assign(targets=[target], value=ast.Subscript(value=owner, slice=ast.Slice())):
                lists += [owner] if written(target) == written(owner) else []
    return name in map(written, lists)


@cached_on_node
def backward_roots(tree: ast.AST) -> frozenset[str]:
    """What a piece of code calls ``backward`` on, as it is written: it may do so in a later iteration than those that
    are followed.
    """
    return frozenset(
        called_on(node) for node in walk(tree) if getattr(getattr(node, "func", None), "attr", "") == "backward"
    )


@cached_on_node
def goes_backward(tree: ast.AST) -> bool:
    """Whether a file goes backward itself."""
    return any(getattr(node, "attr", "") in ("backward", "manual_backward") for node in walk(tree))


@cached_on_node
def called_on_self(tree: ast.AST) -> frozenset[str]:
    """The methods that a file, or a function, calls on ``self``."""
    called = (own_attribute(node.func) for node in walk(tree) if isinstance(node, ast.Call))
    return frozenset(name for name in called if name is not None)


@cached_on_node
def _uses(tree: ast.AST) -> dict[str, Uses]:
    found: dict[str, Uses] = {}
    for node, parents in _places(tree):
        name = _name(node)
        uses = found.setdefault(name, Uses())
        if isinstance(node.ctx, ast.Load):
            _read(node, parents, name, uses)
        elif not isinstance(parents[-1], ast.AugAssign) and not _is_carried(parents, name):
            uses.emptied.append(_around(parents))
    return found


def _places(tree: ast.AST) -> Iterator[tuple[ast.Attribute | ast.Name, list[ast.AST]]]:
    """Each name and attribute, with the nodes around it, outermost first."""
    todo: list[tuple[ast.AST, list[ast.AST]]] = [(tree, [])]
    while todo:
        node, parents = todo.pop()
        if isinstance(node, (ast.Attribute, ast.Name)) and parents:
            yield node, parents
        around = [*parents, node]
        todo += [(child, around) for child in children(node)]


def _around(parents: list[ast.AST]) -> tuple[Definition | None, ast.AST | None]:
    """The innermost function, and the innermost loop in it."""
    loop: ast.AST | None = None
    for node in reversed(parents):
        if isinstance(node, Definition):
            return node, loop
        if isinstance(node, Loop) and loop is None:
            loop = node
    return None, loop


def _is_carried(parents: list[ast.AST], name: str) -> bool:
    """Whether an assignment gives the name a value that was made of it: ``self.total = self.total + loss``."""
    statement = parents[-1]
    if not isinstance(statement, ast.Assign):
        return False
    return any(_name(n) == name for n in ast.walk(statement.value))


def _read(node: ast.expr, parents: list[ast.AST], name: str, uses: Uses) -> None:
    """Follow a value outwards until it is known what becomes of it."""
    value: ast.AST = node
    for depth in range(len(parents) - 1, -1, -1):
        parent = parents[depth]
        if isinstance(parent, ast.Attribute) and parent.attr in TAKING and isinstance(parents[depth - 1], ast.Call):
            uses.emptied.append(_around(parents))
            uses.taken |= not isinstance(parents[depth - 2], ast.Expr)
            return
        fate = _fate(parent, value, name)
        if fate is not Fate.PASSED_ON:
            is_taken = fate is Fate.TAKEN and not any(map(_is_unrecorded, parents))
            uses.shown |= fate is Fate.SHOWN or fate is Fate.TAKEN and not is_taken
            uses.taken |= is_taken
            return
        value = parent


def _is_unrecorded(scope: ast.AST) -> bool:
    """Whether gradients are off in a block or a function: no graph goes on from what is read there."""
    match scope:
        case ast.With(items=items) | ast.AsyncWith(items=items):
            return any(switches_off(item.context_expr) for item in items)
        case ast.FunctionDef(decorator_list=decorators) | ast.AsyncFunctionDef(decorator_list=decorators):
            return any(map(switches_off, decorators))
    return False


class Fate(Enum):
    """What becomes of a value in the syntax around it."""

    # It is read as a number, or printed, or compared.
    SHOWN = auto()
    # It may go backward later.
    TAKEN = auto()
    # It stays where it is: something is put into it, or it is made of itself.
    KEPT = auto()
    # It is a part of what the syntax gives.
    PASSED_ON = auto()


def _fate(parent: ast.AST, value: ast.AST, name: str) -> Fate:
    """What becomes of ``value``, a part of ``parent``."""
    match parent:
        case ast.Attribute():
            return Fate.SHOWN if parent.attr in READ_AS_NUMBER else _of_attribute(parent)
        case ast.Call() if value is not parent.func:
            return _of_argument(parent.func)
        case ast.Subscript() if value is parent.value and not isinstance(parent.ctx, ast.Load):
            return Fate.KEPT
        case ast.Compare() | ast.FormattedValue() | ast.If() | ast.Assert() | ast.While():
            return Fate.SHOWN
        case ast.Expr():
            return Fate.KEPT
        case ast.Assign() | ast.AugAssign() if _targets(parent, name):
            return Fate.KEPT
        case ast.Subscript() | ast.Call() | ast.BinOp() | ast.UnaryOp() | ast.IfExp():
            return Fate.PASSED_ON
    return Fate.TAKEN


def _of_attribute(parent: ast.Attribute) -> Fate:
    filled = parent.attr in ADDING or parent.attr == "keys" or not isinstance(parent.ctx, ast.Load)
    return Fate.KEPT if filled else Fate.PASSED_ON


def _of_argument(called: ast.expr) -> Fate:
    """What becomes of an argument of a function."""
    if isinstance(called, ast.Name) and called.id in PLAIN:
        return Fate.SHOWN
    return Fate.PASSED_ON if isinstance(called, ast.Name) and called.id == "sum" or _is_torch(called) else Fate.TAKEN


def _targets(statement: ast.Assign | ast.AugAssign, name: str) -> bool:
    """Whether a statement assigns to the name, or to an item of it."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return any(_name(_holder(target)) == name for target in targets)


def _holder(target: ast.expr) -> ast.expr:
    """``self.totals`` of ``self.totals["error"]``."""
    while isinstance(target, ast.Subscript):
        target = target.value
    return target


def _name(node: ast.AST) -> str:
    """How the uses of a name are found: ``.x`` for an attribute of anything, ``x`` for a variable."""
    return f".{node.attr}" if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _is_torch(called: ast.expr) -> bool:
    """``torch.stack``, ``torch.mean``: what it gives is a tensor again."""
    while isinstance(called, ast.Attribute):
        called = called.value
    return isinstance(called, ast.Name) and called.id == "torch"
