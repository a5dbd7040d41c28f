"""What unknown code can find: what it is given, and what is put into an object of its own.

box["loss"] = loss       `box` is not known
lib.run(box)             may go backward from `loss`
"""

from __future__ import annotations

from collections.abc import Sequence

from ..domain.state import State
from ..domain.traversal import tensors_in
from ..domain.values import External, Value
from .lifecycle import TensorsEscaped
from .machine import Machine

SHOWS = frozenset("csv json logging math matplotlib numpy os pandas pickle sys time tqdm wandb builtins".split())
"""Libraries that show or store numbers, and never walk a graph."""


def is_harmless(value: Value) -> bool:
    """Whether it is of a library that shows or stores numbers, and never walks a graph."""
    return isinstance(value, External) and value.name.partition(".")[0] in SHOWS


def escape(machine: Machine, state: State, tensors: Sequence[int], holder: Value, may_walk: bool = False) -> None:
    """Note that unknown code has ``tensors``, by their ids: ``holder`` is it, or is an object of it. It
    ``may_walk`` their graphs later.
    """
    machine.lifecycle.tensors_escaped.publish(machine, TensorsEscaped(state, tensors, may_walk))
    if not is_harmless(holder):
        state.escaped |= {key for key in tensors if state.tensors[key].grad_fn is not None}


def store_in_unknown(machine: Machine, state: State, owner: Value, value: Value) -> None:
    """A value is put into an unknown object, as an item or as an attribute."""
    if given := list(tensors_in(state, value)):
        escape(machine, state, given, owner, may_walk=True)
