"""What a framework does around a method that it calls for each batch, where no code in the program calls it.

    class Net(LightningModule):
        def on_train_epoch_start(self): ...          once, before all batches
        def training_step(self, batch, index): ...   for each batch; then the loss is walked,
        def configure_optimizers(self): ...          and what this gives steps

Which methods these are is data of ``frameworks``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ..autograd import TorchRaises, backward, resolve_view
from ..autograd.gradients import history
from ..domain.mro import own_method
from ..domain.state import State
from ..domain.traversal import tensors_in
from ..domain.values import (
    NONE,
    BoundMethod,
    Function,
    HeapRef,
    Mapping,
    Optimizer,
    Sequence,
    TensorRef,
    Tuple,
    Unknown,
    Value,
)
from ..engine.machine import MAKING_STATES, Machine, ProgramRaised
from ..models.frameworks.training_loops import Loop, Walk, loss_in
from ..models.torch.nn.layers import opaque_module
from ..models.torch.optim.optimizers import write_parameters
from ..semantics.calls import call_value
from .inferred_arguments import inferred

OPTIMIZERS = "(optimizers)"
"""An attribute of ours: what an object's ``configure_optimizers`` has given the framework."""


def begin(machine: Machine, state: State, walk: Walk, instance: HeapRef, node: ast.AST) -> None:
    """What comes before the first batch, along one path."""
    width, machine.max_paths = machine.max_paths, MAKING_STATES
    try:
        optimizers_of(machine, state, instance, walk.optimizers, node)
        _call(machine, state, instance, walk.before, node)
    finally:
        machine.max_paths = width


def batch_begins(machine: Machine, state: State, walk: Walk, instance: HeapRef, node: ast.AST) -> None:
    _call(machine, state, instance, walk.ahead, node)


def batch_ends(machine: Machine, state: State, walk: Walk, instance: HeapRef, result: Value, node: ast.AST) -> None:
    """The loss is walked, the optimizer steps. What else becomes of the gradients is the framework's business."""
    loss = loss_in(state, result)
    machine.unit.stats.backwards += 1
    roots = [loss.id] if isinstance(loss, TensorRef) else with_graph(state, loss)
    imagine_backward(machine, state, roots, node, walk.premise)
    _step(machine, state, _flat(state, optimizers_of(machine, state, instance, walk.optimizers, node)), node)
    history.doubted(state)
    _call(machine, state, instance, walk.behind, node)


def run_loop(machine: Machine, state: State, loop: Loop, instance: HeapRef, node: ast.AST) -> list[State]:
    """The method that trains, once: the loop over the batches is in it."""
    for name in loop.networks:
        given = state.heap[instance.id].attributes.get(name, NONE)
        if given == NONE or isinstance(given, Unknown):
            state.edit(instance.id).attributes[name] = opaque_module(machine, state, name, node)
    method = own_method(state, instance, loop.method)
    assert isinstance(method, BoundMethod) and isinstance(method.function, Function)
    values = _inferred_arguments(machine, state, method.function)

    def train(path: State) -> None:
        call_value(machine, path, method, [], values, node)

    with machine.facts.events.assuming(loop.premise):
        return machine.run_paths(state, train)


def imagine_backward(machine: Machine, state: State, roots: Iterable[int], node: ast.AST, assumption: str) -> None:
    """No code in the file walks these; the framework will. What the program itself has spoiled raises then."""
    keys = list(roots)
    if keys:
        try:
            backward(machine.facts, state, keys, node, assumption=assumption)
        except TorchRaises:
            return


def with_graph(state: State, value: Value) -> list[int]:
    """The tensors in a value that have a graph."""
    return [key for key in tensors_in(state, value) if resolve_view(state, key).requires_grad]


def _call(machine: Machine, state: State, instance: HeapRef, names: Iterable[str], node: ast.AST) -> None:
    """Call those methods of an object that the program defines."""
    for name in names:
        method = _method(machine, state, instance, name)
        if method is None:
            continue
        assert isinstance(method.function, Function)
        given = _inferred_arguments(machine, state, method.function)
        try:
            call_value(machine, state, method, [], given, node)
        except ProgramRaised as raised:
            if raised.by_torch:
                raise


def _inferred_arguments(machine: Machine, state: State, function: Function) -> dict[str, Value]:
    """What a method is given beside the object, by parameter."""
    spec = function.node.args
    return inferred(machine, state, function, [*spec.posonlyargs, *spec.args][1:])


def _method(machine: Machine, state: State, instance: HeapRef, name: str) -> BoundMethod | None:
    """A method of an object, if a class of the program defines it as a plain one."""
    own = own_method(state, instance, name)
    if isinstance(own, BoundMethod) and isinstance(own.function, Function) and not own.function.kind:
        return own
    return None


def optimizers_of(machine: Machine, state: State, instance: HeapRef, name: str | None, node: ast.AST) -> Value:
    """What a framework trains an object with: asked for once, and kept; None where that is not known."""
    kept: Value | None = state.heap[instance.id].attributes.get(OPTIMIZERS)
    if kept is not None:
        return kept
    method = _method(machine, state, instance, name) if name is not None else None
    made: Value = NONE
    if method is not None:
        try:
            made = call_value(machine, state, method, [], {}, node)
        except ProgramRaised as raised:
            if raised.by_torch:
                raise
    found = list(_flat(state, made))
    made = found[0] if len(found) == 1 else Tuple(tuple(found)) if found else NONE
    state.edit(instance.id).attributes[OPTIMIZERS] = made
    return made


def _flat(state: State, given: Value) -> Iterator[HeapRef]:
    """The optimizers in what ``configure_optimizers`` may give: one, several, each perhaps in a dict with its
    schedule, or a pair of lists, of which the second has the schedules.
    """
    if isinstance(given, HeapRef):
        thing = state.heap[given.id]
        if isinstance(thing, Optimizer):
            yield given
        elif isinstance(thing, Mapping):
            yield from _flat(state, thing.items.get("optimizer", NONE))
        elif isinstance(thing, Sequence):
            yield from _flat(state, Tuple(tuple(thing.items)))
    elif isinstance(given, Tuple):
        for item in given.items:
            yield from _flat(state, item)


def _step(machine: Machine, state: State, optimizers: Iterable[HeapRef], node: ast.AST) -> None:
    for optimizer in optimizers:
        write_parameters(machine, state, state.heap[optimizer.id], node)
