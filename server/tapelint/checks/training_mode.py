"""Training that goes on in evaluation mode after a validation.

    net.train()
    for epoch in range(10):
        train(net, batches)      # the first time in training mode, then never again
        validate(net)            # calls net.eval()

It is reported where one call of the program has computed in training mode in one iteration, in evaluation mode in a
later one, and a backward walked the result. What is always in evaluation mode is so on purpose, and so is what each
iteration switches itself: an adversarial attack may be called by the training and by the validation.
"""

from __future__ import annotations

from ..autograd.events.training_step import TrainedInEvaluation
from ..autograd.model.program_point import earlier_iteration
from ..domain.state import State
from ..domain.values import FALSE, TRUE, External, HeapRef, Instance, Sequence, TensorRef
from ..engine.lifecycle import BackwardEnded, ModuleReturned
from ..engine.machine import Machine
from ..models.torch.nn.module_registry import members

DIFFERENT = ("Dropout", "AlphaDropout", "FeatureAlphaDropout", "BatchNorm", "SyncBatchNorm")
"""Layers of ``torch.nn`` that compute something else in evaluation mode, but for the number of dimensions."""


def on_module_returned(machine: Machine, event: ModuleReturned) -> None:
    """Remember the calls of networks in training mode, and graphs that they record in evaluation mode later."""
    state, module = event.state, event.module
    if not state.iterations or not isinstance(module, HeapRef) or not isinstance(event.result, TensorRef):
        return
    mode, key = _mode(state, module), (event.call, module.id)
    facts, now = machine.facts, state.point(event.call)
    if mode is True:
        facts.networks.training_calls.setdefault(key, now)
    if mode is not False or (before := facts.networks.training_calls.get(key)) is None:
        return
    set_at, graph = facts.networks.mode_set.get(module.id), state.tensors[event.result.id].grad_fn
    if graph is None or not graph.certain or set_at is None:
        return
    if earlier_iteration(before, now) is None or earlier_iteration(set_at, now) is None:
        return
    layer = _different(state, module)
    if layer is not None:
        facts.networks.recorded_in_evaluation[graph] = TrainedInEvaluation(
            point=set_at, now=now, before=before, layer=layer
        )


def on_backward_ended(machine: Machine, event: BackwardEnded) -> None:
    """Publish those that are walked."""
    facts = machine.facts
    if not facts.networks.recorded_in_evaluation:
        return
    for node in event.nodes().intersection(facts.networks.recorded_in_evaluation):
        facts.events.publish(facts.networks.recorded_in_evaluation[node])


def _mode(state: State, module: HeapRef) -> bool | None:
    """``module.training``; None where it is not known."""
    thing = state.heap.get(module.id)
    if isinstance(thing, Sequence):
        return thing.training
    mode = thing.attributes.get("training") if isinstance(thing, Instance) else None
    return True if mode == TRUE else False if mode == FALSE else None


def _different(state: State, module: HeapRef) -> str | None:
    """The class of a layer that is in evaluation mode now, and computes something else there."""
    for _, item in members(state, module):
        thing = state.heap[item.id] if isinstance(item, HeapRef) else None
        if isinstance(thing, Instance) and isinstance(thing.kind, External):
            name = thing.kind.name.rpartition(".")[2]
            if name.rstrip("123d") in DIFFERENT and thing.attributes.get("training") == FALSE:
                return name
    return None
