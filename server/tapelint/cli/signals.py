"""Signals that end a process: what was found so far is printed first, and no process of ours is left behind."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
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


def obey_parent() -> None:
    """For a process started while signals were held back: end when the parent has ended, however it did, and leave
    Ctrl-C to it.
    """
    threading.Thread(target=_outlive_none, name="tapelint-parent", daemon=True).start()
    for number in ENDING:
        if number == signal.SIGINT:
            signal.signal(number, signal.SIG_IGN)
        elif signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)


def _outlive_none() -> None:
    """Wait until the parent's end of a pipe is closed. The signal goes to the main thread, where a file that is being
    written holds it back.
    """
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
    else:
        os._exit(1)
