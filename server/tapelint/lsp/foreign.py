"""What the analysis of one file has found in another.

main.py is open, helper.py is not    what stands in helper.py is pushed to helper.py
both are open                        it is shown among the findings of helper.py
train.py is open, PyTorch raises     it is pointed to in train.py
there for what stands in helper.py
helper.py is open, main.py is not    main.py is executed when there is time: what stands in helper.py is added to its
                                     findings, what helper.py does in main.py is pushed to main.py
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.uris import from_fs_path

from ..frozen import frozen
from ..report.diagnostic import Diagnostic, FileEdits, Fix, Offer
from ..source import NOTEBOOK, Notebook, Source
from ..workspace import Config, Resolver
from ..workspace.callers import Caller, find_callers, text_of, users
from . import deferred
from .caches import Memories
from .client_capabilities import ClientCapabilities
from .convert.diagnostics import Translator
from .convert.positions import LineIndex
from .documents import Snapshot
from .settings import Settings

if TYPE_CHECKING:
    from .. import analysis


def never() -> bool:
    return False


@frozen
class Foreign:
    """A finding, and the files that its story leads through, by path. ``report`` is the analysis that has found it,
    which is not to be used any more once ``is_outdated()``.
    """

    finding: Diagnostic
    sources: Mapping[str, Source]
    report: analysis.Report
    is_outdated: Callable[[], bool] = never

    def offer(self, document: Snapshot, cancel: Callable[[], bool]) -> Offer:
        """The fixes of the finding for readers of a document: its edits are the fix's own. Runs on the worker."""
        if self.is_outdated():
            return Offer()
        found = deferred.analysis.offer(self.report, self.finding, lambda: cancel() or self.is_outdated())
        seen = (seen_from(document, self._titled(fix, document.path), self.report) for fix in found.fixes)
        return replace(found, fixes=tuple(fix for fix in seen if fix is not None))

    def _titled(self, fix: Fix, reader: str) -> Fix:
        """A fix with a title that names the file of the finding, where its readers are in another one."""
        stands_in = self.finding.filename
        edited = {*(each.filename for each in fix.others), *([self.report.path] if fix.edits else [])}
        if reader == stands_in or edited != {stands_in}:
            return fix
        return replace(fix, title=deferred.cures_elsewhere.named(fix.title, edited, reader))

    def stands_in(self, path: str) -> bool:
        """Whether the finding is reported in the file at ``path``."""
        return self.finding.filename == path

    def raises_in(self, path: str) -> bool:
        """Whether the finding is reported in another file, and PyTorch raises in the one at ``path``."""
        return _raises_in(self.finding) == path and not self.stands_in(path)

    def pointing(self, client: ClientCapabilities, snapshot: Snapshot, rows: LineIndex) -> types.Diagnostic:
        """The hint at the line of a document at which PyTorch raises."""
        return Translator(snapshot, rows, client, self.sources).pointer(self.finding)

    def shown(self, client: ClientCapabilities, snapshot: Snapshot, rows: LineIndex, index: int) -> types.Diagnostic:
        """The finding in the protocol's terms, in the document that it stands in."""
        return Translator(snapshot, rows, client, self.sources).translate(self.finding, index)


@dataclass(slots=True)
class Contribution:
    """What an open document is the reason for in other files, and what its callers show in it, by path."""

    by_itself: dict[str, list[Foreign]] = field(default_factory=dict)
    by_callers: dict[str, list[Foreign]] = field(default_factory=dict)

    def drop(self, path: str) -> None:
        """The file at ``path`` has another text now."""
        self.by_itself.pop(path, None)
        self.by_callers.pop(path, None)

    def findings(self, path: str) -> list[Foreign]:
        """What is known of the file at ``path``."""
        return [*self.by_itself.get(path, ()), *self.by_callers.get(path, ())]

    @property
    def paths(self) -> set[str]:
        """The files that findings stand in."""
        return {
            path
            for found in (self.by_itself, self.by_callers)
            for path in found
            if any(f.stands_in(path) for f in found[path])
        }


def seen_from(document: Snapshot, fix: Fix, report: analysis.Report) -> Fix | None:
    """A fix that ``report`` offers, for readers of another document; None where it edits a notebook, or an older text
    of the document.
    """
    path = document.path
    if fix.edits and report.source.cells or any(e.filename == path and e.text != document.text for e in fix.others):
        return None
    checked = [FileEdits(report.path, report.source.text, fix.edits)] if fix.edits else []
    files = [*checked, *fix.others]
    others = tuple(each for each in files if each.filename != path)
    return replace(fix, edits=deferred.cures_elsewhere.edits_of(files, path), others=others)


def elsewhere(report: analysis.Report, is_outdated: Callable[[], bool]) -> dict[str, list[Foreign]]:
    """What an analysis has found in other files, and what raises there."""
    raising = (each for each in report.diagnostics if _raises_in(each) not in (None, report.path))
    return _by_path(report, (*report.elsewhere, *raising), is_outdated)


def _by_path(
    report: analysis.Report, findings: Iterable[Diagnostic], is_outdated: Callable[[], bool] = never
) -> dict[str, list[Foreign]]:
    """Findings by the files that they are reported in, and by those that they raise in."""
    sources, found = {**report.others, report.path: report.source}, dict[str, list[Foreign]]()
    for finding in findings:
        steps = tuple(step for step in finding.related if not step.filename.endswith(NOTEBOOK))
        foreign = Foreign(replace(finding, related=steps), sources, report, is_outdated)
        for path in {finding.filename, _raises_in(finding) or finding.filename}:
            found.setdefault(path, []).append(foreign)
    return found


