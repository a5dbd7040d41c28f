"""What one analysis of one version of a document found, kept until the text changes."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from lsprotocol import types

from ..frozen import frozen
from ..report.diagnostic import Diagnostic, Fix, Offer
from ..report.notice import START, Kind, Notice
from ..source import Notebook, Source, Span, concerns_torch
from ..workspace import Config, Resolver
from . import deferred
from .caches import Memories
from .client_capabilities import ClientCapabilities
from .convert.diagnostics import Translator, result_id, skipped
from .convert.positions import LineIndex
from .documents import Snapshot
from .foreign import Foreign, analysed, settled
from .pace import Pace, Shown, key
from .settings import Settings
from .worker import Job, Token, Worker

if TYPE_CHECKING:
    from .. import analysis
    from ..hover import Hovers

logger = logging.getLogger(__name__)


Place = tuple[types.Diagnostic, Span]
"""What is shown, and where it stands in the text."""


@frozen
class Subject:
    """One finding that something can be asked of here, and what the document shows of it: at the place where it is
    reported, and as a hint at its second place, such as the line at which PyTorch raises. One that is reported in
    another file and raises here is only pointed to, there.
    """

    finding: Diagnostic
    shown: Place
    mark: Place | None = None
    # the other file that has shown it
    foreign: Foreign | None = None
    is_reported_here: bool = True

    @property
    def places(self) -> tuple[Place, ...]:
        """All that is shown of it."""
        return (self.shown, self.mark) if self.mark else (self.shown,)


@dataclass(eq=False)
class AnalysisResult:
    """The findings of ``snapshot``, and the fixes that are computed so far."""

    snapshot: Snapshot
    rows: LineIndex
    token: Token
    report: analysis.Report | None = None
    config: Config = Config()
    # the files that its imports led to, by path
    reads: frozenset[str] = frozenset()
    # what is reported here, then what is reported elsewhere and raises here; they are asked for by their indices
    subjects: tuple[Subject, ...] = ()
    result_id: str = ""
    # the findings that the document's own analysis has, as far as they are told, and what they look like
    own: tuple[tuple[Diagnostic, types.Diagnostic], ...] = ()
    # all that it has, also what waits until the user has paused
    found: tuple[tuple[Diagnostic, types.Diagnostic], ...] = ()
    # what an earlier text showed and this one would, were it not in pieces; and what is shown of it: the rest is found
    staying: tuple[types.Diagnostic, ...] = ()
    kept: tuple[types.Diagnostic, ...] = ()
    # what is shown where there are no findings
    remark: tuple[types.Diagnostic, ...] = ()
    # what is wrong with the run itself: a broken configuration, an internal error
    fault: str | None = None
    # of these, the configuration
    complaint: str | None = None
    # seconds
    duration: float = 0
    # what hovers have shown, if it is kept (`KeptHovers`)
    hovers: Hovers | None = None
    _jobs: dict[Diagnostic, Job] = field(default_factory=dict)

    @property
    def findings(self) -> list[Diagnostic]:
        """What is reported here."""
        return [each.finding for each in self.subjects if each.is_reported_here]

    @property
    def published(self) -> list[types.Diagnostic]:
        """All that is shown in the document."""
        return [*(shown for shown, _ in self.placed), *self.kept]

    @property
    def placed(self) -> list[Place]:
        """All that is shown of findings; that the text was skipped is said at its start."""
        reported = [each.shown for each in self.subjects if each.is_reported_here]
        marks = [each.mark for each in self.subjects if each.mark]
        pointers = [each.shown for each in self.subjects if not each.is_reported_here]
        return [*(reported or ((shown, START) for shown in self.remark)), *marks, *pointers]

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What was not seen of the document."""
        return self.report.notices if self.report is not None else ()

    def sources(self, index: int) -> Mapping[str, Source]:
        """The other files that the story of subject ``index`` may lead through, by path."""
        foreign = self.subjects[index].foreign
        if foreign is not None:
            return foreign.sources
        return self.report.others if self.report is not None else {}

    @property
    def log_line(self) -> str:
        """What was done, in one line."""
        if self.report is None:
            return f"{self.snapshot.path}: nothing to analyse"
        count = len(self.report.diagnostics)
        found = "1 finding" if count == 1 else f"{count} findings"
        return f"{self.snapshot.path}: {found} in {len(self.rows)} lines, {self.duration:.2f} s"

    def fixes(self, index: int, worker: Worker) -> Job:
        """The work that finds the fixes of subject ``index``, once, as soon as there is time."""
        subject = self.subjects[index]
        if subject.finding not in self._jobs:
            work = partial(self._offer, subject.finding, subject.foreign)
            self._jobs[subject.finding] = worker.submit_idle(work, self.token)
        return self._jobs[subject.finding]

    def known_fixes(self, index: int) -> tuple[Fix, ...]:
        """The fixes of subject ``index`` as far as they are computed."""
        return self.known_offer(index).fixes

    def is_offer_known(self, index: int) -> bool:
        """Whether the fixes of subject ``index`` are computed."""
        job = self._jobs.get(self.subjects[index].finding)
        return job is not None and job.future.done()

    def known_offer(self, index: int) -> Offer:
        """The fixes of subject ``index``, or why there is none, as far as that is computed."""
        job = self._jobs.get(self.subjects[index].finding) if 0 <= index < len(self.subjects) else None
        done = job is not None and job.future.done() and not job.future.cancelled()
        offer: Offer = job.future.result() if job is not None and done else Offer()
        return offer

    def pace(self, pace: Pace, is_judged: bool) -> None:
        """Take of what was found what is told while the user types; what is shown is made by ``add``. It ``is_judged``
        once the files that use the document have been looked at.
        """
        if self.report is not None:
            self.own = pace.told(self.found, self.rows)
            self.staying = pace.staying(self.rows, bool(self.report.source.problems), is_judged)

    def shown_after(self, before: Shown) -> Shown:
        """What is shown now, for the text that comes next; ``before`` is what was shown before."""
        foreign = {each.message for each in before.foreign}
        others = [each.shown[0] for each in self.subjects if each.foreign]
        others += (each for each in self.kept if each.message in foreign)
        return Shown(self.rows.with_endings(), tuple(self.published), tuple(others))

    def add(self, others: Iterable[Foreign], client: ClientCapabilities) -> bool:
        """Show what other files have found here as well, instead of what they had found before; whether that changes
        anything. The document's own findings keep their places.
        """
        others, path, before = [*others], self.snapshot.path, self.result_id
        replaced, more = settled(
            [finding for finding, _ in self.own], (each for each in others if each.stands_in(path))
        )
        translator = Translator(self.snapshot, self.rows, client, {})
        subjects = []
        for index, foreign in enumerate([*map(replaced.get, range(len(self.own))), *more]):
            finding, shown = (
                (foreign.finding, foreign.shown(client, self.snapshot, self.rows, index))
                if foreign
                else self.own[index]
            )
            mark = translator.mark(finding, index)
            marked = (mark, finding.marked.span) if mark and finding.marked else None
            subjects.append(Subject(finding, (shown, finding.span), marked, foreign))
        self.subjects = (*subjects, *self._pointed(others, client))
        self.kept = ()
        known = {key(each) for each in self.published}
        self.kept = tuple(each for each in self.staying if key(each) not in known)
        self.result_id = result_id(self.published)
        return self.result_id != before

    def _pointed(self, others: Iterable[Foreign], client: ClientCapabilities) -> Iterator[Subject]:
        """What is reported elsewhere and raises here, each hazard once."""
        known: dict[tuple[object, ...], Foreign] = {}
        for each in others:
            if each.raises_in(self.snapshot.path):
                known.setdefault((each.finding.place, each.finding.raised_at), each)
        for each in known.values():
            at = each.finding.raised_at or each.finding
            shown = each.pointing(client, self.snapshot, self.rows)
            yield Subject(each.finding, (shown, at.span), foreign=each, is_reported_here=False)

    def _offer(self, finding: Diagnostic, foreign: Foreign | None, cancel: Callable[[], bool]) -> Offer:
        """The fixes that the document's own analysis has verified, or else those of the one that shows the finding."""
        assert self.report is not None
        try:
            if foreign is not None and not foreign.stands_in(self.snapshot.path):
                return foreign.offer(self.snapshot, cancel)
            own = deferred.analysis.offer(self.report, finding, cancel)
            return own if own.fixes or foreign is None else foreign.offer(self.snapshot, cancel)
        except deferred.analysis.Cancelled:
            if cancel():
                raise
            return Offer()  # the other document has changed
        except Exception:
            logger.exception("no fixes for %s: the fixer failed", finding.code)
            return Offer()


