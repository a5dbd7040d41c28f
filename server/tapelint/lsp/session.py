"""From a keystroke to a squiggle: one entry per open document, and at most one analysis of it that is still wanted.

A change cancels the run of the text before it, waits until the typing pauses, takes a snapshot and hands it to the
worker. What comes back is dropped if the document has changed again; otherwise it is published (or handed to those
who asked for it). Then, with nothing else to do, the files that use the document are executed: what they show in it is
added (``foreign``). Fixes are tried when someone asks for them, and of no other finding than those that are asked for.
"""

from __future__ import annotations

import asyncio
import logging
import weakref
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote

from lsprotocol import types

from ..frozen import frozen
from ..report.notice import Kind, outlined
from ..workspace import Resolver
from . import deferred
from .analysis_result import AnalysisResult, analyse_snapshot, empty_result, failed_result, unsaved_result
from .caches import Memories
from .delays import DELAYS
from .documents import Document, NotebookDocument, Snapshot
from .foreign import Foreign, Shared, callers_of, elsewhere, merged, shown_by
from .pace import Pace
from .settings import Settings
from .worker import Priority, Token, Worker

if TYPE_CHECKING:
    from ..analysis import Report
    from ..hover import Hovers
    from .server import Server

logger = logging.getLogger(__name__)


T = TypeVar("T")

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
        self.result: AnalysisResult | None = None
        self.timer: asyncio.TimerHandle | None = None
        self.pace = Pace()
        self.pausing: asyncio.TimerHandle | None = None
        # The files that use it have been looked at.
        self.is_judged = False
        # The files its last analysis led to; None before the first, which may be about to read any.
        self.reads: frozenset[str] | None = None
        # Topics of the notices about it that are in the log.
        self.logged: set[object] = set()
        # The id of its last result, while another file is the reason to analyse it again.
        self.last_result_id: str | None = None
        self.duration = DELAYS.edit
        self._snapshot: Snapshot | None = None
        # Resolves to the result for the current text, or to None once that is given up for newer text or settings.
        self.pending: asyncio.Future[AnalysisResult | None] = asyncio.get_running_loop().create_future()

    @property
    def snapshot(self) -> Snapshot:
        """The document as it is now; the same text is the same object, so that it is parsed once."""
        if self._snapshot is None or self.is_newer:
            self._snapshot = self.document.snapshot()
        return self._snapshot

    @property
    def is_newer(self) -> bool:
        """Whether the document has another text than the snapshot that was taken last."""
        return self._snapshot is None or self._snapshot.version != self.document.version

    @property
    def pause(self) -> float:
        """Seconds that typing has to pause: as long as an analysis takes, at most half of the work is then wasted."""
        return min(DELAYS.edit, max(DELAYS.shortest_edit, self.duration))

    def supersede(self) -> None:
        """Cancel the analysis that runs; those who await it get None."""
        self.token.cancel()
        self.token = Token()
        if self.result is not None:
            self.result.hovers = None  # a report has cycles: what is large goes at once
        self.result = None
        self.is_judged = False
        if self.timer is not None:
            self.timer.cancel()
        if not self.pending.done():
            self.pending.set_result(None)
        self.pending = asyncio.get_running_loop().create_future()


@frozen
class Cursor:
    """A place in the program of a result, counted from 1; the client's document begins ``row_offset`` rows below."""

    result: AnalysisResult
    row_offset: int
    row: int
    column: int


