"""``torch.autograd.Function``s that nothing applies to a tensor that certainly requires grad: both methods are run.

class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):           `x` is a tensor: backward returns a gradient for it
        ctx.save_for_backward(x)
        return x * factor                  `factor` is none: backward returns None there
    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.factor, None       which no method has set

``apply`` is imagined with tensors that require grad, and a backward through what it returns. Only mistakes of Functions
are listened to, and saved tensors that were modified.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from ..autograd import Node, Tensor, fresh_id
from ..autograd.events.custom_function import FunctionEvent
from ..autograd.events.graph_walks import Event, SavedTensorModified
from ..because import Because, guess
from ..domain.mro import is_function
from ..domain.state import State
from ..domain.values import Class, Frame, Function, HeapRef, TensorRef, Unknown, Value
from ..engine.machine import Machine
from ..models.torch.autograd_function.apply import apply
from ..models.torch.autograd_function.syntax import own_function
from ..models.torch.registry import Call
from ..source import cached_on_node, is_none, walk
from . import framework_driver
from .inferred_arguments import inferred
from .tensor_parameters import tensor_parameters


def functions_of(state: State, module: int) -> Iterator[tuple[HeapRef, Function]]:
    """The Functions that a module defines, each with its backward."""
    for kind in list(state.get(module, Frame).variables.values()):
        if not isinstance(kind, HeapRef) or not isinstance(state.heap.get(kind.id), Class):
            continue
        if is_function(state, kind):
            forward, backward = own_function(state, kind, "forward"), own_function(state, kind, "backward")
            if backward is not None and all(_is_own(state, module, method) for method in (forward, backward)):
                yield kind, backward


def _is_own(state: State, module: int, method: Function | None) -> bool:
    """Whether a method is defined in the module, and as a static one."""
    return method is not None and method.kind == "static" and state.get(method.frame, Frame).module == module


def imagine_apply(machine: Machine, state: State, kind: HeapRef) -> list[State]:
    """Apply a Function to tensors that require grad, and go backward through what it returns; of several tensors all
    do, and then each by itself.
    """
    forward = own_function(state, kind, "forward")
    assert forward is not None
    spec = forward.node.args
    parameters = [*spec.posonlyargs, *spec.args][own_function(state, kind, "setup_context") is None :]
    tensors = _tensors(machine, state, kind, forward, parameters)
    defaults = dict(zip(reversed([a.arg for a in parameters]), reversed(forward.defaults)))
    values = {**defaults, **inferred(machine, state, forward, parameters)}
    rest = {a.arg: values.get(a.arg) or Unknown(a.arg, False) for a in parameters}
    several = [[name] for name in tensors] if len(tensors) > 1 else []
    for requiring in [tensors, *several] if tensors else []:
        path = state.fork()
        given = [
            _tensor(machine, path, name, forward.node, name in requiring) if name in tensors else value
            for name, value in rest.items()
        ]
        because = _reason(requiring, len(tensors))
        with _hearing(machine), machine.facts.events.assuming(because):
            machine.run_paths(path, partial(_applied, machine, kind, forward, given, because))
    return [state]


def _reason(requiring: list[str], count: int) -> Because:
    """What is assumed of the arguments, of which ``count`` are tensors."""
    quoted = [f"`{name}`" for name in requiring]
    if len(quoted) == 1:
        return guess(f"`apply` is given {'only ' if count > 1 else 'an '}{quoted[0]} that requires grad")
    return guess(f"`apply` is given {', '.join(quoted[:-1])} and {quoted[-1]} that require grad")


@contextmanager
def _hearing(machine: Machine) -> Iterator[None]:
    """Inside, only mistakes of Functions and saved tensors that were modified are listened to."""
    events = machine.facts.events
    listeners = tuple(events.listeners)

    def hear(event: Event) -> None:
        for listener in listeners if isinstance(event, (FunctionEvent, SavedTensorModified)) else ():
            listener(event)

    with events.heard_by(hear):
        yield


def _applied(
    machine: Machine, kind: HeapRef, forward: Function, given: list[Value], because: Because, state: State
) -> None:
    """Apply it on a path, and go backward."""
    node = forward.node
    call = Call("torch.autograd.Function.apply", [kind, *given], {}, node)
    result = machine.memoize(node, "apply", lambda key: apply(machine, state, call))
    framework_driver.imagine_backward(machine, state, framework_driver.with_graph(state, result), node, because)


def _tensor(machine: Machine, state: State, name: str, node: ast.AST, requires_grad: bool) -> TensorRef:
    """A tensor that was computed, of what requires grad or of data."""
    key, point = fresh_id(), state.point(node)
    graph = Node(key, name, (), point, results=(key,)) if requires_grad else None
    state.tensors[key] = Tensor(key, key, key, point, requires_grad, graph, kind="float")
    machine.facts.name(key, name)
    return TensorRef(key)


def _tensors(machine: Machine, state: State, kind: HeapRef, forward: Function, parameters: list[ast.arg]) -> list[str]:
    """The parameters that are tensors: backward returns a gradient for them; where it does not say that of each, those
    that forward uses as such.
    """
    backward = own_function(state, kind, "backward")
    assert backward is not None
    returned = machine.query(_gradients, backward.node)
    evident = tensor_parameters(machine, state, forward)
    if not returned or any(len(parts) != len(parameters) for parts in returned):
        return [a.arg for a in parameters if a.arg in evident]
    given = [any(parts[index] for parts in returned) for index in range(len(parameters))]
    return [a.arg for a, has in zip(parameters, given) if has]


@cached_on_node
def _gradients(backward: ast.AST) -> tuple[tuple[bool, ...], ...]:
    """For each ``return`` of a backward which of the values are gradients, not None."""
    returns = (node for node in walk(backward) if isinstance(node, ast.Return))
    return tuple(tuple(not is_none(part) for part in _parts(node.value)) for node in returns)


def _parts(value: ast.expr | None) -> list[ast.expr]:
    if value is None:
        return []
    return list(value.elts) if isinstance(value, (ast.Tuple, ast.List)) else [value]
