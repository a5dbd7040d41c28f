"""Statements behind one that raises: nothing is known of them, and the hover says why.

d_loss.backward()     raises
opt.step()            not reached: `d_loss.backward()` (line 12) raises before it

That is said where no path got behind the statement that raises, and none was given up. What raises in a call ends what
is behind the call as well.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ..autograd.events.graph_walks import Event
from ..recording import Recording
from ..source import walk

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def describe(record: Recording, tree: ast.Module, around: Sequence[ast.AST]) -> list[str] | None:
    """Why the statement at the cursor is not reached; None where it is, or where that has another reason. ``around``
    are the nodes around the cursor, outermost first.
    """
    event = raised_before(record, tree, around) if record.is_complete else None
    return [f"**not reached**: {in_words(record, event)}"] if event is not None else None


def in_words(record: Recording, event: Event) -> str:
    """Why nothing behind an event is reached."""
    return f"{record.at(event.point.node)} raises before it"


def raised_before(record: Recording, tree: ast.Module, around: Sequence[ast.AST]) -> Event | None:
    """What raises before the innermost statement ``around`` a place; None where that is reached, or nothing raises."""
    raised: dict[ast.AST, Event] = {}
    for event in record.events:
        if event.raises:
            raised.update((node, event) for node in (event.point.node, *event.point.calls) if node not in raised)
    for owner, statement in _ways(tree, around) if raised else ():
        if statement in record.visits.first:
            return None
        cause = _before(record, raised, _block(owner, statement), statement)
        if cause is not None:
            return cause
    return None


def _ways(tree: ast.Module, around: Sequence[ast.AST]) -> Iterator[tuple[ast.AST, ast.stmt]]:
    """The statements around the cursor in the scope that it is in, each with what it stands in, innermost first."""
    pairs = [(owner, node) for owner, node in pairwise([tree, *around]) if isinstance(node, ast.stmt)]
    for owner, node in reversed(pairs):
        yield owner, node
        if isinstance(owner, SCOPES):
            return


def _block(owner: ast.AST, statement: ast.stmt) -> list[ast.stmt]:
    """The statements that are executed one after the other, ``statement`` among them."""
    parts = (getattr(owner, name, []) for name in ("body", "orelse", "finalbody"))
    return next((part for part in parts if statement in part), [statement])


def _before(
    record: Recording, raised: dict[ast.AST, Event], block: list[ast.stmt], statement: ast.stmt
) -> Event | None:
    """What raised in the last statement of ``block`` before ``statement`` that was executed."""
    for earlier in reversed(block[: block.index(statement)]):
        found = {raised[part] for part in walk(earlier) if part in raised}
        if found:
            return next(event for event in record.events if event in found)
        if earlier in record.visits.first:
            return None
    return None
