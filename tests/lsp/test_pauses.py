"""How long the protocol waits while something is analysed, and when garbage is looked for instead."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
import weakref
from collections.abc import Callable, Iterator

import pytest

from tapelint.lsp import delays, worker
from tapelint.lsp.delays import Delays


@pytest.fixture
def no_collections() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


class Report:
    """Holds itself, as reports do."""

    def __init__(self) -> None:
        self.itself = self


async def test_cycles_are_gone_when_the_worker_has_nothing_to_do(
    no_collections: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "DELAYS", Delays(garbage=0.01))
    is_gone = threading.Event()
    weakref.finalize(report := Report(), is_gone.set)
    del report
    await worker.Worker().submit(lambda: None, worker.Priority.ANALYSIS, worker.Token()).future
    assert await asyncio.to_thread(is_gone.wait, 30)


def test_nothing_is_looked_for_while_modules_are_loaded() -> None:
    with pytest.raises(ImportError), delays.loading():
        assert not gc.isenabled()
        raise ImportError
    assert gc.isenabled()


async def test_what_nobody_waits_for_gives_way_and_is_begun_again() -> None:
    """It is done after what is more urgent, once; and first where someone waits for it."""
    own, order, begun = worker.Worker(), [], threading.Event()

    def patient(is_over: Callable[[], bool]) -> str:
        order.append("begun")
        begun.set()
        while len(order) < 2:
            if is_over():
                raise InterruptedError
        return "done"

    job = own.submit_idle(patient, worker.Token())
    assert await asyncio.to_thread(begun.wait, 30)
    await own.submit(lambda: order.append("urgent"), worker.Priority.ANALYSIS, worker.Token()).future
    assert await job.future == "done"
    assert order == ["begun", "urgent", "begun"]


async def test_fixes_that_are_waited_for_give_way_to_edits_some_times_only() -> None:
    own, order = worker.Worker(), []

    def work(is_over: Callable[[], bool]) -> None:
        order.append("begun")
        end = time.monotonic() + 30
        while len(order) < 2 * worker.MOST_BEGINNINGS - 1:
            assert time.monotonic() < end
            if is_over():
                raise InterruptedError
        assert not is_over()
        order.append("fixes")

    job = own.submit_idle(work, worker.Token())
    with own.hurried([job]):
        for count in range(worker.MOST_BEGINNINGS - 1):
            while len(order) <= 2 * count:
                await asyncio.sleep(0.001)
            await own.submit(lambda: order.append("edit"), worker.Priority.ANALYSIS, worker.Token()).future
        await job.future
    assert order == ["begun", "edit"] * (worker.MOST_BEGINNINGS - 1) + ["begun", "fixes"]


async def test_fixes_that_are_waited_for_go_before_what_is_not() -> None:
    own, order, may_begin = worker.Worker(), list[str](), threading.Event()
    own.submit(may_begin.wait, worker.Priority.ANSWER, worker.Token())
    own.submit_idle(lambda is_over: order.append("idle"), worker.Token())
    job = own.submit_idle(lambda is_over: order.append("fixes"), worker.Token())
    with own.hurried([job]):
        may_begin.set()
        await job.future
    assert order[0] == "fixes"
