"""The backward of a ``torch.autograd.Function``, run where a backward pass comes to its node.

It is the program's own code: it may write what it should not, return too few gradients, or never ask for what forward
saved. Grad mode is off in it, unless the pass was asked for a graph (``create_graph=True``).
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from ...tape import Gradients, Leaf, Node, State, Turn, leaf
from ...tape.function_events import GradientForNothing, GradientsMiscounted
from ..calls import call_value
from ..machine import Machine, Raised
from ..values import NONE, Const, Function, Mapping, Ref, Sequence, TensorRef, Tuple, Unknown, Value
from .function_context import SPARSE, noted
from .function_hazards import altered_since_forward, backward_hazards, kept_on_context, own_nodes, tell_kept
from .function_parts import Definition

Inputs = tuple[tuple[Value, "Node | Leaf | None"], ...]


def backward_of(
    m: Machine,
    state: State,
    definition: Definition,
    outputs: tuple[Value, ...],
    inputs: Inputs,
    node: ast.AST,
    exact: bool,
) -> Callable[[Any, Turn], Gradients] | None:
    """What runs when a pass comes to the node; None where the class does not say."""
    function = definition.backward
    if function is None:
        return None
    kept = kept_on_context(state, definition, outputs, tuple(value for value, _ in inputs))
    tell_kept(m.tape, state, definition, kept, node)

    def method(state: State, turn: Turn) -> Gradients:
        altered_since_forward(m.tape, state, definition, kept, turn)
        before = {saved.counter: state.version(saved.counter) for saved in turn.item.saved}
        gradients = [gradient(m, state, definition, v, turn, i) for i, v in enumerate(outputs)]
        outer = (state.grad_mode, state.inference, state.frame, state.calls, state.laps)
        state.grad_mode, state.inference = turn.create, False
        m.turns[definition.context.id] = turn
        try:
            result = call_value(m, state, function, [definition.context, *gradients], {}, turn.node)
        finally:
            del m.turns[definition.context.id]
            state.grad_mode, state.inference, state.frame, state.calls, state.laps = outer
        backward_hazards(m.tape, state, definition, turn, before)
        return judged(m, state, definition, function, turn, inputs, result, exact)

    return method


def gradient(m: Machine, state: State, definition: Definition, output: Value, turn: Turn, index: int) -> Value:
    """What backward is given for one output."""
    assert definition.backward is not None
    if isinstance(output, (Const, Ref)):
        return NONE
    if noted(state, definition.context, SPARSE):
        return Unknown("gradient")
    made = leaf(state, turn.node, False if turn.create is False else None)
    spec = definition.backward.node.args
    names = [a.arg for a in (*spec.posonlyargs, *spec.args)][1:]
    m.tape.name(made, names[index] if index < len(names) else "the gradient")
    return TensorRef(made)


def judged(
    m: Machine,
    state: State,
    definition: Definition,
    function: Function,
    turn: Turn,
    inputs: Inputs,
    result: Value,
    exact: bool,
) -> Gradients:
    """One gradient for each argument of forward, None for what needs none: PyTorch counts."""
    everywhere = tuple(dict.fromkeys(edge for _, edge in inputs if edge is not None))
    if isinstance(result, Unknown):
        return Gradients(everywhere, ())
    got = result.items if isinstance(result, Tuple) else (result,)
    if len(got) > len(inputs) and all(item == NONE for item in got[len(inputs) :]):
        got = got[: len(inputs)]
    statement = returned(function.node, len(got))
    spelled = statement is not None and not any(isinstance(part, ast.Starred) for part in ast.walk(statement))
    if not exact or not spelled or function.node.args.vararg is not None and len(got) != len(inputs):
        return Gradients(everywhere, tuple(v.id for v in got if isinstance(v, TensorRef)))
    moment, place = state.moment(turn.node), statement or function.node
    if len(got) != len(inputs):
        m.tape.publish(
            GradientsMiscounted(moment, None, definition.name, len(inputs), len(got), place, definition.forward.node)
        )
        raise Raised(
            "RuntimeError", f"function {definition.name}Backward returned an incorrect number of gradients", True
        )
    for index, (item, (value, _)) in enumerate(zip(got, inputs)):
        if isinstance(item, TensorRef) and no_tensor(state, value):
            m.tape.publish(GradientForNothing(moment, None, definition.name, index, place, definition.forward.node))
            raise Raised("RuntimeError", "returned a gradient different than None", True)
    edges = dict.fromkeys(edge for item, (_, edge) in zip(got, inputs) if edge is not None and item != NONE)
    return Gradients(tuple(edges), tuple(v.id for v in got if isinstance(v, TensorRef)))


def no_tensor(state: State, value: Value) -> bool:
    return isinstance(value, (Const, Tuple)) or (
        isinstance(value, Ref) and isinstance(state.heap[value.id], (Sequence, Mapping))
    )


def returned(definition: ast.AST, count: int) -> ast.AST | None:
    """The ``return`` that gave ``count`` values: the only one, or the first that spells out as many."""
    found = [item for item in own_nodes(definition) if isinstance(item, ast.Return)]
    if len(found) == 1:
        return found[0]
    spelled = [r for r in found if (len(r.value.elts) if isinstance(r.value, ast.Tuple) else 1) == count]
    return spelled[0] if spelled else None
