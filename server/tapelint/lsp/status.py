"""What the server is doing, for the user: ``tapelint/status``, shown by the client next to the language.

    {"state": "ready" | "busy" | "error", "message": "..."}

The message of "ready" is what was not seen of the open documents; it is empty where that is nothing. Only changes are
sent, and "busy" only once work has lasted long enough to be noticed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

METHOD = "tapelint/status"
NOTICEABLE = 0.4


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
            self._timer = asyncio.get_running_loop().call_later(NOTICEABLE, self._say, "busy", "analysing")

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
