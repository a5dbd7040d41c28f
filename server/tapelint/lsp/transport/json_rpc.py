"""JSON-RPC that answers every request, whatever it is given.

pygls supplies the messages, their types and the dispatch. Here is what it leaves open, each point a fault a user
met: parameters that do not fit are answered (-32602) instead of dropped, and so are broken JSON (-32700), requests
before ``initialize`` (-32002) and after ``shutdown`` (-32600); changes to documents that were never opened are
ignored; expected endings (cancelled, superseded, stale) do not fill the log with tracebacks; ``exit`` ends the
process with the right code.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Generator
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from cattrs import transform_error
from lsprotocol import types
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcParseError,
    JsonRpcServerNotInitialized,
)
from pygls.protocol import (
    JsonRPCNotification,
    JsonRPCRequestMessage,
    JsonRPCResponseMessage,
    LanguageServerProtocol,
)
from pygls.protocol.language_server import lsp_method

from ..documents import Documents

if TYPE_CHECKING:
    from ..server import Server

logger = logging.getLogger(__name__)

EXPECTED = {
    types.LSPErrorCodes.RequestCancelled.value,
    types.LSPErrorCodes.ServerCancelled.value,
    types.LSPErrorCodes.ContentModified.value,
    JsonRpcInvalidParams.CODE,
}


def server_cancelled() -> JsonRpcException:
    """The answer to a request that newer text made pointless; the client asks again by itself."""
    code = types.LSPErrorCodes.ServerCancelled.value
    return JsonRpcException("superseded by a newer version", code=code, data={"retriggerRequest": True})


def content_modified() -> JsonRpcException:
    """The answer to a request about text that is no longer there."""
    return JsonRpcException("the document has changed", code=types.LSPErrorCodes.ContentModified.value)


class Protocol(LanguageServerProtocol):
    """pygls' protocol with the gaps closed."""

    _server: Server
    _workspace: Documents | None
    _initialized = False

    @property
    def workspace(self) -> Documents:
        if self._workspace is None:
            raise JsonRpcServerNotInitialized()
        return self._workspace

    def receive(self, body: bytes) -> None:
        """Take one message body from the wire. Never raises."""
        try:
            data = json.loads(body)
        except (ValueError, RecursionError) as error:
            logger.error("a message is not JSON: %s", error)
            self._refuse(None, JsonRpcParseError())
            return
        if not isinstance(data, dict) or data.get("jsonrpc") != self.VERSION:
            self._refuse(None, JsonRpcInvalidRequest())
            return
        is_request = "method" in data and "id" in data
        try:
            self._check_state(data, is_request)
            message = self.structure_message(data)
        except JsonRpcException as error:
            if is_request:
                self._refuse(data["id"], error)
            elif "id" in data and "method" not in data:
                self._forget(data["id"], error)
            return
        try:
            self.handle_message(message)
        except Exception:
            logger.exception("a message could not be handled")

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Give the message its type. Whatever does not fit is the sender's mistake, so it is answered as one."""
        try:
            return self._converter.structure(data, self._type_of(data))
        except Exception as error:
            why = "; ".join(transform_error(error)[:3])
            name = data.get("method", "an answer")
            logger.warning("%s does not fit: %s", name, why)
            raise JsonRpcInvalidParams(f"{name} does not fit: {why}") from error

    def _type_of(self, data: dict[str, Any]) -> Any:
        if "method" in data:
            known = self.get_message_type(data["method"])
            return known or (JsonRPCRequestMessage if "id" in data else JsonRPCNotification)
        if "error" in data:
            return types.ResponseErrorMessage
        return self._result_types.pop(data["id"], None) or JsonRPCResponseMessage

    def _serialize_message(self, data: Any) -> Any:
        """As pygls does it; a value no one can send must not keep the rest of an answer from being sent."""
        try:
            return super()._serialize_message(data)
        except AttributeError:
            return repr(data)

    def _check_state(self, data: dict[str, Any], is_request: bool) -> None:
        method = data.get("method")
        if is_request and not isinstance(data["id"], (str, int)):
            raise JsonRpcInvalidRequest("an id is a number or a string")
        if method is None or method == types.EXIT:
            return
        known = types.METHOD_TO_TYPES.get(method) if isinstance(method, str) else None
        if known is not None and (known[1] is not None) != is_request:
            logger.warning("%s %s an id", method, "needs no" if is_request else "needs")
            raise JsonRpcInvalidRequest(f"{method} is sent the wrong way")
        if self._shutdown:
            raise JsonRpcInvalidRequest("the server is shutting down")
        if method == types.INITIALIZE:
            if self._initialized:
                raise JsonRpcInvalidRequest("the server is initialized already")
        elif not self._initialized:
            raise JsonRpcServerNotInitialized(f"{method} before initialize")

    def _refuse(self, message_id: Any, error: JsonRpcException) -> None:
        """Send an error; unlike pygls' own way this also works where the id is null or of a type no id has."""
        known = message_id if isinstance(message_id, (str, int)) else None
        answer = {"code": error.code, "message": error.message}
        self._send_data({"jsonrpc": self.VERSION, "id": known, "error": answer})

    def _forget(self, message_id: Any, error: JsonRpcException) -> None:
        """A response that does not fit its request ends the wait for it."""
        future = self._request_futures.pop(message_id, None) if isinstance(message_id, (str, int)) else None
        if future is not None and not future.done():
            future.set_exception(error)

    def _execute_handler(
        self,
        msg_id: str | int,
        handler: Callable[..., Any],
        callback: Callable[[Future[Any]], None],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> None:
        """As pygls does it, which never lets go of what became of a notification: one more with each keystroke."""

        def finished(future: Future[Any]) -> None:
            if not future.cancelled():  # `shutdown` cancels them while it goes through the table
                self._request_futures.pop(msg_id, None)
            callback(future)

        super()._execute_handler(msg_id, handler, finished, args, kwargs)

    def _handle_cancel_notification(self, msg_id: str | int) -> None:
        # A request that was answered already is no news.
        if isinstance(msg_id, (str, int)) and msg_id in self._request_futures:
            super()._handle_cancel_notification(msg_id)

    def _handle_response(self, msg_id: str | int, result: Any = None, error: types.ResponseError | None = None) -> None:
        future = self._request_futures.get(msg_id)
        if future is not None and future.cancelled():  # the answer comes after we stopped waiting for it
            self._request_futures.pop(msg_id)
        else:
            super()._handle_response(msg_id, result, error)

    def _send_handler_result(self, future: Future[Any], *, msg_id: str | int) -> None:
        error = None if future.cancelled() else future.exception()
        if isinstance(error, JsonRpcException) and error.code in EXPECTED:
            self._request_futures.pop(msg_id, None)
            self._send_response(msg_id, error=error.to_response_error())
        else:
            super()._send_handler_result(future, msg_id=msg_id)

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, types.InitializeResult]:
        """As pygls does it, then with our documents, and without promising what this client does not pull."""
        self._initialized = True
        result = yield from super().lsp_initialize(params)
        theirs = self.workspace
        self._workspace = Documents(
            theirs.root_uri, self._server._text_document_sync_kind, params.workspace_folders, theirs.position_encoding
        )
        self._server.on_initialize(params, result)
        return result

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> Generator[Any, Any, None]:
        if self.workspace.opened(params.text_document.uri) is None:
            logger.warning("ignoring a change to %s, which is not open", params.text_document.uri)
            return
        yield from super().lsp_text_document__did_change(params)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def lsp_notebook_document__did_change(
        self, params: types.DidChangeNotebookDocumentParams
    ) -> Generator[Any, Any, None]:
        if self.workspace.get_notebook_document(notebook_uri=params.notebook_document.uri) is None:
            logger.warning("ignoring a change to %s, which is not open", params.notebook_document.uri)
            return
        yield from super().lsp_notebook_document__did_change(params)

    @lsp_method(types.EXIT)
    def lsp_exit(self, *args: Any) -> Generator[Any, Any, None]:
        self._server.leave(0 if self._shutdown else 1)
        yield from ()
