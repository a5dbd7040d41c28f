"""``tapelint graph``: the graph of a finding, or of an expression, across iterations.

    iteration 1 of `for x`                        iteration 2 of `for x`
    MulBackward0 ◀── loss.backward() frees it     loss.backward() walks it again, and PyTorch raises

The file is executed once more and watched; nothing is drawn that this execution did not show.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence

from .. import analysis
from ..analysis.locations import Files
from ..autograd import Facts
from ..autograd.model.views import edge_of
from ..hover.cursor import at_cursor, subjects
from ..report import Diagnostic
from ..rules import Finding
from ..rules.support.story import code
from ..source import Source, concerns_torch
from ..tracebacks import at_line
from .drawing import Drawing
from .gradients import of_gradients
from .held import of_held
from .model import Picture, PictureEdge, PictureNode, Spot
from .story_picture import inside, named, of_story
from .subject import of_event, of_sights
from .watching import Watch, expressions

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
    watch = Watch(Facts(), finding, frozenset({*wanted, *(node for node in steps if isinstance(node, ast.expr))}))
    machine = analysis.run(source, watch.facts, report.inputs, watch.probe, cancel)
    files = Files(source, machine.imports.sources if machine.imports else ())
    drawing = _of_finding(found, watch, files) or _of_story(found, finding, watch, files, block)
    drawing = drawing or _of_expression(found, wanted, watch, files)
    if drawing is None:
        if found is not None:
            raise Nothing(f"{found.code} at row {found.span.row} is about no graph")
        raise Nothing(f"no tensor with a graph is known in row {row}")
    return drawing


def _of_finding(found: Diagnostic | None, watch: Watch, files: Files) -> Picture | None:
    """What the event of the finding is about: a graph, gradients, or what holds graphs."""
    event, state, facts = watch.event, watch.moment, watch.facts
    if event is None or state is None or found is None:
        return None
    subject = of_event(event, state) or of_gradients(event, facts, state) or of_held(event, facts, state, watch.sights)
    return Drawing(subject, facts, files, watch.walks).picture(_title(found)) if subject is not None else None


def _of_expression(found: Diagnostic | None, wanted: Iterable[ast.AST], watch: Watch, files: Files) -> Picture | None:
    """The first expression that is a tensor with a graph; where there is a finding, it is about something else."""
    for node in wanted:
        sights = [sight for sight in watch.sights.get(node, ()) if any(map(edge_of, sight.tensors))]
        if sights:
            drawing = Drawing(of_sights(sights), watch.facts, files, watch.walks)
            if found is not None:
                drawing.notes.append(f"{found.code} in this row is about no single graph: this is that of {code(node)}")
            return drawing.picture(f"{code(node)} in row {getattr(node, 'lineno', 0)}")
    return None


def _of_story(
    found: Diagnostic | None, finding: Finding | None, watch: Watch, files: Files, block: Sequence[ast.expr]
) -> Picture | None:
    """The steps of a finding and their tensors, where its event is about no single graph."""
    subject = of_story(finding, watch, block) if finding is not None else None
    if subject is None or found is None:
        return None
    return Drawing(subject, watch.facts, files, watch.walks).picture(_title(found))


def _title(found: Diagnostic) -> str:
    return f"{found.code}: {found.message}"


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
    yield from expressions(source.tree, row)
