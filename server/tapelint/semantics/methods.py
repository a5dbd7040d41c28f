"""Methods that are not the program's own: of tensors, containers, modules and optimizers by their models, of what is
not known by what follows from the name.

The order in which the kinds of receivers are asked is what decides: a tensor, an object, a value of Python, and then
what may be anything.

Methods of text that is known: what they return is known, too.

for name, p in model.named_parameters():
    (plain if name.endswith("bias") else decayed).append(p)     # of each parameter it is known where it goes

Methods of Python's containers that have no model: what the container holds afterwards is not known.

losses.__delitem__(0)         a list of other items
table.__ior__(given)          a dict of other keys
counts.most_common(3)         this only reads
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from ..autograd.model.graph_search import nodes_below
from ..bounds import BOUNDS
from ..domain import facets
from ..domain.completion import ProgramRaised
from ..domain.mro import is_module, mro_of
from ..domain.opaque_values import as_data, is_data
from ..domain.state import State
from ..domain.traversal import tensors_in
from ..domain.values import (
    Const,
    External,
    HeapRef,
    Instance,
    Mapping,
    Optimizer,
    Sequence,
    TensorRef,
    Tuple,
    Unknown,
    Value,
    something,
)
from ..engine.machine import Machine
from ..engine.open_objects import changed, open_up
from ..engine.paths.conditions import ADDING, forget
from ..models.python.sets import SETS
from ..models.torch.autograd.grad_mode import MANAGERS, entered_or_left
from ..models.torch.known_shape import items_in
from ..models.torch.measures import numel
from ..models.torch.registry import (
    MAPPING_METHODS,
    MODULE_METHODS,
    OPTIMIZER_METHODS,
    SEQUENCE_METHODS,
    SET_METHODS,
    Call,
    MethodModel,
    is_opaque,
    model_of,
)
from ..ops import conversions
from ..ops.module_names import is_layer
from . import networks_by_use
from .receivers import how_answers, is_only_of_tensors
from .tensor_methods import converted, method_of_unknown, setting_by, tensor_method
from .unknown_calls import unknown_call

METHODS = {
    Sequence: SEQUENCE_METHODS,
    Mapping: MAPPING_METHODS,
    Optimizer: OPTIMIZER_METHODS,
    Instance: MODULE_METHODS,
}
"""Models of methods by what has them."""


def call_method(machine: Machine, state: State, receiver: Value, call: Call) -> Value:
    """A method that is not the program's own."""
    if isinstance(receiver, TensorRef):
        return tensor_method(machine, state, receiver, call)
    if isinstance(receiver, HeapRef):
        found = _object_method(machine, state, receiver, call)
        if found is not None:
            return found
    if isinstance(receiver, (Const, Tuple)) and (plain := _plain_method(state, receiver, call)) is not None:
        return plain
    if isinstance(receiver, MANAGERS) and (found := entered_or_left(machine, state, receiver, call.name)) is not None:
        return found
    owner = receiver
    if is_opaque(state, receiver):
        forget(state, receiver, call.name)
        receiver = as_data(state, receiver)
    if isinstance(receiver, Unknown):
        found = method_of_unknown(machine, state, receiver, call)
        if found is not None:
            return found
        if (setting := setting_by(call)) is not None:
            unknown_call(machine, state, call.args, call.kwargs, call.node, owner)
            state.edit_given_attributes(receiver.tensor_id).update(setting)
            return owner
        if call.name in conversions.OF_MODULES:
            return converted(machine, state, receiver, call, owner)
    may_have_changed(machine, state, receiver, call.name)
    _forget_freed(state, owner)
    owner = External("tqdm.bar") if call.name in BAR else _of_layer(state, owner, call.name) or owner
    return unknown_call(machine, state, call.args, call.kwargs, call.node, owner)


