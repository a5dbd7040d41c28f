"""Parts that were set to evaluation mode in vain.

    body.requires_grad_(False)
    body.eval()
    net = nn.Sequential(body, head)
    net.train()                  # all of it, also `body`
    net(x)                       # which normalizes by this batch, and changes its statistics

What is frozen as well was meant to stay so. Where it was called in evaluation mode, that may be all that it was for;
and what was trained before is evaluated.
"""

from __future__ import annotations

from ....autograd import ProgramPoint
from ....domain.state import State
from ....domain.values import FALSE, TRUE, HeapRef, Instance, Sequence
from ....engine.machine import Machine
from .module_registry import members, parameters_of


def mode_of(state: State, module: HeapRef) -> bool | None:
    """``module.training``; None where it is not known."""
    thing = state.heap.get(module.id)
    if isinstance(thing, Sequence):
        return thing.training
    mode = thing.attributes.get("training") if isinstance(thing, Instance) else None
    return True if mode == TRUE else False if mode == FALSE else None


def note_undone(machine: Machine, state: State, whole: HeapRef, point: ProgramPoint) -> None:
    """``whole.train()`` is called."""
    networks = machine.facts.networks
    for _, part in members(state, whole):
        if (
            isinstance(part, HeapRef)
            and part.id in networks.mode_set
            and part.id not in networks.called_in_evaluation
            and all(part.id != trained for _, trained, _ in networks.training_calls)
            and mode_of(state, part) is False
            and is_frozen(state, part)
        ):
            networks.undone_evaluations.setdefault(part.id, (networks.mode_set[part.id], point))


def is_frozen(state: State, module: HeapRef) -> bool:
    """Whether a network has parameters, and none of them requires grad."""
    flags = [state.tensors[key].requires_grad for _, key in parameters_of(state, module)]
    return bool(flags) and all(flag is False for flag in flags)
