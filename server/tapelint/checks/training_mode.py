"""Training that goes on in evaluation mode after a validation.

    net.train()
    for epoch in range(10):
        train(net, batches)      # the first time in training mode, then never again
        validate(net)            # calls net.eval()

It is reported where one call of the program has computed in training mode in one iteration, in evaluation mode in a
later one, a backward walked the result, and the network was evaluated in between: what is switched and only trained is
frozen on purpose, as batch normalization is. A network whose code is not known is taken to be in training mode until
the program calls ``eval()``. What is always in evaluation mode is so on purpose, and so is what each iteration switches
itself: an adversarial attack may be called by the training and by the validation.

And the reverse: a frozen part that was set to evaluation mode, and runs in training mode
(``models/torch/nn/undone_evaluations.py``).
"""

from __future__ import annotations

import ast
from dataclasses import replace

from ..autograd import Node, ProgramPoint
from ..autograd.events.training_step import EvaluationUndone, TrainedInEvaluation
from ..autograd.model.program_point import earlier_iteration
from ..because import NOTHING, Because, guess
from ..domain import facets
from ..domain.mro import lookup_in_mro, mro_of
from ..domain.state import State
from ..domain.traversal import tensors_in
from ..domain.values import FALSE, Class, Const, External, Function, HeapRef, Instance, Unknown, Value
from ..engine.lifecycle import BackwardEnded, ModuleReturned
from ..engine.machine import Machine
from ..models.torch.nn.module_registry import members
from ..models.torch.nn.undone_evaluations import is_frozen, mode_of
from ..source import Loop, cached_on_node, own_attribute, own_name, walk, written

DIFFERENT = ("Dropout", "AlphaDropout", "FeatureAlphaDropout", "BatchNorm", "SyncBatchNorm")
"""Layers of ``torch.nn`` that compute something else in evaluation mode, but for the number of dimensions."""


def on_module_returned(machine: Machine, event: ModuleReturned) -> None:
    """Remember the calls of networks in training mode, and what they do in evaluation mode later."""
    state, module = event.state, event.module
    if not isinstance(module, HeapRef):
        return
    mode, results = mode_of(state, module), tensors_in(state, event.result)
    if mode is False:
        machine.facts.networks.called_in_evaluation.add(module.id)
    elif mode and module.id in machine.facts.networks.undone_evaluations:
        _note_in_training(machine, state, module, event.call)
    if not state.iterations:
        return
    if (mode is True or mode is None and _is_opaque(state, module)) and any(results):
        machine.facts.networks.training_calls.setdefault(
            (event.call, module.id, state.iterations[0].run), state.point(event.call)
        )
    elif mode is False:
        graph = next((each for each in state.grad_fns(results) if each.certain), None)
        _note_evaluation_call(machine, event, module, graph)


def _note_evaluation_call(machine: Machine, event: ModuleReturned, module: HeapRef, graph: Node | None) -> None:
    """A network was called in evaluation mode: it is evaluated, or another call trains it, which records ``graph``."""
    state, networks = event.state, machine.facts.networks
    before, now = networks.training_calls.get((event.call, module.id, state.iterations[0].run)), state.point(event.call)
    if before is None or graph is None or before.calls != now.calls:
        new = [key for key in networks.mode_set if key not in state.evaluated]
        state.evaluated |= {key for key in new if _is_evaluated(machine, state, key, module, now)}
    elif module.id in state.evaluated:
        _note_evaluation(machine, state, module, graph, before, now)


def _is_evaluated(machine: Machine, state: State, network: int, part: HeapRef, now: ProgramPoint) -> bool:
    """Whether a network that was trained, and is in evaluation mode now, is called, or a part of it by a method that is
    not its ``forward``: what the call that trains it runs in that mode is frozen.
    """
    if network not in state.heap or mode_of(state, HeapRef(network)) is not False:
        return False
    training = [call for call, each, _ in machine.facts.networks.training_calls if each == network]
    if not training or not set(training).isdisjoint(now.calls):
        return False
    return network == part.id or any(part == each for _, each in members(state, HeapRef(network)))


def _note_evaluation(
    machine: Machine, state: State, module: HeapRef, graph: Node, before: ProgramPoint, now: ProgramPoint
) -> None:
    """A network that was in training mode at this call ``before`` has recorded a graph in evaluation mode."""
    lap, set_at = earlier_iteration(before, now), machine.facts.networks.mode_set.get(module.id)
    if lap is None or set_at is None or earlier_iteration(set_at, now) is None:
        return
    layer, because = _difference(machine, state, module, now.node, "evaluation")
    if layer is not None or because and isinstance(lap.loop, Loop):  # else the caller may set its mode
        machine.facts.networks.recorded_in_evaluation[graph] = TrainedInEvaluation(
            point=replace(set_at, supposed=now.supposed, guard=now.guard),
            because=because,
            now=now,
            before=before,
            layer=layer,
        )