def _forget_freed(state: State, owner: Value) -> None:
    """A method that no class has of which code is known: what an object has kept of a graph that a backward has freed
    may have been begun anew. A Module has what it registers and its own methods, and raises for any other.
    """
    thing = state.heap.get(owner.id) if isinstance(owner, HeapRef) else None
    if not isinstance(owner, HeapRef) or not isinstance(thing, Instance) or not isinstance(thing.kind, HeapRef):
        return
    if not state.freed:
        return
    foreign = [each.name for each in mro_of(state, thing.kind) if isinstance(each, External)]
    if is_module(state, thing.kind) and all(each.startswith(("torch.nn.", "builtins.")) for each in foreign):
        return
    for name, value in list(thing.attributes.items()):
        graph = nodes_below(state.grad_fns(tensors_in(state, value)))
        if not graph.isdisjoint(state.freed):
            state.edit_attributes(owner.id)[name] = Unknown(name)


def _of_layer(state: State, owner: Value, name: str) -> External | None:
    """A method of a layer of PyTorch, such as ``flatten_parameters``: no code that trains. One of a network that is not
    known may.
    """
    thing = state.heap.get(owner.id) if isinstance(owner, HeapRef) else None
    if not isinstance(thing, Instance) or not isinstance(thing.kind, External) or not is_layer(thing.kind.name):
        return None
    return None if facets.UNSEEN_PARAMETERS in thing.attributes else External(f"{thing.kind.name}.{name}")


def _plain_method(state: State, receiver: Const | Tuple, call: Call) -> Value | None:
    """A method of a value of Python; None where there is no model of it. What a library returns may be of a class that
    is derived from ``tuple``.
    """
    if isinstance(receiver, Tuple):
        if call.name == "numel":
            return numel(receiver)
        is_of_tensors = (
            is_only_of_tensors(call.name) and call.name not in conversions.OF_MODULES
        )  # packed sequences have these
        if (receiver.is_spelled or is_of_tensors) and not hasattr(tuple, call.name):
            raise _lacking("tuple", call.name)
        return None
    found = method_of_text(state, receiver.value, call) if isinstance(receiver.value, str) else None
    if found is None and not hasattr(receiver.value, call.name):
        raise _lacking(type(receiver.value).__name__, call.name)
    return Unknown("text", False) if found is None and isinstance(receiver.value, str) else found


def _lacking(kind: str, name: str) -> ProgramRaised:
    return ProgramRaised("AttributeError", f"'{kind}' object has no attribute '{name}'")


