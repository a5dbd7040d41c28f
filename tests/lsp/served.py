"""A server in this process, at the other end of two pipes. Many tests need one of their own, and to load and to prepare
all that it needs takes longer than most of them.
"""

from __future__ import annotations

import asyncio
import io
import logging
import os
import subprocess
import threading
from functools import cache

from pygls.protocol import default_converter

from tapelint.lsp import server as servers
from tapelint.lsp.worker import Priority, Token
from tapelint.workspace.config import forget

servers.default_converter = cache(default_converter)  # it makes code for each type that it meets
logging.getLogger("pygls").setLevel(logging.ERROR)


class Served:
    """A running server, with what is used here of ``subprocess.Popen``."""

    def __init__(self) -> None:
        self._source, to_server = os.pipe()
        from_server, self._sink = os.pipe()
        self.stdin, self.stdout, self.stderr = open(to_server, "wb"), open(from_server, "rb"), io.BytesIO()
        self.returncode: int | None = None
        self._has_ended = threading.Event()
        forget()
        threading.Thread(target=self._run, name="served", daemon=True).start()

    def _run(self) -> None:
        try:
            self.returncode = asyncio.run(self._serve())
        finally:
            self._has_ended.set()
            os.close(self._sink)

    async def _serve(self) -> int:
        server = servers.Server("0")
        code = await server.run(self._source, self._sink)
        # The worker ends when it has to answer a loop that is closed.
        server.session.worker.submit(self._has_ended.wait, Priority.ANSWER, Token())
        return code

    def wait(self, timeout: float | None = None) -> int:
        """Its exit status."""
        if not self._has_ended.wait(timeout):
            raise subprocess.TimeoutExpired("server", timeout or 0)
        assert self.returncode is not None
        return self.returncode

    def poll(self) -> int | None:
        """Its exit status, if it has ended."""
        return self.returncode if self._has_ended.is_set() else None

    def kill(self) -> None:
        self.stdin.close()
