"""``requires_grad`` asked in the forward of a ``Function``.

x = x.contiguous()
if x.requires_grad: ctx.save_for_backward(x)      # False if it was copied: forward runs without grad
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....autograd import ProgramPoint, Stored, StoreKind, Tensor, resolve_view
from ....autograd.events.custom_function import ComputedAskedForGrad
from ....because import NOTHING, guess
from ....domain.state import State
from ....domain.values import Frame, HeapRef, Instance, TensorRef, Value
from ....engine.machine import Machine
from ....frozen import frozen
from ....source import own_nodes
from .context import CONTEXT, function_name


def note_asked(machine: Machine, state: State, tensor: Tensor, node: ast.AST) -> None:
    """Publish that forward decides by ``requires_grad`` of what it computed whether it prepares backward."""
    running = _running_forward(machine, state) if isinstance(node, ast.Attribute) else None
    if running is None:
        return
    assert isinstance(node, ast.Attribute)
    decided = _decided(running.forward, node)
    if decided is None or not any(each.requires_grad for each in running.given.values()):
        return
    if any(tensor.id != key and each.requires_grad for key, each in _others(state, decided.test, running.given)):
        return
    computed, copying = _origin(machine, running, node, tensor)
    if computed is None:
        return
    machine.facts.events.publish(
        ComputedAskedForGrad(
            point=state.point(node),
            function=running.name,
            place=node,
            computed=computed,
            because=guess(f"`{ast.unparse(copying)}` makes a copy") if copying is not None else NOTHING,
        )
    )


@frozen
class RunningForward:
    """The forward of the Function ``name`` that is running, and the tensors that it was given."""

    name: str
    forward: ast.FunctionDef
    given: dict[int, Tensor]


def _running_forward(machine: Machine, state: State) -> RunningForward | None:
    """The innermost running function, if that is the forward of a Function."""
    if state.grad_mode is not False or not machine.context.call_stack:
        return None
    forward, given = machine.context.call_stack[-1]
    context = given[0] if given else None
    if not isinstance(forward, ast.FunctionDef) or not isinstance(context, HeapRef):
        return None
    thing = state.heap[context.id]
    if not isinstance(thing, Instance) or thing.kind != CONTEXT:
        return None
    tensors = {v.id: resolve_view(state, v.id) for v in given[1:] if isinstance(v, TensorRef)}
    return RunningForward(function_name(state, context), forward, tensors)


def _decided(forward: ast.FunctionDef, asked: ast.Attribute) -> ast.If | None:
    """The statement whose condition asks, if it then hands something to backward and does not otherwise."""
    context = forward.args.args[0].arg
    for item in own_nodes(forward):
        if isinstance(item, ast.If) and any(part is asked for part in ast.walk(item.test)):
            plain = not any(isinstance(part, ast.Not) for part in ast.walk(item.test))
            return item if plain and _uses(item.body, context) and not _uses(item.orelse, context) else None
    return None


def _uses(body: list[ast.stmt], context: str) -> bool:
    return any(isinstance(part, ast.Name) and part.id == context for item in body for part in ast.walk(item))


def _others(state: State, test: ast.expr, asked: dict[int, Tensor]) -> Iterator[tuple[int, Tensor]]:
    """The arguments of forward that are named in a condition."""
    frame = state.get(state.frame, Frame)
    for item in ast.walk(test):
        value: Value | None = frame.variables.get(item.id) if isinstance(item, ast.Name) else None
        if isinstance(value, TensorRef) and value.id in asked:
            yield value.id, asked[value.id]


def _origin(
    machine: Machine, running: RunningForward, node: ast.Attribute, tensor: Tensor
) -> tuple[ast.AST | None, ast.AST | None]:
    """Where forward computed a tensor, or rebound an argument; and the conversion that may have copied that."""
    inside = {id(item) for item in own_nodes(running.forward)}
    if tensor.id not in running.given:
        made = tensor.created_at.node
        return (made, None) if tensor.requires_grad is False and id(made) in inside else (None, None)
    copied: ProgramPoint | None = machine.facts.memory.maybe_copied.get(tensor.id)
    stored: tuple[Stored, ...] = machine.facts.origins.stored.get(tensor.id, ())
    name = ast.unparse(node.value)
    kept = [each for each in stored if each.target == name and id(each.statement) in inside]
    if copied is None or not kept or kept[-1].how is StoreKind.ITERATED or isinstance(kept[-1].value, ast.Name):
        return None, None
    return kept[-1].statement, copied.node
