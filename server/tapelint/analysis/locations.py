"""From syntax to places in files: a hazard is reported where it stands, its story wherever it leads.

    main.py                      helpers.py
    for x in data:               def step(loss):
        step(total)                  loss.backward()      raises here, because of what main.py does

The diagnostic stands at ``loss.backward()``, in helpers.py, with ``step(total)`` as a step of the story. Where
helpers.py is none of the files that are checked (a file that the configuration excludes), it stands at
``step(total)``, with the line of helpers.py as a step. A line in the stub of a framework is none that a user knows.

The steps of a finding's story, each in a sentence and in the few words that fit behind a line of code.

    h = torch.tanh(x @ w)      1 saved by `tanh`, version 0
    h += 1                     2 written, version 1
    h.sum().backward()         3 needs version 0: raises

The line at which PyTorch raises is one of them. Where a finding is reported at that line, its message is the sentence,
and no step repeats it: only the few words are shown (``at_its_own_place``).
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from ..because import Atom, RunBy
from ..bounds import BOUNDS
from ..frozen import frozen
from ..headline import capitalized
from ..report import Diagnostic, Fix, Related
from ..report.diagnostic import Applicability
from ..rules import FileSummary, Finding, Rule, TraceStep, all_rules
from ..rules.support.story import brief_moments, moments
from ..severity import Severity
from ..source import Source, Span, head
from ..source.pytest_files import TestConventions
from ..stubs import stub_module_name

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@frozen
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


@frozen
class Hidden:
    """A finding that a comment silences which covers one of the ``rows``."""

    diagnostic: Diagnostic
    rows: frozenset[int]


def rule_of(finding: Finding) -> Rule:
    return next(rule for rule in all_rules() if rule.code == finding.code)


def _only_main(path: str) -> bool:
    return False


class Files:
    """The file that is checked, ``main``, and those it imports; ``is_checked`` says of which of them findings are
    reported as well, by path. Comments silence nothing where the user ``ignores_comments``.
    """

    def __init__(
        self,
        main: Source,
        others: Iterable[Source] = (),
        is_checked: Callable[[str], bool] = _only_main,
        ignores_comments: bool = False,
    ) -> None:
        self.main = main
        self.others = tuple(other for other in others if other is not main)
        self._is_checked = is_checked
        self._ignores_comments = ignores_comments

    def source(self, node: ast.AST) -> Source:
        """The file a node of a story stands in."""
        if self.others and hasattr(node, "lineno") and not self.main.holds(node):
            for other in self.others:
                if other.holds(node):
                    return other
        return self.main

    def stands_in_tests(self, finding: Finding, conventions: TestConventions) -> bool:
        """Whether a finding is reported in a file that is there for tests, or that has the test which shows it;
        or a file of tests shows it whose functions were called for it.
        """
        shown = self.shown_at(finding)
        if shown is None:
            return False
        is_beside = finding.run_by is RunBy.TESTS and shown[1] is self.main
        is_imagined = finding.run_by is RunBy.IMAGINED and conventions.serves_tests(self.main.path, self.main.tree)
        return is_beside or is_imagined or conventions.serves_tests(shown[1].path, shown[1].tree)

    def origin(self, finding: Finding) -> Origin:
        source = self.source(finding.node)
        return Origin(finding.code, source.path, head(source, finding.node), finding.severity)

    def way(self, finding: Finding) -> Iterator[ast.AST]:
        """The node of a finding and the calls that led there, innermost first."""
        yield finding.node
        calls = finding.point.calls
        end = calls.index(finding.node) if finding.node in calls else len(calls)
        yield from reversed(calls[:end])

    def owners(self, finding: Finding) -> dict[str, Source]:
        """The other files that lead to a finding, the one it is in first."""
        sources = (self.source(node) for node in self.way(finding) if not isinstance(node, ast.Module))
        return {source.path: source for source in sources if source is not self.main}

    def shown_at(self, finding: Finding) -> tuple[ast.AST, Source] | None:
        """The node to report a finding at, the innermost that stands in a file that is checked, and that file; None
        where ``main`` has no part in the finding.
        """
        if self.place_in_main(finding) is None:
            return None
        places = ((node, self.source(node)) for node in self.places(finding))
        return next((at for at in places if at[1] is self.main or self._is_checked(at[1].path)), None)

    def diagnostic(self, finding: Finding) -> Diagnostic | None:
        """A finding with its syntax turned into places; None where a comment silences it, or it is not reported."""
        shown = self.shown_at(finding)
        if shown is None:
            return None
        return None if self.is_silenced(finding, *shown) else self._located(finding, *shown)

    def hidden(self, finding: Finding) -> Hidden | None:
        """A finding that a comment of ``main`` silences; None where none does."""
        shown = self.shown_at(finding)
        if shown is None:
            return None
        name, silencing = rule_of(finding).name, self.main.suppressions
        rows = frozenset(there.span(at).row for at, there in self._silenced_at(finding, *shown) if there is self.main)
        if not any(silencing.covers(finding.code, row, name) for row in rows):
            return None
        return Hidden(self._located(finding, *shown), rows)

    def _located(self, finding: Finding, node: ast.AST, source: Source) -> Diagnostic:
        """A finding with its syntax turned into places, reported at ``node`` of ``source``."""
        inner, rule = self.source(finding.node), rule_of(finding)
        steps = [
            replace(step, node=place)
            for step in in_order(finding)
            if (place := self._outside(step.node, step.calls)) is not None
        ]
        own = at_its_own_place(finding)
        rests_on = finding.rests_on
        if source is not self.main:
            rests_on += (Atom("called", self._as_called(self.place_in_main(finding))),)
            _put_calls(steps, self._calls(finding, node, {each.node for each in steps}))
        if node is not finding.node:
            span = head(inner, finding.node)
            rests_on += (Atom("called", self._where(node, inner, span)),)
            if stub_module_name(inner.path) is None:
                _put_place(steps, StoryStep(finding.node, "This call leads here", own or "called"), finding, bool(own))
        return Diagnostic(
            finding.code,
            rule.name,
            finding.severity,
            finding.message,
            source.path,
            head(source, node),
            tuple(self._related(step.text, step.node, step.short) for step in steps),
            finding.help,
            rule.url,
            bool(finding.because),
            rests_on,
            finding.raises,
            self._raised_at(finding, head(source, node)),
            short=own if node is finding.node else "",
        )

    def _raised_at(self, finding: Finding, shown: Span) -> Related | None:
        """Where PyTorch raises, if that is not where the finding is ``shown``. A function stands for a caller that is
        only imagined: no line of it raises.
        """
        raiser = finding.raiser
        if not finding.raises or raiser is None or isinstance(raiser, DEFINITIONS) or not hasattr(raiser, "lineno"):
            return None
        if (place := self._outside(raiser, finding.point.calls)) is None:
            return None
        at = self._related("PyTorch raises here", place, RAISES)
        return at if at.span != shown else None

    def _outside(self, node: ast.AST, calls: Sequence[ast.AST]) -> ast.AST | None:
        """What a story shows of a ``node`` that these calls have led to: of one in the stub of a library, whose rows
        nobody knows, the call that goes there; None where a generator runs there.
        """
        way = (node, *reversed(calls))
        return next((each for each in way if stub_module_name(self.source(each).path) is None), None)

    def is_silenced(self, finding: Finding, node: ast.AST, source: Source) -> bool:
        """Whether a comment silences a finding that is reported at ``node``."""
        if self._ignores_comments:
            return False
        name = rule_of(finding).name
        return any(
            there.suppressions.covers(finding.code, there.span(at).row, name)
            for at, there in self._silenced_at(finding, node, source)
        )

    def _silenced_at(self, finding: Finding, node: ast.AST, source: Source) -> Iterator[tuple[ast.AST, Source]]:
        """Where a comment silences a finding: where it stands, at the ``node`` it is reported at, and at the call in
        the checked file that leads there.
        """
        yield finding.node, self.source(finding.node)
        yield node, source
        if (called := self.place_in_main(finding)) is not None:
            yield called, self.main

    def place_in_main(self, finding: Finding) -> ast.AST | None:
        """The innermost place of the checked file on the way to a finding."""
        return next((node for node in self.places(finding) if self.source(node) is self.main), None)

    def places(self, finding: Finding) -> Iterator[ast.AST]:
        """The nodes of the way to a finding that it can be reported at."""
        for node in self.way(finding):
            if node is finding.node or isinstance(node, (ast.Call, ast.FunctionDef)) or node in self._bases:
                yield node

    @cached_property
    def _bases(self) -> frozenset[ast.AST]:
        """The bases of classes of the checked file: what is inherited runs on their objects."""
        return frozenset(
            base for each in ast.walk(self.main.tree) if isinstance(each, ast.ClassDef) for base in each.bases
        )

    def _calls(self, finding: Finding, shown: ast.AST, known: set[ast.AST]) -> Iterator[StoryStep]:
        """The calls that lead from ``main`` to the node that a finding is reported at, but those that the story has,
        and those in the stub of a library: the first of them, and the last ones.
        """
        way = [*self.way(finding)]
        inside = way.index(shown)
        first = next(index for index, node in enumerate(way) if index > inside and self.source(node) is self.main)
        calls = [node for node in way[first:inside:-1] if isinstance(node, ast.Call) or node in self._bases]
        for node in [*calls[:1], *calls[1:][1 - BOUNDS.story_calls :]]:
            if node not in known and stub_module_name(self.source(node).path) is None:
                what = "class" if node in self._bases else "call"
                yield StoryStep(node, f"This {what} leads here", "leads here")

    def remarks(self, examined: FileSummary, asked_for: Callable[[str], bool]) -> Iterator[tuple[Diagnostic, Fix]]:
        """What the rules about comments say of the checked file, each with its fix.

        A comment without codes does not silence them: it would hide that it is of no use. A comment is the user's own
        decision: it is only taken back together with other fixes where the rule that says so is ``asked_for``.
        """
        comments = self.main.suppressions
        explicit = [entry for entry in comments.entries if entry.codes]
        if not comments.entries and not comments.flawed:
            return
        for rule in all_rules():
            for remark in rule.review(examined) if rule.review else ():
                if not any(entry.covers(rule.code, remark.span.row, rule.name) for entry in explicit):
                    said = remark.severity, remark.message, self.main.path, remark.span
                    applicability: Applicability = "safe" if asked_for(rule.code) else "manual"
                    end = Related(remark.message, self.main.path, remark.end) if remark.end else None
                    found = Diagnostic(rule.code, rule.name, *said, url=rule.url)
                    yield (
                        replace(found, is_unnecessary=remark.is_unnecessary, other_end=end),
                        Fix(remark.title, applicability, True, remark.edits),
                    )

    def _as_called(self, node: ast.AST | None) -> str:
        """How another file is reached from a place of the checked file. The rows of a notebook are in the story."""
        row = "" if self.main.cells or node is None else f"line {self.main.span(node).row} of "
        does = "derives from" if node in self._bases else "calls"
        return f"where {row}{os.path.basename(self.main.path)} {does} it"

    def _where(self, node: ast.AST, inner: Source, span: Span) -> str:
        """How ``node`` leads to a place in another file. A place in the stub of a framework is none that the user
        knows.
        """
        library = stub_module_name(inner.path)
        row = f"at line {span.row} of {os.path.basename(inner.path)}"
        place = f"inside {library.partition('.')[0]}" if library is not None else row
        if node in self._bases:
            return f"in what is inherited here, {place}"
        return f"in this call, {place}" if isinstance(node, ast.Call) else f"where this is called, {place}"

    def _related(self, text: str, node: ast.AST, short: str) -> Related:
        source = self.source(node)
        return Related(text, source.path, head(source, node), short)


def _put_calls(steps: list[StoryStep], calls: Iterable[StoryStep]) -> None:
    """Put the calls that lead to a finding before what happens in them; those in which nothing else does come last."""
    for call in calls:
        inside = (index for index, step in enumerate(steps) if call.node in step.calls)
        steps.insert(next(inside, len(steps)), call)


def _put_place(steps: list[StoryStep], place: StoryStep, finding: Finding, raises_there: bool) -> None:
    """Put the place of a finding that is reported elsewhere last, if PyTorch ``raises_there``, else before the line at
    which it does; it may be a step already.
    """
    if raises_there:
        steps.append(place)
    elif all(step.node is not place.node for step in steps):
        is_before = bool(steps) and steps[-1].node is finding.raiser and bool(finding.raises)
        steps.insert(len(steps) - is_before, place)


RAISES = "raises"


@frozen
class StoryStep:
    """What happened at ``node``, as a sentence and in a few words, and in which calls, outermost first."""

    node: ast.AST
    text: str
    short: str
    calls: tuple[ast.AST, ...] = ()


def in_order(finding: Finding) -> Iterator[StoryStep]:
    """The steps of a finding's story that have a place; the line at which PyTorch raises is one of them."""
    links = _links(finding)
    sentences = zip(links, moments([link.when for link in links]), _short(finding, links))
    for link, moment, short in sentences:
        if hasattr(link.node, "lineno"):
            calls = tuple(link.when.calls) if link.when is not None else ()
            yield StoryStep(link.node, capitalized(_timed(link.text, moment)), short, calls)