def _note_in_training(machine: Machine, state: State, module: HeapRef, call: ast.AST) -> None:
    """A part that was set to evaluation mode is called in training mode."""
    networks, (layer, because) = machine.facts.networks, _difference(machine, state, module, call, "training")
    if (layer is not None or because) and is_frozen(state, module):
        set_at, undone_at = networks.undone_evaluations[module.id]
        undone = EvaluationUndone(
            point=set_at, because=because, undone_at=undone_at, now=state.point(call), layer=layer
        )
        networks.run_in_training.setdefault(module.id, undone)


def _difference(
    machine: Machine, state: State, module: HeapRef, call: ast.AST, mode: str
) -> tuple[str | None, Because]:
    """What computes something else in the ``mode`` that a network is in, or the guess that something does."""
    layer = _different(machine, state, module)
    is_guessed = layer is None and _holds_opaque(machine, state, module)
    words = f"{_written(call)} has layers that compute something else in {mode} mode"
    return layer, guess(words) if is_guessed else NOTHING


def _written(call: ast.AST) -> str:
    """The network that is called, as the program writes it."""
    return f"`{written(call.func)}`" if isinstance(call, ast.Call) else "the network"


def on_backward_ended(machine: Machine, event: BackwardEnded) -> None:
    """Publish those that are walked."""
    facts = machine.facts
    for key, undone in facts.networks.run_in_training.items():
        if mode_of(event.state, HeapRef(key)):
            facts.events.publish(undone)
    if not facts.networks.recorded_in_evaluation:
        return
    for node in event.nodes().intersection(facts.networks.recorded_in_evaluation):
        facts.events.publish(facts.networks.recorded_in_evaluation[node])


def _is_opaque(state: State, module: HeapRef) -> bool:
    """Whether the code of a network is not known."""
    thing = state.heap[module.id]
    return isinstance(thing, Instance) and facets.UNSEEN_PARAMETERS in thing.attributes


def _holds_opaque(machine: Machine, state: State, module: HeapRef) -> bool:
    """Whether the code of a network is not known, or that of what is a part of it: what a method of its calls."""
    parts = (part for _, part in members(state, module) if isinstance(part, HeapRef))
    return any(_is_opaque(state, each) or _calls_unknown(machine, state, each) for each in (module, *parts))


def _calls_unknown(machine: Machine, state: State, module: HeapRef) -> bool:
    """Whether the ``forward`` of a module calls what it holds and nothing is known of."""
    thing = state.heap[module.id]
    found = lookup_in_mro(state, thing.kind, "forward") if isinstance(thing, Instance) else None
    if not isinstance(thing, Instance) or found is None or not isinstance(found[1], Function):
        return False
    called = machine.query(_parts_called, found[1].node)
    return any(isinstance(thing.attributes.get(name), Unknown) for name in called)


@cached_on_node
def _parts_called(definition: ast.AST) -> frozenset[str]:
    """The attributes of its object that a method calls."""
    calls = (node.func for node in walk(definition) if isinstance(node, ast.Call))
    return frozenset(name for part in calls if (name := own_attribute(part, own_name(definition))) is not None)


@cached_on_node
def _asks_for_mode(definition: ast.AST) -> bool:
    """Whether a method asks for ``self.training``."""
    return any(
        own_attribute(n) == "training" for n in walk(definition) if isinstance(getattr(n, "ctx", None), ast.Load)
    )


def _different(machine: Machine, state: State, module: HeapRef) -> str | None:
    """The class of a layer, or of the program, that computes something else in the mode that the network is in."""
    mode = Const(mode_of(state, module))
    for item in (module, *(part for _, part in members(state, module))):
        thing = state.heap[item.id] if isinstance(item, HeapRef) else None
        if not isinstance(thing, Instance) or thing.attributes.get("training") != mode or _is_same(thing):
            continue
        if isinstance(thing.kind, External):
            name = thing.kind.name.rpartition(".")[2]
            if name.rstrip("123d") in DIFFERENT:
                return f"nn.{name}"
        for owner in mro_of(state, thing.kind):
            kind = state.heap[owner.id] if isinstance(owner, HeapRef) else None
            if isinstance(kind, Class) and _asks(machine, state, thing, owner, kind):
                return kind.name
    return None


def _is_same(layer: Instance) -> bool:
    """Whether a layer computes the same in both modes as it is set: it drops nothing, or keeps no statistics."""
    return layer.attributes.get("p") == Const(0) or layer.attributes.get("track_running_stats") == FALSE


def _asks(machine: Machine, state: State, thing: Instance, owner: Value, kind: Class) -> bool:
    """Whether an object asks for its mode in a method that it has from the class ``owner``."""
    return any(
        isinstance(value, Function)
        and machine.query(_asks_for_mode, value.node)
        and (found := lookup_in_mro(state, thing.kind, name)) is not None
        and found[0] == owner
        for name, value in kind.attributes.items()
    )
