"""Is the editor that started us still there?

A crashed editor may leave the pipe open in some other child of its own, so end-of-input is not enough: servers that
outlive their editor are a known plague.

The editor says its number in ``initialize``. Until then, and where that number means nothing here, the process that
started us stands for it: an editor in another container has one here that lives, one that has died by then has none.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path

STARTER = os.getppid()
"""The process that started this one, if it was still there when this module was loaded."""


def is_alive(process: int) -> bool:
    """Whether ``process`` runs; a dead one that is not collected yet counts as gone."""
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


if sys.platform == "win32":
    import ctypes

    def _is_alive_on_windows(process: int) -> bool:

        synchronize, timed_out = 0x00100000, 0x00000102
        kernel = ctypes.windll.kernel32
        handle = kernel.OpenProcess(synchronize, False, process)
        if not handle:
            return False
        try:
            return bool(kernel.WaitForSingleObject(handle, 0) == timed_out)
        finally:
            kernel.CloseHandle(handle)


def has_starter() -> bool:
    """Whether the process that started us is still there: a process whose parent ends is given another one."""
    return os.getppid() == STARTER and (sys.platform != "win32" or is_alive(STARTER))


async def watch(process: int | None, gone: Callable[[], None], interval: float = 1.0) -> None:
    """Call ``gone`` once ``process`` has ended, or the process that started us where there is no such number
    here; looked at every ``interval`` seconds.
    """
    is_known = process is not None and process > 0 and is_alive(process)
    while is_alive(process or 0) if is_known else has_starter():
        await asyncio.sleep(interval)
    gone()
