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
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lsprotocol import types

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
        last_result_id = {"state": state, "message": message}
        if last_result_id != self._said:
            self._said = last_result_id
            self._send(last_result_id)


class Work:
    """One piece of work, in the client's terms a token."""

    def __init__(self, server: Server, title: str) -> None:
        self._server, self._title = server, title
        self._token = str(uuid.uuid4())
        self._message: str | None = None
        self._percentage: int | None = None
        self._is_shown = self._has_ended = False

    def say(self, message: str, percentage: int | None = None) -> None:
        """How far it is."""
        self._message, self._percentage = message, percentage
        if self._is_shown and not self._has_ended:
            self._notify(types.WorkDoneProgressReport(message=message, percentage=percentage))

    def show(self) -> None:
        """Have the client make a place for it; it may refuse."""
        asked = self._server.window_work_done_progress_create(types.WorkDoneProgressCreateParams(self._token))
        asyncio.wrap_future(asked).add_done_callback(self._begin)

    def end(self) -> None:
        if self._is_shown and not self._has_ended:
            self._notify(types.WorkDoneProgressEnd())
        self._has_ended = True

    def _begin(self, answer: asyncio.Future[None]) -> None:
        if self._has_ended or answer.cancelled() or answer.exception() is not None:
            return
        self._is_shown = True
        self._notify(types.WorkDoneProgressBegin(self._title, message=self._message, percentage=self._percentage))

    def _notify(self, value: object) -> None:
        self._server.progress(types.ProgressParams(self._token, value))


class Progress:
    """Shows work in one client, if that can show any."""

    def __init__(self, server: Server) -> None:
        self._server = server

    @contextmanager
    def over(self, title: str, message: str | None = None) -> Iterator[Work]:
        """The work that is done meanwhile; call on the loop."""
        work = Work(self._server, title)
        if message is not None:
            work.say(message)
        can_show = self._server.client.shows_progress
        timer = asyncio.get_running_loop().call_later(DELAYS.progress, work.show) if can_show else None
        try:
            yield work
        finally:
            if timer is not None:
                timer.cancel()
            work.end()
