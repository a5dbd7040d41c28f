"""How long the protocol waits while something is analysed, and when garbage is looked for instead."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator

import pytest

from tapelint.lsp import pauses, worker


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
    monkeypatch.setattr(worker, "QUIET", 0.01)
    is_gone = threading.Event()
    weakref.finalize(report := Report(), is_gone.set)
    del report
    await worker.Worker().submit(lambda: None, worker.Priority.ANALYSIS, worker.Token()).future
    assert await asyncio.to_thread(is_gone.wait, 30)


def test_a_server_gives_turns_often_and_looks_through_few_objects() -> None:
    program = (
        "import gc, sys; gc.disable(); from tapelint.lsp import pauses; pauses.shorten();"
        "print(sys.getswitchinterval(), gc.get_threshold(), gc.isenabled(), gc.get_freeze_count() > 1000)"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert printed.stdout.strip() == f"{pauses.SWITCH} {pauses.THRESHOLDS} True True"


def test_nothing_is_looked_for_while_modules_are_loaded() -> None:
    with pytest.raises(ImportError), pauses.loading():
        assert not gc.isenabled()
        raise ImportError
    assert gc.isenabled()
