"""What is taken for a network because the program calls it: what a call of it is taken to return.

def update(actor, states, reward):
    loss = -reward(actor(states))     given a graph: what `reward` returns has one, whether it is a network or not
    loss.backward()                   what `actor` returns is walked: it is a network
"""

from __future__ import annotations

import ast

from ....autograd import resolve_view
from ....domain import facets
from ....domain.induction import is_plain
from ....domain.opaque_values import as_data
from ....domain.state import State
from ....domain.values import Const, HeapRef, Instance, TensorRef, Unknown, Value
from ....engine.machine import Machine
from ....engine.paths.picks import SOME_NETWORK
from ....source import written
from .. import dispatch
from ..registry import Call, function
from .layer_models import inputs_of, opaque_module
from .module_registry import Guess


def unless_network(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value | None:
    """What a call of something returns that may be no network; None where it is taken for one.

    What is given a graph need have no parameters for the result to have one: a loss. Otherwise it is a network if what
    it returns is walked, or it is given tensors that were cut from no graph (metrics are given such). Where a graph
    begins that is walked there are parameters: then it is a network in all that follows.
    """
    thing = state.get(receiver.id, Instance)
    values = [as_data(state, value) for value in (*call.args, *call.kwargs.values())]
    if all(map(is_plain, values)):
        return Unknown("call")  # a function of numbers: networks are given tensors
    guess = thing.attributes[facets.ASSUMED_NETWORK]
    if guess in (Const(Guess.FED), Const(Guess.PAIRED)):
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
        name = written(call.node.func) if isinstance(call.node, ast.Call) else "call"
        return dispatch.opaque(machine, state, given, call.node, name)
    return machine.call_unknown(state, call.args, call.kwargs, call.node, Unknown("function"))


@function(SOME_NETWORK)
def some_network(machine: Machine, state: State, call: Call) -> Value:
    """An object of one of many classes of networks (``NETS[name](3)``): it is a network, and no more is known."""
    name = call.args[0]
    return opaque_module(machine, state, str(name.value) if isinstance(name, Const) else "the network", call.node)