def _raises_in(finding: Diagnostic) -> str | None:
    """The file in which PyTorch raises, where that is at another place than the finding is reported at."""
    return finding.raised_at.filename if finding.raised_at is not None else None


def analysed(
    program: str | Notebook,
    path: str,
    settings: Settings,
    resolver: Resolver,
    memories: Memories,
    cancel: Callable[[], bool],
    **how: Any,
) -> analysis.Report:
    """The report on a file of the workspace, under the project's configuration with the editor's settings. ``how`` are
    further arguments of the analysis. Raises Cancelled.
    """

    def config_of(other: str) -> Config | None:
        """None for a file that is imported and not checked."""
        return settings.config(other)[0] if settings.checks(other, resolver, path) else None

    config = settings.config(path)[0]
    asked = {"users": partial(users, resolver=resolver) if config.callers else None, "shared": memories.shared, **how}
    is_imported = resolver.is_imported
    return deferred.analysis.analyse(
        program, path, config, cancel, resolver, is_imported=is_imported, config_of=config_of, **asked
    )


def callers_of(path: str, resolver: Resolver, cancel: Callable[[], bool]) -> tuple[Caller, ...]:
    """The best files that use the one at ``path``."""
    found = find_callers([path], resolver, cancel=cancel)
    if cancel():
        raise deferred.analysis.Cancelled
    return found.of.get(path, ())


def shown_by(
    caller: Caller,
    rank: int,
    path: str,
    resolver: Resolver,
    settings: Settings,
    memories: Memories,
    cancel: Callable[[], bool],
) -> dict[str, list[Foreign]]:
    """What a caller of the file at ``path`` shows there, and what that file does in the caller. Raises Cancelled."""
    text = text_of(caller.path, resolver)
    if text is None:
        return {}
    limits = deferred.limits.of_caller(rank)
    report = analysed(
        text, caller.path, settings, resolver, memories, cancel, users=None, limits=limits, focus=caller.names
    )
    there = [finding for finding in report.elsewhere if path in (finding.filename, _raises_in(finding))]
    if not settings.config(caller.path)[0].excludes(caller.path) and not caller.path.endswith(NOTEBOOK):
        there += (f for f in report.diagnostics if path in (_raises_in(f), *(step.filename for step in f.related)))
    return _by_path(report, there)


def merged(parts: Iterable[Mapping[str, list[Foreign]]]) -> dict[str, list[Foreign]]:
    """All of them in one."""
    found: dict[str, list[Foreign]] = {}
    for part in parts:
        for path, foreign in part.items():
            found.setdefault(path, []).extend(foreign)
    return found


def settled(own: Sequence[Diagnostic], others: Iterable[Foreign]) -> tuple[dict[int, Foreign], list[Foreign]]:
    """Each hazard once: which of a document's ``own`` findings, by index, another file shows to be graver or not only
    imagined, and what is found by others alone.
    """
    mine = {(finding.code, finding.span): finding for finding in own}
    known = {key: index for index, key in enumerate(mine)}
    best: dict[tuple[object, ...], Foreign] = {}
    for each in others:
        key = each.finding.code, each.finding.span
        before = best[key].finding if key in best else mine.get(key)
        if before is None or _rank(each.finding) < _rank(before):
            best[key] = each
    replaced = {known[key]: each for key, each in best.items() if key in known}
    return replaced, [each for key, each in best.items() if key not in known]


def _rank(finding: Diagnostic) -> tuple[int, bool]:
    return finding.severity, finding.is_latent


def on_disk(
    path: str, found: Iterable[tuple[Diagnostic, Mapping[str, Source]]], client: ClientCapabilities
) -> list[types.Diagnostic]:
    """Findings in a file that is not open, each with the files that its story leads through."""
    shown = []
    for finding, sources in found:
        text = sources[path].text if path in sources else ""
        snapshot = Snapshot(from_fs_path(path) or path, path, None, text)
        shown.append(Translator(snapshot, LineIndex(text), client, sources).translate(finding, None))
    return shown


Push = Callable[[str, list[types.Diagnostic]], None]
"""Shows diagnostics in a file that is not open, by URI."""


class Shared:
    """The contributions of the open documents, and what of them the client has been sent for files on disk."""

    def __init__(self, push: Push) -> None:
        self._push = push
        self._by_uri: dict[str, Contribution] = {}
        self._pushed: dict[str, tuple[str, list[types.Diagnostic]]] = {}

    def by(self, uri: str) -> Contribution:
        """The contribution of a document."""
        return self._by_uri.setdefault(uri, Contribution())

    def forget(self, uri: str) -> None:
        """A document was closed."""
        self._by_uri.pop(uri, None)

    def drop(self, path: str) -> None:
        """A file has another text now: what was found in it may be gone, or stand elsewhere."""
        for contribution in self._by_uri.values():
            contribution.drop(path)

    def findings(self, path: str) -> list[Foreign]:
        """What is known of a file."""
        return [each for contribution in self._by_uri.values() for each in contribution.findings(path)]

    def push(self, opened: Collection[str], client: ClientCapabilities) -> None:
        """Send what has changed for files that are not among the ``opened`` ones, and take back what is gone."""
        known = {path for contribution in self._by_uri.values() for path in contribution.paths} - {*opened}
        for path in sorted({*known, *self._pushed}):
            before = self._pushed.pop(path, None)
            if path in known:
                _, once = settled((), (each for each in self.findings(path) if each.stands_in(path)))
                shown = on_disk(path, ((each.finding, each.sources) for each in once), client)
                self._pushed[path] = from_fs_path(path) or path, shown
                if self._pushed[path] != before:
                    self._push(*self._pushed[path])
            elif before is not None and (path not in opened or client.pulls):
                self._push(before[0], [])
