"""What the server is doing, for the user: ``tapelint/status``, shown by the client next to the language.

    {"state": "ready" | "busy" | "error", "message": "..."}

The message of "ready" is what was not seen of the open documents; it is empty where that is nothing. Only changes are
sent, and "busy" only once work has lasted long enough to be noticed.

Work-done progress: what takes long enough to be noticed is shown by the client as it goes on.

with progress.over("Explaining"):              # nothing is sent in the first second
    ...
with progress.over("tapelint") as work:
    work.say("12 of 140 files", 8)             # percent
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from .delays import DELAYS

if TYPE_CHECKING:
    from .server import Server

METHOD = "tapelint/status"


class Status:
    """The last thing said, and who is still at work."""

    def __init__(self, send: Callable[[dict[str, str]], None]) -> None:
        self._send = send
        self._said: dict[str, str] = {}
        self._running = 0
        self._timer: asyncio.TimerHandle | None = None
        self._fault: str | None = None
        self._note = ""

    def begin(self) -> None:
        """Some work has begun."""
        self._running += 1
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(DELAYS.status, self._say, "busy", "analysing")

    def end(self) -> None:
        """Some work has ended; with the last of it the server is ready, or in the state of its last fault."""
        self._running -= 1
        if self._running:
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self.settle()

    def settle(self) -> None:
        """Say how things stand when nothing runs."""
        if self._fault is not None:
            self._say("error", self._fault)
        else:
            self._say("ready", self._note)

    def fault(self, message: str | None) -> None:
        """Remember what went wrong, or with None that the last run went well."""
        self._fault = message

    def note(self, message: str) -> None:
        """Remember what was not seen of the open documents; it is said when nothing runs any more."""
        self._note = message
        if not self._running and self._said:
            self.settle()

    def _say(self, state: str, message: str) -> None:
        said = {"state": state, "message": message}
        if said != self._said:
            self._said = said
            self._send(said)


class Work:
    """One piece of work, and how far it is."""

    def __init__(self, server: Server, title: str, message: str | None) -> None:
        self._server, self._title, self._message = server, title, message
        self._percentage: int | None = None
        # what the client calls it, while it shows it
        self._token: str | None = None

    def say(self, message: str, percentage: int | None = None) -> None:
        """How far it is."""
        self._message, self._percentage = message, percentage
        self._notify(types.WorkDoneProgressReport(message=message, percentage=percentage))

    async def show(self) -> None:
        """Once it has lasted long enough, have the client make a place for it; it may refuse."""
        await asyncio.sleep(DELAYS.progress)
        token = str(uuid.uuid4())
        with suppress(JsonRpcException):
            await self._server.window_work_done_progress_create_async(types.WorkDoneProgressCreateParams(token))
            self._token = token
            self._notify(types.WorkDoneProgressBegin(self._title, message=self._message, percentage=self._percentage))

    def end(self) -> None:
        self._notify(types.WorkDoneProgressEnd())
        self._token = None

    def _notify(self, value: object) -> None:
        if self._token is not None:
            self._server.progress(types.ProgressParams(self._token, value))


class Progress:
    """Shows work in one client, if that can show any."""

    def __init__(self, server: Server) -> None:
        self._server = server

    @contextmanager
    def over(self, title: str, message: str | None = None) -> Iterator[Work]:
        """The work that is done meanwhile; call on the loop."""
        work = Work(self._server, title, message)
        showing = asyncio.get_running_loop().create_task(work.show()) if self._server.client.shows_progress else None
        try:
            yield work
        finally:
            if showing is not None:
                showing.cancel()
            work.end()
