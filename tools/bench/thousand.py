"""A cold run over a thousand training files of public repositories: processor time and memory, with TorchFix beside it.

The repositories are taken from a folder of clones, or fetched (``tools.ecosystem.clones``); each is a project of its
own, so that imports mean what they mean there. One run of the command over all files, with one process and with two;
then each file by itself in this process, for the distribution; then the same files in TorchFix. What other files of
the repositories show in those of the list is not looked for: the command was not asked about them.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tools.ecosystem.clones import tree
from tools.ecosystem.pins import Pin

from tapelint.cli import collect_rarely
from tapelint.cli.file_check import check_file
from tapelint.cli.task import Task
from tapelint.workspace import Config

from .timing import percentile, tapelint

FILES = Path(__file__).with_name("thousand.txt")


@dataclass(frozen=True, slots=True)
class Cost:
    """What a process, with those that it has started, has cost: processor seconds, and bytes of the largest of them."""

    seconds: float
    peak: int


@dataclass(frozen=True, slots=True)
class Spread:
    """Processor seconds of single files: what ``python`` needs to start is not in them."""

    median: float
    p90: float
    p99: float
    # the slowest files
    worst: dict[str, float]


def listed(every: int = 1) -> dict[Pin, list[str]]:
    """The files by repository: every so-manieth of the list."""
    rows = [row for row in FILES.read_text(encoding="utf-8").splitlines() if not row.startswith("#")]
    found: dict[Pin, list[str]] = {}
    for row in rows[::every]:
        name, _, rest = row.partition("@")
        commit, _, path = rest.partition(":")
        found.setdefault(Pin(name, commit), []).append(path)
    return found


@contextmanager
def checked_out(clones: Path | None, every: int = 1) -> Iterator[list[str]]:
    """The absolute paths of the files, in their repositories, which are removed afterwards."""
    with ExitStack() as stack:
        paths: list[str] = []
        for pin, files in listed(every).items():
            root = stack.enter_context(tree(pin, clones))
            (root / ".git").mkdir(exist_ok=True)  # marks the root of a project
            paths += (str(root / file) for file in files)
        yield paths


def check(paths: Sequence[str], jobs: int, form: str) -> Cost:
    """``tapelint check`` in a new process."""
    options = ("--isolated", "--config", "callers = false", "--output-format", form, "--jobs", str(jobs), "--exit-zero")
    return _cost([*tapelint("check", *options), *paths])


def torchfix(command: Path, paths: Sequence[str]) -> Cost:
    """TorchFix in a new process."""
    return _cost([str(command), "--select", "ALL", "--jobs", "1", *paths])


def spread(paths: Sequence[str], worst: int) -> Spread:
    """Each file once, in this process, which collects garbage as the command does."""
    collect_rarely()
    taken: dict[str, float] = {}
    for path in paths:
        begin = time.process_time()
        check_file(Task(path, Config(callers=False), "pylint"))
        taken[path] = time.process_time() - begin
    every = [*taken.values()]
    slowest = sorted(taken, key=lambda path: -taken[path])[:worst]
    return Spread(
        statistics.median(every),
        percentile(every, 0.9),
        percentile(every, 0.99),
        {path: taken[path] for path in slowest},
    )


_LAUNCHER = """
import json, os, subprocess, sys
used = os.wait4(subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL).pid, 0)
print(json.dumps([os.waitstatus_to_exitcode(used[1]), used[2].ru_utime + used[2].ru_stime, used[2].ru_maxrss]))
"""
"""A process begins with the peak of the one that it is forked from, so the benchmark does not fork it itself."""


def _cost(command: Sequence[str]) -> Cost:
    """Run a command where no project is. Raises RuntimeError where it could not do its work."""
    with tempfile.TemporaryDirectory() as nowhere:
        launched = [sys.executable, "-I", "-S", "-c", _LAUNCHER, *command]
        run = subprocess.run(launched, cwd=nowhere, capture_output=True, text=True, check=True)
    status, taken, peak = json.loads(run.stdout)
    if status > 1:
        raise RuntimeError(f"{command[0]} ended with {status}: {run.stderr[-1000:]}")
    return Cost(taken, peak * 1024)
