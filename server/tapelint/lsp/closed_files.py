"""The files that train and are not open: checked one after the other when there is nothing else to do.

    {"tapelint.diagnosticMode": "workspace"}       per folder; "openFilesOnly" is the default

Whatever is more urgent goes first: a file that is being checked is given up for it and begun again. What is found goes
to a client that pulls when it asks (``workspace/diagnostic``), to others at once. A file is checked again when it has
another text, or one of the files that its imports lead to. What open files show is reported beside it.

The analysis of one file that is not open, for the closed files of a workspace. Runs on the worker.

Only what the client is shown is kept of it: a workspace has many files, and the trees of each are large.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import unquote

from lsprotocol import types
from pygls.uris import from_fs_path, to_fs_path

from ..bounds import BOUNDS
from ..frozen import frozen
from ..report.diagnostic import Diagnostic
from ..source import NOTEBOOK
from ..workspace import IgnoreFiles, Resolver, discover, is_excluded_by_name
from . import deferred
from .caches import Memories
from .client_capabilities import ClientCapabilities
from .convert.diagnostics import result_id
from .delays import DELAYS
from .foreign import analysed, on_disk
from .settings import Settings
from .worker import Priority, Token

if TYPE_CHECKING:
    from .server import Server

logger = logging.getLogger(__name__)

SUFFIXES = (".py", ".pyw")
"""A notebook that is not open has no cells that a client could show anything in."""
"""Python files of a workspace that are looked at."""


@frozen
class Checked:
    """What a file has shown: by path of the file that it stands in; and the files that it was led to."""

    shown: Mapping[str, list[types.Diagnostic]] = field(default_factory=dict)
    reads: frozenset[str] = frozenset()


def python_files(
    roots: Sequence[str], settings_of: Callable[[str], Settings], cancel: Callable[[], bool]
) -> tuple[list[str], bool]:
    """The files below the ``roots`` that neither configuration nor git leave out, and whether there are more."""

    def is_excluded(path: str) -> bool:
        if cancel():
            raise deferred.analysis.Cancelled
        config = settings_of(from_fs_path(path) or path).config(path)[0]
        by_name = config.excludes(path) if config.root else is_excluded_by_name(path)
        by_name = by_name or any(patterns.matches(path) for patterns in config.extend_exclude)
        return by_name or (config.respect_gitignore and ignored.ignores(path))

    found: list[str] = []
    for root in roots:
        ignored = IgnoreFiles(root)
        for path in discover(root, is_excluded):
            if len(found) == BOUNDS.project_files:
                return found, True
            if path.endswith(SUFFIXES):
                found.append(path)
    return [*dict.fromkeys(found)], False


def is_below(path: str, root: str) -> bool:
    """Whether a path is inside of a folder."""
    return path.startswith(root.rstrip(os.sep) + os.sep)


def _is_wanted(path: str, roots: Sequence[str], resolver: Resolver, settings: Settings) -> bool:
    """Whether a file is one that :func:`python_files` would find."""
    root = next((root for root in roots if is_below(path, root)), None)
    if root is None or not path.endswith(SUFFIXES) or not settings.checks(path, resolver, path):
        return False
    return not (settings.config(path)[0].respect_gitignore and IgnoreFiles(root).ignores(path))


def check(
    path: str,
    roots: Sequence[str],
    settings: Settings,
    client: ClientCapabilities,
    memories: Memories,
    resolver: Resolver,
    cancel: Callable[[], bool],
) -> Checked | None:
    """Analyse the file at ``path``; None where it does not train, or is not to be checked. Raises
    ``analysis.Cancelled`` when ``cancel`` says so.
    """
    text = resolver.text(path) if _is_wanted(path, roots, resolver, settings) else None
    if text is None or not deferred.training_files.trains(text):
        return None
    try:
        report = analysed(text, path, settings, resolver, memories, cancel)
    except deferred.analysis.Cancelled:
        raise
    except Exception:
        logger.exception("%s could not be checked", path)
        return Checked()
    found: dict[str, list[Diagnostic]] = {path: []}
    for finding in (*report.diagnostics, *report.elsewhere):
        if not finding.filename.endswith(NOTEBOOK):
            found.setdefault(finding.filename, []).append(finding)
    sources = {**report.others, report.path: report.source}
    shown = {
        place: on_disk(place, ((finding, sources) for finding in findings), client) for place, findings in found.items()
    }
    return Checked(shown, frozenset(resolver.found))


SHORTEST, LONGEST = 0.1, 5.0
"""Seconds until a file is begun again that was given up for something more urgent."""
LAST = Priority.BACKGROUND

T = TypeVar("T")
Cancel = Callable[[], bool]
Report = types.WorkspaceFullDocumentDiagnosticReport | types.WorkspaceUnchangedDocumentDiagnosticReport


class GivenUp(Exception):
    """What was to be done is not wanted any more."""


@frozen
class Shown:
    """What is shown in a file that is not open."""

    uri: str
    result_id: str
    items: list[types.Diagnostic]


class ClosedFiles:
    """What the closed files of the folders show, as far as they are checked."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._checked: dict[str, Checked] = {}
        self._shown: dict[str, Shown] = {}
        # what open documents have found in closed files: it is pushed to these already
        self._from_open: dict[str, list[types.Diagnostic]] = {}
        # A file that was open has another result than before: its client has dropped the last one.
        self._closings: Counter[str] = Counter()
        # what is still to be done
        self._is_outdated = True
        self._stale: set[str] = set()
        self._done = 0
        self._token = Token()
        self._task: asyncio.Task[None] | None = None
        self._news: asyncio.Future[None] | None = None

    def touched(self, path: str | None) -> None:
        """A file has another text now; None: anything may have changed, settings too."""
        if path is None:
            self._is_outdated = True
            self._give_up()
        elif self._roots() and (
            path not in self._server.session.files() or any(self._reads(p, path) for p in self._checked)
        ):
            self._stale |= {path, *(each for each in self._checked if self._reads(each, path))}
            self._give_up()

    def opened(self, uri: str) -> None:
        """A document was opened: its own analysis says what is to be shown."""
        path = to_fs_path(uri)
        if path is not None:
            self._forget(path)
            self._show({path})

    def closed(self, uri: str) -> None:
        """A document was closed."""
        path = to_fs_path(uri)
        if path is not None:
            self._closings[path] += 1
            self.touched(path)

    def from_open(self, uri: str, shown: list[types.Diagnostic]) -> None:
        """What open documents show in a closed file is pushed, and not said twice."""
        path = to_fs_path(uri) or uri
        self._from_open[path] = shown
        self._server.show(uri, None, shown)
        self._show({path})

    def diagnostics(self, uri: str) -> list[types.Diagnostic]:
        """What is shown in a file."""
        found = self._shown.get(to_fs_path(uri) or uri)
        return found.items if found else []

    @property
    def is_on(self) -> bool:
        """Whether the settings of any folder want closed files to be checked."""
        return bool(self._roots())

    @property
    def is_busy(self) -> bool:
        """Whether more is to come."""
        return self._is_outdated or self._task is not None and not self._task.done()

    @property
    def news(self) -> asyncio.Future[None]:
        """Resolves when there is something new to report."""
        if self._news is None or self._news.done():
            self._news = asyncio.get_running_loop().create_future()
        return self._news

    def reports(self, known: Mapping[str, str]) -> tuple[list[Report], list[Report]]:
        """What a client that has the results ``known``, by URI, does not know yet, and what has not changed."""
        names = {unquote(uri): name for uri, name in known.items()}
        new: list[Report] = []
        same: list[Report] = []
        for report in self._of_open():
            if names.pop(unquote(report.uri), None) != report.result_id:
                new.append(report)
        for shown in self._shown.values():
            if names.pop(unquote(shown.uri), None) == shown.result_id:
                same.append(types.WorkspaceUnchangedDocumentDiagnosticReport(shown.uri, shown.result_id))
            else:
                new.append(
                    types.WorkspaceFullDocumentDiagnosticReport(shown.uri, shown.items, result_id=shown.result_id)
                )
        gone = (uri for uri in known if unquote(uri) in names and not (self.is_on and self._server.session.knows(uri)))
        new += (types.WorkspaceFullDocumentDiagnosticReport(uri, []) for uri in gone)
        return new, same

    def published(self) -> None:
        """Open documents show something else than before."""
        if self.is_on:
            self._tell()

    def _of_open(self) -> Iterator[types.WorkspaceFullDocumentDiagnosticReport]:
        """What open documents show: a client may have one open that no tab shows, for which it does not ask."""
        roots = self._roots()
        for result in self._server.session.results():
            snapshot = result.snapshot
            if not snapshot.documents and any(is_below(snapshot.path, root) for root in roots):
                yield types.WorkspaceFullDocumentDiagnosticReport(
                    snapshot.uri, result.published, snapshot.version, result_id=result.result_id
                )

    def _give_up(self) -> None:
        """Stop what runs: something has changed."""
        self._token.cancel()
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        """Do what is to be done until nothing is left."""
        while self._is_outdated or self._stale:
            self._token = Token()
            await asyncio.sleep(DELAYS.closed_files)
            try:
                if self._is_outdated:
                    await self._look_around()
                else:
                    await self._check()
            except GivenUp:
                pass
        self._done = 0
        asyncio.get_running_loop().call_soon(self._tell)  # once this task is done: there is no more to come

    async def _look_around(self) -> None:
        """Find the files. All of them are to be checked again."""
        roots, settings_of = self._roots(), self._server.settings.settings
        paths, is_cut = await self._when_idle(lambda resolver, cancel: python_files(roots, settings_of, cancel))
        if is_cut:
            said = f"Only {BOUNDS.project_files:,} Python files of the workspace are looked at."
            self._server.log(types.MessageType.Warning, said)
        self._is_outdated, self._stale, self._done = False, {*paths}, 0
        for path in {*self._checked} - self._stale:
            self._forget(path)

    async def _check(self) -> None:
        """Check one file after the other."""
        client, settings_of, roots = self._server.client, self._server.settings.settings, self._roots()
        with self._server.long_work.over("tapelint") as work:
            while self._stale:
                path = min(self._stale)
                count = self._done + len(self._stale)
                work.say(f"{self._done} of {count} files", 100 * self._done // count)
                if path not in self._server.session.files():
                    settings = settings_of(from_fs_path(path) or path)
                    attempt = partial(check, path, roots, settings, client, self._server.session.memories)
                    checked = await self._when_idle(attempt)
                    before = self._checked.pop(path, Checked())
                    if checked is not None:
                        self._checked[path] = checked
                    self._show({*before.shown, *(checked or before).shown})
                self._done += 1
                self._stale.discard(path)

    async def _when_idle(self, work: Callable[[Resolver, Cancel], T]) -> T:
        """The result of ``work``, which is given up for anything more urgent and then begun again. Raises GivenUp."""
        pause, token, worker = SHORTEST, self._token, self._server.session.worker
        while not token():
            attempt = partial(work, self._server.session.resolver(), lambda: token() or worker.is_in_demand(LAST))
            try:
                done: T = await worker.submit(attempt, LAST, token).future
                return done
            except deferred.analysis.Cancelled:
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST)
            except asyncio.CancelledError:
                if not token():
                    raise
        raise GivenUp

    def _roots(self) -> list[str]:
        """The folders whose closed files are to be checked."""
        settings = (
            (folder, self._server.settings.settings(from_fs_path(folder) or folder))
            for folder in self._server.folders()
        )
        return [folder for folder, own in settings if own.enable and own.checks_closed]

    def _reads(self, path: str, other: str) -> bool:
        """Whether imports of a file have led to another one."""
        return path in self._checked and other in self._checked[path].reads

    def _forget(self, path: str) -> None:
        """A file is not checked any more."""
        before = self._checked.pop(path, None)
        if before is not None:
            self._show(before.shown)

    def _show(self, paths: Iterable[str]) -> None:
        """Say what is new in some files."""
        pulls, opened, is_new = self._server.client.pulls, self._server.session.files(), False
        for path in paths:
            before, now = self._shown.pop(path, None), None
            if path not in opened and any(path in each.shown for each in self._checked.values()):
                now = self._shown[path] = self._now(path)
            if (before and before.result_id) == (now and now.result_id):
                continue
            is_new = True
            if not pulls and path not in opened:
                self._server.show(from_fs_path(path) or path, None, now.items if now else [])
        if is_new:
            self._tell()

    def _now(self, path: str) -> Shown:
        """What is to be shown in a file: each hazard once, as grave as any has found it."""
        uri, best = from_fs_path(path) or path, dict[tuple[object, ...], types.Diagnostic]()
        said = {_place(shown) for shown in self._from_open.get(path, ())}
        for checked in self._checked.values():
            for shown in checked.shown.get(path, ()):
                known = best.setdefault(_place(shown), shown)
                if (shown.severity or 0) < (known.severity or 0):
                    best[_place(shown)] = shown
        items = [shown for place, shown in best.items() if place not in said]
        name = result_id(items)
        return Shown(uri, f"{name}.{self._closings[path]}", items)

    def _tell(self) -> None:
        if self._news is not None and not self._news.done():
            self._news.set_result(None)


def _place(shown: types.Diagnostic) -> tuple[object, ...]:
    """What two diagnostics of one hazard have in common."""
    start, end = shown.range.start, shown.range.end
    return shown.code, start.line, start.character, end.line, end.character
