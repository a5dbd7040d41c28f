"""The one thread that analyses.

One, because the analysis is pure Python and two would only share the interpreter lock; with a big stack, because both
the parser and the interpreter recurse as deep as the code they read. Jobs wait in order of priority, and each carries
a token: a cancelled job that has not started never will, and one that runs is expected to poll its token and give up.
What nobody waits for gives up for what somebody does, too, and is begun again afterwards (``submit_idle``); so do
fixes that are waited for, some times: an edit of another file is shown at once.
"""

from __future__ import annotations

import asyncio
import enum
import gc
import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from .delays import DELAYS

logger = logging.getLogger(__name__)

STACK = 256 * 1024 * 1024


MOST_BEGINNINGS = 5
"""So often is begun again what someone waits for; then it goes on to its end."""


class Priority(enum.IntEnum):
    """Lower goes first: someone waits for an answer; squiggles; fixes that someone waits for; what may be wanted later;
    what is not open.
    """

    ANSWER = 0
    ANALYSIS = 1
    FIXES = 2
    IDLE = 3
    BACKGROUND = 4


class Token:
    """Says whether what it was given to is still wanted; calling it is the ``cancel`` argument of the analysis."""

    __slots__ = ("_cancelled",)

    def __init__(self) -> None:
        self._cancelled = False

    def cancel(self) -> None:
        self._cancelled = True

    def __call__(self) -> bool:
        return self._cancelled


class Job:
    """Work that was handed in; its ``future`` lives on the loop that asked."""

    def __init__(self, work: Callable[[], Any], priority: Priority, token: Token, number: int) -> None:
        self.work, self.token, self.number = work, token, number
        self.waiting = 0
        self.beginnings = 0
        self.is_given_up = False
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Any] = self.loop.create_future()
        self._priority = priority

    @property
    def priority(self) -> Priority:
        """How urgent it is: more than it was meant to be, as long as someone waits for it after all."""
        return min(Priority.FIXES, self._priority) if self.waiting else self._priority

    @property
    def gives_way(self) -> bool:
        """Whether it may be begun again for something more urgent."""
        return not self.waiting or self.beginnings < MOST_BEGINNINGS

    def settle(self, result: Any, error: BaseException | None) -> None:
        """Called on the loop. The caller may have stopped waiting in the meantime."""
        if self.future.done():
            return
        if self.token():
            self.future.cancel()
        elif error is not None:
            self.future.set_exception(error)
        else:
            self.future.set_result(result)


class Worker:
    """A queue and its thread."""

    def __init__(self) -> None:
        self._jobs: list[Job] = []
        self._ready = threading.Condition()
        self._count = 0
        before = threading.stack_size()
        try:
            threading.stack_size(STACK)
        except ValueError:
            logger.warning("no big stack on this platform; deep code will be skipped earlier")
        try:
            threading.Thread(target=self._run, name="tapelint-worker", daemon=True).start()
        finally:
            threading.stack_size(before)

    def submit(self, work: Callable[[], Any], priority: Priority, token: Token) -> Job:
        """Queue ``work``; call from the loop and await the job's future."""
        self._count += 1
        job = Job(work, priority, token, self._count)
        self._queue(job)
        return job

    def submit_idle(self, work: Callable[[Callable[[], bool]], Any], token: Token) -> Job:
        """Queue ``work`` that nobody waits for, or not yet, or that may give way although someone does. It is to poll
        the function that it is given and to raise once that is true: because the token says so, or something more
        urgent has come. Then it begins again later.
        """

        def is_over() -> bool:
            job.is_given_up = not token() and job.gives_way and self.is_in_demand(job.priority)
            return token() or job.is_given_up

        self._count += 1
        job = Job(lambda: work(is_over), Priority.IDLE, token, self._count)
        self._queue(job)
        return job

    @contextmanager
    def hurried(self, jobs: Iterable[Job]) -> Iterator[None]:
        """Meanwhile someone waits for these jobs; afterwards they are as urgent as they were."""
        waited_for = [*jobs]
        for job in waited_for:
            job.waiting += 1
        try:
            yield
        finally:
            for job in waited_for:
                job.waiting -= 1

    def is_in_demand(self, priority: Priority = Priority.IDLE) -> bool:
        """Whether something waits that is more urgent than what has this priority."""
        return any(job.priority < priority for job in [*self._jobs])

    def _next(self, patience: float | None) -> Job | None:
        """The most urgent job; None if there is none for so many seconds."""
        with self._ready:
            if not self._ready.wait_for(lambda: self._jobs, patience):
                return None
            job = min(self._jobs, key=lambda job: (job.priority, job.number))
            self._jobs.remove(job)
            return job

    def _queue(self, job: Job) -> None:
        with self._ready:
            job.is_given_up = False
            self._jobs.append(job)
            self._ready.notify()

    def _run(self) -> None:
        patience = None
        while True:
            job = self._next(patience)
            if job is None:
                gc.collect()  # the cycles of analyses that newer text has replaced
                patience = None
                continue
            patience = DELAYS.garbage
            result, error = None, None
            job.beginnings += 1
            if not job.token():
                try:
                    result = job.work()
                except BaseException as problem:  # a fault in one file must not end the analysis of all others
                    error = _storable(problem)
                if error is not None and job.is_given_up:
                    self._queue(job)
                    continue
            try:
                job.loop.call_soon_threadsafe(job.settle, result, error)
            except RuntimeError:
                return  # the loop is closed: the server is leaving
            del job, result, error


def _storable(problem: BaseException) -> BaseException:
    """Futures refuse StopIteration, and a SystemExit in one would end the loop."""
    if isinstance(problem, Exception) and not isinstance(problem, StopIteration):
        return problem
    return RuntimeError(f"{type(problem).__name__}: {problem}")
