"""``tapelint fleet``: which repositories are still to be done, where they are checked, and what is said of them.

They are checked by threads of this process, each with a process that does the work, or by the workers of a Dask
scheduler. An engine yields each repository's record once, in the order in which they come. Where a
worker of a cluster is lost, the cluster gives its repositories to others.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

from ... import __version__
from ...frozen import frozen
from ..signals import Interrupted, interruptible
from ..streams import Refusal, say, tell
from .records import Records, RepositoryRecord
from .repository import Bounds, check_repository

ATTEMPTS = 3
"""How often a repository is given to another worker of a cluster when its worker is lost."""
AHEAD = 4
"""Repositories for each worker that an engine holds at a time: a list of 100,000 is not sent at once."""

Coming = Generator[RepositoryRecord, None, None]
"""Records as they come. What has begun and is not wanted any more is ended when it is closed."""


@frozen
class Work:
    """What is to be done: where, how many at once (None: what there is), and the address of a cluster."""

    places: tuple[str, ...]
    bounds: Bounds
    jobs: int | None = None
    address: str | None = None


def local(work: Work) -> Coming:
    """Processes on this machine."""
    jobs, stop = work.jobs or os.cpu_count() or 1, threading.Event()
    with ThreadPoolExecutor(jobs) as pool:
        waiting, running = iter(work.places), set[Future[RepositoryRecord]]()
        try:
            while True:
                for place in islice(waiting, jobs - len(running)):
                    running.add(pool.submit(check_repository, place, work.bounds, stop))
                if not running:
                    return
                done, running = wait(running, return_when=FIRST_COMPLETED)
                yield from (each.result() for each in done)
        finally:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)


def dask(work: Work) -> Coming:
    """The workers of a scheduler; without an address, of one that is started here."""
    try:
        from distributed import Client, LocalCluster, as_completed
    except ImportError:
        raise Refusal("the engine dask needs Dask: pip install 'tapelint[fleet]'") from None
    try:
        cluster = (
            None if work.address else LocalCluster(n_workers=work.jobs, threads_per_worker=1, dashboard_address=None)
        )
        client = Client(work.address or cluster)
    except (OSError, TimeoutError) as error:
        raise Refusal(f"no scheduler of Dask answers at {work.address}: {error}") from None
    run = partial(check_repository, bounds=work.bounds)
    names: dict[str, str] = {}

    def begun(places: Iterable[str]) -> list[Any]:
        some = list(places)
        futures: list[Any] = client.map(run, some, pure=False, retries=ATTEMPTS)
        names.update((future.key, place) for future, place in zip(futures, some))
        return futures

    try:
        waiting = iter(work.places)
        workers = max(len(client.scheduler_info()["workers"]), work.jobs or 1)
        coming = as_completed(begun(islice(waiting, AHEAD * workers)))
        for future in coming:
            yield _taken(future.result, names.pop(future.key))
            coming.update(begun(islice(waiting, 1)))
    finally:
        client.close()
        if cluster is not None:
            cluster.close()


def _taken(result: Callable[[], RepositoryRecord], place: str) -> RepositoryRecord:
    """A record, or one that says why there is none: every worker that had the repository was lost."""
    try:
        return result()
    except Exception as error:
        return RepositoryRecord(place, __version__, error=f"{type(error).__name__}: {error}")


ENGINES: dict[str, Callable[[Work], Coming]] = {"local": local, "dask": dask}


def run(
    listed: str,
    output: str,
    engine: str,
    jobs: int | None,
    address: str | None,
    seconds: float,
    megabytes: int,
) -> int:
    """Check the repositories that the file ``listed`` names, one in a line; a record of each goes to ``output``."""
    try:
        places = tuple(dict.fromkeys(_named(listed)))
        records = Records(output)
    except OSError as error:
        raise Refusal(f"{error.filename}: {error.strerror}") from error
    left = tuple(each for each in places if each not in records.done)
    if len(left) < len(places):
        say(f"{len(places) - len(left)} of {len(places)} repositories are in {output} already.")
    tally = _Tally(len(left))
    work = Work(left, Bounds(seconds, megabytes << 20), jobs, address)
    try:
        with interruptible(), closing(ENGINES[engine](work)) as coming:
            for record in coming:
                records.add(record)
                tally.take(record)
    except Interrupted as signal:
        tell("error", f"interrupted after {tally.done} of {tally.count} repositories")
        return signal.status
    finally:
        records.close()
    say(tally.sentence)
    return 2 if tally.errors else 1 if tally.findings else 0


def _named(listed: str) -> Iterator[str]:
    with sys.stdin if listed == "-" else open(listed, encoding="utf-8") as file:
        for line in file:
            name = line.strip()
            if name and not name.startswith("#"):
                yield name


@dataclass(slots=True)
class _Tally:
    """What came of the repositories."""

    count: int
    done: int = 0
    files: int = 0
    findings: int = 0
    errors: int = 0
    lost: int = 0

    def take(self, record: RepositoryRecord) -> None:
        self.done += 1
        self.files += len(record.files)
        self.findings += sum(len(each.findings) for each in record.files)
        self.lost += sum(count for outcome, count in record.outcomes.items() if outcome != "checked")
        if record.error is not None:
            self.errors += 1
            tell("error", record.error)
        if sys.stderr.isatty():
            say(f"{self.done}/{self.count} {record.repository}: {len(record.files)} files, {record.seconds:.1f} s")

    @property
    def sentence(self) -> str:
        lost = f", {self.lost} files given up" if self.lost else ""
        errors = f", {self.errors} could not be read" if self.errors else ""
        return f"{self.done} repositories, {self.files} files, {self.findings} findings{lost}{errors}."
