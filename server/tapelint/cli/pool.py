"""Many files in several processes. A file that kills its process is found and named; the others are still answered."""

from __future__ import annotations

import multiprocessing
import signal
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from .job import Answer, Task, work


def in_processes(tasks: Sequence[Task], jobs: int) -> Iterator[Answer]:
    """The answers in the order of the tasks."""
    done = 0
    with _pool(jobs) as pool:
        futures = [pool.submit(work, task) for task in tasks]
        try:
            for future in futures:
                yield future.result()
                done += 1
        except BrokenProcessPool:
            pass
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    for task in tasks[done:]:
        yield _alone(task)


def _alone(task: Task) -> Answer:
    with _pool(1) as pool:
        try:
            return pool.submit(work, task).result()
        except BrokenProcessPool:
            message = f"internal error in {task.path}: its process died; this is a bug of tapelint, please report it"
            return Answer(task.path, failures=[message])


def _pool(jobs: int) -> ProcessPoolExecutor:
    # Forking is by far the fastest start, and nothing here runs threads when the pool is made.
    context = multiprocessing.get_context("fork") if sys.platform == "linux" else None
    # Ctrl-C ends the workers without a word; the parent is the one to speak.
    quiet = (signal.SIGINT, signal.SIG_DFL)
    return ProcessPoolExecutor(jobs, mp_context=context, initializer=signal.signal, initargs=quiet)
