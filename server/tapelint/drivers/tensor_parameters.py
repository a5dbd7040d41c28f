"""Which parameters of a function are tensors of numbers, of which a graph may lead to the function.

    def scaled(x: Tensor, n, mask):      by its annotation
    def inverse(term):
        result = term.reciprocal()       by a method that only tensors have
    def cosine(a, b):
        a = a / torch.norm(a)            by what an op of PyTorch takes, and sends a gradient to
        return a[b]                      `b` is an index, which never has a gradient
    def forward(self, x):
        return self.charge(x)            by what a method of the object does with it

What is asked of a name after it was bound again says nothing of the parameter.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from .. import ops
from ..domain.mro import lookup_in_mro
from ..domain.state import State
from ..domain.values import External, Function, Value
from ..engine.machine import Machine
from ..models.torch.registry import TENSOR_METHODS
from ..source import cached_on_node, is_none, last_name, walk
from .annotations import TENSORS
from .handed_on import Parameter

SHARED = frozenset(
    "add all any apply argmax argmin argsort astype backward bfloat16 clip conj copy count cpu cuda "
    "cumprod cumsum data device diagonal dot double dtype entropy eval expand fill flatten float get half "
    "imag index insert item items itemsize keys log log_prob map max mean min mT nbytes ndim nonzero "
    "partition pop prod put ravel real register_hook remove repeat replace requires_grad_ reshape resize "
    "reverse round rsample sample shape size sort split squeeze std sub sum swapaxes T take to tolist "
    "trace transpose type update values var view".split()
)
"""Methods of tensors that arrays, lists, dicts, texts, modules or distributions have too."""
WHOLE = frozenset(("long", "int", "bool", "byte", "short"))
"""Conversions to what has no gradient."""


@dataclass(slots=True)
class Usage:
    """What the text of a function says of its parameters."""

    # Those that are asked for what only tensors have.
    tensors: set[str] = field(default_factory=set)
    # Those that are indices, masks or whole numbers.
    whole: set[str] = field(default_factory=set)
    # Those that are arguments of a call: the parameter, the dotted name of the callee, the position.
    given: list[tuple[str, ast.expr, int]] = field(default_factory=list)


def tensor_parameters(
    machine: Machine, state: State, function: Function, kind: Value | None = None, depth: int | None = None
) -> list[str]:
    """The parameters that are tensors of numbers, in their order; of a method of an object of the class ``kind``."""
    depth = machine.limits.handed_on if depth is None else depth
    tensors, whole = _used_as(machine, state, function, kind, depth)
    parameters = _parameters(function)
    annotated = {a.arg for a in parameters if a.annotation is not None}
    promised = {a.arg for a in parameters if _is_tensor(a.annotation)}
    found = (promised | tensors - annotated) - whole
    return [a.arg for a in parameters if a.arg in found]


def possible_tensors(machine: Machine, state: State, function: Function, kind: Value | None) -> list[str]:
    """The parameters that may be tensors of numbers: those that are, and those of which neither an annotation nor a use
    says anything else.
    """
    _, whole = _used_as(machine, state, function, kind, machine.limits.handed_on)
    possible = [a for a in _parameters(function) if a.annotation is None or _is_tensor(a.annotation)]
    return [a.arg for a in possible if a.arg not in whole]


def _parameters(function: Function) -> list[ast.arg]:
    spec = function.node.args
    return [*spec.posonlyargs, *spec.args, *spec.kwonlyargs]


def _used_as(
    machine: Machine, state: State, function: Function, kind: Value | None, depth: int
) -> tuple[set[str], set[str]]:
    """The parameters that are used as tensors of numbers are, and those that are used as indices and the like are."""
    usage = machine.query(_usage, function.node)
    tensors, whole = set(usage.tensors), set(usage.whole)
    for name, callee, index in usage.given:
        flows = _takes_gradient(machine, state, function, callee, index)
        if flows is not None:
            (tensors if flows else whole).add(name)
        elif kind is not None and depth and _is_tensor_of(machine, state, kind, callee, index, depth):
            tensors.add(name)
    return tensors, whole


def _is_tensor_of(machine: Machine, state: State, kind: Value, callee: ast.expr, index: int, depth: int) -> bool:
    """Whether a method of the same object takes a tensor at ``index``."""
    match callee:
        case ast.Attribute(ast.Name("self"), name):
            found = lookup_in_mro(state, kind, name)
            if found is not None and isinstance(method := found[1], Function) and not method.kind:
                given = machine.query(Parameter(index, 1), method.node)
                return given in tensor_parameters(machine, state, method, kind, depth - 1)
    return False


def _is_tensor(annotation: ast.expr | None) -> bool:
    """Whether an annotation says ``Tensor``, or that or None."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return annotation.value.rpartition(".")[2] in TENSORS
    if isinstance(annotation, ast.Subscript):
        return last_name(annotation.value) == "Optional" and _is_tensor(annotation.slice)
    if isinstance(annotation, ast.BinOp):
        sides = [side for side in (annotation.left, annotation.right) if not is_none(side)]
        return len(sides) == 1 and _is_tensor(sides[0])
    return annotation is not None and last_name(annotation) in TENSORS


