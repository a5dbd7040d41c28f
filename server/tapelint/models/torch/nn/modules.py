"""The methods that every ``nn.Module`` has, but ``forward`` (``module_forward.py``).

A ``state_dict()`` that is kept while training goes on.

best = net.state_dict()      # the parameters' own memory, by name
optimizer.step()
net.load_state_dict(best)    # loads what the parameters are now: nothing changes
"""

from __future__ import annotations

import ast
import math
from collections import Counter
from collections.abc import Collection
from typing import Literal

from ....autograd import CutReason, Write, bump, resolve_view, set_by_program
from ....autograd.events.graph_walks import OwnStateUsed
from ....autograd.facts import StateTaken
from ....autograd.gradients import history
from ....domain import facets
from ....domain.completion import ProgramRaised
from ....domain.mro import own_method
from ....domain.state import State
from ....domain.values import (
    FALSE,
    NONE,
    TRUE,
    BoundMethod,
    Const,
    Function,
    HeapRef,
    Instance,
    Mapping,
    Sequence,
    TensorRef,
    Tuple,
    Unknown,
    Value,
    unknown_number,
)
from ....engine.machine import Machine
from ....engine.open_objects import open_up
from ....engine.paths import constant_contents
from ....source import cached_on_node, walk, written
from .. import dispatch, dtypes
from ..autograd.grad_access import reach
from ..autograd.grad_calls import clear_grads
from ..detaching import cut
from ..registry import FUNCTIONS, MODULE_METHODS, Call, answers, function, method
from . import frozen_parts
from .module_forward import holds_unknown
from .module_registry import buffers_of, is_module_like, members, note, own_parameters, parameters_of, twin
from .undone_evaluations import note_undone


def is_open(state: State, value: Value) -> bool:
    """Whether a module may have parameters we do not know of."""
    below = [item for _, item in members(state, value) if isinstance(item, HeapRef)]
    things = [state.heap[item.id] for item in [*below, *([value] if isinstance(value, HeapRef) else [])]]
    return any(getattr(thing, "is_partial", False) or holds_unknown(thing) for thing in things)


