"""Judges many programs in several processes; each is forked with PyTorch and the catalogue loaded."""

from __future__ import annotations

import gc
import multiprocessing
import random
import signal
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from .features import features
from .judge import Truth, Verdict, compare, judge, predict, run
from .program import program
from .shrink import shrunk

ATTEMPTS = 12
SECONDS = 30
"""What a single program may take."""
BATCH = 25
SELDOM = {"no graph": 0.25, "leaf": 0.4, "view": 0.4}
"""Easy errors are easily written: only so many of them are kept."""


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


def smaller(judged: Judged) -> str:
    """The shortest text found on which the two still differ in the same way."""
    return shrunk(judged.text, lambda text: judge(text).key == judged.verdict.key)


def _begin() -> None:
    torch.set_num_threads(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, _too_long)


def _too_long(*_: object) -> None:
    raise TooLong


def _batch(seeds: range) -> list[Judged]:
    found = []
    for seed in seeds:
        signal.alarm(SECONDS)
        try:
            found.append(one(seed))
        except TooLong:
            found.append(Judged(seed, "", Verdict("too long", frozenset()), frozenset(), True, 0))
        finally:
            signal.alarm(0)
    gc.collect()
    return found


def judged(begin: int, count: int, jobs: int) -> Iterator[Judged]:
    """All of them, as they come. The catalogue should be loaded before, so that each process finds it."""
    batches = [range(start, min(start + BATCH, begin + count)) for start in range(begin, begin + count, BATCH)]
    with multiprocessing.get_context("fork").Pool(jobs, _begin, maxtasksperchild=40) as pool:
        for batch in pool.imap_unordered(_batch, batches):
            yield from batch


def shrunk_all(found: list[Judged], jobs: int) -> Iterator[tuple[Judged, str]]:
    if found:
        with multiprocessing.get_context("fork").Pool(jobs, _begin) as pool:
            yield from zip(found, pool.imap(smaller, found))
