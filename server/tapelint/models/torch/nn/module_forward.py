"""What a module computes that the program does not define: a layer of PyTorch, a container, an unknown network.

A layer of PyTorch is a row of data (``ops/layers.txt``); an unknown module is one with a single parameter that stands
for all of its parameters, and a forward that depends on its inputs and on it, by assumption.

What is taken for a network because the program calls it: what a call of it is taken to return.

def update(actor, states, reward):
    loss = -reward(actor(states))     given a graph: what `reward` returns has one, whether it is a network or not
    loss.backward()                   what `actor` returns is walked: it is a network
"""

from __future__ import annotations

import ast
from collections.abc import Sequence as SequenceType

from .... import ops
from ....autograd import Leaf, doubt, edge_of, invent, resolve_view
from ....domain import facets
from ....domain.completion import ProgramRaised
from ....domain.induction import is_plain
from ....domain.mro import mro_of, own_method
from ....domain.opaque_values import as_data, is_data
from ....domain.state import State
from ....domain.values import (
    TRUE,
    BuiltinMethod,
    Const,
    External,
    HeapRef,
    Instance,
    Mapping,
    Sequence,
    TensorRef,
    Unknown,
    Value,
)
from ....engine.machine import Machine
from ....engine.paths.picks import SOME_NETWORK
from ....ops.layers import LAZY
from ....source import written
from .. import dispatch
from ..autograd.grad_access import reach
from ..autograd.walked_unknowns import cut_in_training, is_of_batches
from ..registry import MODULE_METHODS, Call, function, method
from . import frozen_parts
from .layer_models import PARALLEL, inputs_of, opaque_module, run_layer
from .module_registry import Guess, is_module_like, members, modules_of, parameters_of
from .parametrizations import computed, is_kept


def holds_unknown(thing: object) -> bool:
    """Whether something unknown is kept in an object, which may be a module."""
    items = list(thing.attributes.values()) if isinstance(thing, Instance) else getattr(thing, "items", ())
    values = items.values() if isinstance(items, dict) else items
    return any(
        isinstance(value, Unknown) and value.requires_grad is not False or isinstance(value, BuiltinMethod)
        for value in values
    )


