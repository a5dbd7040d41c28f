"""Bytes in, bytes out: framed messages over standard input and output.

One thread reads, one writes, and neither ever holds up the loop: a client that stops reading must not stop the server
from noticing that it died. Both are daemons, so that leaving never waits for a read that will not return.
"""

from __future__ import annotations

import contextlib
import os
import queue
import re
import sys
import threading
from collections.abc import Callable, Iterator
from typing import BinaryIO

_LENGTH = re.compile(rb"(?i)content-length:[ \t]*(\d+)\s*")


def bodies(stream: BinaryIO) -> Iterator[bytes]:
    """The bodies of the messages in a stream; what stands there without a length is left out."""
    length = 0
    while line := stream.readline():
        if found := _LENGTH.fullmatch(line):
            length = int(found[1])
        elif length and not line.strip():
            body = stream.read(length)
            if len(body) == length:
                yield body
            length = 0


def start_reader(descriptor: int, on_message: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
    """Read ``descriptor`` on a thread of its own until it ends."""

    def read() -> None:
        with contextlib.suppress(OSError), open(descriptor, "rb", closefd=False) as stream:
            for body in bodies(stream):
                on_message(body)
        on_end()

    threading.Thread(target=read, name="tapelint-reader", daemon=True).start()


class Writer:
    """The writer pygls asks for; ``close`` waits a moment for what is still queued."""

    def __init__(self, descriptor: int, on_broken: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._on_broken = on_broken
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="tapelint-writer", daemon=True)
        self._thread.start()

    def write(self, data: bytes) -> None:
        self._queue.put(data)

    def close(self) -> None:
        self._queue.put(None)
        self._thread.join(timeout=1.0)

    def _run(self) -> None:
        try:
            while (data := self._queue.get()) is not None:
                view = memoryview(data)
                while view:
                    view = view[os.write(self._descriptor, view) :]
        except OSError:
            self._on_broken()


def claim_standard_streams() -> tuple[int, int]:
    """Descriptors of our own for input and output; a stray ``print`` goes to the log instead of into the protocol."""
    source, sink = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return source, sink
