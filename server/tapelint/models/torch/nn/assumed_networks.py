"""What is taken for a network because the program calls it: what a call of it is taken to return.

def update(actor, states, reward):
    loss = -reward(actor(states))     given a graph: what `reward` returns has one, whether it is a network or not
    loss.backward()                   what `actor` returns is walked: it is a network
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from collections.abc import Sequence as SequenceType

from ....autograd import Node, invent, resolve_view
from ....autograd.model.cuts import BY_HAND
from ....autograd.model.graph_search import leaf_tensors
from ....domain import facets
from ....domain.induction import is_plain
from ....domain.opaque_values import as_data, is_data
from ....domain.state import State
from ....domain.values import TRUE, Const, HeapRef, Instance, Origin, TensorRef, Unknown, Value
from ....engine.machine import Machine
from ....engine.paths.picks import SOME_NETWORK
from ....source import written
from .. import dispatch
from ..registry import Call, function
from .layer_models import inputs_of, opaque_module
from .module_registry import Guess, parameters_of


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
    guess = thing.attributes[facets.ASSUMED_NETWORK]
    is_walked = guess in (Const(Guess.FED), Const(Guess.WALKED))
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
        certain = [value.id for value in values if isinstance(value, TensorRef)]
        if certain and not any(machine.facts.provenance_of(key).cut for key in certain):
            return None
    if guess == Const(Guess.WALKED):  # a loss keeps nothing of what it is given
        return dispatch.opaque(machine, state, given, call.node, _written(call))
    return machine.call_unknown(state, call.args, call.kwargs, call.node, Unknown("function"))


def _written(call: Call) -> str:
    return written(call.node.func) if isinstance(call.node, ast.Call) else "call"


def _cut_in_training(machine: Machine, state: State, values: SequenceType[Value]) -> list[int]:
    """Those of several arguments that were cut by hand off the graph of a network which an optimizer of the program
    holds or which is in training mode; none where something else may have a graph. What a loader gives has none.
    """
    if len(values) < 2 or not all(is_data(state, value) or _is_of_loader(value) for value in values):
        return []
    given = [value.id for value in values if isinstance(value, TensorRef)]
    sources = {key: source for key in given if (source := _cut_by_hand(machine, key)) is not None}
    if not sources:
        return []
    trained = machine.facts.training.optimized.union(_in_training(state))
    return [key for key, source in sources.items() if not trained.isdisjoint(leaf_tensors([source]))]


def _cut_by_hand(machine: Machine, key: int) -> Node | None:
    """The graph that a tensor was cut off."""
    cut = machine.facts.provenance_of(key).cut
    return cut.source if cut is not None and cut.reason in BY_HAND else None


def _is_of_loader(value: Value) -> bool:
    return isinstance(value, Unknown) and value.origin is Origin.BATCH


def _in_training(state: State) -> Iterator[int]:
    """The parameters of all networks in training mode."""
    for key, thing in state.heap.items():
        if isinstance(thing, Instance) and thing.attributes.get("training") == TRUE:
            yield from (leaf for _, leaf in parameters_of(state, HeapRef(key)))


@function(SOME_NETWORK)
def some_network(machine: Machine, state: State, call: Call) -> Value:
    """An object of one of many classes of networks (``NETS[name](3)``): it is a network, and no more is known."""
    name = call.args[0]
    return opaque_module(machine, state, str(name.value) if isinstance(name, Const) else "the network", call.node)
