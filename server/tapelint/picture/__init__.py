"""``tapelint graph``: the graph of a finding, or of an expression, across iterations.

    iteration 1 of `for x`                        iteration 2 of `for x`
    MulBackward0 ◀── loss.backward() frees it     loss.backward() walks it again, and PyTorch raises

The file is executed once more and recorded; nothing is drawn that this execution did not show.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from .. import analysis
from ..autograd import Facts
from ..autograd.events.graph_walks import Event
from ..autograd.model.views import edge_of
from ..engine.machine import place_of
from ..hover.cursor import at_cursor, subjects
from ..recording import Recording
from ..report import Diagnostic
from ..rules import Finding, all_rules
from ..rules.support.story import code
from ..source import Source, concerns_torch
from ..tracebacks import at_line
from .drawing import Drawing
from .gradients import of_gradients
from .held import of_held
from .model import Picture, PictureEdge, PictureNode, Spot
from .story_picture import inside, named, of_story
from .subject import Subject, of_event, of_sights

__all__ = ["Nothing", "Picture", "PictureEdge", "PictureNode", "Spot", "picture_at"]


class Nothing(Exception):
    """There is nothing to draw; the text says why."""


def picture_at(
    report: analysis.Report, row: int, column: int | None = None, cancel: Callable[[], bool] | None = None
) -> Picture:
    """The picture for a row of the checked file, or for one of its characters: of the finding there, else of the first
    expression there that is a tensor. Raises Nothing, and Cancelled.
    """
    source = report.source
    if source.is_skipped or not concerns_torch(source.text, source.path, report.inputs.resolve):
        raise Nothing(source.is_skipped or "the file does not use PyTorch")
    found = _diagnostic(report, row, column)
    finding = report.findings.get(found.place) if found is not None else None
    wanted = [*dict.fromkeys(_expressions(source, row, column))]
    block = inside(source.tree, finding) if finding is not None else []
    steps = [*ast.walk(finding.node), *named(finding), *block] if finding is not None else []
    record = Recording(source, {*wanted, *(node for node in steps if isinstance(node, ast.expr))}, keeps_paths=True)
    if finding is not None:
        record.is_sought = partial(_shows, finding, record.facts)
    record.execute(report.inputs, cancel)
    if found is not None and finding is not None:
        subject = _of_event(record) or of_story(finding, record, block)
        if subject is not None:
            return Drawing(subject, record).picture(f"{found.code}: {found.message}")
    return _of_expression(found, wanted, record, row)


def _shows(finding: Finding, facts: Facts, event: Event) -> bool:
    """Whether an event gives rise to the same finding once more."""
    checks = (rule.check for rule in all_rules() if rule.code == finding.code and type(event) in rule.events)
    again = (check(event, facts) for check in checks if check is not None)
    same = finding.message, place_of("", finding.node)
    return any(found is not None and (found.message, place_of("", found.node)) == same for found in again)


def _of_event(record: Recording) -> Subject | None:
    """What the event of the finding is about: a graph, gradients, or what holds graphs."""
    event, state, facts = record.found, record.moment, record.facts
    if event is None or state is None:
        return None
    return of_event(event, state) or of_gradients(event, facts, state) or of_held(event, facts, state, record.sights)


def _of_expression(found: Diagnostic | None, wanted: Iterable[ast.AST], record: Recording, row: int) -> Picture:
    """The first expression that is a tensor with a graph; where there is a finding, it is about something else. Raises
    Nothing.
    """
    for node in wanted:
        sights = [sight for sight in record.seen(node) if any(map(edge_of, sight.tensors))]
        if sights:
            drawing = Drawing(of_sights(sights, record.paths[sights[-1].stamp]), record)
            if found is not None:
                drawing.notes.append(f"{found.code} in this row is about no single graph: this is that of {code(node)}")
            return drawing.picture(f"{code(node)} in row {getattr(node, 'lineno', 0)}")
    if found is not None:
        raise Nothing(f"{found.code} at row {found.span.row} is about no graph")
    raise Nothing(f"no tensor with a graph is known in row {row}")


def _diagnostic(report: analysis.Report, row: int, column: int | None) -> Diagnostic | None:
    """The finding at a place; one that begins nearest to the column is meant."""
    matches = [match.diagnostic for match in at_line(report, row)]
    return min(matches, key=lambda d: abs(d.span.column - column) if column is not None else 0, default=None)


def _expressions(source: Source, row: int, column: int | None) -> Iterator[ast.AST]:
    """The expressions that may be meant, best first."""
    if column is not None:
        for node in subjects(at_cursor(source, row, column)):
            if isinstance(node, ast.AugAssign):
                yield node.value
            elif isinstance(node, ast.expr):
                yield node
    begun = (node for node in ast.walk(source.tree) if isinstance(node, ast.expr) and node.lineno == row)
    yield from sorted(begun, key=lambda node: (-(node.end_lineno or 0), -(node.end_col_offset or 0) + node.col_offset))
