"""The optimizers that a framework steps: what ``configure_optimizers`` of the program's object returns.

def configure_optimizers(self):
    opt = Adam(self.parameters())
    return [opt], [StepLR(opt, 10)]      `opt`; the schedules are not needed
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...domain import facets
from ...domain.completion import ProgramRaised
from ...domain.mro import plain_method
from ...domain.state import State
from ...domain.values import NONE, HeapRef, Mapping, Optimizer, Sequence, Tuple, Value
from ...engine.machine import Machine


def optimizers_of(machine: Machine, state: State, instance: HeapRef, name: str | None, node: ast.AST) -> Value:
    """What a framework trains an object with: asked for once, and kept; None where that is not known."""
    kept = state.attributes(instance.id).get(facets.CONFIGURED_OPTIMIZERS)
    if kept is not None:
        return kept
    method = plain_method(state, instance, name) if name is not None else None
    made: Value = NONE
    if method is not None:
        try:
            made = machine.call(state, method, [], {}, node)
        except ProgramRaised as raised:
            if raised.by_torch:
                raise
    found = list(optimizers_in(state, made))
    made = found[0] if len(found) == 1 else Tuple(tuple(found)) if found else NONE
    state.edit_attributes(instance.id)[facets.CONFIGURED_OPTIMIZERS] = made
    return made


def optimizers_in(state: State, given: Value) -> Iterator[HeapRef]:
    """The optimizers in what ``configure_optimizers`` may give: one, several, each perhaps in a dict with its
    schedule, or a pair of lists, of which the second has the schedules.
    """
    if isinstance(given, HeapRef):
        thing = state.heap[given.id]
        if isinstance(thing, Optimizer):
            yield given
        elif isinstance(thing, Mapping):
            yield from optimizers_in(state, thing.items.get("optimizer", NONE))
        elif isinstance(thing, Sequence):
            yield from optimizers_in(state, Tuple(tuple(thing.items)))
    elif isinstance(given, Tuple):
        for item in given.items:
            yield from optimizers_in(state, item)
