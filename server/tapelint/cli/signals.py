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
    was started to ignore (``nohup``) stays ignored. Libraries that wait in C (Ray) make a plain KeyboardInterrupt of
    what a handler raises: it leaves here as Interrupted again.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in ENDING}
    heard = [number for number, handler in before.items() if handler not in (signal.SIG_IGN, None)]
    raised: list[int] = []

    def once(number: int, frame: FrameType | None) -> None:
        raised.append(number)
        for each in heard:
            signal.signal(each, signal.SIG_DFL)
        raise Interrupted(number)

    for number in heard:
        signal.signal(number, once)
    try:
        yield
    except KeyboardInterrupt as error:
        if isinstance(error, Interrupted) or not raised:
            raise
        raise Interrupted(raised[0]) from None
    finally:
        for number in heard:
            signal.signal(number, before[number])


@contextlib.contextmanager
def handlers_kept() -> Iterator[None]:
    """For libraries that put handlers of their own in place of ours while they start: in the end ours are back."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def held_back() -> Iterator[None]:
    """In here these signals wait, also for processes that are started."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
