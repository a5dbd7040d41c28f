"""The backward of a ``torch.autograd.Function``, run where a backward pass reaches its node.

It is the program's own code: it may write what it should not, return too few gradients, or never ask for what forward
saved. Grad mode is off in it, unless the pass was asked for a graph (``create_graph=True``).
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from ....autograd import AutogradState, BackwardResult, NodeVisit, leaf
from ....autograd.gradients.accumulation import written
from ....domain import facets
from ....domain.state import State, in_backward
from ....domain.values import NONE, Const, HeapRef, TensorRef, Tuple, Unknown, Value
from ....engine.machine import Machine
from .arity import Inputs, check_outputs, judged
from .context import noted
from .hazards import altered_since_forward, backward_hazards, kept_on_context, tell_kept
from .syntax import Definition, class_given, parameters


def backward_of(
    machine: Machine,
    state: State,
    definition: Definition,
    outcome: Value,
    inputs: Inputs,
    node: ast.AST,
    exact: bool,
) -> Callable[[AutogradState, NodeVisit], BackwardResult] | None:
    """What runs when a pass reaches the node; None where the class does not say."""
    function = definition.backward
    if function is None:
        return None
    outputs = outcome.items if isinstance(outcome, Tuple) else (outcome,)
    kept = kept_on_context(state, definition, outputs, tuple(value for value, _ in inputs))
    tell_kept(machine.facts, state, definition, kept, node)

    def method(state: State, turn: NodeVisit) -> BackwardResult:
        check_outputs(machine, state, definition, outcome, turn)
        altered_since_forward(machine.facts, state, definition, kept, turn)
        before = {saved.version_counter: state.version(saved.version_counter) for saved in turn.item.saved}
        gradients = [gradient(machine, state, definition, v, turn, i) for i, v in enumerate(outputs)]
        outer = (state.grad_mode, state.inference, state.frame, state.calls, state.iterations)
        state.grad_mode, state.inference = turn.create, False
        machine.node_visits[definition.context.id] = turn
        try:
            arguments = [*class_given(function, definition.kind), definition.context, *gradients]
            result = machine.call(state, function, arguments, {}, turn.node)
        finally:
            del machine.node_visits[definition.context.id]
            state.grad_mode, state.inference, state.frame, state.calls, state.iterations = outer
        backward_hazards(machine.facts, state, definition, turn, before)
        for given in gradients:
            if isinstance(given, TensorRef):
                written(machine.facts, state, turn.order, turn.item, given.id)
        return judged(machine, state, definition, turn, inputs, result, exact)

    return in_backward(method)


def gradient(
    machine: Machine, state: State, definition: Definition, output: Value, turn: NodeVisit, index: int
) -> Value:
    """What backward is given for one output."""
    assert definition.backward is not None
    if isinstance(output, (Const, HeapRef)):
        return NONE
    if noted(state, definition.context, facets.SPARSE):
        return Unknown("gradient")
    made = leaf(state, turn.node, False if turn.create is False else None)
    names = parameters(definition.backward)[1:]
    machine.facts.name(made, names[index] if index < len(names) else "the gradient")
    return TensorRef(made)
