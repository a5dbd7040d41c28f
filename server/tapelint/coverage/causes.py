"""Why a call of ``backward`` was not followed, and what would help. The file is executed once more, and observed.

Where the paths ended that did not reach a statement: at a test, a return, an error.

if mode == "train":     # the test in line 1 is never true
    loss.backward()

Which calls of ``backward`` in a file were followed: silence about the others says nothing.

3 of 3 backward calls followed
0 of 61 backward calls followed: `loss` is unknown after `unet(...)`, which comes from `diffusers`
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from enum import Enum
from typing import TypeAlias

from ..analysis import Report
from ..engine.machine import place_of
from ..engine.observer import DecideReason, Opaque, OpaqueReason
from ..frozen import frozen
from ..hover.cursor import at_cursor
from ..hover.unreached import in_words, raised_before
from ..recording import Recording
from ..recording.record import Visit, Visits
from ..recording.wording import places
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


Scope: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
CALLED = "A call with a tensor that is made in this file, or in one that it imports, would be followed."
DECIDED = "The file itself decides that. Where it comes from outside, as an argument does, both ways are followed."
OPTIONS = "Two options at most are followed together with other values than their defaults."
LEFT = "Only what stands before that line is executed."
RAISED = "The path ends there, unless something catches what is raised."
ENDED = "What is called there raises, ends the program, or never returns."


Owner: TypeAlias = ast.stmt | ast.ExceptHandler | ast.match_case
"""What a block belongs to."""


def last_seen(source: Source, visits: Visits, scope: Scope | None, row: int) -> Cause:
    """How far the paths came in a function, or in the file itself, on the way to the statement in ``row``."""
    block: Sequence[ast.stmt] = source.tree.body if scope is None else scope.body
    if block[0] not in visits.first:
        return Cause("nothing was executed" if scope is None else f"`{scope.name}` was not executed", None, CALLED)
    while True:
        inside = next((each for each in block if each.lineno <= row <= (each.end_lineno or 0)), block[-1])
        deeper = next(((owner, body) for owner, body in _blocks(inside) if _is_in(row, body)), None)
        if inside not in visits.first or deeper is None:
            return _ended(source, visits, scope, block[0].lineno, inside.lineno)
        owner, block = deeper
        if block[0] not in visits.first:
            return _not_entered(source, visits, inside, owner, block)


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


def _not_entered(source: Source, visits: Visits, statement: ast.stmt, owner: Owner, block: Sequence[ast.stmt]) -> Cause:
    """Why the ``block`` of a statement that was executed was not."""
    line = f"line {statement.lineno}"
    decided_here = Related("It is decided here", source.path, source.span(statement))
    match owner:
        case ast.If(test=test) | ast.While(test=test) if visits.decided.get(test) == {DecideReason.SUPPOSED}:
            return Cause(f"the test in {line} asks for more than two options at once", decided_here, OPTIONS)
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
    return Cause(message, decided_here, DECIDED)


def _ended(source: Source, visits: Visits, scope: Scope | None, first: int, row: int) -> Cause:
    """What ended the paths between two rows: the last statement that was executed there."""
    passed = [each for each in visits.first if source.holds(each) and first <= each.lineno < row]
    last = max(passed, key=lambda each: each.lineno, default=None)
    if last is None:
        return Cause("no path reaches it", None, ENDED)
    line = f"line {last.lineno}"
    match last:
        case ast.Return():
            who = f"`{scope.name}`" if scope is not None else "a function"
            message, advice = f"{who} returns before it, in {line}", LEFT
        case ast.Raise():
            message, advice = f"{line} raises before it", RAISED
        case ast.Continue() | ast.Break():
            message, advice = f"{line} leaves the block before it", LEFT
        case _:
            message, advice = f"no path goes on after {line}", ENDED
    at = Related("The last statement that was executed before it", source.path, source.span(last))
    return Cause(message, at, advice)


CODE = "Code below the folders of the workspace is followed, that of installed packages is not (see follow-installed)."


def explained(report: Report, cancel: Callable[[], bool] | None = None) -> Coverage:
    """What was followed, and why the rest was not. Raises analysis.Cancelled when ``cancel()`` turns true."""
    found = coverage(report)
    if found.followed == len(found.calls):
        return found
    recording = Recording(report.source)
    recording.execute(report.inputs, cancel)
    return Coverage(tuple(_explained(report, recording, call) for call in found.calls))


def _explained(report: Report, recording: Recording, call: BackwardCall) -> BackwardCall:
    """A call with the cause; one that was executed, but is not known to go backward, has an unknown graph."""
    if call.following is Following.FOLLOWED:
        return call
    visits = recording.visits
    visit = _visit(report.source, visits, call)
    if call.following is Following.UNKNOWN_GRAPH:
        return call if visit is None else replace(call, cause=_unknown(report.source, visits, visit, call))
    if visit is not None and visit.opaque:
        reason = next(_reasons(report.source, visits, visit, set()), None)
        return replace(call, following=Following.UNKNOWN_GRAPH, cause=reason)
    return replace(call, cause=_unreached(report, recording, call))


def _unreached(report: Report, recording: Recording, call: BackwardCall) -> Cause:
    """Why no path came to a call: an entry point was cut, an error ends the path, or the code says so."""
    source = report.source
    if _visit(source, recording.visits, call) is not None:
        here = Related("This statement was executed", source.path, call.span)
        return Cause(f"line {call.span.row} was executed, and the call is not known to go backward", here, CODE)
    around = _functions(source, call.span)
    for notice in report.notices:
        for place in notice.places:
            if place.filename == source.path and any(place.span.row == each.lineno for each in around):
                return Cause(place.message, place, "What takes long to execute is left: see the notice.")
    event = raised_before(recording, source.tree, _around(source, call.span))
    if event is not None:
        where = _place(source, event.point.node, "PyTorch raises here")
        return Cause(in_words(recording, event), where, "Cure that first: the path ends there.")
    return last_seen(source, recording.visits, around[-1] if around else None, call.span.row)


def _functions(source: Source, span: Span) -> list[Scope]:
    """The functions around a place, the outermost first."""
    return [each for each in _around(source, span) if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))]


def _around(source: Source, span: Span) -> list[ast.AST]:
    """The nodes around the beginning of a place, outermost first."""
    return at_cursor(source, span.row, span.column)


def _unknown(source: Source, visits: Visits, visit: Visit, call: BackwardCall) -> Cause:
    """Where the root of a call became unknown."""
    root = _root_of(visit.statement, source, call)
    if root in visit.unknown:
        visit = visits.made.get(visit.unknown[root], Visit(visit.statement, {root: visit.unknown[root]}))
    reason = next(_reasons(source, visits, visit, set()), None)
    if reason is None:
        return Cause(f"nothing is known of the graph of `{root}`", None, CODE)
    depends = f"it depends on `{root}`, which nothing here gives a known value"
    message = f"nothing here gives `{root}` a known value" if reason.message == depends else reason.message
    return Cause(
        message if message is not reason.message else f"`{root}` is unknown: {message}", reason.at, reason.help
    )


def _visit(source: Source, visits: Visits, call: BackwardCall) -> Visit | None:
    """How the statement that has a call was executed for the first time."""
    statements = [each for each in _around(source, call.span) if isinstance(each, ast.stmt)]
    return visits.first.get(statements[-1]) if statements else None


def _root_of(statement: ast.stmt, source: Source, call: BackwardCall) -> str:
    """What a call goes backward from: what it is given, as in ``accelerator.backward(loss)``, or what has it."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and source.span(node) == call.span and node.args:
            return written(node.args[0])
    return call.code.rpartition(".")[0] or call.code