class Session:
    """All open documents and their analyses."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.worker = Worker()
        self._documents: dict[str, DocumentState] = {}
        self.memories = Memories()
        self.hovers = KeptHovers()
        self._shared = Shared(server.closed_files.from_open)
        self._is_paused = True
        self._tasks: set[asyncio.Task[None]] = set()

    def release(self) -> None:
        """Start analysing: the settings are known now. Before that nothing runs, lest it be what the user disabled."""
        if not self._is_paused:
            return
        self._is_paused = False
        self.worker.submit(deferred.load, Priority.IDLE, Token())
        self._server.closed_files.touched(None)
        for entry in self._documents.values():
            self._arm(entry, 0)

    def restart(self) -> None:
        """Analyse every open document again: the configuration has changed."""
        self._server.closed_files.touched(None)
        for entry in self._documents.values():
            self._schedule(entry, 0)

    def opened(self, document: Document | NotebookDocument) -> None:
        before = self._documents.pop(unquote(document.uri), None)
        if before is not None:
            before.supersede()
        entry = self._documents[unquote(document.uri)] = DocumentState(document)
        self._schedule(entry, 0)
        self._differs(entry)
        self._spread()

    def changed(
        self,
        document: Document | NotebookDocument,
        changes: Sequence[types.TextDocumentContentChangeEvent] = (),
    ) -> None:
        """A document was edited; without the ``changes`` it counts as finished, and nothing waits."""
        entry = self._documents.get(unquote(document.uri))
        if entry is not None and entry.is_newer:
            if isinstance(document, Document):
                entry.pace.edited(changes, document.rows, document.encoding)
            self._await_pause(entry)
            self._schedule(entry, entry.pause)
            if entry.snapshot.file:
                self.touched(entry.snapshot.file, DELAYS.edit)

    def _await_pause(self, entry: DocumentState) -> None:
        if entry.pausing is not None:
            entry.pausing.cancel()
        entry.pausing = None
        if entry.pace.is_typing:
            entry.pausing = asyncio.get_running_loop().call_later(DELAYS.pause, self.paused, entry.document.uri)

    def paused(self, uri: str) -> None:
        """The user has not edited a document for a while: what has waited for that is shown."""
        entry = self._documents.get(unquote(uri))
        if entry is not None:
            entry.pace.rest()
            self._await_pause(entry)
            if entry.result is not None and self._show(entry, entry.result):
                self._server.refresh()

    def saved(self, uri: str) -> None:
        """A document was saved, which is finished for the time being."""
        entry = self._documents.get(unquote(uri))
        if entry is not None:
            was_waited_for = entry.pace.is_unsaved and self._server.settings.settings(uri).waits_for_save
            entry.pace.saved()
            self.paused(uri)
            if was_waited_for:
                entry.last_result_id = entry.result.result_id if entry.result is not None else None
                self._schedule(entry, 0)

    def closed(self, uri: str) -> None:
        entry = self._documents.pop(unquote(uri), None)
        if entry is not None:
            entry.supersede()
            if entry.pausing is not None:
                entry.pausing.cancel()
            self.worker.submit(partial(self.memories.drop, entry.document.uri), Priority.IDLE, Token())
            self._server.publish(Snapshot(entry.document.uri, "", None, ""), None)
            self._server.complaints.take(entry.document.uri, None)
            self._server.status.note(self._unseen())
            self._shared.forget(unquote(uri))
            self._differs(entry)
            self._spread()

    def touched(self, path: str, delay: float = 0) -> None:
        """A file has another text now: the documents that import it are analysed again."""
        self._server.closed_files.touched(path)
        self._shared.drop(path)
        for entry in self._documents.values():
            if entry.snapshot.file != path and (entry.reads is None or path in entry.reads):
                if entry.result is not None:
                    entry.last_result_id = entry.result.result_id
                self._schedule(entry, delay)

    def _differs(self, entry: DocumentState) -> None:
        """The document was opened or closed: if it was not saved, other files import another text from now on."""
        file = entry.snapshot.file
        if file and len(self._documents) > (unquote(entry.document.uri) in self._documents):
            if Resolver().text(file) != entry.snapshot.text:
                self.touched(file)

    def resolver(self) -> Resolver:
        """Finds modules below the client's folders; the texts of open documents count instead of what is on disk."""
        open_now = (entry.snapshot for entry in self._documents.values())
        return Resolver(self._server.folders(), {found.file: found.text for found in open_now if found.file})

    def knows(self, uri: str) -> bool:
        return unquote(uri) in self._documents

    def known(self, uri: str) -> AnalysisResult | None:
        """The result for the document's current text, if it is there already."""
        entry = self._documents.get(unquote(uri))
        return entry.result if entry else None

    def results(self) -> list[AnalysisResult]:
        """The results that are there for the texts of open documents."""
        return [entry.result for entry in self._documents.values() if entry.result is not None]

    def document_at(self, path: str) -> Snapshot | None:
        """The open document that is the file at ``path``, as it is now."""
        open_now = (entry.snapshot for entry in self._documents.values())
        return next((found for found in open_now if found.file == path), None)

    def notebooks(self) -> dict[str, Snapshot]:
        """The open notebooks that are files, by path."""
        open_now = (entry.snapshot for entry in self._documents.values())
        return {found.path: found for found in open_now if found.file and found.documents}

    def _owner(self, uri: str) -> DocumentState | None:
        """The open document, or the notebook that has it for a cell."""
        found = self._documents.get(unquote(uri))
        if found is not None and not uri.startswith(_NOT_PROGRAMS):
            return found
        books = (e for e in self._documents.values() if isinstance(e.document, NotebookDocument))
        return next((book for book in books if book.snapshot.has_cell(uri)), found)

    def has_program(self, uri: str) -> bool:
        """Whether the document is open, as a program or as a cell of one."""
        return self._owner(uri) is not None

    async def result(self, uri: str) -> AnalysisResult | None:
        """The result for the document's text as it is now; None if it changes while we wait, or is not open.

        Where only the configuration changes meanwhile, this is the result under the new one.
        """
        entry = self._owner(uri)
        version = entry.document.version if entry else None
        while entry is not None and entry is self._owner(uri) and entry.document.version == version:
            result = await asyncio.shield(entry.pending)
            if result is not None:
                return result
        return None

    async def cursor(self, uri: str, position: types.Position) -> Cursor | None:
        """Where a position of the client's document is in the program that the document is, or is a cell of; None where
        it is neither.
        """
        result = await self.result(uri)
        row_offset = result.snapshot.row_offset(uri) if result is not None else None
        if result is None or row_offset is None:
            return None
        here = types.Position(position.line + row_offset, position.character)
        return Cursor(result, row_offset, *result.rows.place(here, self._server.client.encoding))

    async def answer(self, work: Callable[[], T], priority: Priority, what: str) -> T | None:
        """What comes of ``work`` on the worker; None where its text has changed, or where it fails, which is logged. It
        is not given up with its request once it has begun: what it executes answers the next one as well.
        """
        token = Token()
        try:
            done: T = await self.worker.submit(work, priority, token).future
            return done
        except deferred.analysis.Cancelled:
            return None
        except Exception:
            logger.exception("%s failed", what)
            return None
        finally:
            token.cancel()

    def has_text_of(self, result: AnalysisResult) -> bool:
        """Whether the document still has the text of ``result``, which may be out of date all the same."""
        entry = self._documents.get(unquote(result.snapshot.uri))
        return entry is not None and entry.document.version == result.snapshot.version

    def describe(self) -> list[dict[str, Any]]:
        """The debug information about each document."""
        return [
            {
                "uri": entry.document.uri,
                "version": entry.document.version,
                "analysed": entry.result is not None,
                "findings": len(entry.result.findings) if entry.result else None,
                "unseen": [notice.kind.value for notice in entry.result.notices] if entry.result else None,
                "fault": entry.result.fault if entry.result else None,
            }
            for entry in self._documents.values()
        ]

    def _schedule(self, entry: DocumentState, delay: float) -> None:
        entry.supersede()
        self._arm(entry, delay)

    def _arm(self, entry: DocumentState, delay: float) -> None:
        if not self._is_paused:
            entry.timer = asyncio.get_running_loop().call_later(delay, self._start, entry)

    def _start(self, entry: DocumentState) -> None:
        snapshot, settings = entry.snapshot, self._server.settings.settings(entry.document.uri)
        if not settings.enable or snapshot.uri.startswith(_NOT_PROGRAMS):
            self._settle(entry, empty_result(snapshot, entry.token))
        elif settings.waits_for_save and entry.pace.is_unsaved:
            self._settle(entry, unsaved_result(snapshot, entry.token, entry.pace))
        else:
            self.spawn(self._run(entry, snapshot, settings, entry.token))

    async def _run(self, entry: DocumentState, snapshot: Snapshot, settings: Settings, token: Token) -> None:
        resolver = self.resolver()
        self._server.status.begin()
        try:
            client, memories = self._server.client, self.memories
            work = partial(analyse_snapshot, snapshot, settings, client, token, resolver, memories)
            job = self.worker.submit(work, Priority.ANALYSIS, token)
            with self._server.long_work.over("tapelint", f"analysing {_name(snapshot.uri)}"):
                result = await job.future
            self._server.status.fault(result.fault)
            if not token():
                self._server.complaints.take(snapshot.uri, result.complaint)
                self._log_run(entry, result)
                self._log_unseen(entry, result)
                self._server.status.note(self._unseen(entry, result))
        except (asyncio.CancelledError, deferred.analysis.Cancelled):
            return  # newer text is on its way, with a run of its own
        except Exception as error:
            result = failed_result(snapshot, token, error)
            self._server.status.fault(result.fault)
        finally:
            self._server.status.end()
        if token():
            return
        self._settle(entry, result)
        await self._judge_with_callers(entry, result, settings, resolver)

    def _settle(self, entry: DocumentState, result: AnalysisResult) -> None:
        entry.result, entry.reads, entry.duration = result, result.reads, result.duration
        own = self._shared.by(unquote(entry.document.uri))
        own.by_itself = elsewhere(result.report, result.token) if result.report is not None else {}
        self._show(entry, result, is_new=True)
        if entry.last_result_id is not None:
            if entry.last_result_id != result.result_id:
                self._server.refresh()
            entry.last_result_id = None
        if not entry.pending.done():
            entry.pending.set_result(result)
        self._spread()

    def _show(self, entry: DocumentState, result: AnalysisResult, is_new: bool = False) -> bool:
        """Show what is to be shown of a result now; whether that is something else than before."""
        is_judged = entry.is_judged and all(each.result is not None for each in self._documents.values())
        result.pace(entry.pace, is_judged)
        differs = result.add(self._known_of(entry), self._server.client)
        if differs or is_new:
            entry.pace.shown = result.shown_after(entry.pace.shown)
            self._server.publish(result.snapshot, result)
        return differs

    def _known_of(self, entry: DocumentState) -> list[Foreign]:
        """What other files show in a document."""
        file = entry.snapshot.file
        return self._shared.findings(file) if file else []

    def _spread(self) -> None:
        """Show what documents have found in each other, and in files that are not open."""
        for entry in self._documents.values():
            if entry.result is not None and self._show(entry, entry.result):
                self._server.refresh()
        self._shared.push(self.files(), self._server.client)

    def files(self) -> set[str]:
        """The files that are open."""
        return {file for entry in self._documents.values() if (file := entry.snapshot.file)}

    async def _judge_with_callers(
        self, entry: DocumentState, result: AnalysisResult, settings: Settings, resolver: Resolver
    ) -> None:
        """Execute the files that use a document, one after the other, and add what they show in it."""
        file, token, shared = result.snapshot.file, result.token, self._shared.by(unquote(entry.document.uri))
        if file is None or result.report is None or not result.config.callers:
            shared.by_callers = {}
            entry.is_judged = True
            self._spread()
            return
        await asyncio.sleep(DELAYS.idle)
        callers = await self._when_idle(lambda cancel: callers_of(file, resolver, cancel), token) or ()
        found: list[dict[str, list[Foreign]]] = []
        for rank, caller in enumerate(callers):
            if caller.path not in self.files():  # or its own analysis has shown it
                work = partial(shown_by, caller, rank, file, resolver, settings, self.memories)
                found.append(await self._when_idle(work, token) or {})
        if not token():
            entry.reads = (entry.reads or frozenset()) | {caller.path for caller in callers}
            shared.by_callers = merged(found)
            entry.is_judged = True
            self._spread()

    async def _when_idle(self, work: Callable[[Callable[[], bool]], T], token: Token) -> T | None:
        """The result of ``work``; None where it is not wanted any more, or fails."""
        try:
            done: T = await self.worker.submit_idle(work, token).future
            return done
        except asyncio.CancelledError:
            return None
        except Exception:
            logger.exception("what the callers of a file do was not looked at")
            return None

    def _unseen(self, entry: DocumentState | None = None, result: AnalysisResult | None = None) -> str:
        """What was not seen of the open documents, ``result`` being the new one of ``entry``."""
        found = [(each.document.uri, result if each is entry else each.result) for each in self._documents.values()]
        documents_with_notices = [
            (_name(uri), known.notices) for uri, known in found if known is not None and known.notices
        ]
        return outlined(documents_with_notices) if documents_with_notices else ""

    def _log_run(self, entry: DocumentState, result: AnalysisResult) -> None:
        """Log what was analysed and how long that took: once in the log, then in the trace."""
        kind = types.MessageType.Info if entry.reads is None else types.MessageType.Log
        self._server.log(kind, result.log_line)

    def _log_unseen(self, entry: DocumentState, result: AnalysisResult) -> None:
        """Log notices that are new: a line for the document, and each internal error once with its traceback."""
        notices = result.notices
        if not {notice.topic for notice in notices} - entry.logged:
            return
        for notice in notices:
            if notice.kind is Kind.FAULT and notice.topic not in entry.logged:
                self._server.log(types.MessageType.Error, f"{notice.failure}\n{notice.trace}")
        entry.logged |= {notice.topic for notice in notices}
        self._server.log(types.MessageType.Info, outlined([(result.snapshot.path, notices)]))

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run ``work``; the loop itself would forget a task without a reference."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


class KeptHovers:
    """It is kept for one document, the one that was asked for last, and until its text changes: it may take as much
    memory as the analysis.
    """

    def __init__(self) -> None:
        self._last: weakref.ref[AnalysisResult] | None = None

    def get(self, result: AnalysisResult, report: Report) -> Hovers:
        """The hovers of a result with this ``report``."""
        before = self._last() if self._last is not None else None
        if before is not None and before is not result:
            before.hovers = None
        self._last = weakref.ref(result)
        result.hovers = result.hovers or deferred.hover.Hovers(report)
        return result.hovers
