"""What one analysis of one version of a document found, kept until the text changes."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from lsprotocol import types

from ..report.diagnostic import Diagnostic, Fix, Offer
from ..report.notice import START, Kind, Notice
from ..source import Notebook, Source, Span, concerns_torch
from ..workspace import Config, Resolver
from ..workspace.callers import users
from . import deferred
from .caches import Memories
from .client_capabilities import ClientCapabilities
from .convert.diagnostics import Translator, result_id, skipped
from .convert.positions import LineIndex
from .documents import Snapshot
from .foreign import Foreign, config_for, settled
from .pace import Pace, Shown, key
from .settings import Settings
from .worker import Job, Token, Worker

if TYPE_CHECKING:
    from .. import analysis
    from ..hover import Hovers

logger = logging.getLogger(__name__)


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
    findings: tuple[Diagnostic, ...] = ()
    # the same findings, one for one, in the protocol's terms
    shown: list[types.Diagnostic] = field(default_factory=list)
    # hints in the lines at which PyTorch raises, by the index of the finding that says why
    marks: dict[int, types.Diagnostic] = field(default_factory=dict)
    # what is reported in another file and raises here, and one for one the hints in those lines
    pointed: tuple[Foreign, ...] = ()
    pointers: list[types.Diagnostic] = field(default_factory=list)
    result_id: str = ""
    # those of them that the document's own analysis has, and what they look like
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
    # those of the findings that other files have shown, by index
    _foreign: dict[int, Foreign] = field(default_factory=dict)
    _jobs: dict[Diagnostic, Job] = field(default_factory=dict)

    @property
    def published(self) -> list[types.Diagnostic]:
        """All that is shown in the document."""
        return [*self.shown, *self.marks.values(), *self.pointers, *self.kept]

    @property
    def subjects(self) -> tuple[Diagnostic, ...]:
        """All findings that something can be asked of here: those that are reported here, then those that are reported
        elsewhere and raise here. Their places are their indices.
        """
        return (*self.findings, *(each.finding for each in self.pointed))

    def shown_of(self, index: int) -> types.Diagnostic:
        """What the document shows of subject ``index``."""
        return [*self.shown, *self.pointers][index]

    @property
    def placed(self) -> Iterator[tuple[types.Diagnostic, Span]]:
        """All that is shown, each with its place in the text; that all of it was skipped is said at its start."""
        spans = [finding.span for finding in self.findings] or [START] * len(self.shown)
        yield from zip(self.shown, spans)
        for index, mark in self.marks.items():
            marked = self.findings[index].marked
            if marked is not None:
                yield mark, marked.span
        for pointer, each in zip(self.pointers, self.pointed):
            if each.finding.raised_at is not None:
                yield pointer, each.finding.raised_at.span

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What was not seen of the document."""
        return self.report.notices if self.report is not None else ()

    def sources(self, index: int) -> Mapping[str, Source]:
        """The other files that the story of subject ``index`` may lead through, by path."""
        foreign = self._foreign_of(index)
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
        finding, foreign = self.subjects[index], self._foreign_of(index)
        if finding not in self._jobs:
            self._jobs[finding] = worker.submit_idle(partial(self._offer, finding, foreign), self.token)
        return self._jobs[finding]

    def known_fixes(self, index: int) -> tuple[Fix, ...]:
        """The fixes of subject ``index`` as far as they are computed."""
        return self.known_offer(index).fixes

    def is_offer_known(self, index: int) -> bool:
        """Whether the fixes of subject ``index`` are computed."""
        job = self._jobs.get(self.subjects[index])
        return job is not None and job.future.done()

    def known_offer(self, index: int) -> Offer:
        """The fixes of subject ``index``, or why there is none, as far as that is computed."""
        job = self._jobs.get(self.subjects[index]) if 0 <= index < len(self.subjects) else None
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
        others = [*(self.shown[index] for index in self._foreign), *self.pointers]
        others += (each for each in self.kept if each.message in foreign)
        return Shown(self.rows.with_endings(), tuple(self.published), tuple(others))

    def add(
        self, others: Iterable[Foreign], client: ClientCapabilities, unstructure: Callable[[object], dict[str, object]]
    ) -> bool:
        """Show what other files have found here as well, instead of what they had found before; whether that changes
        anything. The document's own findings keep their places.
        """
        others, path = [*others], self.snapshot.path
        replaced, more = settled(
            [finding for finding, _ in self.own], (each for each in others if each.stands_in(path))
        )
        pairs = [*self.own]
        self._foreign = {**replaced, **dict(enumerate(more, len(pairs)))}
        for index, each in self._foreign.items():
            pairs[index : index + 1] = [(each.finding, each.shown(client, self.snapshot, self.rows, index))]
        before, self.findings = self.result_id, tuple(finding for finding, _ in pairs)
        self.shown = [shown for _, shown in pairs] or [*self.remark]
        self.marks = marks(self.findings, Translator(self.snapshot, self.rows, client, {}))
        self._point((each for each in others if each.raises_in(path)), client)
        self.kept = ()
        known = {key(each) for each in self.published}
        self.kept = tuple(each for each in self.staying if key(each) not in known)
        self.result_id = result_id(self.published, unstructure)
        return self.result_id != before

    def _point(self, found: Iterable[Foreign], client: ClientCapabilities) -> None:
        """Show where PyTorch raises here for what is reported elsewhere, each hazard once."""
        known: dict[tuple[object, ...], Foreign] = {}
        for each in found:
            known.setdefault((each.finding.place, each.finding.raised_at), each)
        self.pointed = tuple(known.values())
        self.pointers = [each.pointing(client, self.snapshot, self.rows) for each in self.pointed]

    def _foreign_of(self, index: int) -> Foreign | None:
        """What another file has shown, or shows, of subject ``index``."""
        after = index - len(self.findings)
        return self._foreign.get(index) if after < 0 else self.pointed[after]

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
    unstructure: Callable[[object], dict[str, object]],
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


def marks(findings: Iterable[Diagnostic], translator: Translator) -> dict[int, types.Diagnostic]:
    """The hints at second places of findings, as the lines at which PyTorch raises, by the index of the finding."""
    made = ((index, translator.mark(finding, index)) for index, finding in enumerate(findings))
    return {index: mark for index, mark in made if mark is not None}


def _analysed(
    snapshot: Snapshot, config: Config, settings: Settings, token: Token, resolver: Resolver, memories: Memories
) -> analysis.Report:
    """The report on ``snapshot``; one that is no file imports nothing."""
    program = Notebook(snapshot.text, snapshot.cells) if snapshot.documents else snapshot.text
    memory, file = memories.memory(snapshot.uri), snapshot.file
    if file is None:
        return deferred.analysis.analyse(program, snapshot.path, config, token, memory=memory)
    config_of = config_for(settings, resolver, file)
    used_by = partial(users, resolver=resolver) if config.callers else None
    return deferred.analysis.analyse(
        program,
        snapshot.path,
        config,
        token,
        resolver,
        memory,
        resolver.is_imported,
        config_of=config_of,
        users=used_by,
        shared=memories.shared,
    )


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
