"""``tapelint graph``: the graph of a finding, or of an expression, across iterations.

    iteration 1 of `for x`                        iteration 2 of `for x`
    MulBackward0 ◀── loss.backward() frees it     loss.backward() walks it again, and PyTorch raises

The file is executed once more and watched; nothing is drawn that this execution did not show.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from .. import analysis
from ..analysis.locations import Files
from ..autograd import Facts
from ..autograd.model.views import edge_of
from ..hover.cursor import at_cursor, subjects
from ..report import Diagnostic
from ..rules.support.story import code
from ..source import Source, concerns_torch
from ..tracebacks import at_line
from .drawing import Drawing
from .model import Picture, PictureEdge, PictureNode, Spot
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
    watch = Watch(Facts(), finding, frozenset(wanted))
    machine = analysis.run(source, watch.facts, report.inputs, watch.probe, cancel)
    files = Files(source, machine.imports.sources if machine.imports else ())
    if watch.event is not None and watch.moment is not None and found is not None:
        subject = of_event(watch.event, watch.moment)
        if subject is not None:
            return Drawing(subject, watch.facts, files, watch.walks).picture(f"{found.code}: {found.message}")
    for node in wanted:
        sights = [sight for sight in watch.sights.get(node, ()) if any(map(edge_of, sight.tensors))]
        if sights:
            drawing = Drawing(of_sights(sights), watch.facts, files, watch.walks)
            drawing.notes += _fallback(found, node)
            return drawing.picture(f"{code(node)} in row {row}")
    if found is not None:
        raise Nothing(f"{found.code} at row {found.span.row} is about no graph")
    raise Nothing(f"no tensor with a graph is known in row {row}")


def _fallback(found: Diagnostic | None, drawn: ast.AST) -> list[str]:
    """What is said where a finding speaks of steps, cleared gradients or held graphs, and an expression is drawn."""
    return [f"{found.code} in this row is about no single graph: this is that of {code(drawn)}"] if found else []


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
