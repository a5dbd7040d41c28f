"""Hovers: the life of the tensor under the cursor, what a write or a call does to it, the story of a diagnostic.

    **`y`** · not a leaf · requires_grad=True · grad_fn=SigmoidBackward0 (line 3)
    - `.grad` stays None, only leaves keep one (`y.retain_grad()` would keep it); gradients flow through it to `x`
    - saved by `sigmoid` as its result (line 3): writing `y` in place between that and `loss.backward()` (line 5) makes
      the backward raise
    - `loss.backward()` (line 5) frees its graph

The file is executed once more and recorded, with every expression, when the first hover asks; nothing is said that this
execution did not show. What a suppression comment hides is known without that.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from .. import analysis
from ..analysis.locations import Files
from ..autograd import Facts
from ..frozen import frozen
from ..recording import Recording
from ..report.diagnostic import Diagnostic, Related, place
from ..source import Source, Span, concerns_torch
from . import call_facts, passes, suppression_facts, tensor_facts, unreached, write_facts
from .cursor import at_cursor, holds, place_and_operand, subjects
from .margin import Remark, assignments, backwards, steps

__all__ = ["Hover", "Recording", "Hovers", "Remark", "assignments", "backwards", "hover_at", "steps"]


@frozen
class Hover:
    """Markdown about the expression at ``span``."""

    markdown: str
    span: Span


class Hovers:
    """The hovers of a report. What the program shows is kept from the first that needs it on."""

    def __init__(self, report: analysis.Report) -> None:
        self.report = report
        self._record: Recording | None = None

    def at(
        self,
        row: int,
        column: int,
        cancel: Callable[[], bool] | None = None,
        findings: Iterable[Diagnostic] | None = None,
        repeats: bool = True,
    ) -> Hover | None:
        """What is known at the cursor, as Markdown; None where that is no tensor and nothing is wrong. ``findings`` are
        those that the file shows; without them those of its own analysis. One that is reported at the cursor is left
        out where the hover ``repeats`` nothing that the editor shows beside it.
        """
        report, source = self.report, self.report.source
        comment = suppression_facts.described(report, row, column)
        if comment is not None:
            return Hover(paragraph(comment[1]), comment[0])
        around = at_cursor(source, row, column)
        shown = report.diagnostics if findings is None else findings
        places = [(d, span) for d in shown for span in shown_in(d, source.path) if holds(span, row, column)]
        remarks = {d: span for d, span in places if repeats or not _is_at(d, source.path, row, column)}
        stories = [story(d, source.path, row, column) for d in remarks]
        found = list(subjects(around))
        known = found and concerns_torch(source.text, source.path, report.inputs.resolve)
        about = self._life(found, around, cancel) if known else None
        if about is not None:
            node, lines = about
            return Hover("\n\n---\n\n".join([*stories, paragraph(lines)]), source.span(node))
        if remarks:
            smallest = min(remarks.values(), key=lambda s: (s.end_row - s.row, s.end_column - s.column))
            return Hover("\n\n---\n\n".join(stories), smallest)
        return None

    def remarks(
        self,
        about: Callable[[Recording, Source], Iterable[Remark]],
        cancel: Callable[[], bool] | None = None,
    ) -> tuple[Remark, ...]:
        """What is known of single lines: of those that run ``backwards``, of ``steps``, of ``assignments``."""
        source = self.report.source
        if not concerns_torch(source.text, source.path, self.report.inputs.resolve):
            return ()
        return tuple(sorted(about(self._recorded(cancel), source), key=lambda remark: remark.span))

    def _recorded(self, cancel: Callable[[], bool] | None) -> Recording:
        if self._record is None:
            self._record = recorded(self.report, cancel)
        return self._record

    def _life(
        self, found: list[ast.AST], around: list[ast.AST], cancel: Callable[[], bool] | None
    ) -> tuple[ast.AST, list[str]] | None:
        """The first of ``found`` that there is something to say about, and what."""
        record = self._recorded(cancel)
        for node in found:
            lines = lines_about(record, node, around)
            if lines:
                return node, lines
        lines = unreached.describe(record, self.report.source.tree, around)
        return (found[0], lines) if lines else None


def hover_at(report: analysis.Report, row: int, column: int, cancel: Callable[[], bool] | None = None) -> Hover | None:
    """One hover."""
    return Hovers(report).at(row, column, cancel)


def recorded(report: analysis.Report, cancel: Callable[[], bool] | None) -> Recording:
    """What the program shows of all its expressions."""
    tree = report.source.tree
    wanted = (node for node in ast.walk(tree) if isinstance(node, (ast.expr, ast.AugAssign, ast.keyword)))
    record = Recording(report.source, wanted)
    record.execute(report.inputs, cancel)
    return record


def lines_about(record: Recording, node: ast.AST, around: list[ast.AST]) -> list[str] | None:
    if isinstance(node, ast.keyword):
        return passes.retained(record, node, call_with(node, around))
    pair = place_and_operand(node)
    if pair is not None:
        lines = write_facts.describe(record, *pair)
        if lines is not None:
            return lines
    if isinstance(node, (ast.Call, ast.Attribute, ast.Name)):
        lines = call_facts.describe(record, node, around)
        if lines is not None:
            return lines
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        return None
    expression = node.target if isinstance(node, ast.AugAssign) else node
    seen = [sight for sight in record.seen(expression) if sight.tensors]
    if not seen:
        return None
    lines = tensor_facts.describe(record, expression, seen)
    return [*lines, *call_facts.beside(record, node)] if isinstance(node, ast.Call) else lines


def call_with(keyword: ast.keyword, around: list[ast.AST]) -> ast.Call:
    return next(node for node in around if isinstance(node, ast.Call) and keyword in node.keywords)


def paragraph(lines: list[str]) -> str:
    """A headline and its list."""
    return lines[0] + ("\n\n" + "\n".join(lines[1:]) if lines[1:] else "")


def shown_in(diagnostic: Diagnostic, path: str) -> list[Span]:
    """Where a file shows a finding: where it is reported, and where PyTorch raises."""
    own = Related(diagnostic.message, diagnostic.filename, diagnostic.span)
    return [at.span for at in (own, diagnostic.raised_at) if at is not None and at.filename == path]


def _is_at(diagnostic: Diagnostic, path: str, row: int, column: int) -> bool:
    """Whether a finding is reported at a cursor, and not only raised there."""
    return diagnostic.filename == path and holds(diagnostic.span, row, column)


def story(diagnostic: Diagnostic, path: str, row: int, column: int) -> str:
    """The rule of a finding, what PyTorch says and what it rests on, for a cursor in the file at ``path``. Its headline
    and its steps the editor shows beside the hover, where the finding is reported, and not only raised.
    """
    parts = [f"**{diagnostic.code}** `{diagnostic.name}`", diagnostic.raised, diagnostic.needs]
    if not _is_at(diagnostic, path, row, column):
        cause = Related(diagnostic.message, diagnostic.filename, diagnostic.span)
        parts.append(f"Reported in {place(cause, path)}: {diagnostic.message}")
    return "\n\n".join(filter(None, (*parts, diagnostic.help)))
