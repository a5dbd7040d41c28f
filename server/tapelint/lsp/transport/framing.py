"""Bytes in, bytes out: framed messages over standard input and output.

One thread reads, one writes, and neither ever holds up the loop: a client that stops reading must not stop the server
from noticing that it died. Both are daemons on raw descriptors, so that leaving never waits for a read that will not
return.
"""

from __future__ import annotations

import os
import queue
import re
import sys
import threading
from collections.abc import Callable, Iterator

_LENGTH = re.compile(rb"(?i)^content-length:[ \t]*(\d+)[ \t]*$", re.MULTILINE)


class Frames:
    """Cuts a stream of bytes into message bodies.

    >>> frames = Frames()
    >>> list(frames.feed(b"Content-Length: 2\\r\\n\\r\\n{}Content-"))
    [b'{}']
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._length: int | None = None

    def feed(self, data: bytes) -> Iterator[bytes]:
        self._buffer += data
        while True:
            if self._length is None:
                end = self._buffer.find(b"\r\n\r\n")
                if end < 0:
                    return
                header = bytes(self._buffer[:end]).replace(b"\r\n", b"\n")
                del self._buffer[: end + 4]
                found = _LENGTH.search(header)
                if found is None:
                    continue  # not a header of ours; the next one may be
                self._length = int(found.group(1))
            if len(self._buffer) < self._length:
                return
            body = bytes(self._buffer[: self._length])
            del self._buffer[: self._length]
            self._length = None
            yield body


def start_reader(descriptor: int, on_message: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
    """Read ``descriptor`` on a thread of its own until it ends."""

    def read() -> None:
        frames = Frames()
        try:
            while data := os.read(descriptor, 1 << 16):
                for body in frames.feed(data):
                    on_message(body)
        except OSError:
            pass
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
