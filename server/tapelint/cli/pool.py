"""Many files in several processes. A file that kills its process is found and named; the others are still answered.

Each process has one file at a time, so it is known which one it died of. That file is checked once more, alone: memory
that ran out because several were checked at once is not the fault of one.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from ..fault import REPORT
from ..report.notice import FAULTY, Kind, Notice
from ..source.writing import uninterrupted
from .file_check import check_file, unchecked
from .signals import ENDING
from .streams import log
from .task import FileResult, Task

_PATIENCE = 5.0
"""Seconds that a process has to finish what must not be interrupted."""


def in_processes(
    tasks: Sequence[Task],
    jobs: int,
    come: dict[int, FileResult],
    on_answer: Callable[[FileResult], None] = lambda answer: None,
) -> Iterator[FileResult]:
    """The answers in the order of the tasks. ``come`` holds those, by number, that have come and are not yet their
    turn: the caller may want them when it is interrupted. ``on_answer`` is called for each as it comes.
    """
    pool = _Pool(tasks, jobs, come, on_answer)
    try:
        for number in range(len(tasks)):
            while number not in come:
                pool.advance()
            yield come.pop(number)
    finally:
        pool.end()


@dataclass(eq=False, slots=True)
class _Worker:
    """A process, the line to it and the number of the task that it works on."""

    process: BaseProcess
    line: Connection
    number: int | None = None


class _Pool:
    """Who works on what. ``deaths`` says how a task's first process ended."""

    def __init__(
        self, tasks: Sequence[Task], jobs: int, come: dict[int, FileResult], on_answer: Callable[[FileResult], None]
    ) -> None:
        self.tasks, self.jobs, self.come, self.on_answer = tasks, jobs, come, on_answer
        self.waiting = deque(range(len(tasks)))
        self.again: deque[int] = deque()
        self.deaths: dict[int, str] = {}
        self.workers: list[_Worker] = []
        # Forking is by far the fastest start, and nothing here runs threads.
        self.context = multiprocessing.get_context("fork" if sys.platform == "linux" else None)

    def advance(self) -> None:
        """Give work to all that have none, and take the next answers."""
        while (number := self._next()) is not None:
            worker = next((worker for worker in self.workers if worker.number is None), None) or self._start()
            if worker is None:  # the system has no more processes for us: this one does the work itself
                self._take(number, check_file(self.tasks[number]))
                return
            worker.number = number
            try:
                worker.line.send(self.tasks[number])
            except OSError:
                self._bury(worker)
        busy = {worker.line: worker for worker in self.workers if worker.number is not None}
        for line in wait(list(busy)) if busy else ():
            worker = busy[line]  # type: ignore[index]
            try:
                answer = worker.line.recv()
            except (EOFError, OSError):
                self._bury(worker)
            else:
                number, worker.number = worker.number, None
                self._take(number, answer)

    def end(self) -> None:
        """End all processes."""
        for worker in self.workers:
            worker.process.terminate()
        for worker in self.workers:
            worker.process.join(_PATIENCE)
            worker.process.kill()
        self.workers.clear()

    def _next(self) -> int | None:
        """The task to begin with now, if any: one whose process died waits until the others have finished."""
        busy = sum(worker.number is not None for worker in self.workers)
        if any(worker.number in self.deaths for worker in self.workers) or busy >= self.jobs:
            return None
        if self.again:
            return None if busy else self.again.popleft()
        return self.waiting.popleft() if self.waiting else None

    def _start(self) -> _Worker | None:
        ours, theirs = self.context.Pipe()
        process = self.context.Process(target=_serve, args=(theirs,), daemon=True)
        try:
            with uninterrupted():
                process.start()
        except OSError:
            ours.close()
            return None
        finally:
            theirs.close()
        worker = _Worker(process, ours)
        self.workers.append(worker)
        return worker

    def _take(self, number: int | None, answer: FileResult) -> None:
        assert number is not None
        how = self.deaths.get(number)
        if how:
            answer.warnings.append(f"{answer.path}: a process ended while it checked this ({how}): checked again alone")
        self._enter(number, answer)

    def _enter(self, number: int, answer: FileResult) -> None:
        self.come[number] = answer
        self.on_answer(answer)

    def _bury(self, worker: _Worker) -> None:
        """A process has died: its task gets another one, or is given up."""
        self.workers.remove(worker)
        worker.line.close()
        worker.process.join(_PATIENCE)
        number, how = worker.number, _ending(worker.process.exitcode)
        assert number is not None
        if number not in self.deaths:
            self.deaths[number] = how
            self.again.append(number)
            return
        task = self.tasks[number]
        lost = Notice(Kind.FAULT, task.path, f"{FAULTY}its process died ({how}); {REPORT}")
        if how == "SIGKILL":
            memory = f"Not checked: its process was ended twice ({how}), as it is where memory runs out"
            lost = Notice(Kind.NOT_ANALYSED, task.path, memory)
        self._enter(number, unchecked(task, lost))


def _ending(code: int | None) -> str:
    """How a process ended, in a few words."""
    if code is None or code >= 0:
        return f"status {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def _serve(line: Connection) -> None:
    """What the processes do: answer tasks until the other end is closed."""
    _obey_parent()
    log()
    try:
        while True:
            line.send(check_file(line.recv()))
    except (EOFError, OSError):
        os._exit(0)


def _obey_parent() -> None:
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
