"""Tests on what their own branch stores: where it was run once, it is not run again for all that is known.

    z = self.params[0].item()
    if z < 0:                       # below zero in the first call
        self.params[0] = out.mean()

So what is found only where such a branch runs twice needs that the value it stored lets it run again, which is no
choice between two ways that the program goes.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterable

from ...autograd import Write
from ...domain.state import State
from ...ops import traits_of
from ...source import walk


def is_settled(state: State, terms: Iterable[Hashable], side: tuple[ast.AST, ...]) -> bool:
    """Whether all that a test reads was stored by ``side``, the code that it leads to, in an earlier iteration or
    call.
    """
    asked = [*terms]
    if not asked or not side:
        return False
    inside: set[int] = set()
    for term in asked:
        write = _last_write(state, term)
        if write is None or "stores" not in traits_of(write.op) or _reads_itself(state, write):
            return False
        inside = inside or {id(node) for each in side for node in walk(each)}
        if not any(id(node) in inside for node in (write.point.node, *write.point.calls)):
            return False
    return True


def _last_write(state: State, term: Hashable) -> Write | None:
    """The write that made the contents of a tensor what ``term`` stands for; None for any other term."""
    if not isinstance(term, tuple) or not term or term[0] not in state.tensors:
        return None
    tensor = state.tensors[term[0]]
    chains = (
        state.writes.get(tensor.version_counter),
        state.writes.get(tensor.storage),
        state.untracked_writes.get(tensor.storage),
    )
    found = [each for last in chains if last is not None for each in last.chain() if each.stamp in term[1:]]
    return max(found, key=lambda each: each.stamp, default=None)


def _reads_itself(state: State, write: Write) -> bool:
    """Whether it stores what it has found there (``x[0] += 1`` stores the part that was added to)."""
    written = state.tensors.get(write.tensor)
    return written is not None and any(memory == written.storage for memory, _ in write.given)
