"""From syntax to places in files: a hazard is shown in the file that was checked, its story wherever it leads.

    main.py                      helpers.py
    for x in data:               def step(loss):
        step(total)                  loss.backward()      raises here, because of what main.py does

The diagnostic stands at ``step(total)``, with the line of helpers.py as a part of the story. It is left out where
helpers.py alone shows the hazard: then it is reported there, once.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from ..report import Diagnostic, Fix, Related
from ..report.diagnostic import Applicability
from ..rules import FileSummary, Finding, all_rules
from ..severity import Severity
from ..source import Source, Span
from ..stubs import stub_module_name


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a hazard is, in whatever file, and how grave it is."""

    code: str
    path: str
    span: Span
    severity: Severity

    def covers(self, other: Origin) -> bool:
        """Whether a report of this finding makes one of the other superfluous."""
        same = (self.code, self.path, self.span) == (other.code, other.path, other.span)
        return same and self.severity <= other.severity


class Files:
    """The file that is checked, ``main``, and those it imports."""

    def __init__(self, main: Source, others: Iterable[Source] = ()) -> None:
        self.main = main
        self.others = tuple(other for other in others if other is not main)

    def of(self, node: ast.AST) -> Source:
        """The file a node of a story stands in."""
        if self.others and hasattr(node, "lineno") and not self.main.holds(node):
            for other in self.others:
                if other.holds(node):
                    return other
        return self.main

    def origin(self, finding: Finding) -> Origin:
        source = self.of(finding.node)
        return Origin(finding.code, source.path, source.span(finding.node), finding.severity)

    def way(self, finding: Finding) -> Iterator[ast.AST]:
        """The node of a finding and the calls that led there, innermost first."""
        yield finding.node
        calls = finding.point.calls
        end = calls.index(finding.node) if finding.node in calls else len(calls)
        yield from reversed(calls[:end])

    def owners(self, finding: Finding) -> dict[str, Source]:
        """The other files that lead to a finding, the one it is in first."""
        sources = (self.of(node) for node in self.way(finding) if not isinstance(node, ast.Module))
        return {source.path: source for source in sources if source is not self.main}

    def shown_at(self, finding: Finding) -> ast.AST | None:
        """The node of the checked file to show a finding at; None where that file has no part in it."""
        for node in self.way(finding):
            if self.of(node) is self.main and (node is finding.node or isinstance(node, (ast.Call, ast.FunctionDef))):
                return node
        return None

    def diagnostic(self, finding: Finding) -> Diagnostic | None:
        """A finding with its syntax turned into places."""
        node = self.shown_at(finding)
        inner = self.of(finding.node)
        if node is None or inner.suppressions.covers(finding.code, inner.span(finding.node).row):
            return None
        rule = next(r for r in all_rules() if r.code == finding.code)
        related = [self._related(link.text, link.node) for link in finding.links if hasattr(link.node, "lineno")]
        message = finding.message
        if node is not finding.node:
            span = inner.span(finding.node)
            message = f"{_where(node, inner, span)}: {message}"
            related.append(self._related("this call leads here", finding.node))
        return Diagnostic(
            finding.code,
            rule.name,
            finding.severity,
            message,
            self.main.path,
            self.main.span(node),
            tuple(related),
            finding.help,
            rule.url,
        )

    def remarks(self, examined: FileSummary, asked_for: Callable[[str], bool]) -> Iterator[tuple[Diagnostic, Fix]]:
        """What the rules about comments say of the checked file, each with its fix.

        A comment without codes does not silence them: it would hide that it is of no use. A comment is the user's own
        decision: it is only taken back together with other fixes where the rule that says so is ``asked_for``.
        """
        explicit = [entry for entry in self.main.suppressions.entries if entry.codes]
        if not self.main.suppressions.entries:
            return
        for rule in all_rules():
            for remark in rule.review(examined) if rule.review else ():
                if not any(entry.covers(rule.code, remark.span.row) for entry in explicit):
                    said = remark.severity, remark.message, self.main.path, remark.span
                    applicability: Applicability = "safe" if asked_for(rule.code) else "manual"
                    yield (
                        Diagnostic(rule.code, rule.name, *said, url=rule.url),
                        Fix(remark.title, applicability, True, remark.edits),
                    )

    def _related(self, text: str, node: ast.AST) -> Related:
        source = self.of(node)
        return Related(text, source.path, source.span(node))


def _where(node: ast.AST, inner: Source, span: Span) -> str:
    """How ``node`` leads to a place in another file. A place in the stub of a framework is none that the user knows."""
    library = stub_module_name(inner.path)
    row = f"at line {span.row} of {os.path.basename(inner.path)}"
    place = f"inside {library.partition('.')[0]}" if library is not None else row
    return f"in this call, {place}" if isinstance(node, ast.Call) else f"where this is called, {place}"
