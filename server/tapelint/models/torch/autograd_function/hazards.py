"""What a ``torch.autograd.Function`` does that PyTorch does not look at, or only later: published to the rules as
events.
"""

from __future__ import annotations

import ast
from typing import Literal

from ....autograd import Facts, NodeVisit, Write, resolve_view
from ....autograd.events.custom_function import (
    KeptTensorAltered,
    SavedThenWritten,
    SavedWrittenInBackward,
    TensorKeptOnContext,
)
from ....autograd.facts import Unmarked
from ....domain import facets
from ....domain.state import State
from ....domain.values import Const, Function, TensorRef, Value
from ....frozen import frozen
from ....source import own_nodes
from .context import kept_otherwise, noted, tensors_noted
from .syntax import Definition, Given, context_name, is_attribute


@frozen
class KeptOnContext:
    """A tensor that forward put on the context as ``attribute``, with the version it had in the end."""

    attribute: str
    tensor: int
    counter: int
    version: int
    role: Literal["input", "output"]


def forward_hazards(facts: Facts, state: State, definition: Definition, given: Given, node: ast.AST) -> None:
    """What forward wrote: inputs that it did not mark dirty, and inputs that it had saved before."""
    dirty = tensors_noted(state, definition.context, facets.DIRTY)
    marked = {resolve_view(state, key).version_counter for key in dirty}
    for index, value in enumerate(given.values):
        tensor = given.tensors.get(value.id) if isinstance(value, TensorRef) else None
        write = state.writes.get(tensor.version_counter) if tensor is not None else None
        if tensor is None or write is None or tensor.version_counter in marked:
            continue
        culprit = write.since(given.versions[tensor.id])
        name = definition.parameter(index)
        if culprit is not None and tensor.requires_grad and tensor.grad_fn is not None:
            found = Unmarked(definition.name, name, tensor.grad_fn, culprit, state.point(node))
            facts.memory.unmarked[tensor.version_counter] = found
        _tell_saved_before(facts, state, definition, tensor.id, name, write, node)


def _tell_saved_before(
    facts: Facts, state: State, definition: Definition, tensor: int, name: str, write: Write, node: ast.AST
) -> None:
    """Publish that forward wrote the input ``name`` after it had saved it."""
    place = called_at(definition.preparing, "save_for_backward")
    for asked in noted(state, definition.context, facets.ASKED):
        assert isinstance(asked, Const)
        key, then = asked.value
        since = write.since(then) if key == tensor else None
        if since is not None and place is not None:
            facts.events.publish(
                SavedThenWritten(
                    point=state.point(node),
                    function=definition.name,
                    tensor=key,
                    argument=name,
                    write=since,
                    place=place,
                )
            )


def kept_on_context(
    state: State, definition: Definition, outputs: tuple[Value, ...], inputs: tuple[Value, ...]
) -> tuple[KeptOnContext, ...]:
    """Inputs and outputs that forward put on the context itself, where no code watches over them."""
    found: list[KeptOnContext] = []
    for attribute, key in kept_otherwise(state, definition.context).items():
        record = resolve_view(state, key)
        own = {v.id for v in outputs if isinstance(v, TensorRef)}
        given = {v.id for v in inputs if isinstance(v, TensorRef)}
        if key in given:
            role: Literal["input", "output"] = "input"
        elif key in own or record.base in own:
            role = "output"
        else:
            continue
        found.append(KeptOnContext(attribute, key, record.version_counter, state.version(record.version_counter), role))
    return tuple(found)


def tell_kept(
    facts: Facts, state: State, definition: Definition, kept: tuple[KeptOnContext, ...], node: ast.AST
) -> None:
    for item in kept:
        place = stored_at(definition.preparing, item.attribute)
        if place is not None:
            facts.events.publish(
                TensorKeptOnContext(
                    point=state.point(node),
                    function=definition.name,
                    tensor=item.tensor,
                    attribute=item.attribute,
                    role=item.role,
                    place=place,
                )
            )


def altered_since_forward(
    facts: Facts, state: State, definition: Definition, kept: tuple[KeptOnContext, ...], turn: NodeVisit
) -> None:
    """Backward is about to use what was kept on the context, and some code wrote it meanwhile: no version is
    checked.
    """
    assert definition.backward is not None
    for item in kept:
        write = state.writes.get(item.counter)
        culprit = write.since(item.version) if write is not None else None
        place = stored_at(definition.preparing, item.attribute)
        if culprit is not None and place is not None and read_in(definition.backward, item.attribute):
            facts.events.publish(
                KeptTensorAltered(
                    point=state.point(turn.node),
                    function=definition.name,
                    tensor=item.tensor,
                    attribute=item.attribute,
                    place=place,
                    write=culprit,
                )
            )


def backward_hazards(
    facts: Facts, state: State, definition: Definition, turn: NodeVisit, before: dict[int, int]
) -> None:
    """What backward wrote although the node, or other code, may need it again."""
    for saved in turn.item.saved:
        write = state.writes.get(saved.version_counter)
        culprit = write.since(before[saved.version_counter]) if write is not None else None
        if culprit is not None:
            facts.memory.inside[culprit.stamp] = turn.item
            facts.events.publish(
                SavedWrittenInBackward(
                    point=state.point(turn.node), function=definition.name, saved=saved, write=culprit, node=turn.item
                )
            )


def stored_at(method: Function, attribute: str) -> ast.Assign | None:
    """Where a method assigns this attribute of its context."""
    context = context_name(method)
    for item in own_nodes(method.node):
        if isinstance(item, ast.Assign) and any(
            is_attribute(part, context, attribute) for t in item.targets for part in ast.walk(t)
        ):
            return item
    return None


def called_at(method: Function, name: str) -> ast.Call | None:
    """Where a method calls this method of its context."""
    context = context_name(method)
    for item in own_nodes(method.node):
        if isinstance(item, ast.Call) and is_attribute(item.func, context, name):
            return item
    return None


def ignored(method: Function, name: str) -> bool:
    """Whether a method never reads its parameter ``name``."""
    return not any(isinstance(item, ast.Name) and item.id == name for item in ast.walk(method.node))


def read_in(method: Function, attribute: str) -> bool:
    context = context_name(method)
    return any(is_attribute(item, context, attribute) for item in own_nodes(method.node))
