"""Where the paths ended that did not reach a statement: at a test, a return, an error.

if mode == "train":     # the test in line 1 is never true
    loss.backward()
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from ..report import Related
from ..source import Source
from .followed_calls import Cause
from .watcher import Watcher

Scope: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
CALLED = "A call with a tensor that is made in this file, or in one that it imports, would be followed."
DECIDED = "The file itself decides that. Where it comes from outside, as an argument does, both ways are followed."
LEFT = "Only what stands before that line is executed."
RAISED = "The path ends there, unless something catches what is raised."
ENDED = "What is called there raises, ends the program, or never returns."


Owner: TypeAlias = ast.stmt | ast.ExceptHandler | ast.match_case
"""What a block belongs to."""


def last_seen(source: Source, watcher: Watcher, scope: Scope | None, row: int) -> Cause:
    """How far the paths came in a function, or in the file itself, on the way to the statement in ``row``."""
    block: Sequence[ast.stmt] = source.tree.body if scope is None else scope.body
    if block[0] not in watcher.passages:
        return Cause("nothing was executed" if scope is None else f"`{scope.name}` was not executed", None, CALLED)
    while True:
        inside = next((each for each in block if each.lineno <= row <= (each.end_lineno or 0)), block[-1])
        deeper = next(((owner, body) for owner, body in _blocks(inside) if _is_in(row, body)), None)
        if inside not in watcher.passages or deeper is None:
            return _ended(source, watcher, scope, block[0].lineno, inside.lineno)
        owner, block = deeper
        if block[0] not in watcher.passages:
            return _not_entered(source, inside, owner, block)


def _blocks(statement: ast.stmt) -> Iterator[tuple[Owner, Sequence[ast.stmt]]]:
    """The blocks of a statement, each with what it belongs to."""
    owners: list[Owner] = [statement]
    match statement:
        case ast.Try(handlers=parts):
            owners += parts
        case ast.Match(cases=cases):
            owners += cases
    for owner in owners:
        for name in ("body", "orelse", "finalbody"):
            if block := getattr(owner, name, ()):
                yield owner, block


def _is_in(row: int, block: Sequence[ast.stmt]) -> bool:
    return block[0].lineno <= row <= (block[-1].end_lineno or 0)


def _not_entered(source: Source, statement: ast.stmt, owner: Owner, block: Sequence[ast.stmt]) -> Cause:
    """Why the ``block`` of a statement that was executed was not."""
    line = f"line {statement.lineno}"
    match owner:
        case ast.If(body=body) | ast.While(body=body):
            message = f"the test in {line} is {'never' if block is body else 'always'} true"
        case ast.For(body=body) | ast.AsyncFor(body=body) if block is body:
            message = f"the loop in {line} has nothing to run over"
        case ast.ExceptHandler():
            message = f"nothing is caught of what the `try` in {line} does"
        case ast.match_case():
            message = f"the pattern in line {owner.pattern.lineno} never matches"
        case _:
            message = f"no path goes on after {line}"
    return Cause(message, Related("It is decided here", source.path, source.span(statement)), DECIDED)


def _ended(source: Source, watcher: Watcher, scope: Scope | None, first: int, row: int) -> Cause:
    """What ended the paths between two rows: the last statement that was executed there."""
    passed = [each for each in watcher.passages if source.holds(each) and first <= each.lineno < row]
    last = max(passed, key=lambda each: each.lineno, default=None)
    if last is None:
        return Cause("no path reaches it", None, ENDED)
    line = f"line {last.lineno}"
    match last:
        case ast.Return():
            message, advice = f"`{scope.name if scope is not None else ''}` returns before it, in {line}", LEFT
        case ast.Raise():
            message, advice = f"{line} raises before it", RAISED
        case ast.Continue() | ast.Break():
            message, advice = f"{line} leaves the block before it", LEFT
        case _:
            message, advice = f"no path goes on after {line}", ENDED
    at = Related("The last statement that was executed before it", source.path, source.span(last))
    return Cause(message, at, advice)
