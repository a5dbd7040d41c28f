"""Judges many programs in several processes; each is forked with PyTorch and the catalogue loaded.

A program that random choice wrote may run for ever, and may end PyTorch itself (``corrupted size vs. prev_size``). So a
process is given one thing at a time, and one that takes too long or dies is replaced: only that program is lost.
"""

from __future__ import annotations

import gc
import itertools
import multiprocessing
import random
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Generic, TypeVar

import torch

from .features import features
from .judge import Truth, Verdict, compare, judge, predict, run
from .program import program
from .shrink import SECONDS as SHRINKING
from .shrink import shrunk

ATTEMPTS = 12
SECONDS = 30
"""What a single program may take."""
CANDIDATE = 3
"""What a single program may take while another is shrunk: a cut may leave a loop without its end."""
RETIRED = 1000
"""A process is replaced after so many programs, so that what PyTorch keeps does not add up."""
SELDOM = {"no graph": 0.25, "leaf": 0.4, "view": 0.4}
"""Easy errors are easily written: only so many of them are kept."""

Given = TypeVar("Given")
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Judged:
    """A program, known by its seed, and what became of it."""

    seed: int
    text: str
    verdict: Verdict
    features: frozenset[str]
    whole: bool
    rejected: int


class TooLong(BaseException):
    """A program ran longer than any should."""


def draw(seed: int) -> tuple[str, Truth, int]:
    """A program whose errors, if any, are ours; and how many were thrown away for that."""
    rng = random.Random(seed)
    for attempt in range(ATTEMPTS):
        text = program(f"{seed}.{attempt}")
        truth = run(text)
        wanted = all(rng.random() < SELDOM.get(error.kind, 1) for error in sorted(truth.errors))
        if wanted and truth.usable and truth.whole:
            break
    return text, truth, attempt


def one(seed: int) -> Judged:
    text, truth, rejected = draw(seed)
    verdict = compare(truth, *predict(text)) if truth.usable else Verdict("other error", truth.errors)
    return Judged(seed, text, verdict, features(text), truth.whole, rejected)


def smaller(judged: Judged) -> tuple[str, Verdict]:
    """The shortest text found on which the two still differ in the same way."""

    def keeps(text: str) -> bool:
        signal.alarm(CANDIDATE)
        try:
            return judge(text).key == judged.verdict.key
        except TooLong:
            return False
        finally:
            signal.alarm(0)

    text = shrunk(judged.text, keeps)
    return text, judge(text)


def judged(begin: int, count: int, jobs: int, feature: str | None = None) -> Iterator[Judged]:
    """All of them, as they come. The catalogue should be loaded before, so that each process finds it. With ``feature``
    only of seeds whose first draft has it.
    """
    seeds = (seed for seed in itertools.count(begin) if not feature or feature in features(program(f"{seed}.0")))
    for seed, found in each(one, itertools.islice(seeds, count), jobs, SECONDS):
        yield found or Judged(seed, "", Verdict("lost", frozenset()), frozenset(), True, 0)


def shrunk_all(found: list[Judged], jobs: int) -> Iterator[tuple[Judged, str, Verdict]]:
    """Each with what is left of it; as it was where shrinking took too long."""
    for item, left in each(smaller, found, jobs, 2 * SHRINKING):
        yield (item, *(left or (item.text, item.verdict)))


# Processes


@dataclass(slots=True)
class Worker(Generic[Given]):
    """A process, what it works on now, until when it may, and how much it has done."""

    process: BaseProcess
    pipe: Connection
    given: Given
    end: float
    done: int = 0


def each(
    work: Callable[[Given], Made], things: Iterable[Given], jobs: int, seconds: float
) -> Iterator[tuple[Given, Made | None]]:
    """``work`` done on each thing, in ``jobs`` processes; None where it took longer than ``seconds`` or died."""
    left = iter(things)
    workers = [worker for _ in range(jobs) if (worker := _hired(work, left, seconds))]
    try:
        while workers:
            ready = wait([worker.pipe for worker in workers], timeout=1.0)
            for worker in list(workers):
                if worker.pipe in ready:
                    try:
                        made = worker.pipe.recv()
                    except (EOFError, ConnectionResetError):
                        made = None
                elif time.monotonic() > worker.end:
                    made = None
                else:
                    continue
                yield worker.given, made
                worker.done += 1
                if made is None or worker.done >= RETIRED or not _handed(worker, left, seconds):
                    worker.process.kill()
                    workers.remove(worker)
                    if another := _hired(work, left, seconds):
                        workers.append(another)
    finally:
        for worker in workers:
            worker.process.kill()


def _handed(worker: Worker[Given], left: Iterator[Given], seconds: float) -> bool:
    for worker.given in left:
        worker.end = time.monotonic() + seconds
        worker.pipe.send(worker.given)
        return True
    return False


def _hired(work: Callable[[Given], Made], left: Iterator[Given], seconds: float) -> Worker[Given] | None:
    for given in left:
        here, there = multiprocessing.Pipe()
        process = multiprocessing.get_context("fork").Process(target=_serve, args=(work, there), daemon=True)
        process.start()
        there.close()
        here.send(given)
        return Worker(process, here, given, time.monotonic() + seconds)
    return None


def _serve(work: Callable[[Given], Made], pipe: Connection) -> None:
    torch.set_num_threads(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, _too_long)
    while True:
        pipe.send(work(pipe.recv()))
        gc.collect(1)


def _too_long(*_: object) -> None:
    raise TooLong