def at_its_own_place(finding: Finding) -> str:
    """What happens where a finding is reported, in a few words, if PyTorch raises there and no step says so."""
    links = _links(finding)
    return _short(finding, links)[-1] if _raises_itself(finding, links) else ""


def _links(finding: Finding) -> list[TraceStep]:
    links, raiser = [*finding.links], finding.raiser
    if finding.raises and raiser is not None and all(node is not raiser for node in (finding.node, *_nodes(links))):
        links.append(TraceStep(raiser, "PyTorch raises here", finding.point, finding.short))
    return links


def _short(finding: Finding, links: list[TraceStep]) -> list[str]:
    """The few words of each step, then those of the finding's own place if that ``_raises_itself``."""
    if _raises_itself(finding, links):
        links = [*links, TraceStep(finding.node, RAISES, finding.point, finding.short)]
    ends = [i for i, link in enumerate(links) if link.node is finding.raiser] if finding.raises else []
    words = [link.short or link.text for link in links]
    for last in ends[-1:]:
        words[last] = f"{links[last].short}: {RAISES}" if links[last].short else RAISES
    return [_timed(text, moment) for text, moment in zip(words, brief_moments([link.when for link in links]))]


def _raises_itself(finding: Finding, links: list[TraceStep]) -> bool:
    """Whether PyTorch raises where the finding is reported, in an iteration or call that no step is of."""
    if not finding.raises or finding.raiser is not finding.node:
        return False
    return all(link.node is not finding.node or link.when != finding.point for link in links)


def _timed(text: str, moment: str) -> str:
    return f"{text} ({moment})" if moment else text


def _nodes(links: list[TraceStep]) -> Iterator[ast.AST]:
    return (link.node for link in links)
