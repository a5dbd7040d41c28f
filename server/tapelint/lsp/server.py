"""The server: what each message leads to, and who holds the pieces together."""

from __future__ import annotations

import asyncio
import logging
import sys
from typing import Any, NoReturn

from lsprotocol import types
from pygls.exceptions import FeatureRequestError
from pygls.lsp.server import LanguageServer
from pygls.protocol import default_converter
from pygls.uris import to_fs_path

from .. import __version__
from . import delays, documents, status
from .analysis_result import AnalysisResult
from .client_capabilities import ClientCapabilities
from .closed_files import ClosedFiles
from .delays import DELAYS
from .documents import Documents, Snapshot
from .handlers import (
    about,
    code_action,
    configuration,
    coverage_request,
    explain_error,
    fixes_elsewhere,
    graph_picture,
    hover_request,
    line_remarks,
    many_fixes,
    pull_diagnostics,
    story_request,
)
from .handlers.configuration import Complaints
from .session import Session
from .settings import SettingsOfFolders
from .status import Progress
from .transport import framing, parent_process
from .transport.json_rpc import Protocol

logger = logging.getLogger(__name__)


class Server(LanguageServer):
    """One client, its documents and the worker."""

    protocol: Protocol

    @property
    def workspace(self) -> Documents:
        return self.protocol.workspace

    def __init__(self, version: str) -> None:
        super().__init__(
            "tapelint",
            version,
            notebook_document_sync=documents.SYNC,
            protocol_cls=Protocol,
            converter_factory=default_converter,
        )
        self.client = ClientCapabilities()
        self.settings = SettingsOfFolders()
        self.status = status.Status(lambda said: self.protocol.notify(status.METHOD, said))
        # whether the client was told that it may ask for the workspace; None before it was told anything
        self._offered: bool | None = None
        self.long_work = Progress(self)
        self.closed_files = ClosedFiles(self)
        self.complaints = Complaints(self)
        self._left: asyncio.Future[int] | None = None
        self._watch: asyncio.Task[None] | None = None
        self._register()

    def _register(self) -> None:
        self.feature(types.INITIALIZED)(configuration.initialized)
        self.feature(types.TEXT_DOCUMENT_DID_OPEN)(_did_open)
        self.feature(types.TEXT_DOCUMENT_DID_CHANGE)(_did_change)
        self.feature(types.TEXT_DOCUMENT_DID_SAVE)(_did_save)
        self.feature(types.TEXT_DOCUMENT_DID_CLOSE)(_did_close)
        self.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)(documents.did_open)
        self.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)(documents.did_change)
        self.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)(documents.did_close)
        self.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)(configuration.did_change)
        self.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)(configuration.watched_files)
        self.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)(configuration.folders)
        self.feature(types.TEXT_DOCUMENT_DIAGNOSTIC, pull_diagnostics.options(False))(pull_diagnostics.diagnostic)
        self.feature(types.WORKSPACE_DIAGNOSTIC)(pull_diagnostics.workspace_diagnostic)
        self.feature(types.TEXT_DOCUMENT_CODE_ACTION, code_action.OPTIONS)(code_action.code_action)
        self.feature(types.CODE_ACTION_RESOLVE)(code_action.resolve)
        self.feature(types.TEXT_DOCUMENT_HOVER)(hover_request.hover)
        self.feature(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)(story_request.highlights)
        self.feature(types.TEXT_DOCUMENT_CODE_LENS, line_remarks.LENS_OPTIONS)(line_remarks.lenses)
        self.feature(types.TEXT_DOCUMENT_INLAY_HINT)(line_remarks.hints)
        self.command(story_request.COMMAND)(story_request.story)
        self.command(about.DEBUG_INFORMATION)(about.information)
        self.command(explain_error.COMMAND)(explain_error.explain)
        self.command(coverage_request.COMMAND)(coverage_request.coverage_of)
        self.command(graph_picture.COMMAND)(graph_picture.graph)
        self.command(about.RULE)(about.rule_page)
        self.command(many_fixes.COMMAND)(many_fixes.fix_all)
        self.command(fixes_elsewhere.COMMAND)(fixes_elsewhere.show)
        self.command(fixes_elsewhere.MAKE)(fixes_elsewhere.make)

    def on_initialize(self, params: types.InitializeParams, result: types.InitializeResult) -> None:
        """Read the client's abilities and take back promises that are not meant for it."""
        encoding = result.capabilities.position_encoding or types.PositionEncodingKind.Utf16
        self.client = ClientCapabilities.from_params(params, str(getattr(encoding, "value", encoding)))
        if not self.client.resolves_edits:
            result.capabilities.code_action_provider = code_action.WITHOUT_RESOLVE
        options = params.initialization_options
        self.settings.take(options.get("settings", options) if isinstance(options, dict) else None)
        is_promised = self.client.pulls and not self.client.registers_pulls
        result.capabilities.diagnostic_provider = (
            pull_diagnostics.options(self.closed_files.is_on) if is_promised else None
        )
        # A client that forgets to say "initialized" still gets its findings, with the settings it sent along.
        asyncio.get_running_loop().call_later(DELAYS.start, self.session.release)
        if self._watch is not None:
            self._watch.cancel()
        if params.process_id is not None:
            self._watch = asyncio.get_running_loop().create_task(
                parent_process.watch(params.process_id, self._orphaned)
            )

    def publish(self, snapshot: Snapshot, result: AnalysisResult | None) -> None:
        """Push what was found to a client that does not pull, and to the cells of notebooks; None clears a closed
        document.
        """
        self.closed_files.published()
        shown = result.published if result else []
        if snapshot.documents and result:
            by_cell: dict[str, list[types.Diagnostic]] = {document.uri: [] for document in snapshot.documents}
            for diagnostic, span in result.placed:
                by_cell[snapshot.cell_of(span)[0]].append(diagnostic)
            for document in snapshot.documents:
                self.show(document.uri, document.version, by_cell[document.uri])
        elif not self.client.pulls:
            self.show(snapshot.uri, snapshot.version, shown)

    def show(self, uri: str, version: int | None, shown: list[types.Diagnostic]) -> None:
        """Push diagnostics to one document of the client."""
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, shown, version=version))

    def offer_diagnostics(self) -> None:
        """Let the client ask for what the settings want to be shown: of the workspace, or of open files only."""
        is_on = self.closed_files.is_on
        if not self.client.registers_pulls or self._offered == is_on:
            return
        if self._offered is not None:
            method = types.TEXT_DOCUMENT_DIAGNOSTIC
            self.client_unregister_capability(types.UnregistrationParams([types.Unregistration(method, method)]))
        self._offered = is_on
        self.client_register_capability(types.RegistrationParams([pull_diagnostics.registration(is_on)]))

    def folders(self) -> list[str]:
        """Where the projects are, as paths."""
        uris = [folder.uri for folder in self.workspace.folders.values()] or [self.workspace.root_uri or ""]
        return [path for uri in uris if uri and (path := to_fs_path(uri))]

    def refresh(self) -> None:
        """Ask the client for what it shows again: something has changed that it does not know of."""
        if self.client.pulls and self.client.refreshes:
            self.workspace_diagnostic_refresh(None)
        if self.client.refreshes_hints:
            self.workspace_inlay_hint_refresh(None)
        if self.client.refreshes_lenses:
            self.workspace_code_lens_refresh(None)

    def log(self, kind: types.MessageType, message: str) -> None:
        """A line, or more, in the client's log; of the kind ``Log`` in its trace, where that is switched on."""
        if kind is types.MessageType.Log:
            if self.protocol.trace is not types.TraceValue.Off:
                self.log_trace(types.LogTraceParams(message))
            return
        self.window_log_message(types.LogMessageParams(kind, message))

    def report_server_error(self, error: Exception, source: Any) -> None:
        """To the log. A popup about a fault of ours does not help while typing; a failed request has its answer."""
        if source is not FeatureRequestError:
            logger.error("%s: %s", getattr(source, "__name__", source), error)

    def leave(self, code: int) -> None:
        """End the loop; the first reason counts."""
        if self._left is not None and not self._left.done():
            self._left.set_result(code)

    def _orphaned(self) -> None:
        logger.warning("the editor has ended: leaving")
        self.leave(1)

    async def run(self, source: int, sink: int) -> int:
        """Serve until asked to leave; the result is the process's exit code."""
        loop = asyncio.get_running_loop()
        self._left = loop.create_future()
        self._watch = loop.create_task(parent_process.watch(None, self._orphaned))
        self.session = Session(self)

        def soon(function: Any, *args: Any) -> None:
            try:
                loop.call_soon_threadsafe(function, *args)
            except RuntimeError:
                pass  # the loop has closed: nothing is left to answer

        writer = framing.Writer(sink, lambda: soon(self._hung_up))
        self.protocol.set_writer(writer)
        framing.start_reader(source, lambda body: soon(self.protocol.receive, body), lambda: soon(self._hung_up))
        try:
            return await self._left
        finally:
            writer.close()

    def _hung_up(self) -> None:
        self.leave(0 if self.protocol._shutdown else 1)


def _did_open(ls: Server, params: types.DidOpenTextDocumentParams) -> None:
    document = ls.workspace.opened(params.text_document.uri)
    if document is not None:
        ls.session.opened(document)
        ls.closed_files.opened(document.uri)


def _did_change(ls: Server, params: types.DidChangeTextDocumentParams) -> None:
    document = ls.workspace.opened(params.text_document.uri)
    if document is not None:
        ls.session.changed(document, params.content_changes)


def _did_save(ls: Server, params: types.DidSaveTextDocumentParams) -> None:
    ls.session.saved(params.text_document.uri)


def _did_close(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
    ls.session.closed(params.text_document.uri)
    ls.closed_files.closed(params.text_document.uri)


def serve() -> NoReturn:
    """``tapelint server``: speak the protocol over standard input and output, and exit with the code it prescribes."""
    # Does nothing where the environment has asked for another log (TAPELINT_LOG).
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    # At INFO pygls logs every message, and with it the user's text.
    logging.getLogger("pygls").setLevel(logging.WARNING)
    source, sink = framing.claim_standard_streams()
    delays.shorten()
    try:
        code = asyncio.run(Server(__version__).run(source, sink))
    except KeyboardInterrupt:
        code = 1
    sys.exit(code)
