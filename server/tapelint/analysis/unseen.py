"""What an analysis could not look at, in words: from the steps it took to notices.

    `train` (line 12) and `Model.fit` (line 80) were followed in part (2 of 7 functions)
    The script (up to line 89) was followed in part; `test` (line 95) was not followed at all (1 of 7 functions)

The functions are those that nothing in the file calls, the entry points beside the script (``drivers.entry``). Rows are
looked up when the words are made: a step that an edit has left alone keeps its nodes, and these know their new rows.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ..engine.analysis_unit import AnalysisUnit
from ..engine.statistics import Ended, Lost
from ..fault import Fault
from ..frozen import frozen
from ..headline import LONGEST, capitalized, headline
from ..report import Kind, Notice, Related
from ..report.notice import FAULTY, START, internal
from ..source import Source, Span, cell_at, written
from .locations import Files

FEW = 6
"""At most so many names stand in a message, and no more than fit; all of them are its places."""
BEYOND = "What comes after that was not seen: a hazard there is not reported."
REST = "the rest of the file was checked"
WITHOUT = "What stands there was not seen, and what it defines is unknown to the rest of the file, which was checked."


@frozen
class Named:
    """An entry point by its name, ``at`` the line where it begins or was left, and as a place."""

    name: str
    at: str
    place: Related

    @property
    def is_function(self) -> bool:
        """Whether it is a function, or a method, and not the script or a part of it."""
        return self.name.startswith("`")

    def __str__(self) -> str:
        return f"{self.name} ({self.at})" if self.name and self.at else self.name or self.at


def notices(files: Files, steps: Sequence[AnalysisUnit], entries: int) -> tuple[Notice, ...]:
    """All there is to say of the checked file, the gravest first; ``entries`` is the number of its entry points."""
    failed: dict[tuple[Fault, str], list[Named]] = {}
    cut: list[Named] = []
    idle: list[Named] = []
    calls: list[Named] = []
    for step in steps:
        for lost in step.unfollowed:
            named = _named(files, step, lost)
            if lost.fault is not None:
                failed.setdefault((lost.fault, lost.rule), []).append(named)
            elif lost.entry.kind == "call":
                calls += [named] if named not in calls else []
            elif lost.entry.kind != "object":  # its methods are reported instead: none of them has begun
                (cut if lost.begun else idle).append(named)
    ended = dict.fromkeys(step.ended for step in steps if step.ended is not None)
    faults = (_fault(files.main.path, *what, places) for what, places in failed.items())
    return (
        *_told_once(_ended(files, each) for each in ended),
        *faults,
        *unparsed(files.main),
        *_cut(files.main.path, cut, idle, calls, entries),
    )


def _ended(files: Files, ended: Ended) -> Notice:
    """Where the program raises; in another file, the call that leads there is the place in this one."""
    at = _part_of(ended.node)
    told = ((at, "It raises here"), *((call, "Called here") for call in reversed(ended.calls)))
    places = [
        Related(message, files.source(node).path, _row(files.source(node), node))
        for node, message in told
        if hasattr(node, "lineno")
    ]
    raises = f"`{written(at)}` raises {ended.error}"
    then = f"it is followed as `{ended.instead}`" if ended.instead else "what comes after is not reached"
    message = headline(
        f"{raises} ({ended.message}): {then}",
        f"{raises}: {then}",
        f"Raises {ended.error} ({ended.message}): {then}",
        f"Raises {ended.error}: {then}",
    )
    beyond = "PyTorch before 0.5 did that." if ended.instead else f"Cure that first: {BEYOND[:1].lower()}{BEYOND[1:]}"
    advice = f"{ended.error}: {ended.message}. {beyond}"
    return Notice(Kind.ENDED, files.main.path, message, tuple(places), help=advice)


def _told_once(found: Iterable[Notice]) -> Iterable[Notice]:
    """What is shown at the same place with the same words, once, with the calls that lead there."""
    told: dict[tuple[str, Span], Notice] = {}
    for notice in found:
        known = told.setdefault((notice.message, notice.span), notice)
        told[notice.message, notice.span] = replace(known, places=tuple(dict.fromkeys((*known.places, *notice.places))))
    return told.values()


def _part_of(node: ast.AST) -> ast.AST:
    """What raises in a statement that has blocks."""
    match node:
        case ast.If(test=part) | ast.While(test=part) | ast.For(iter=part) | ast.AsyncFor(iter=part):
            return part
        case ast.With(items=[first, *_]) | ast.AsyncWith(items=[first, *_]):
            return first.context_expr
    return node


def unparsed(source: Source) -> Iterator[Notice]:
    """What there is to say of a file that was not executed, or not as it stands."""
    if source.is_skipped:
        yield Notice(Kind.NOT_ANALYSED, source.path, headline(f"Not analysed: {source.is_skipped}"))
    broken = [problem for problem in source.problems if not problem.is_limit]
    deep = [problem for problem in source.problems if problem.is_limit]
    for kind, begin, problems in ((Kind.PARSED_IN_PART, "Syntax error: ", broken), (Kind.FOLLOWED_IN_PART, "", deep)):
        if problems:
            more = f" (and {len(problems) - 1} more)" if problems[1:] else ""
            places = tuple(Related(capitalized(begin + each.message), source.path, each.span) for each in problems)
            message = f"{begin}{problems[0].message}{more}"
            yield Notice(kind, source.path, headline(f"{message}; {REST}", message), places, help=WITHOUT)


def _cut(path: str, cut: list[Named], idle: list[Named], calls: list[Named], entries: int) -> Iterator[Notice]:
    if found := (*cut, *idle, *calls):
        places = tuple(sorted((each.place for each in found), key=lambda place: (place.filename != path, place.span)))
        names = tuple(sorted(each.name for each in found))
        counted = (_unfollowed(cut, idle, calls, entries - 1, most) for most in range(FEW, 0, -1))
        brief = f"{_counted(found)} {'were' if found[1:] else 'was'} not followed to the end"
        message = headline(*counted, *(_unfollowed(cut, idle, calls, 0, most) for most in (1, 0)), brief)
        yield Notice(Kind.FOLLOWED_IN_PART, path, message, places, names, help=BEYOND)


def _unfollowed(cut: list[Named], idle: list[Named], calls: list[Named], functions: int, most: int) -> str:
    """A clause for each kind, with ``most`` names, or numbers alone; of how many ``functions`` they are where that is
    more than one.
    """
    said = []
    for found, how in ((cut, "followed in part"), (idle, "not followed at all")):
        count = sum(each.is_function for each in found)
        share = f" ({count} of {functions} functions)" if count and functions > 1 else ""
        if found:
            said.append(f"{_few(found, most)} {'were' if found[1:] else 'was'} {how}{share}")
    if calls:
        left = "take too long: their calls were left out" if calls[1:] else "takes too long: its call was left out"
        said.append(f"{_few(calls, most)} {left}")
    return "; ".join(said)


def _fault(path: str, fault: Fault, rule: str, found: list[Named]) -> Notice:
    places = [(each.name, each.place) for each in found]
    named = [_few(found, most) for most in range(FEW, 0, -1)]
    whats = [f"{rule} could not judge {name}" if rule else f"{name} could not be followed to the end" for name in named]
    return internal(path, next((what for what in whats if len(FAULTY + what) <= LONGEST), whats[-1]), fault, places)


def _few(found: list[Named], most: int) -> str:
    words = [str(each) for each in found]
    if not most:
        return _counted(found) if found[1:] else found[0].name or found[0].at
    if len(words) > most:
        words = [*words[:most], f"{len(words) - most} more"]
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _counted(found: Sequence[Named]) -> str:
    kind = "function" if all(each.is_function for each in found) else "part"
    return f"several {kind}s ({len(found)})" if found[1:] else f"a {kind}"


def _named(files: Files, step: AnalysisUnit, lost: Lost) -> Named:
    entry, main = lost.entry, files.main
    node, owner = entry.node, entry.owner
    coverage = "not followed to the end" if lost.begun else "not followed at all"
    at, source = "line", main if node is None else files.source(node)
    match entry.kind:
        case "script":
            name, at = "the notebook" if main.cells else "the script", "up to line"
            node = _stopped(files, step)
        case "function" | "call" if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            name = f"`{owner.name}.{node.name}`" if isinstance(owner, ast.ClassDef) else f"`{node.name}`"
        case "object" if isinstance(node, ast.ClassDef):
            name = f"`{node.name}()`"
        case "cell" if (cell := cell_at(main.cells, main.span(node).row if node else 1)) is not None:
            again = Related(capitalized(coverage), main.path, _row(main, node))
            return Named(f"cell {cell.number} once more", "", again)
        case "module":
            name = f"the top level of {os.path.basename(entry.path)}"
            return Named(name, "", Related(capitalized(f"{name}: {coverage}"), entry.path, START))
        case _:
            name, coverage = "", "here"
    place = Related(capitalized(f"{name}: {coverage}" if name else coverage), source.path, _row(source, node))
    return Named(name, "" if node is None else _where(files, source, place, at), place)


def _where(files: Files, source: Source, place: Related, at: str) -> str:
    """A place in words: ``line 3``, ``cell 2 line 3``, ``other.py line 3``."""
    cell = cell_at(source.cells, place.span.row)
    row = place.span.row if cell is None else cell.own(place.span).row
    here = "" if source is files.main else f"{os.path.basename(source.path)} "
    here += "" if cell is None else f"cell {cell.number} "
    return f"{here}{at} {row}"


def _stopped(files: Files, step: AnalysisUnit) -> ast.stmt | None:
    """The innermost statement of the checked file that was being executed when a stretch of the script ended."""
    for block in reversed(step.resume_point):
        if 0 < block.done <= len(block.statements):
            statement = block.statements[block.done - 1]
            if files.source(statement) is files.main:
                return statement
    return None


def _row(source: Source, node: ast.AST | None) -> Span:
    """The first row of a place: a whole function need not be underlined."""
    span = START if node is None else source.span(node)
    if span.end_row == span.row:
        return span
    line = source.lines[span.row - 1] if span.row <= len(source.lines) else ""
    return replace(span, end_row=span.row, end_column=max(len(line.rstrip()) + 1, span.column))
