"""Clocks and statistics, and what machine they were read on."""

from __future__ import annotations

import math
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence


def best_of(times: int, run: Callable[[], object]) -> float:
    """The least processor time ``run`` took in this process, in seconds: a busy machine disturbs it little."""
    return min(_once(run, time.process_time) for _ in range(times))


def median_of(times: int, run: Callable[[], object]) -> float:
    """The usual wall time of ``run``, in seconds, disturbances included: for new processes, where they belong to it."""
    return statistics.median(_once(run, time.perf_counter) for _ in range(times))


def _once(run: Callable[[], object], clock: Callable[[], float]) -> float:
    begin = clock()
    run()
    return clock() - begin


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest of ``values`` that at least ``share`` of them do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def process(*arguments: str) -> Callable[[], subprocess.CompletedProcess[str]]:
    """A run of a command in a new process, its output kept."""
    return lambda: subprocess.run(arguments, capture_output=True, text=True, check=False)


def tapelint(*arguments: str) -> tuple[str, ...]:
    """The command line of tapelint under the Python that runs the benchmark; what it found before does not count."""
    without = ("--no-cache",) if arguments[0] == "check" else ()
    return (sys.executable, "-m", "tapelint", *arguments[:1], *without, *arguments[1:])


def machine() -> str:
    """The machine in a line: processor, cores, system, Python, and how busy others keep it."""
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return f"{_processor()}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}{load}"


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or platform.machine()
