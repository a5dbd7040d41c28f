"""``torch.autograd.Function``: a node the program defines itself.

Its forward runs without grad; what it saves the node keeps. Its backward runs when a backward pass reaches the node
(``backward_of`` in ``function_results.py``).
"""

from __future__ import annotations

import ast

from ....autograd import (
    resolve_view,
)
from ....autograd.model.hidden_writes import tell_unmarked
from ....autograd.model.recording import result_requires_grad
from ....domain.completion import ProgramRaised
from ....domain.mro import FUNCTION, own_function
from ....domain.opaque_values import as_data
from ....domain.state import State
from ....domain.values import NONE, Class, External, Function, HeapRef, TensorRef, Tuple, Unknown, Value
from ....engine.machine import Machine
from ..registry import CUSTOM, Call, function, is_opaque
from .context import new_context
from .context_reads import refuse_plain_values
from .function_results import attach
from .syntax import Definition, Given, class_given, parameters


@function(*(f"{name}.apply" for name in FUNCTION))
def apply(machine: Machine, state: State, call: Call) -> Value:
    """``Cls.apply(...)``; the class comes as the first argument."""
    kind = call.args[0]
    forward, setup = (own_function(state, kind, name) for name in ("forward", "setup_context"))
    if forward is None or not isinstance(kind, HeapRef) or not isinstance(state.heap[kind.id], Class):
        return Unknown("apply")
    if machine.facts.running.levels and setup is None:
        raise ProgramRaised("RuntimeError", "it must override the setup_context staticmethod", by_torch=True)
    given = given_to(state, bound(forward, call, setup is not None), call.node)
    if machine.facts.memory.unmarked and state.grad_mode:
        tell_unmarked(machine.facts, state, list(given.tensors.values()), call.node)
    flags = tuple(flag(state, v) for v in given.values)
    context, mode = new_context(state, kind, flags), state.grad_mode
    result = run_forward(machine, state, (kind, forward, setup), context, given.values, call.node)
    needs = result_requires_grad(mode, True in flags, None in flags)
    backward = own_function(state, kind, "backward") or own_function(state, kind, "vjp")
    machine.unit.dependencies.update(method.node for method in (forward, setup, backward) if method is not None)
    definition = Definition(state.get(kind.id, Class).name, forward, setup, backward, context, kind)
    if needs is not False:
        refuse_plain_values(machine.facts, state, definition, needs, call.node)
    return attach(machine, state, call.node, definition, given, result, needs)


def given_to(state: State, arguments: tuple[Value, ...], node: ast.AST) -> Given:
    """The arguments of one call of ``apply``, and the versions of the tensors among them."""
    values = tuple(as_data(state, value) if is_opaque(state, value) else value for value in arguments)
    tensors = {v.id: resolve_view(state, v.id) for v in values if isinstance(v, TensorRef)}
    return Given(values, tensors, {k: state.version(t.version_counter) for k, t in tensors.items()}, exact(node))


def run_forward(
    machine: Machine,
    state: State,
    methods: tuple[HeapRef, Function, Function | None],
    context: HeapRef,
    values: tuple[Value, ...],
    node: ast.AST,
) -> Value:
    """Call forward without grad, and ``setup_context`` after it if there is one (``methods``, behind their class); what
    forward returned. Of what it writes in place its own rules tell.
    """
    kind, forward, setup = methods
    mode, state.grad_mode = state.grad_mode, False
    hidden = machine.facts.memory.hidden_writes.copy()
    try:
        if setup is None:
            return machine.call(state, forward, [*class_given(forward, kind), context, *values], {}, node)
        result = machine.call(state, forward, [*class_given(forward, kind), *values], {}, node)
        machine.call(state, setup, [*class_given(setup, kind), context, Tuple(values), result], {}, node)
        return result
    finally:
        state.grad_mode, machine.facts.memory.hidden_writes = mode, hidden


def flag(state: State, value: Value) -> bool | None:
    """Whether an argument needs a gradient: only tensors given directly do, those in a list are not looked for."""
    if isinstance(value, TensorRef):
        return resolve_view(state, value.id).requires_grad
    return value.requires_grad if isinstance(value, Unknown) else False


def bound(forward: Function, call: Call, with_setup: bool) -> tuple[Value, ...]:
    """The arguments in the order of forward's parameters. Defaults count only in the form with ``setup_context``."""
    names = parameters(forward)
    defaults = dict(zip(reversed(names), reversed(forward.defaults)))
    values = call.args[1:]
    for name in names[len(values) + (not with_setup) :]:
        if name in call.kwargs:
            values.append(call.kwargs[name])
        elif with_setup and name in defaults:
            values.append(defaults[name])
        else:
            break
    return tuple(values)


def exact(node: ast.AST) -> bool:
    """Whether a call spells out how many arguments it has."""
    return isinstance(node, ast.Call) and not any(isinstance(a, ast.Starred) for a in node.args)


@function("torch.library.custom_op", "torch.library.triton_op")
def custom_op(machine: Machine, state: State, call: Call) -> Value:
    """An op of the program's own: a decorator, or, where the function is given, the op. Autograd sees the op, and the
    backward that is registered for it, not what its body does.

    @torch.library.custom_op("mine::scale", mutates_args=())
    def scale(x: torch.Tensor) -> torch.Tensor: ...
    scale.register_autograd(backward, setup_context=...)        so `scale(x)` has a graph, whatever the body makes
    """
    return External(CUSTOM) if call.get(1, "fn") == NONE else Unknown("op")