def _object_method(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value | None:
    """A method of a list, a dict, a module, an optimizer or another object; None where there is no model of it."""
    thing = state.heap[receiver.id]
    if isinstance(thing, Instance):
        if isinstance(thing.kind, External):
            known = model_of(f"{thing.kind.name}.{call.name}")
            if known is not None:
                return known(machine, state, Call(call.name, [receiver, *call.args], call.kwargs, call.node, call.key))
        if (inner := _in_its_place(thing, call.name)) is not None:
            return call_method(machine, state, inner, call)
    table = _methods_of(thing, call.name)
    model = table.get(call.name) if table is not None else None
    if model is None and isinstance(thing, Instance):
        flows = _flows(machine, state, thing, call)
        if flows is False:
            return something(call.name)
        model = MODULE_METHODS["forward"] if flows else None
    if model is not None:
        return model(machine, state, receiver, call)
    if isinstance(thing, Mapping) and thing.kind == "dict" and is_only_of_tensors(call.name):
        raise _lacking("dict", call.name)
    return None


def _in_its_place(thing: Instance, name: str) -> Value | None:
    """What answers a method of an object whose class derives from an optimizer or from a container of modules."""
    if name in OPTIMIZER_METHODS and facets.OPTIMIZED in thing.attributes:
        return thing.attributes[facets.OPTIMIZED]
    return thing.attributes.get(facets.CONTAINER) if name in ADDING else None


def _flows(machine: Machine, state: State, thing: Instance, call: Call) -> bool | None:
    """Whether a method that is not known returns what its network makes of the arguments; None if that is unknown."""
    known = how_answers(state, thing, call.name)
    return True if known is None and networks_by_use.is_walked(machine, state, thing, call) else known


def _methods_of(thing: object, name: str) -> dict[str, MethodModel[HeapRef]] | None:
    """The models of the methods of a heap object; a container of layers is a module, too."""
    table = METHODS.get(type(thing))
    if isinstance(thing, Sequence) and thing.kind in SETS and name in SET_METHODS:
        return SET_METHODS
    if name not in MODULE_METHODS:
        return table
    if isinstance(thing, Sequence) and thing.kind in ("ModuleList", "Sequential"):
        return SEQUENCE_METHODS if name in SEQUENCE_METHODS else MODULE_METHODS
    if isinstance(thing, Mapping) and thing.kind == "ModuleDict":
        return MAPPING_METHODS if name in MAPPING_METHODS else MODULE_METHODS
    return table


BAR = frozenset(("set_postfix", "set_postfix_str", "set_description", "set_description_str"))
"""Methods of a progress bar around something that is iterated over, which stands for it
(https://tqdm.github.io/docs/tqdm).
"""
LARGE = frozenset(("encode", "expandtabs", "format", "format_map", "maketrans", "translate"))
"""Methods of text that give no text, or may give one that is much longer."""
PURE = frozenset(name for name in dir(str) if not name.startswith("_")) - LARGE


def method_of_text(state: State, text: str, call: Call) -> Value | None:
    """What a method of ``text`` returns; None where that depends on more than what is known."""
    if call.name == "format" and (formula := _filled(text, call)) is not None:
        return Unknown("text", False, formula=formula)
    args = [_plain(state, value) for value in call.args]
    if call.name not in PURE or call.kwargs or None in args or len(text) > BOUNDS.text:
        return None
    if any(isinstance(given, int) and abs(given) > BOUNDS.text for given in args):
        return None
    try:
        found = getattr(text, call.name)(*args)
    except (TypeError, ValueError):
        return None
    return _value(state, found)


def _filled(text: str, call: Call) -> Hashable | None:
    """The formula of ``"Conv{}d".format(n)``, where something is put in for each pair of braces and nothing else."""
    pieces = text.split("{}")
    if call.kwargs or any(mark in "".join(pieces) for mark in "{}") or len(pieces) != len(call.args) + 1:
        return None
    parts = [part for piece, value in zip(pieces, call.args) for part in (Const(piece), value)]
    return ("Text", *parts, Const(pieces[-1]))


def _plain(state: State, value: Value) -> Any:
    """Text, a number, or several of them; None where it is anything else."""
    if isinstance(value, Const):
        return value.value if isinstance(value.value, (str, int)) else None
    items = items_in(state, value)
    if items is None or not all(isinstance(item, Const) for item in items):
        return None
    return tuple(item.value for item in items if isinstance(item, Const))


def _value(state: State, found: Any) -> Value:
    if isinstance(found, list):
        return HeapRef(state.new(Sequence("list", [Const(part) for part in found])))
    if isinstance(found, tuple):
        return Tuple(tuple(Const(part) for part in found))
    return Unknown("text", False) if isinstance(found, str) and len(found) > BOUNDS.text else Const(found)


SETTING = frozenset(("__init__", "__setattr__", "__delattr__"))
READING = (frozenset((*dir(tuple), *dir(frozenset))) - SETTING) | {
    *("__copy__", "__deepcopy__", "__reversed__", "fromkeys", "most_common", "elements", "total", "join")
}
"""Methods of Python's containers that leave them as they are: those of containers that cannot be changed, and a few of
``dict``, ``Counter`` and ``Queue``.
"""
CHANGING = frozenset(("list", "set", "deque", "Queue", "Counter", "iterator", "dict"))
"""The containers of Python that can be changed."""


def may_have_changed(machine: Machine, state: State, receiver: Value, name: str) -> None:
    """A method that has no model was called on a value: if that is a container, it may hold anything now that is like
    what it held.
    """
    if not isinstance(receiver, HeapRef):
        return
    thing = state.heap[receiver.id]
    if not isinstance(thing, (Sequence, Mapping)) or thing.kind not in CHANGING or name in READING:
        return
    changed(machine, state, receiver.id)
    open_up(machine, [receiver])
    edited = state.edit(receiver.id, type(thing))
    held = edited.items.values() if isinstance(edited, Mapping) else edited.items
    item = Unknown("item", False if held and all(is_data(state, each) for each in held) else None)
    edited.is_partial = True
    if isinstance(edited, Mapping):
        edited.items = {Unknown("key", False): item}
    else:
        edited.items = [item] if held else []