def analyse_snapshot(
    snapshot: Snapshot,
    settings: Settings,
    client: ClientCapabilities,
    token: Token,
    resolver: Resolver,
    memories: Memories,
) -> AnalysisResult:
    """Analyse ``snapshot``; runs on the worker. Raises ``analysis.Cancelled`` when the token says so."""
    resolve, begun = resolver if snapshot.file else None, time.perf_counter()
    if not concerns_torch(snapshot.text, snapshot.path, resolve):
        return replace(empty_result(snapshot, token), reads=frozenset(resolver.found))
    config, complaint = settings.config(snapshot.file)
    if snapshot.file is not None and config.excludes(snapshot.file):
        return replace(empty_result(snapshot, token), fault=complaint, complaint=complaint)
    report = _analysed(snapshot, config, settings, token, resolver, memories)
    # A fault that is about no place has ended the whole analysis.
    ended = (notice.sentence for notice in report.notices if notice.kind is Kind.FAULT and not notice.places)
    fault = complaint or next(ended, None)
    rows = LineIndex(snapshot.text)
    translator = Translator(snapshot, rows, client, report.others)
    shown = [translator.translate(finding, index) for index, finding in enumerate(report.diagnostics)]
    if report.source.is_skipped and not shown:
        shown = [skipped(report.source.is_skipped)]
    reads, duration = frozenset(resolver.found), time.perf_counter() - begun
    found, remark = tuple(zip(report.diagnostics, shown)), () if report.diagnostics else tuple(shown)
    return AnalysisResult(
        snapshot,
        rows,
        token,
        report,
        config,
        reads,
        found=found,
        remark=remark,
        fault=fault,
        complaint=complaint,
        duration=duration,
    )