def _reasons(source: Source, visits: Visits, visit: Visit, seen: set[Visit]) -> Iterator[Cause]:
    """Where what a statement binds became unknown: before it, in a call of its own, or at the name that it reads."""
    if visit in seen:
        return
    seen.add(visit)
    for opaque in visit.opaque:
        callee = _root(opaque.node)
        if callee in visit.unknown and (before := visits.made.get(visit.unknown[callee])) is not None:
            yield from _reasons(source, visits, before, seen)
        if callee in visit.unknown and callee not in _packages(source):
            yield _given(source, callee, visit.statement)
        yield _not_executed(source, opaque)
    for name, key in visit.unknown.items():
        before = visits.made.get(key)
        before = before or _binder(visits, name, visit.statement, _functions(source, source.span(visit.statement)))
        if before is not None and before not in seen:
            yield from _reasons(source, visits, before, seen)
        elif before is None:
            yield _given(source, name, visit.statement)


def _binder(visits: Visits, name: str, statement: ast.stmt, around: list[Scope]) -> Visit | None:
    """The last statement above another one, in the same function, that binds a name: joined paths have a value that no
    statement has made.
    """
    first = around[-1].lineno if around else 0
    found = (
        each
        for each in visits.first.values()
        if first < each.statement.lineno < statement.lineno and name in places(each.statement)[0]
    )
    return max(found, key=lambda each: each.statement.lineno, default=None)


def _root(node: ast.AST) -> str:
    """The name that what is called begins with."""
    inner: ast.AST = node
    while not isinstance(inner, ast.Name):
        match inner:
            case ast.Call(func=below) | ast.Attribute(value=below) | ast.Subscript(value=below):
                inner = below
            case _:
                return ""
    return inner.id


def _not_executed(source: Source, opaque: Opaque) -> Cause:
    code = written(opaque.node.func if isinstance(opaque.node, ast.Call) else opaque.node)
    at = _place(source, opaque.node, "This call is not executed")
    package = _packages(source).get(_root(opaque.node), "")
    if opaque.reason is OpaqueReason.UNKNOWN and package:
        return Cause(f"nothing is known of `{code}`, which comes from `{package}`", at, CODE)
    return Cause(f"`{code}` is not executed: {opaque.reason.value}", at, CODE)


def _given(source: Source, name: str, statement: ast.stmt) -> Cause:
    at = _place(source, statement, f"`{name}` is read here")
    package = _packages(source).get(name.partition(".")[0], "")
    if package:
        return Cause(f"nothing is known of `{name}`, which comes from `{package}`", at, CODE)
    return Cause(f"it depends on `{name}`, which nothing here gives a known value", at, CALLED)


def _place(source: Source, node: ast.AST, message: str) -> Related | None:
    return Related(message, source.path, source.span(node)) if source.holds(node) else None


def _packages(source: Source) -> dict[str, str]:
    """The package that each imported name comes from."""
    found: dict[str, str] = {}
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ImportFrom):
            package = "." * node.level + (node.module or "")
            found |= {alias.asname or alias.name: package for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.asname or alias.name.partition(".")[0]: alias.name for alias in node.names}
    return found
