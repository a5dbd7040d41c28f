"""From a keystroke to a squiggle: one entry per open document, and at most one analysis of it that is still wanted.

A change cancels the run of the text before it, waits until the typing pauses, takes a snapshot and hands it to the
worker. What comes back is dropped if the document has changed again; otherwise it is published (or handed to those
who asked for it), and its fixes are computed while the worker has nothing better to do, so that the lightbulb answers
from memory.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any
from urllib.parse import unquote

from lsprotocol import types

from .. import analysis
from ..report.notice import Kind, outlined
from ..workspace import Resolver
from .analysis_result import Outcome, examine, failed, nothing
from .caches import Memories
from .client_capabilities import ClientCapabilities
from .documents import Document, Snapshot
from .notebook_documents import NotebookDocument
from .settings import Settings
from .status import Status
from .worker import Priority, Token, Worker

logger = logging.getLogger(__name__)

DEBOUNCE = 0.15
SHORTEST = 0.02
IDLE_DELAY = 0.1
PREPARED_FIXES = 40

# A cell is no program of its own: what it means depends on the cells above it, which are documents of their own.
_NOT_PROGRAMS = ("vscode-notebook-cell:",)


def _name(uri: str) -> str:
    """What a document is called among others."""
    return unquote(uri).rpartition("/")[2]


class DocumentState:
    """One open document and how far its analysis is."""

    def __init__(self, document: Document | NotebookDocument) -> None:
        self.document = document
        self.token = Token()
        self.outcome: Outcome | None = None
        self.timer: asyncio.TimerHandle | None = None
        # The files its last analysis led to; None before the first, which may be about to read any.
        self.reads: frozenset[str] | None = None
        # What was not seen of it and is in the log.
        self.logged: set[object] = set()
        # What was last said of it, where another file is the reason to look again.
        self.said: str | None = None
        self.took = DEBOUNCE
        self._snapshot: Snapshot | None = None
        # Resolves to the outcome of the current text, or to None once that is given up for newer text or settings.
        self.pending: asyncio.Future[Outcome | None] = asyncio.get_running_loop().create_future()

    @property
    def snapshot(self) -> Snapshot:
        """The document as it is now; the same text is the same object, so that it is parsed once."""
        if self._snapshot is None or self._snapshot.version != self.document.version:
            self._snapshot = self.document.snapshot()
        return self._snapshot

    @property
    def pause(self) -> float:
        """How long typing has to pause: as long as an analysis takes, so that at most half of the work is without
        success.
        """
        return min(DEBOUNCE, max(SHORTEST, self.took))

    def supersede(self) -> None:
        """Give up what runs, and let those who wait for it know."""
        self.token.cancel()
        self.token = Token()
        self.outcome = None
        if self.timer is not None:
            self.timer.cancel()
        if not self.pending.done():
            self.pending.set_result(None)
        self.pending = asyncio.get_running_loop().create_future()


class Session:
    """All open documents on their way to an outcome."""

    def __init__(
        self,
        worker: Worker,
        status: Status,
        settings_of: Callable[[str], Settings],
        publish: Callable[[Snapshot, Outcome | None], None],
        unstructure: Callable[[object], dict[str, object]],
        folders: Callable[[], list[str]] = lambda: [],
        refresh: Callable[[], None] = lambda: None,
        log: Callable[[types.MessageType, str], None] = lambda kind, message: None,
    ) -> None:
        self.client = ClientCapabilities()
        self.worker = worker
        self._status, self._settings_of, self._publish, self._unstructure = status, settings_of, publish, unstructure
        self._folders, self._refresh, self._log = folders, refresh, log
        self._entries: dict[str, DocumentState] = {}
        self._memories = Memories()
        self._held = True
        self._tasks: set[asyncio.Task[None]] = set()

    def release(self) -> None:
        """Start analysing: the settings are known now. Before that nothing runs, lest it be what the user disabled."""
        if not self._held:
            return
        self._held = False
        for entry in self._entries.values():
            self._arm(entry, 0)

    def restart(self) -> None:
        """Analyse every open document again: the configuration has changed."""
        for entry in self._entries.values():
            self._schedule(entry, 0)

    def opened(self, document: Document | NotebookDocument) -> None:
        before = self._entries.pop(unquote(document.uri), None)
        if before is not None:
            before.supersede()
        entry = self._entries[unquote(document.uri)] = DocumentState(document)
        self._schedule(entry, 0)
        self._differs(entry)

    def changed(self, document: Document | NotebookDocument) -> None:
        entry = self._entries.get(unquote(document.uri))
        if entry is not None:
            self._schedule(entry, entry.pause)
            if entry.snapshot.file:
                self.touched(entry.snapshot.file, DEBOUNCE)

    def closed(self, uri: str) -> None:
        entry = self._entries.pop(unquote(uri), None)
        if entry is not None:
            entry.supersede()
            self.worker.submit(partial(self._memories.drop, entry.document.uri), Priority.IDLE, Token())
            self._publish(Snapshot(entry.document.uri, "", None, ""), None)
            self._status.note(self._unseen())
            self._differs(entry)

    def touched(self, path: str, delay: float = 0) -> None:
        """A file has another text now: the documents that import it are analysed again."""
        for entry in self._entries.values():
            if entry.snapshot.file != path and (entry.reads is None or path in entry.reads):
                if entry.outcome is not None:
                    entry.said = entry.outcome.result_id
                self._schedule(entry, delay)

    def _differs(self, entry: DocumentState) -> None:
        """The document was opened or closed: from now on another text counts than before, if it was not saved."""
        file = entry.snapshot.file
        if file and len(self._entries) > (unquote(entry.document.uri) in self._entries):
            if Resolver().text(file) != entry.snapshot.text:
                self.touched(file)

    def knows(self, uri: str) -> bool:
        return unquote(uri) in self._entries

    def known(self, uri: str) -> Outcome | None:
        """The outcome of the document's current text, if it is there already."""
        entry = self._entries.get(unquote(uri))
        return entry.outcome if entry else None

    def _owner(self, uri: str) -> DocumentState | None:
        """The open document, or the notebook that has it for a cell."""
        found = self._entries.get(unquote(uri))
        if found is not None and not uri.startswith(_NOT_PROGRAMS):
            return found
        books = (e for e in self._entries.values() if isinstance(e.document, NotebookDocument))
        return next((book for book in books if book.snapshot.above(uri) is not None), found)

    async def outcome(self, uri: str) -> Outcome | None:
        """The outcome of the document's text as it is now; None if it changes while we wait, or is not open.

        Where only the configuration changes meanwhile, this is the outcome under the new one.
        """
        entry = self._owner(uri)
        version = entry.document.version if entry else None
        while entry is not None and entry is self._owner(uri) and entry.document.version == version:
            outcome = await asyncio.shield(entry.pending)
            if outcome is not None:
                return outcome
        return None

    def has_text_of(self, outcome: Outcome) -> bool:
        """Whether the document still has the text of ``outcome``, which may be out of date all the same."""
        entry = self._entries.get(unquote(outcome.snapshot.uri))
        return entry is not None and entry.document.version == outcome.snapshot.version

    def describe(self) -> list[dict[str, Any]]:
        """What the debug information says of each document."""
        return [
            {
                "uri": entry.document.uri,
                "version": entry.document.version,
                "analysed": entry.outcome is not None,
                "findings": len(entry.outcome.findings) if entry.outcome else None,
                "unseen": [notice.kind.value for notice in entry.outcome.notices] if entry.outcome else None,
                "fault": entry.outcome.fault if entry.outcome else None,
            }
            for entry in self._entries.values()
        ]

    def _schedule(self, entry: DocumentState, delay: float) -> None:
        entry.supersede()
        self._arm(entry, delay)

    def _arm(self, entry: DocumentState, delay: float) -> None:
        if not self._held:
            entry.timer = asyncio.get_running_loop().call_later(delay, self._start, entry)

    def _start(self, entry: DocumentState) -> None:
        snapshot, settings = entry.snapshot, self._settings_of(entry.document.uri)
        if not settings.enable or snapshot.uri.startswith(_NOT_PROGRAMS):
            self._settle(entry, nothing(snapshot, entry.token))
        else:
            self._spawn(self._run(entry, snapshot, settings, entry.token))

    async def _run(self, entry: DocumentState, snapshot: Snapshot, settings: Settings, token: Token) -> None:
        self._status.begin()
        try:
            open_now = (entry.snapshot for entry in self._entries.values())
            resolver = Resolver(self._folders(), {found.file: found.text for found in open_now if found.file})
            job = self.worker.submit(
                lambda: examine(snapshot, settings, self.client, self._unstructure, token, resolver, self._memories),
                Priority.ANALYSIS,
                token,
            )
            outcome = await job.future
            self._status.fault(outcome.fault)
            if not token():
                self._log_unseen(entry, outcome)
                self._status.note(self._unseen(entry, outcome))
        except (asyncio.CancelledError, analysis.Cancelled):
            return  # newer text is on its way, with a run of its own
        except Exception as error:
            outcome = failed(snapshot, token, error)
            self._status.fault(outcome.fault)
        finally:
            self._status.end()
        if token():
            return
        self._settle(entry, outcome)
        await self._prepare_fixes(outcome)

    def _settle(self, entry: DocumentState, outcome: Outcome) -> None:
        entry.outcome, entry.reads, entry.took = outcome, outcome.reads, outcome.took
        if entry.said is not None:
            if entry.said != outcome.result_id:
                self._refresh()
            entry.said = None
        if not entry.pending.done():
            entry.pending.set_result(outcome)
        self._publish(outcome.snapshot, outcome)

    def _unseen(self, entry: DocumentState | None = None, outcome: Outcome | None = None) -> str:
        """What was not seen of the open documents, ``outcome`` being the new one of ``entry``."""
        found = [(each.document.uri, outcome if each is entry else each.outcome) for each in self._entries.values()]
        documents_with_notices = [
            (_name(uri), known.notices) for uri, known in found if known is not None and known.notices
        ]
        return outlined(documents_with_notices) if documents_with_notices else ""

    def _log_unseen(self, entry: DocumentState, outcome: Outcome) -> None:
        """Put to the log what is news: a line for the document, and a fault once with its traceback."""
        notices = outcome.notices
        if not {notice.topic for notice in notices} - entry.logged:
            return
        for notice in notices:
            if notice.kind is Kind.FAULT and notice.topic not in entry.logged:
                self._log(types.MessageType.Error, f"{notice.failure}\n{notice.trace}")
        entry.logged |= {notice.topic for notice in notices}
        self._log(types.MessageType.Info, outlined([(outcome.snapshot.path, notices)]))

    async def _prepare_fixes(self, outcome: Outcome) -> None:
        await asyncio.sleep(IDLE_DELAY)
        for index in range(min(len(outcome.findings), PREPARED_FIXES)):
            if outcome.token():
                return
            await asyncio.wait({outcome.fixes(index, self.worker, Priority.IDLE)})

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run ``work``; the loop itself would forget a task without a reference."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