@method(MODULE_METHODS, "__call__")
def called(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    """``nn.Module.__call__(net, x)`` and ``super().__call__(x)``: what calls ``forward``, the program's own if any."""
    own = own_method(state, receiver, "forward")
    if own is None:
        return forward(machine, state, receiver, call)
    return machine.call(state, own, call.args, call.kwargs, call.node, call.key)


@method(MODULE_METHODS, "forward")
def forward(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    """Call a module the program does not define."""
    thing = state.heap[receiver.id]
    inner = thing.attributes.get(facets.CONTAINER) if isinstance(thing, Instance) else receiver
    held = state.heap[inner.id] if isinstance(inner, HeapRef) else None
    if isinstance(held, (Sequence, Mapping)):
        return _run_container(machine, state, receiver, held, call)
    assert isinstance(thing, Instance)
    if (wrapped := _wrapped(state, thing)) is not None:
        return machine.call(state, wrapped, call.args, call.kwargs, call.node, call.key)
    row = _row_of(state, thing)
    if row is not None:
        if facets.PARAMETRIZED in thing.attributes:
            thing = with_computed(machine, state, receiver, thing, call)
        result = run_layer(machine, state, row, thing, call)
        _find_sizes(state, receiver)
        return result
    given = [value for value in (*call.args, *call.kwargs.values()) if not isinstance(value, TensorRef)]
    machine.facts.training.shown.update(reach(machine, state, given))
    if (
        facets.ASSUMED_NETWORK in thing.attributes
        and (found := unless_network(machine, state, receiver, call)) is not None
    ):
        return found
    return _run_unknown(machine, state, receiver, call)


def _find_sizes(state: State, receiver: HeapRef) -> None:
    """A layer that has found its sizes is of another class from now on."""
    kind = state.get(receiver.id, Instance).kind
    final = LAZY.get(kind.name.rpartition(".")[2]) if isinstance(kind, External) else None
    if final is not None:
        state.edit(receiver.id, Instance).kind = External(f"torch.nn.{final}")


def _run_container(machine: Machine, state: State, receiver: HeapRef, held: Sequence | Mapping, call: Call) -> Value:
    """``Sequential`` calls what it holds, in a class of the program also what attributes hold; lists and dicts of
    modules have no forward.
    """
    if isinstance(held, Mapping) or held.kind != "Sequential":
        raise ProgramRaised("NotImplementedError")
    if machine.running_sequentials.count(receiver.id) > 2 * machine.limits.recursion:
        raise ProgramRaised("RecursionError")  # it holds itself: the program's own functions go back earlier
    thing = state.heap[receiver.id]
    items = list(modules_of(state, thing).values()) if isinstance(thing, Instance) else held.items
    if not items and holds_unknown(thing):
        return Unknown("call")
    machine.running_sequentials.append(receiver.id)
    try:
        return sequential(machine, state, items, call)
    finally:
        machine.running_sequentials.pop()


def _wrapped(state: State, thing: Instance) -> Value | None:
    """The module that an object of a class derived from ``DataParallel`` calls."""
    is_parallel = any(isinstance(kind, External) and kind.name in PARALLEL for kind in mro_of(state, thing.kind))
    return thing.attributes.get("module") if is_parallel else None


def _row_of(state: State, thing: Instance) -> ops.Layer | None:
    """The row of the layer of ``torch.nn`` that an object is, or that its class is derived from."""
    kind = thing.kind
    if not isinstance(kind, External):
        kind = next((k for k in mro_of(state, kind) if isinstance(k, External)), External(""))
    if not kind.name.startswith("torch.nn.") or facets.UNSEEN_PARAMETERS in thing.attributes:
        return None
    return ops.layer(kind.name.rpartition(".")[2])


def _run_unknown(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    """A module of which only the parameters are known: its result depends on these, on other leaves that it holds, and
    on its inputs. Whether it does on what else it holds with a graph is not known.
    """
    (hidden, holds_more), given = _held(state, receiver), inputs_of(machine, state, call)
    frozen_parts.look(machine, state, hidden)
    frozen_parts.note_handed(state, (*call.args, *call.kwargs.values()))
    name = written(call.node.func) if isinstance(call.node, ast.Call) else "module"
    if not hidden and (holds_more or not given):
        return Unknown("call")
    edges = [edge for key in hidden if state.tensors[key].requires_grad and (edge := edge_of(resolve_view(state, key)))]
    given += [key for key in hidden if not state.tensors[key].requires_grad]
    weights = [edge.tensor for edge in edges if isinstance(edge, Leaf) and state.tensors[edge.tensor].stands_for_module]
    made = invent(machine.facts, state, given, call.node, name, edges, saves=weights)
    if edges:
        _doubt_new(state, made, call)
    return TensorRef(made)


def _held(state: State, receiver: HeapRef) -> tuple[list[int], bool]:
    """The parameters of a module and the other leaves in it that require grad, and whether it may hold more."""
    keys = [key for _, key in parameters_of(state, receiver)]
    tensors = [state.tensors[item.id] for _, item in members(state, receiver) if isinstance(item, TensorRef)]
    others = [each for each in tensors if each.requires_grad and each.id not in keys]
    leaves = [each.id for each in others if each.grad_fn is None]
    return keys + leaves, len(leaves) < len(others) or state.get(receiver.id, Instance).is_partial


def _doubt_new(state: State, made: int, call: Call) -> None:
    """``net.weights()`` where gradients are off: what is computed there has no graph, what was there before may."""
    if not call.args and not call.kwargs:
        doubt(state, [made])


def with_computed(machine: Machine, state: State, receiver: HeapRef, thing: Instance, call: Call) -> Instance:
    """A layer with the parameters that it computes at each call."""
    made = computed(machine, state, thing, call.node)
    if any(is_kept(thing, name) for name in made):
        state.edit(receiver.id, Instance).attributes.update({k: v for k, v in made.items() if is_kept(thing, k)})
    twin = thing.copy()
    twin.attributes.update(made)
    return twin


def sequential(machine: Machine, state: State, items: list[Value], call: Call) -> Value:
    """One after the other. What a layer writes in place it writes where the program says ``inplace=True``."""
    value = call.args[0] if call.args else Unknown("input", False)
    for item in items:
        thing = state.heap[item.id] if isinstance(item, HeapRef) else None
        made = machine.created_by.get(item.id) if isinstance(item, HeapRef) else None
        if made is not None and isinstance(thing, Instance) and thing.attributes.get("inplace") == TRUE:
            calls = state.calls
            state.calls = (*calls, call.node)
            try:
                value = machine.call(state, item, [value], {}, made)
            finally:
                state.calls = calls
        else:
            value = machine.call(state, item, [value], {}, call.node)
    return value


def unless_network(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value | None:
    """What a call of something returns that may be no network; None where it is taken for one.

    What is given a graph need have no parameters for the result to have one: a loss. Otherwise it is a network if what
    it returns is walked, or it is given tensors that were cut from no graph (metrics are given such). Where a graph
    begins that is walked there are parameters: then it is a network in all that follows. What is given a target beside
    the output of a network in training, whose graph was cut, is a loss all the same.
    """
    thing = state.get(receiver.id, Instance)
    values = [as_data(state, value) for value in (*call.args, *call.kwargs.values())]
    if all(map(is_plain, values)):
        return Unknown("call")  # a function of numbers: networks are given tensors
    if any(is_module_like(state, value) for value in call.args):  # a function that runs the network
        return machine.call_unknown(state, call.args, call.kwargs, call.node, Unknown("function"))
    guess = thing.attributes[facets.ASSUMED_NETWORK]
    is_walked = guess in (Const(Guess.FED), Const(Guess.WALKED))
    if is_walked and state.grad_mode is False:
        return None  # that nothing has a graph where gradients are off shows nothing
    if is_walked and (cut := _cut_in_training(machine, state, values)):
        return TensorRef(invent(machine.facts, state, cut, call.node, _written(call)))
    if guess in (Const(Guess.FED), Const(Guess.PAIRED)):
        del state.edit(receiver.id, Instance).attributes[facets.ASSUMED_NETWORK]
        return None
    given = inputs_of(machine, state, call)
    if not any(resolve_view(state, key).requires_grad for key in given):
        if guess == Const(Guess.WALKED):
            del state.edit(receiver.id, Instance).attributes[facets.ASSUMED_NETWORK]
            return None
        if _never_had_graphs(machine, values):
            return None
    if guess == Const(Guess.WALKED):  # a loss keeps nothing of what it is given
        return dispatch.opaque(machine, state, given, call.node, _written(call))
    return machine.call_unknown(state, call.args, call.kwargs, call.node, Unknown("function"))


def _never_had_graphs(machine: Machine, values: SequenceType[Value]) -> bool:
    """Whether there are tensors among several arguments, none of which was cut off a graph."""
    given = [value.id for value in values if isinstance(value, TensorRef)]
    return bool(given) and not any(machine.facts.provenance_of(key).cut for key in given)


def _written(call: Call) -> str:
    return written(call.node.func) if isinstance(call.node, ast.Call) else "call"


def _cut_in_training(machine: Machine, state: State, values: SequenceType[Value]) -> list[int]:
    """Those of several arguments that were cut by hand off the graph of a network which an optimizer of the program
    holds or which is in training mode; none where something else may have a graph. What a loader gives has none.
    """
    if len(values) < 2 or not all(is_data(state, value) or is_of_batches(machine, state, value) for value in values):
        return []
    return cut_in_training(machine, state, [value.id for value in values if isinstance(value, TensorRef)])


@function(SOME_NETWORK)
def some_network(machine: Machine, state: State, call: Call) -> Value:
    """An object of one of many classes of networks (``NETS[name](3)``): it is a network, and no more is known."""
    name = call.args[0]
    return opaque_module(machine, state, str(name.value) if isinstance(name, Const) else "the network", call.node)
