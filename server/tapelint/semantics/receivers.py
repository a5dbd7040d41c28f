"""Whose a call is: what is known of the thing that is called, or whose method is called, before it runs.

Net.train(net)        what a class has from a library, called with an object of that class
super().forward(x)    the class after the one the method was defined in, and its first argument
batch.unsqueeze(0)    only tensors have that method
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from functools import lru_cache

from .. import ops
from ..domain.mro import is_module, mro_of, own_function
from ..domain.state import State
from ..domain.values import BoundMethod, Class, External, Frame, Function, HeapRef, Instance, Super, Unknown, Value
from ..engine.machine import Machine
from ..engine.syntax.syntactic_summary import is_abstract, is_unwritten
from ..models.torch.registry import TENSOR_METHODS
from ..ops.module_names import answers


def runs_code(state: State, function: Value) -> bool:
    """Whether a call runs a function of the program, or a network, and makes no object."""
    if isinstance(function, HeapRef):
        return isinstance(state.heap[function.id], Instance)
    return isinstance(function.function if isinstance(function, BoundMethod) else function, Function)


def runs_constructor(state: State, function: Value) -> bool:
    """Whether a call makes an object by an ``__init__`` of the program."""
    if not isinstance(function, HeapRef) or not isinstance(state.heap[function.id], Class):
        return False
    return own_function(state, function, "__init__") is not None


def is_own_of(state: State, kind: Value, args: list[Value]) -> bool:
    """Whether what a class of the program has from a library is called with an object of that class:
    ``Net.train(net)``.
    """
    if not args or not isinstance(kind, HeapRef) or not isinstance(state.heap[kind.id], Class):
        return False
    thing = state.heap[args[0].id] if isinstance(args[0], HeapRef) else None
    return isinstance(thing, Instance) and kind in mro_of(state, thing.kind)


def how_answers(state: State, thing: Instance, method: str) -> bool | None:
    """Whether a method that a library defines returns what its network makes of the arguments; None if not known."""
    found = (answers(kind.name, method) for kind in mro_of(state, thing.kind) if isinstance(kind, External))
    return next((flows for flows in found if flows is not None), None)


@lru_cache(4096)
def is_only_of_tensors(name: str) -> bool:
    """Whether tensors have a method of that name, and no kind of dict has one."""
    if any(hasattr(kind, name) for kind in (OrderedDict, Counter)):
        return False
    return name in TENSOR_METHODS or bool(ops.candidates(name))


def super_of(state: State, given: Value | None) -> Value:
    """``super()`` inside a method: the class the method was defined in, and its first argument. ``super(nn.Module,
    self)`` begins after a class that is ``given``.
    """
    key = state.frame
    while key:
        frame = state.get(key, Frame)
        function = frame.function
        if function is not None and function.owner is not None and function.node.args.args:
            receiver = frame.variables.get(function.node.args.args[0].arg)
            if receiver is not None:
                thing = state.heap[receiver.id] if isinstance(receiver, HeapRef) else None
                order = mro_of(state, thing.kind if isinstance(thing, Instance) else receiver)
                return Super(given if given is not None and given in order else HeapRef(function.owner), receiver)
        key = frame.parent
    return Unknown("super")


def is_left_to_others(machine: Machine, state: State, owner: Value, method: Value) -> bool:
    """Whether a method is only there to be defined by derived classes, and the object is one of those. One that the
    program has made is of its class, and the method raises NotImplementedError as it says.
    """
    function = method.function if isinstance(method, BoundMethod) else method
    if not isinstance(function, Function) or not machine.query(is_abstract, function.node):
        return False
    if not isinstance(owner, HeapRef) or not isinstance(state.heap[owner.id], Instance):
        return True
    return is_imagined(machine, owner) or bool(getattr(function.node, "decorator_list", ()))


def leaves_forward(machine: Machine, state: State, kind: HeapRef) -> bool:
    """Whether a class of networks leaves ``forward`` to derived ones."""
    forward = own_function(state, kind, "forward") if is_module(state, kind) else None
    return forward is not None and (is_abstract(forward.node) or machine.query(is_unwritten, forward.node))


def is_imagined(machine: Machine, value: Value | None) -> bool:
    """Whether an object was made for an argument or a method: it may be of a derived class."""
    return isinstance(value, HeapRef) and value.id in machine.facts.objects.imagined
