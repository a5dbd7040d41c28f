"""Optimizers that the program derives from ``torch.optim.Optimizer``: ``step`` is its own, what they hold is known.

class SAM(torch.optim.Optimizer):
    def __init__(self, params, rho):
        super().__init__(params, {"rho": rho})          # param_groups, state and zero_grad() come from here

    @torch.no_grad()
    def ascend(self):
        for group in self.param_groups:
            for p in group["params"]:
                p.add_(p.grad, alpha=group["rho"])      # a write to a parameter, like any other
"""

from __future__ import annotations

from ....domain import facets
from ....domain.state import State
from ....domain.values import NONE, HeapRef, Instance, Mapping, Optimizer, Sequence, Value
from ....engine.machine import Machine
from ..registry import OPTIMIZER_METHODS, Call, function
from .optimizers import make, param_groups

BASES = ("torch.optim.Optimizer", "torch.optim.optimizer.Optimizer")


@function(*(f"{base}.__init__" for base in BASES))
def begin(machine: Machine, state: State, call: Call) -> Value:
    receiver = call.args[0]
    inner = Call(BASES[0], call.args[1:], call.kwargs, call.node, call.key)
    made = make(machine, state, inner)
    assert isinstance(made, HeapRef)
    held = state.get(made.id, Optimizer)
    if not isinstance(receiver, HeapRef) or not isinstance(state.heap[receiver.id], Instance):
        return NONE
    thing = state.edit(receiver.id, Instance)
    if not held.params:
        thing.is_partial = True
        return NONE
    defaults = inner.get(1, "defaults")
    groups = param_groups(machine, state, made)
    if isinstance(defaults, HeapRef) and isinstance(known := state.heap[defaults.id], Mapping):
        _fill(state, groups, known)
    thing.attributes |= {
        facets.OPTIMIZED: made,
        "param_groups": groups,
        "defaults": defaults,
        "state": HeapRef(state.new(Mapping({}, True))),
    }
    return NONE


def _fill(state: State, groups: Value, defaults: Mapping) -> None:
    """A group has what it was not given from the defaults."""
    assert isinstance(groups, HeapRef)
    listed = state.get(groups.id, Sequence)
    for group in listed.items:
        if isinstance(group, HeapRef) and isinstance(state.heap[group.id], Mapping):
            entries = state.edit(group.id, Mapping)
            entries.items = {**defaults.items, **entries.items}


@function(*(f"{base}.{name}" for base in BASES for name in ("zero_grad", "add_param_group", "state_dict")))
def inherited(machine: Machine, state: State, call: Call) -> Value:
    """``super().zero_grad()``."""
    receiver, name = call.args[0], call.name.rpartition(".")[2]
    thing = state.heap[receiver.id] if isinstance(receiver, HeapRef) else None
    held = thing.attributes.get(facets.OPTIMIZED) if isinstance(thing, Instance) else None
    if held is None:
        return NONE
    return OPTIMIZER_METHODS[name](machine, state, held, Call(name, call.args[1:], call.kwargs, call.node, call.key))
