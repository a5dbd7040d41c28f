"""Signals that end a process: what was found so far is printed first, and no process of ours is left behind."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

ENDING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class Interrupted(KeyboardInterrupt):
    """The user, or the system, wants the run to end; ``status`` is the exit status that is the custom then."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.status = 128 + number


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """In here the first of these signals raises Interrupted; the next one ends the process at once. What the process
    was started to ignore (``nohup``) stays ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in ENDING}
    heard = [number for number, handler in before.items() if handler not in (signal.SIG_IGN, None)]

    def once(number: int, frame: FrameType | None) -> None:
        for each in heard:
            signal.signal(each, signal.SIG_DFL)
        raise Interrupted(number)

    for number in heard:
        signal.signal(number, once)
    try:
        yield
    finally:
        for number in heard:
            signal.signal(number, before[number])
