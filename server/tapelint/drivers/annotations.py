"""How an annotation is written: its alternatives, and what the names in it mean.

policy: str | type[QPolicy]       two alternatives
net: Optional["nn.Module"]        one: what is wrapped, or written as a text, counts
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Literal

from ..domain.state import State
from ..domain.values import (
    External,
    Module,
    Origin,
    Value,
)
from ..engine.machine import Machine
from ..ops.module_names import is_layer
from ..semantics import attributes
from ..source import last_name

PLAIN = {
    "int": Origin.NUMBER,
    "float": Origin.NUMBER,
    "bool": Origin.ANY,
    "str": Origin.ANY,
    "ndarray": Origin.ANY,
}
"""Types without gradients, and the origin of an unknown value of each."""
TENSORS = ("Tensor", "FloatTensor", "Variable")
OPTIMIZERS = ("Optimizer", "SGD", "Adam", "AdamW", "RMSprop")
MANY = ("list", "List", "Sequence", "Iterable", "Iterator", "Collection", "Set", "set", "frozenset")
WRAPPERS = ("Optional", "Annotated", "Final", "ClassVar", "Required", "NotRequired")


def plain_origin(annotation: ast.expr) -> Origin | None:
    """The origin of a value that an ``annotation`` allows to be of plain types only; None where it allows others."""
    found = {PLAIN.get(last_name(option)) for option in options(annotation) if option is not None}
    return found.pop() if len(found) == 1 else None


def is_tensor(annotation: ast.expr | None) -> bool:
    """Whether an annotation allows a tensor, or None, and nothing else."""
    found = [*options(annotation)] if annotation is not None else []
    return bool(found) and all(each is not None and last_name(each) in TENSORS for each in found)


def library_kind(name: str) -> Literal["network", "optimizer", "scaler", "tensor"] | None:
    """What the objects of a class of a library are, if not plain: networks, optimizers, scalers of mixed precision or
    tensors.
    """
    last = name.rpartition(".")[2]
    if is_layer(name) or last in ("Module", "Sequential"):
        return "network"
    if last in OPTIMIZERS:
        return "optimizer"
    if last == "GradScaler":
        return "scaler"
    return "tensor" if last in TENSORS else None


def options(annotation: ast.expr | None) -> Iterator[ast.expr | None]:
    """The alternatives of a union, None left out."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except (SyntaxError, ValueError):
            return
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        yield from options(annotation.left)
        yield from options(annotation.right)
    elif isinstance(annotation, ast.Subscript) and last_name(annotation.value) == "Union":
        for part in parts(annotation):
            yield from options(part)
    elif isinstance(annotation, ast.Subscript) and last_name(annotation.value) in WRAPPERS:
        yield from options(parts(annotation)[0])
    elif not isinstance(annotation, ast.Constant) or annotation.value is not None:
        yield annotation


def parts(annotation: ast.Subscript) -> list[ast.expr]:
    """What stands in the brackets of a generic type."""
    inner = annotation.slice
    return inner.elts or [inner] if isinstance(inner, ast.Tuple) else [inner]


def looked_up(machine: Machine, state: State, scope: int, name: str) -> Value | None:
    """What a name means in ``scope``."""
    outer, state.frame = state.frame, scope
    try:
        return machine.lookup(state, name)
    finally:
        state.frame = outer


def named(machine: Machine, state: State, scope: int, node: ast.expr) -> Value | None:
    """What a dotted name means in ``scope``."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return next((named(machine, state, scope, option) for option in options(node) if option is not None), None)
    if isinstance(node, ast.Name):
        return looked_up(machine, state, scope, node.id)
    if isinstance(node, ast.Attribute):
        owner = named(machine, state, scope, node.value)
        if isinstance(owner, (External, Module)):
            return attributes.load(machine, state, owner, node.attr, node)
    return None
