"""Which names and attributes a statement binds and reads, without what the blocks in it do."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..domain.facets import is_facet
from ..domain.state import State
from ..domain.values import Const, Frame, HeapRef, Instance, TensorRef, Unknown, Value
from ..source import cached_on_node, written

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
    elif isinstance(node, ast.Attribute) and _is_dotted(node):
        yield node
        yield from _walk(node.value)
    elif not isinstance(node, SCOPES):
        for child in ast.iter_child_nodes(node):
            yield from _walk(child)


def _is_dotted(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) or isinstance(node.value, ast.Attribute) and _is_dotted(node.value)


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