def _takes_gradient(machine: Machine, state: State, function: Function, callee: ast.expr, index: int) -> bool | None:
    """Whether an op of PyTorch sends a gradient to its argument at ``index``; None where that is no tensor, or the
    callee no such op.
    """
    dotted = _dotted(callee)
    outer, state.frame = state.frame, function.frame
    try:
        root = machine.lookup(state, dotted.partition(".")[0])
    finally:
        state.frame = outer
    if not dotted or not isinstance(root, External):
        return None
    _, dot, rest = dotted.partition(".")
    row = ops.op_name(f"{root.name}{dot}{rest}")
    found = ops.candidates(row) if row is not None else ()
    params = [op.slots[index] for op in found if index < len(op.slots)]
    if not params or any(not param.kind.startswith(("tensor", "matrix", "3d")) for param in params):
        return None
    if params[0].name in ("target", "tensors"):
        return None
    return any(params[0].name in op.flows for op in found)


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (base := _dotted(node.value)):
        return f"{base}.{node.attr}"
    return ""


@cached_on_node
def _usage(function: ast.AST) -> Usage:
    """What the text says of the names that are parameters, until each is bound again."""
    assert isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    spec, found = function.args, Usage()
    names = {a.arg for a in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)}
    until = _rebound(function, names)
    for node in walk(function):
        for name, use in _uses(node):
            if name.id in names and (name.lineno, name.col_offset) <= until.get(
                name.id, (name.lineno, name.col_offset)
            ):
                _note(found, name.id, node, use)
    return found


def _rebound(function: ast.AST, names: set[str]) -> dict[str, tuple[int, int]]:
    """For each name the end of the first statement that binds it again."""
    found: dict[str, tuple[int, int]] = {}
    for node in walk(function):
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.For, ast.AsyncFor)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            end = node.iter if isinstance(node, (ast.For, ast.AsyncFor)) else node
            place = end.end_lineno or 0, end.end_col_offset or 0
            for part in (part for target in targets for part in walk(target)):
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store) and part.id in names:
                    found[part.id] = min(found.get(part.id, place), place)
    return found


def _uses(node: ast.AST) -> Iterator[tuple[ast.Name, str | int]]:
    """The names that a node uses, each with the attribute, the position in a call, ``[]`` or ``~``."""
    if isinstance(node, ast.Call):
        for index, argument in enumerate(node.args):
            if isinstance(argument, ast.Starred):
                break
            if isinstance(argument, ast.Name):
                yield argument, index
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        yield node.value, node.attr
    elif isinstance(node, ast.Subscript):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        for part in parts:
            if isinstance(part, ast.Name):
                yield part, "[]"
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Invert, ast.Not)):
        if isinstance(node.operand, ast.Name):
            yield node.operand, "~"


def _note(found: Usage, name: str, node: ast.AST, use: str | int) -> None:
    if isinstance(use, int):
        assert isinstance(node, ast.Call)
        found.given.append((name, node.func, use))
    elif use in ("[]", "~") or use in WHOLE:
        found.whole.add(name)
    elif use not in SHARED and (use in TENSOR_METHODS or ops.candidates(use)):
        found.tensors.add(name)
