"""One use of a ``torch.autograd.Function``: which methods it has, what it was given."""

from __future__ import annotations

import ast
from typing import TypeGuard

from ....autograd import Tensor
from ....domain.values import Function, HeapRef, Value
from ....frozen import frozen


@frozen
class Definition:
    """The Function's name and methods, and the context that they share."""

    name: str
    forward: Function
    setup: Function | None
    backward: Function | None
    context: HeapRef
    # The class itself.
    kind: HeapRef

    @property
    def preparing(self) -> Function:
        """The method that is given the context before backward."""
        return self.setup or self.forward

    def parameter(self, index: int) -> str:
        """forward's name for its argument ``index``, the context not counted."""
        names = parameters(self.forward)[self.setup is None :]
        return names[index] if index < len(names) else f"argument {index + 1}"


def parameters(function: Function) -> list[str]:
    """The names of a method's positional parameters, without that for the class."""
    spec = function.node.args
    return [a.arg for a in (*spec.posonlyargs, *spec.args)][function.kind == "class" :]


def class_given(method: Function, kind: HeapRef) -> list[Value]:
    """What a method is given before the context: a class method its class, any other nothing."""
    return [kind] if method.kind == "class" else []


def context_name(method: Function) -> str:
    """What a method calls the context that it is given."""
    return next(iter(parameters(method)), "")


def is_attribute(item: ast.AST, owner: str, name: str) -> TypeGuard[ast.Attribute]:
    """Whether ``item`` is the attribute ``name`` of the variable ``owner``."""
    return (
        isinstance(item, ast.Attribute)
        and item.attr == name
        and isinstance(item.value, ast.Name)
        and item.value.id == owner
    )


@frozen
class Given:
    """The arguments of ``apply``, in forward's order: the tensors among them, and what they were before forward ran.

    ``exact`` is whether there are certainly no more and no fewer.
    """

    values: tuple[Value, ...]
    tensors: dict[int, Tensor]
    versions: dict[int, int]
    exact: bool
