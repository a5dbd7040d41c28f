"""Data that an object keeps until one of its methods computes it: what that is may be anything once a method has run.

def __init__(self):
    self.energy = torch.zeros(1)
    self.sampler = Sampler(f=lambda x: self.walk(x))      of a library: it keeps a function of the program
def walk(self, x):
    self.energy = self.energy + self.net(x)
def train(self):
    self.sampler.move()                                   it may have called `walk`
    self.energy.sum().backward()
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ..autograd import leaf
from ..bounds import BOUNDS
from ..domain import facets
from ..domain.mro import mro_of
from ..domain.state import State
from ..domain.values import (
    BoundMethod,
    Class,
    Frame,
    Function,
    HeapRef,
    Instance,
    Partial,
    TensorRef,
    Tuple,
    Unknown,
    Value,
)
from ..engine.machine import Machine
from ..source import cached_on_node, walk


def kept_by(state: State, function: Value, given: Iterable[Value]) -> tuple[Value, ...]:
    """The functions of the program that unknown code has: it is given them now, or its object was when it was made."""
    receiver = getattr(function, "receiver", function)
    earlier = state.given_attributes(receiver.tensor_id) if isinstance(receiver, Unknown) else {}
    kept = earlier.get(facets.CALLBACKS)
    return (*filter(_is_own, given), *(kept.items if isinstance(kept, Tuple) else ()))


def may_have_called(machine: Machine, state: State, callbacks: Iterable[Value], node: ast.AST) -> None:
    """Unknown code that has ``callbacks`` has run: data of the objects that they use may now be computed."""
    seen = set[int]()
    for callback in callbacks:
        for value in used_by(state, callback):
            _doubt(machine, state, value, node, seen, BOUNDS.data_calls)


def is_placeholder(state: State, key: int) -> bool:
    """Whether a tensor is data that was made in place, of a dtype that can require grad."""
    tensor = state.tensors[key]
    return tensor.requires_grad is False and tensor.grad_fn is None and tensor.kind not in ("int", "bool")


def _is_own(value: Value) -> bool:
    match value:
        case Function():
            return True
        case BoundMethod(inner) | Partial(inner):
            return _is_own(inner)
        case _:
            return False


def used_by(state: State, callback: Value) -> Iterator[Value]:
    """What a function of the program has of the scopes around it, and what it is bound to."""
    match callback:
        case Function(node, frame):
            scope = state.get(frame, Frame)
            for name in _names(node):
                if (value := scope.variables.get(name)) is not None:
                    yield value
        case BoundMethod(inner, receiver):
            yield receiver
            yield from used_by(state, inner)
        case Partial(inner, args):
            yield from args
            yield from used_by(state, inner)


@cached_on_node
def _names(function: ast.AST) -> frozenset[str]:
    return frozenset(node.id for node in walk(function) if isinstance(node, ast.Name))


def _doubt(machine: Machine, state: State, value: Value, node: ast.AST, seen: set[int], depth: int) -> None:
    thing = state.heap[value.id] if isinstance(value, HeapRef) and value.id not in seen else None
    if not isinstance(value, HeapRef) or not isinstance(thing, Instance) or not isinstance(thing.kind, HeapRef):
        return
    seen.add(value.id)
    for owner in mro_of(state, thing.kind):
        made = state.heap.get(owner.id) if isinstance(owner, HeapRef) else None
        for name in sorted(machine.query(reassigned, made.node)) if isinstance(made, Class) else ():
            held = thing.attributes.get(name)
            if isinstance(held, TensorRef) and is_placeholder(state, held.id):
                state.edit_attributes(value.id)[name] = TensorRef(leaf(state, node, None))
    if depth > 1:
        for part in thing.attributes.values():
            _doubt(machine, state, part, node, seen, depth - 1)


@cached_on_node
def reassigned(definition: ast.AST) -> frozenset[str]:
    """The attributes that methods of a class other than ``__init__`` give values which they compute."""
    methods = (each for each in getattr(definition, "body", ()) if isinstance(each, ast.FunctionDef))
    return frozenset(
        target.attr
        for method in methods
        if method.name != "__init__"
        for node in walk(method)
        if isinstance(node, (ast.Assign, ast.AugAssign)) and not isinstance(node.value, ast.Constant)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Attribute)
    )
