"""What a framework does around a method that it calls for each batch, where no code in the program calls it.

    class Net(LightningModule):
        def on_train_epoch_start(self): ...          once, before all batches
        def training_step(self, batch, index): ...   for each batch; then the loss is walked,
        def configure_optimizers(self): ...          and what this gives steps

Which methods these are is data of ``frameworks``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from itertools import takewhile

from ..autograd import TorchRaises, backward, resolve_view
from ..autograd.gradients import history
from ..because import Because, guess
from ..domain.completion import ProgramRaised
from ..domain.mro import own_method, plain_method
from ..domain.state import State
from ..domain.traversal import tensors_in
from ..domain.values import (
    NONE,
    BoundMethod,
    Class,
    Frame,
    Function,
    HeapRef,
    Instance,
    Optimizer,
    TensorRef,
    Unknown,
    Value,
)
from ..engine.lifecycle import PathEnded
from ..engine.machine import Machine
from ..models.frameworks.configured_optimizers import optimizers_in, optimizers_of
from ..models.frameworks.training_loops import Loop, Walk, loss_in
from ..models.torch.nn.layer_models import opaque_module
from ..models.torch.optim.optimizers import write_parameters
from ..semantics.calls import call_value
from .arguments import along_one_path, inferred, positional


def begin(machine: Machine, state: State, walk: Walk, instance: HeapRef, node: ast.AST) -> None:
    """What comes before the first batch, along one path."""
    with along_one_path(machine):
        optimizers_of(machine, state, instance, walk.optimizers, node)
        _call(machine, state, instance, walk.before, node)


def batch_begins(machine: Machine, state: State, walk: Walk, instance: HeapRef, node: ast.AST) -> None:
    _call(machine, state, instance, walk.ahead, node)


def batch_ends(machine: Machine, state: State, walk: Walk, instance: HeapRef, result: Value, node: ast.AST) -> None:
    """The loss is walked, the optimizer steps. What else becomes of the gradients is the framework's business."""
    loss = loss_in(state, result)
    machine.unit.stats.backwards += 1
    roots = [loss.id] if isinstance(loss, TensorRef) else with_graph(state, loss)
    imagine_backward(machine, state, roots, node, guess(walk.premise))
    optimizers = optimizers_in(state, optimizers_of(machine, state, instance, walk.optimizers, node))
    _step(machine, state, optimizers, node)
    history.doubted(state)
    _call(machine, state, instance, walk.behind, node)


def run_loop(machine: Machine, state: State, loop: Loop, instance: HeapRef, node: ast.AST) -> list[State]:
    """The method that trains, once: the loop over the batches is in it."""
    for name in loop.networks:
        given = state.attributes(instance.id).get(name, NONE)
        if given == NONE or isinstance(given, Unknown):
            state.edit_attributes(instance.id)[name] = opaque_module(machine, state, name, node)
    method = own_method(state, instance, loop.method)
    assert isinstance(method, BoundMethod) and isinstance(method.function, Function)
    values = inferred(machine, state, method.function, positional(method.function, 1))

    def train(path: State) -> None:
        call_value(machine, path, method, [], values, node)
        machine.lifecycle.path_ended.publish(machine, PathEnded(path, None, [instance]))

    with machine.facts.events.assuming(guess(loop.premise)):
        return machine.run_paths(state, train)


def imagine_backward(machine: Machine, state: State, roots: Iterable[int], node: ast.AST, because: Because) -> None:
    """No code in the file walks these; the framework will. What the program itself has spoiled raises then."""
    keys = list(roots)
    if keys:
        try:
            backward(machine.facts, state, keys, node, because=because)
        except TorchRaises:
            return


def with_graph(state: State, value: Value) -> list[int]:
    """The tensors in a value that have a graph."""
    return [key for key in tensors_in(state, value) if resolve_view(state, key).requires_grad]


def _call(machine: Machine, state: State, instance: HeapRef, names: Iterable[str], node: ast.AST) -> None:
    """Call those methods of an object that the program defines."""
    for name in names:
        method = plain_method(state, instance, name)
        if method is None:
            continue
        assert isinstance(method.function, Function)
        given = inferred(machine, state, method.function, positional(method.function, 1))
        try:
            call_value(machine, state, method, [], given, node)
        except ProgramRaised as raised:
            if raised.by_torch:
                raise


def _step(machine: Machine, state: State, optimizers: Iterable[HeapRef], node: ast.AST) -> None:
    for optimizer in optimizers:
        write_parameters(machine, state, state.get(optimizer.id, Optimizer), node)


def call_as_nobody_does(
    machine: Machine,
    state: State,
    function: Function,
    receiver: HeapRef | None,
    values: Mapping[str, Value],
    key: object = None,
    owner: HeapRef | None = None,
) -> Value:
    """What a call gives that no code makes, of a function or of a method of ``receiver``, with ``values`` by parameter;
    ``owner`` is the class that has the method, if it is not that of the object.
    """
    thing = state.heap[receiver.id] if receiver is not None else None
    kind = owner or (thing.kind if isinstance(thing, Instance) else receiver)
    site = function.node if kind is None else call_site(state, machine.module, function, kind)
    called, args, named = function, list[Value](), dict(values)
    if function.wrapper is not None:  # it calls its parameters otherwise
        called, own = function.wrapper, positional(function, int(receiver is not None))
        args = [named.pop(each.arg) for each in takewhile(lambda each: each.arg in values, own)]
        if called.node.args.vararg is None:
            args = args[: len(positional(called, int(receiver is not None)))]
        named = named if called.node.args.kwarg is not None else {}
    bound = called if receiver is None else BoundMethod(called, receiver)
    return call_value(machine, state, bound, args, named, site, key)


def call_site(state: State, module: int, function: Function, kind: Value) -> ast.AST:
    """Where the story of a method begins that nothing calls: at its definition, or where a class of ``module`` derives
    from that which defines it in another file.
    """
    thing = state.heap[kind.id] if isinstance(kind, HeapRef) else None
    if isinstance(thing, Class) and thing.node.bases and state.get(function.frame, Frame).module != module:
        return thing.node.bases[0]
    return function.node
