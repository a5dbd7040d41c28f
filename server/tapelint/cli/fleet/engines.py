"""Where repositories are checked: by threads of this process, each with a process that does the work, by the workers
of a Dask scheduler, or by those of a Ray cluster.

An engine yields each repository's record once, in the order in which they come. Where a worker of a cluster is lost,
the cluster gives its repositories to others.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial
from itertools import islice
from typing import Any

from ... import __version__
from ...frozen import frozen
from ..signals import handlers_kept
from .records import RepositoryRecord
from .repository import Bounds, check_repository

ATTEMPTS = 3
"""How often a repository is given to another worker of a cluster when its worker is lost."""
AHEAD = 4
"""Repositories for each worker that an engine holds at a time: a list of 100,000 is not sent at once."""

Coming = Generator[RepositoryRecord, None, None]
"""Records as they come. What has begun and is not wanted any more is ended when it is closed."""


class EngineMissing(Exception):
    """The library of an engine is not installed, or its cluster does not answer."""


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
        raise EngineMissing("the engine dask needs Dask: pip install 'tapelint[fleet]'") from None
    try:
        cluster = (
            None if work.address else LocalCluster(n_workers=work.jobs, threads_per_worker=1, dashboard_address=None)
        )
        client = Client(work.address or cluster)
    except (OSError, TimeoutError) as error:
        raise EngineMissing(f"no scheduler of Dask answers at {work.address}: {error}") from None
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


def ray(work: Work) -> Coming:
    """The workers of a Ray cluster; without an address, of one that is started here."""
    try:
        import ray as library
    except ImportError:
        raise EngineMissing("the engine ray needs Ray: pip install 'tapelint[fleet-ray]'") from None
    try:
        with handlers_kept():
            library.init(address=work.address, num_cpus=None if work.address else work.jobs, log_to_driver=False)
    except ConnectionError as error:
        raise EngineMissing(f"no Ray cluster answers at {work.address}: {error}") from None
    run = library.remote(max_retries=ATTEMPTS)(check_repository)
    try:
        waiting = iter(work.places)
        ahead = AHEAD * max(int(library.cluster_resources().get("CPU", 1)), 1)
        running = {run.remote(place, work.bounds): place for place in islice(waiting, ahead)}
        while running:
            (done,), _ = library.wait(list(running), num_returns=1)
            yield _taken(partial(library.get, done), running.pop(done))
            running.update((run.remote(place, work.bounds), place) for place in islice(waiting, 1))
    finally:
        library.shutdown()


def _taken(result: Callable[[], RepositoryRecord], place: str) -> RepositoryRecord:
    """A record, or one that says why there is none: every worker that had the repository was lost."""
    try:
        return result()
    except Exception as error:
        return RepositoryRecord(place, __version__, error=f"{type(error).__name__}: {error}")


ENGINES: dict[str, Callable[[Work], Coming]] = {"local": local, "dask": dask, "ray": ray}
