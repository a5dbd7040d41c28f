"""Why a call of ``backward`` was not followed, and what would help. The file is executed once more, and observed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace

from .. import analysis
from ..analysis import Report
from ..autograd import Facts
from ..engine.observer import Opaque, OpaqueReason
from ..report import Related
from ..source import Source, Span, written
from ..trace.names import places
from .ends_of_paths import CALLED, Scope, last_seen
from .followed_calls import BackwardCall, Cause, Coverage, Following, coverage
from .watcher import Passage, Watcher

CODE = "Code below the folders of the workspace is followed, that of installed packages is not (see follow-installed)."


def explained(report: Report, cancel: Callable[[], bool] | None = None) -> Coverage:
    """What was followed, and why the rest was not. Raises analysis.Cancelled when ``cancel()`` turns true."""
    found = coverage(report)
    if found.followed == len(found.calls):
        return found
    machine = analysis.made(report.source, Facts(), report.inputs)
    watcher = Watcher(machine)
    analysis.executed(machine, cancel)
    return Coverage(tuple(_explained(report, watcher, call) for call in found.calls))


def _explained(report: Report, watcher: Watcher, call: BackwardCall) -> BackwardCall:
    """A call with the cause; one that was executed, but is not known to go backward, has an unknown graph."""
    if call.following is Following.FOLLOWED:
        return call
    passage = _passage(report.source, watcher, call)
    if call.following is Following.UNKNOWN_GRAPH:
        return call if passage is None else replace(call, cause=_unknown(report.source, watcher, passage, call))
    if passage is not None and passage.opaque:
        reason = next(_reasons(report.source, watcher, passage, set()), None)
        return replace(call, following=Following.UNKNOWN_GRAPH, cause=reason)
    return replace(call, cause=_unreached(report, watcher, call))


def _unreached(report: Report, watcher: Watcher, call: BackwardCall) -> Cause:
    """Why no path came to a call: an entry point was cut, an error ends the path, or the code says so."""
    source = report.source
    if _passage(source, watcher, call) is not None:
        here = Related("This statement was executed", source.path, call.span)
        return Cause(f"line {call.span.row} was executed, and the call is not known to go backward", here, CODE)
    around = _functions(source, call.span)
    for notice in report.notices:
        for place in notice.places:
            if place.filename == source.path and any(place.span.row == each.lineno for each in around):
                return Cause(place.message, place, "What takes long to execute is left: see the notice.")
    first = around[-1].lineno if around else 1
    for diagnostic in report.diagnostics:
        at = diagnostic.raised_at.span if diagnostic.raised_at is not None else diagnostic.span
        if diagnostic.raises is not None and first <= at.row < call.span.row:
            where = Related("PyTorch raises here", source.path, at)
            return Cause(f"PyTorch raises before, in line {at.row}", where, "Cure that first: the path ends there.")
    return last_seen(source, watcher, around[-1] if around else None, call.span.row)


def _functions(source: Source, span: Span) -> list[Scope]:
    """The functions around a place, the outermost first."""
    found = (node for node in ast.walk(source.tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
    around = [each for each in found if each.lineno <= span.row <= (each.end_lineno or 0)]
    return sorted(around, key=lambda each: each.lineno)


def _unknown(source: Source, watcher: Watcher, passage: Passage, call: BackwardCall) -> Cause:
    """Where the root of a call became unknown."""
    root = _root_of(passage.statement, source, call)
    if root in passage.reads:
        passage = watcher.made.get(passage.reads[root], Passage(passage.statement, {root: passage.reads[root]}))
    reason = next(_reasons(source, watcher, passage, set()), None)
    if reason is None:
        return Cause(f"nothing is known of the graph of `{root}`", None, CODE)
    depends = f"it depends on `{root}`, which nothing here gives a known value"
    message = f"nothing here gives `{root}` a known value" if reason.message == depends else reason.message
    return Cause(
        message if message is not reason.message else f"`{root}` is unknown: {message}", reason.at, reason.help
    )


def _passage(source: Source, watcher: Watcher, call: BackwardCall) -> Passage | None:
    """How the statement that has a call was executed for the first time."""
    return next((each for each in watcher.passages.values() if _holds(source, each.statement, call.span)), None)


def _root_of(statement: ast.stmt, source: Source, call: BackwardCall) -> str:
    """What a call goes backward from: what it is given, as in ``accelerator.backward(loss)``, or what has it."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and source.span(node) == call.span and node.args:
            return written(node.args[0])
    return call.code.rpartition(".")[0] or call.code


def _holds(source: Source, statement: ast.stmt, span: Span) -> bool:
    """Whether a statement without blocks has the place in it."""
    if not source.holds(statement) or hasattr(statement, "body"):
        return False
    own = source.span(statement)
    return (own.row, own.column) <= (span.row, span.column) and (span.end_row, span.end_column) <= (
        own.end_row,
        own.end_column,
    )


def _reasons(source: Source, watcher: Watcher, passage: Passage, seen: set[Passage]) -> Iterator[Cause]:
    """Where what a statement binds became unknown: before it, in a call of its own, or at the name that it reads."""
    if passage in seen:
        return
    seen.add(passage)
    for opaque in passage.opaque:
        callee = _root(opaque.node)
        if callee in passage.reads and (before := watcher.made.get(passage.reads[callee])) is not None:
            yield from _reasons(source, watcher, before, seen)
        if callee in passage.reads and callee not in _packages(source):
            yield _given(source, callee, passage.statement)
        yield _not_executed(source, opaque)
    for name, key in passage.reads.items():
        before = watcher.made.get(key)
        before = before or _binder(watcher, name, passage.statement, _functions(source, source.span(passage.statement)))
        if before is not None and before not in seen:
            yield from _reasons(source, watcher, before, seen)
        elif before is None:
            yield _given(source, name, passage.statement)


def _binder(watcher: Watcher, name: str, statement: ast.stmt, around: list[Scope]) -> Passage | None:
    """The last statement above another one, in the same function, that binds a name: joined paths have a value that no
    statement has made.
    """
    first = around[-1].lineno if around else 0
    found = (
        each
        for each in watcher.passages.values()
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
