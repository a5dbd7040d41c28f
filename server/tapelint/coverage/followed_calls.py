"""Which calls of ``backward`` in a file were followed: silence about the others says nothing.

3 of 3 backward calls followed
0 of 61 backward calls followed: `loss` is unknown after `unet(...)`, which comes from `diffusers`
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from enum import Enum

from ..analysis import Report
from ..engine.machine import place_of
from ..frozen import frozen
from ..report import Related
from ..source import Source, Span, written

METHOD = "backward"
"""What tensors, and wrappers of them, call it. Other ways to go backward count where they were executed."""


class Following(Enum):
    """How far an analysis has come with a call of ``backward``."""

    FOLLOWED = "followed"
    UNKNOWN_GRAPH = "unknown graph"
    NOT_REACHED = "not reached"


@frozen
class Cause:
    """Why a call was not followed, and what would help; ``at`` is the place to look at."""

    message: str
    at: Related | None = None
    help: str = ""


@frozen
class BackwardCall:
    """A call of ``backward`` in the checked file."""

    code: str
    span: Span
    following: Following
    cause: Cause | None = None
    # Where it ends, as analyses of other files know it (``engine.machine.place_of``).
    end: tuple[int, int] = (0, 0)

    def __repr__(self) -> str:
        return f"{self.span.row}: {self.code} {self.following.value}{f': {self.cause.message}' if self.cause else ''}"


@frozen
class Coverage:
    """All calls of ``backward`` in a file, in reading order."""

    calls: tuple[BackwardCall, ...]

    @property
    def followed(self) -> int:
        """How many of them were executed with a graph that is known."""
        return sum(call.following is Following.FOLLOWED for call in self.calls)

    @property
    def sentence(self) -> str:
        """All of it in a line, with the cause of most of what is missing; empty where the file never goes backward."""
        if not self.calls:
            return ""
        count = len(self.calls)
        said = f"{self.followed} of {count} backward call{'' if count == 1 else 's'} followed"
        cause = self.main_cause
        return f"{said}: {cause.message}" if cause is not None else said

    @property
    def main_cause(self) -> Cause | None:
        """Why most of what is missing was not followed."""
        causes = [call.cause for call in self.calls if call.cause is not None]
        messages = [cause.message for cause in causes]
        return max(causes, key=lambda cause: messages.count(cause.message), default=None)

    @property
    def missed(self) -> frozenset[tuple[int, int]]:
        """Where the calls end that were not followed."""
        return frozenset(call.end for call in self.calls if call.following is not Following.FOLLOWED)


def coverage(report: Report) -> Coverage:
    """What was followed, as the report knows it; no causes, which take another execution (``causes.explained``)."""
    source, found = report.source, []
    raised = [each.raised_at.span if each.raised_at else each.span for each in report.diagnostics if each.raises]
    for node in _calls(source, {place[1:] for place in report.walks if place[0] in ("", report.path)}):
        walks = [report.walks.get(place_of(path, node)) for path in ("", report.path)]
        reached = [is_known for is_known in walks if is_known is not None]
        following = Following.NOT_REACHED if not reached else Following.UNKNOWN_GRAPH
        span = source.span(node)
        if any(reached) or reached and any(span.row <= at.row <= span.end_row for at in raised):
            following = Following.FOLLOWED  # what PyTorch raises there is known
        found.append(BackwardCall(written(node.func), span, following, end=place_of("", node)[1:]))
    return Coverage(tuple(sorted(found, key=lambda call: call.span)))


def _calls(source: Source, walked: set[tuple[int, int]]) -> Iterator[ast.Call]:
    """The calls that go backward by their name, and those that did when they were executed."""
    own = set(_of_own_classes(source.tree))
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call):
            is_named = isinstance(node.func, ast.Attribute) and node.func.attr == METHOD
            if is_named and node not in own or place_of("", node)[1:] in walked:
                yield node


def _of_own_classes(tree: ast.Module) -> Iterator[ast.Call]:
    """The calls of a method that a class in the file defines: what that one does counts where it does it."""
    for scope in ast.walk(tree):
        if not isinstance(scope, ast.ClassDef) or METHOD not in {getattr(each, "name", "") for each in scope.body}:
            continue
        for method in scope.body:
            spec = method.args if isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef)) else None
            given = [*spec.posonlyargs, *spec.args][:1] if spec is not None else []
            for node in ast.walk(method):
                match node:
                    case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=called)) if called == METHOD:
                        if any(each.arg == name for each in given):
                            yield node