def _analysed(
    snapshot: Snapshot, config: Config, settings: Settings, token: Token, resolver: Resolver, memories: Memories
) -> analysis.Report:
    """The report on ``snapshot``; one that is no file imports nothing."""
    program = Notebook(snapshot.text, snapshot.cells) if snapshot.documents else snapshot.text
    memory = memories.memory(snapshot.uri)
    if snapshot.file is None:
        return deferred.analysis.analyse(program, snapshot.path, config, token, memory=memory)
    return analysed(program, snapshot.path, settings, resolver, memories, token, memory=memory)


def empty_result(snapshot: Snapshot, token: Token) -> AnalysisResult:
    """The result for a document that need not be analysed."""
    return AnalysisResult(snapshot, LineIndex(snapshot.text), token, result_id="nothing")


def unsaved_result(snapshot: Snapshot, token: Token, pace: Pace) -> AnalysisResult:
    """The result for a text that is analysed once it is saved: what was shown of the one before."""
    result = empty_result(snapshot, token)
    result.staying = pace.staying(result.rows, True)
    return result


def failed_result(snapshot: Snapshot, token: Token, error: Exception) -> AnalysisResult:
    """The result after an internal error: no findings, and the reason for the status item."""
    logger.error("the analysis of %s failed", snapshot.uri, exc_info=error)
    return replace(empty_result(snapshot, token), fault=f"the analysis failed: {type(error).__name__}: {error}")
