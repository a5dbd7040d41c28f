"""How many gradients a ``torch.autograd.Function`` takes and gives: one for each output, one for each argument.

Only what the program spells out is counted: a tuple with its elements, a call with its arguments.
"""

from __future__ import annotations

import ast
from typing import NoReturn

from ....autograd import BackwardResult, Leaf, Node, NodeVisit, ProgramPoint
from ....autograd.events.custom_function import (
    GradientForNothing,
    GradientsMiscounted,
    OnlyIgnoredOutputs,
    OutputsMiscounted,
)
from ....domain.completion import ProgramRaised
from ....domain.state import State
from ....domain.values import NONE, Const, Function, HeapRef, Mapping, Sequence, TensorRef, Tuple, Unknown, Value
from ....engine.machine import Machine
from ....source import own_nodes
from .hazards import ignored
from .syntax import Definition, parameters

Inputs = tuple[tuple[Value, "Node | Leaf | None"], ...]


def check_outputs(machine: Machine, state: State, definition: Definition, result: Value, turn: NodeVisit) -> None:
    """Whether backward takes a gradient for each output, and looks at one of those that a pass came by."""
    function = definition.backward
    assert function is not None
    values = result.items if isinstance(result, Tuple) else (result,)
    spec = function.node.args
    if not isinstance(function.node, ast.FunctionDef) or spec.vararg is not None:
        return
    if spelled(state, definition.forward, result) is None:
        return
    names = parameters(function)[1:]
    if not len(names) - len(spec.defaults) <= len(values) <= len(names):
        event = OutputsMiscounted(
            point=state.point(turn.node),
            function=definition.name,
            outputs=len(values),
            accepted=len(names),
            definition=function.node,
        )
        machine.facts.events.publish(event)
        raise ProgramRaised(
            "TypeError", f"{definition.name}.backward() takes {len(names) + 1} positional arguments", True
        )
    if len(values) == len(turn.item.results):
        _check_use(machine, state, definition, names, turn)


def _check_use(machine: Machine, state: State, definition: Definition, names: list[str], turn: NodeVisit) -> None:
    """Whether a pass came by outputs alone whose gradients backward never looks at; ``names`` are its parameters.
    An output that may be integers, such as what unknown code returned, may have no gradient that it could ignore. By
    which outputs an imagined caller goes backward nobody knows.
    """
    if machine.unit.is_latent:
        return
    function, results = definition.backward, turn.item.results
    assert function is not None and isinstance(function.node, ast.FunctionDef)
    unread = {index for index, name in enumerate(names[: len(results)]) if ignored(function, name)}
    if not 0 < len(unread) < len(results):
        return
    used = turn.users()
    came = [index for index, key in enumerate(results) if key in used]
    if came and unread.issuperset(came) and all(state.tensors[results[each]].kind == "float" for each in came):
        machine.facts.events.publish(
            OnlyIgnoredOutputs(
                point=state.point(turn.node),
                function=definition.name,
                output=results[came[0]],
                parameter=names[came[0]],
                definition=function.node,
            )
        )


def judged(
    machine: Machine, state: State, definition: Definition, turn: NodeVisit, inputs: Inputs, result: Value, exact: bool
) -> BackwardResult:
    """What backward returned: one gradient for each argument of forward, None for what needs none."""
    function = definition.backward
    assert function is not None
    everywhere = tuple(dict.fromkeys(edge for _, edge in inputs if edge is not None))
    if isinstance(result, Unknown):
        return BackwardResult(everywhere, ())
    got = result.items if isinstance(result, Tuple) else (result,)
    made = tuple(v.id for v in got if isinstance(v, TensorRef))
    place = spelled(state, function, result)
    if place is None or not exact or isinstance(result, HeapRef) and len(inputs) == 1:
        return BackwardResult(everywhere, made)
    return BackwardResult(_counted_edges(machine, state, definition, turn, inputs, got, place), made)


def _counted_edges(
    machine: Machine,
    state: State,
    definition: Definition,
    turn: NodeVisit,
    inputs: Inputs,
    got: tuple[Value, ...],
    place: ast.AST,
) -> tuple[Node | Leaf, ...]:
    """The edges along which backward sends a gradient, once what it returned fits the arguments of forward. PyTorch
    lets it return more if the rest is None.
    """
    if len(got) > len(inputs) and all(item == NONE for item in got[len(inputs) :]):
        got = got[: len(inputs)]
    point = state.point(turn.node)
    if len(got) != len(inputs):
        _refuse_count(machine, point, definition, inputs, len(got), place)
    _check_kinds(machine, state, point, definition, inputs, got, place)
    return tuple(dict.fromkeys(edge for item, (_, edge) in zip(got, inputs) if edge is not None and item != NONE))


def _refuse_count(
    machine: Machine, point: ProgramPoint, definition: Definition, inputs: Inputs, count: int, place: ast.AST
) -> NoReturn:
    """Backward returned ``count`` gradients, which are not as many as forward has arguments."""
    left = enumerate(inputs[count:], count)
    needed = next((definition.parameter(i) for i, (_, edge) in left if edge is not None), None)
    forward = definition.forward.node
    machine.facts.events.publish(
        GradientsMiscounted(
            point=point,
            function=definition.name,
            expected=len(inputs),
            got=count,
            place=place,
            definition=forward,
            needed=needed,
        )
    )
    raise ProgramRaised("RuntimeError", "returned an incorrect number of gradients", True)


def _check_kinds(
    machine: Machine,
    state: State,
    point: ProgramPoint,
    definition: Definition,
    inputs: Inputs,
    got: tuple[Value, ...],
    place: ast.AST,
) -> None:
    """Backward must return None for an argument that is no tensor. What unknown code returned may be None."""
    for index, (item, (value, _)) in enumerate(zip(got, inputs)):
        if isinstance(item, TensorRef) and not state.tensors[item.id].assumption and is_no_tensor(state, value):
            name = definition.parameter(index)
            machine.facts.events.publish(
                GradientForNothing(point=point, function=definition.name, index=index, argument=name, place=place)
            )
            raise ProgramRaised("RuntimeError", "returned a gradient different than None", True)


def is_no_tensor(state: State, value: Value) -> bool:
    if isinstance(value, HeapRef):
        return isinstance(state.heap[value.id], (Sequence, Mapping))
    return isinstance(value, (Const, Tuple))


def spelled(state: State, function: Function, result: Value) -> ast.AST | None:
    """The ``return`` that gave ``result``, if it shows how many values that are; the function where it has ended
    without one.
    """
    count = len(result.items) if isinstance(result, Tuple) else 1
    for item in own_nodes(function.node):
        if not isinstance(item, ast.Return):
            continue
        if isinstance(item.value, ast.Tuple):
            if isinstance(result, Tuple) and len(item.value.elts) == count and not has_star(item.value):
                return item
        elif isinstance(result, HeapRef) and isinstance(item.value, ast.List):
            return item  # a list is one value
        elif isinstance(result, Const) or isinstance(result, TensorRef) and not state.tensors[result.id].assumption:
            return item
    return function.node if result == NONE else None


def has_star(display: ast.Tuple) -> bool:
    return any(isinstance(element, ast.Starred) for element in display.elts)
