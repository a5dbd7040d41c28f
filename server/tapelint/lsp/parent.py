"""Is the editor that started us still there?

A crashed editor may leave the pipe open in some other child of its own, so end-of-input is not enough: servers that
outlive their editor are a known plague.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path

INTERVAL = 1.0


def is_alive(process: int) -> bool:
    """Whether ``process`` runs; a dead one that nobody has collected yet counts as gone."""
    if sys.platform == "win32":
        return _is_alive_on_windows(process)
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    try:
        status = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return True
    return status.rpartition(")")[2].split()[:1] != ["Z"]


def _is_alive_on_windows(process: int) -> bool:
    import ctypes

    synchronize, timed_out = 0x00100000, 0x00000102
    kernel = ctypes.windll.kernel32  # type: ignore[attr-defined]
    handle = kernel.OpenProcess(synchronize, False, process)
    if not handle:
        return False
    try:
        return kernel.WaitForSingleObject(handle, 0) == timed_out
    finally:
        kernel.CloseHandle(handle)


async def watch(process: int, gone: Callable[[], None]) -> None:
    """Call ``gone`` once ``process`` has ended.

    A number that means nothing here from the start, as when the editor runs in another container, is not watched.
    """
    if process <= 0 or not is_alive(process):
        return
    while is_alive(process):
        await asyncio.sleep(INTERVAL)
    gone()