@method(MODULE_METHODS, "parameters", "named_parameters")
def parameters(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    is_named = call.name == "named_parameters"
    found = parameters_of(state, receiver)
    if call.flag(1 if is_named else 0, "recurse", True) is False:
        found = [(name, key) for name, key in found if "." not in name]
    frozen_parts.look(machine, state, [key for _, key in found])
    prefix = call.get(0, "prefix", Const(""))
    items: list[Value] = [
        Tuple((_called(name, prefix), TensorRef(key))) if is_named else TensorRef(key) for name, key in found
    ]
    is_base = receiver.id in machine.facts.objects.imagined  # a derived class has what this one leaves to it
    result = HeapRef(state.new(Sequence("iterator", items, not found and (is_base or is_open(state, receiver)))))
    if not items:
        machine.facts.networks.parameters_requested_by[result.id] = receiver.id
    return result


def _called(name: str, prefix: Value) -> Value:
    """The name of what is below a module, behind the ``prefix`` that all are given."""
    if name.endswith(facets.UNSEEN_PARAMETERS) or not isinstance(prefix, Const):
        return Unknown("name", False)
    return Const(".".join(part for part in (str(prefix.value), name) if part))


@method(MODULE_METHODS, "buffers", "named_buffers")
def buffers(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    is_named = call.name == "named_buffers"
    is_deep = call.flag(1 if is_named else 0, "recurse", True) is not False
    prefix = call.get(0, "prefix", Const(""))
    items: list[Value] = []
    for path, module in [("", receiver), *(members(state, receiver) if is_deep else ())]:
        for name, item in buffers_of(state, module).items() if isinstance(module, HeapRef) else ():
            label = _called(f"{path}.{name}" if path else name, prefix)
            items.append(Tuple((label, item)) if is_named else item)
    return HeapRef(state.new(Sequence("iterator", items)))


@method(MODULE_METHODS, "children", "named_children", "modules", "named_modules")
def modules(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    found = [("", receiver), *((n, v) for n, v in members(state, receiver) if isinstance(v, HeapRef))]
    more = False
    for _, item in found:
        if isinstance(thing := state.heap[item.id], Instance):
            frozen_parts.note_access(machine, thing)
            more = more or item is receiver and facets.UNSEEN_PARAMETERS in thing.attributes
    if "children" in call.name:
        found = [(n, v) for n, v in found if n and "." not in n]
    prefix = call.get(1, "prefix", Const("")) if call.name == "named_modules" else Const("")
    items: list[Value] = [Tuple((_called(n, prefix), v)) if "named" in call.name else v for n, v in found]
    return HeapRef(state.new(Sequence("iterator", items, more)))


@method(MODULE_METHODS, "train", "eval")
def train(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    mode = call.get(0, "mode", TRUE) if call.name == "train" else FALSE
    point = state.point(call.node)
    machine.facts.networks.mode_set[receiver.id] = point
    if mode == TRUE:
        note_undone(machine, state, receiver, point)
    switched = [("", receiver), *members(state, receiver)]
    state.evaluated -= {item.id for _, item in switched if isinstance(item, HeapRef)}
    for _, item in switched:
        if isinstance(item, HeapRef) and isinstance(state.heap[item.id], Sequence) and isinstance(mode, Const):
            state.edit(item.id, Sequence).training = bool(mode.value)
        if isinstance(item, HeapRef) and isinstance(state.heap[item.id], Instance):
            if item is not receiver:
                own = own_method(state, item, call.name)
                if own is not None and isinstance(own, BoundMethod) and isinstance(own.function, Function):
                    machine.call(state, own, call.args, call.kwargs, call.node)
                    continue
            state.edit(item.id, Instance).attributes["training"] = mode
    return receiver


@method(
    MODULE_METHODS,
    "to",
    "cuda",
    "cpu",
    "float",
    "half",
    "double",
    "bfloat16",
    "share_memory",
    "to_empty",
    "compile",
    "type",
    "_apply",
)
def itself(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    dtypes.convert(machine, call.name, [*call.args, *call.kwargs.values()])
    return receiver


@method(MODULE_METHODS, "requires_grad_")
def requires_grad(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    keys, wanted = [key for _, key in parameters_of(state, receiver)], call.flag(0, "requires_grad", True)
    for key in keys:
        set_by_program(machine.facts, state, state.tensors[key], wanted, call.node)
    return receiver


@method(MODULE_METHODS, "zero_grad")
def zero_grad(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    if is_module_like(state, receiver):
        clear_grads(machine, state, [key for _, key in parameters_of(state, receiver)], call)
    else:
        history.doubted(state, reach(machine, state, [receiver]))
    return NONE


@method(MODULE_METHODS, "load_state_dict")
def load_state_dict(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    """Writes the parameters; with ``assign=True`` it replaces them, and the old ones stay as they are."""
    own = [key for _, key in parameters_of(state, receiver)]
    tell_own_state(machine, state, call.get(0, "state_dict"), own, "load", call.node)
    for module in (receiver, *(item for _, item in members(state, receiver))):
        held = buffers_of(state, module).values() if isinstance(module, HeapRef) else ()
        constant_contents.handed_out(machine, state, [each.id for each in held if isinstance(each, TensorRef)])
    if call.get(2, "assign", FALSE) != FALSE:
        for key in own:
            dtypes.note_replacement(machine, key, Unknown("state_dict"))
        return Unknown("keys")
    for key in own:
        bump(state, state.tensors[key].version_counter, "load_state_dict", call.node, tensor=key)
    return Unknown("keys")


@method(MODULE_METHODS, "state_dict")
def state_dict(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    """The parameters' own memory by name, detached: what is written there the parameters have. Buffers are among
    the entries too, which is why there may be more."""
    if call.args or call.kwargs or not is_module_like(state, receiver):
        return Unknown("state_dict", False)
    own = parameters_of(state, receiver)
    items: dict[object, Value] = {
        name: TensorRef(cut(machine, state, resolve_view(state, key), call.node, CutReason.DETACH)) for name, key in own
    }
    taken = state.new(Mapping(items, True))
    note_state(machine, state, taken, [key for _, key in own], call.node)
    return HeapRef(taken)


@method(MODULE_METHODS, "apply")
def apply(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    """Calls a function with each module. One that only fills parameters does the same to all of a class: it is executed
    for two of them, and of the others the parameters are written.
    """
    function, seen = call.get(0, "fn"), Counter[Value]()
    fills = isinstance(function, Function) and machine.query(_only_fills, function.node)
    for item in [*(v for _, v in members(state, receiver) if isinstance(v, HeapRef)), receiver]:
        thing = state.heap[item.id]
        if isinstance(thing, Instance):
            frozen_parts.note_access(machine, thing)
            seen[thing.kind] += 1
        if fills and isinstance(thing, Instance) and seen[thing.kind] > 2:
            for each in own_parameters(state, item).values():
                if isinstance(each, TensorRef):
                    bump(state, state.tensors[each.id].version_counter, "apply", call.node, tensor=each.id)
        elif call.args:
            machine.call(state, function, [item], {}, call.node)
    return receiver


@cached_on_node
def _only_fills(function: ast.AST) -> bool:
    """Whether a function, by its text, does nothing to a module but to fill its parameters with numbers."""
    for node in walk(function):
        match node:
            case ast.Global() | ast.Nonlocal() | ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
                return False
            case ast.Call(ast.Attribute(_, name) | ast.Name(name)) if name not in FILLING:
                return False
            case ast.Call(called) if not isinstance(called, (ast.Attribute, ast.Name)):
                return False
    return True


@method(MODULE_METHODS, "register_buffer", "register_parameter", "add_module", "register_module")
def register(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    name, value = call.get(0, "name"), call.get(1, "tensor", call.get(1, "param", call.get(1, "module")))
    if not isinstance(call.node, ast.Call) or not all(isinstance(each, ast.Constant) for each in call.node.args[:1]):
        open_up(machine, [receiver])  # a loop may register more than it is followed for
    is_object = isinstance(state.heap[receiver.id], Instance)
    if is_object and isinstance(name, Const):
        state.edit(receiver.id, Instance).attributes[str(name.value)] = value
        if call.name == "register_buffer":
            note(state.edit(receiver.id, Instance), facets.BUFFER_NAMES, str(name.value))
        match call.node:
            case ast.Call(ast.Attribute(owner)) if isinstance(value, TensorRef):
                machine.facts.name(value.id, f"{written(owner)}.{name.value}")
    elif is_object:
        state.edit(receiver.id, Instance).is_partial = True
    return NONE


@method(MODULE_METHODS, "__new__")
def new(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    """``module.__new__(type(module))``."""
    return twin(state, receiver)


@method(MODULE_METHODS, "__getattr__")
def absent_attribute(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    """What ``nn.Module`` does about an attribute that is not found otherwise."""
    thing, name = state.heap[receiver.id], call.get(0, "name")
    if not isinstance(thing, Instance) or not isinstance(name, Const):
        return Unknown("attribute")
    found = thing.attributes.get(str(name.value))
    if found is None and not thing.is_partial and facets.UNSEEN_PARAMETERS not in thing.attributes:
        raise ProgramRaised("AttributeError")
    return found if found is not None else Unknown("attribute")


def initialise(machine: Machine, state: State, call: Call) -> Value:
    """``nn.init.*_``: a write under no_grad."""
    target = call.get(0, "tensor")
    if isinstance(target, TensorRef):
        name, named = call.name.rpartition(".")[2], {k: v for k, v in call.kwargs.items() if k != "tensor"}
        dispatch.refuse_numbers(machine, state, name, [target, *call.args[1:]], named)
        bump(state, resolve_view(state, target.id).version_counter, name, call.node, tensor=target.id)
        return target
    return Unknown("init")


INITIALIZERS = (
    "uniform_ normal_ constant_ ones_ zeros_ eye_ dirac_ xavier_uniform_ xavier_normal_ kaiming_uniform_ "
    "kaiming_normal_ trunc_normal_ "
    "orthogonal_ sparse_ xavier_uniform xavier_normal kaiming_normal kaiming_uniform normal constant uniform orthogonal"
).split()
for _name in INITIALIZERS:
    FUNCTIONS["torch.nn.init." + _name] = initialise
FILLING = frozenset(
    (*INITIALIZERS, *dir(str), *dir(math), *"fill_ zero_ hasattr getattr isinstance type print".split())
)
"""What a function calls that fills parameters: these, and what it asks texts and numbers for."""


answers(unknown_number, "torch.nn.init.calculate_gain", "torch.nn.init._calculate_correct_fan")
answers(lambda: Tuple((unknown_number(), unknown_number())), "torch.nn.init._calculate_fan_in_and_fan_out")


def note_state(machine: Machine, state: State, taken: int, parameters: Collection[int], node: ast.AST) -> None:
    """The mapping with the heap id ``taken`` holds the memory of these parameters."""
    versions = tuple((key, state.version(state.tensors[key].version_counter)) for key in parameters)
    machine.facts.networks.states_taken[taken] = StateTaken(versions, state.point(node))


def tell_own_state(
    machine: Machine,
    state: State,
    value: Value,
    parameters: Collection[int] | None,
    use: Literal["load", "save"],
    node: ast.AST,
) -> None:
    """Publish that ``value`` was taken of the same parameters, if they are given, and that they were written since; or
    that it is taken of them right here, by another name of the network.
    """
    if not isinstance(value, HeapRef):
        return
    taken = machine.facts.networks.states_taken.get(value.id)
    if taken is None or not _is_own(state, value, taken):
        return
    if parameters is not None and [key for key, _ in taken.versions] != [*parameters]:
        return
    by_another_name = _is_given_by_another_name(taken.point.node, node)
    for key, version in taken.versions:
        write = _step_since(state, key, version)
        if write is not None or by_another_name:
            machine.facts.events.publish(
                OwnStateUsed(
                    point=state.point(node),
                    taken=taken.point,
                    write=write,
                    use=use,
                    source=node.args[0] if isinstance(node, ast.Call) and node.args else None,
                    because=state.tensors[key].because,
                )
            )
            return


def _is_given_by_another_name(taken: ast.AST, node: ast.AST) -> bool:
    """``target.load_state_dict(net.state_dict())``"""
    match taken, node:
        case ast.Call(ast.Attribute(net)), ast.Call(ast.Attribute(target), [given]):
            return given is taken and written(net) != written(target)
    return False


def _is_own(state: State, value: HeapRef, taken: StateTaken) -> bool:
    """Whether all that is in the mapping is still the parameters' own memory."""
    thing = state.heap[value.id]
    counters = {state.tensors[key].version_counter for key, _ in taken.versions}
    return isinstance(thing, Mapping) and all(
        isinstance(v, TensorRef) and state.tensors[v.id].version_counter in counters for v in thing.items.values()
    )


def _step_since(state: State, key: int, version: int) -> Write | None:
    """The first write to a parameter since it had a version that an optimizer made for certain; None where something
    else wrote it before, but for the loading of what it has.
    """
    last = state.writes.get(state.tensors[key].version_counter)
    writes = [] if last is None else [write for write in last.chain() if write.version > version]
    first = next((write for write in reversed(writes) if write.op != "load_state_dict"), None)
    return first if first is not None and first.by_optimizer and first.certain else None


@function("torch.save")
def save(machine: Machine, state: State, call: Call) -> Value:
    """``torch.save(state, path)``, where the state may be in a dict with others."""
    value = call.get(0, "obj")
    thing = state.heap[value.id] if isinstance(value, HeapRef) else None
    held = [*thing.items.values()] if isinstance(thing, Mapping) else []
    for each in (value, *held):
        tell_own_state(machine, state, each, None, "save", call.node)
    return NONE
