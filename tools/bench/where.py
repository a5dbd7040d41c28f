"""Where the time of one file goes: by function of tapelint, and by line of the file, with the paths that fork there.

A line that many paths run through is paid for many times; the line where they fork is where to look.
"""

from __future__ import annotations

import ast
import cProfile
import gc
import pstats
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

import tapelint
from tapelint.analysis import analyse
from tapelint.domain.state import State
from tapelint.engine.machine import Machine
from tapelint.source import read

TOP = 15
_HOME = str(Path(tapelint.__file__).parent)


@dataclass(slots=True)
class Lines:
    """Per line of the file: how often it ran, its own seconds, copies of states made there, paths it added."""

    runs: Counter[int] = field(default_factory=Counter)
    seconds: defaultdict[int, float] = field(default_factory=lambda: defaultdict(float))
    forks: Counter[int] = field(default_factory=Counter)
    more: Counter[int] = field(default_factory=Counter)


def functions(text: str, path: str) -> list[tuple[str, int, float, float]]:
    """(function, calls, own seconds, seconds with what it calls), the most expensive of their own time first."""
    profile = cProfile.Profile()
    profile.runcall(analyse, text, path)
    found = []
    for (file, row, name), (_, calls, own, total, _) in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]
        place = f"{file[len(_HOME) + 1 :]}:{row} {name}" if file.startswith(_HOME) else name
        found.append((place, calls, own, total))
    return sorted(found, key=lambda entry: -entry[2])[:TOP]


def lines(text: str, path: str) -> Lines:
    """Run the analysis with clocks in the machine's ``statement`` and in the forking of states."""
    counted = Lines()
    running: list[int] = []
    since = [0.0]
    statement, fork = Machine.statement, State.fork

    def charge() -> None:
        now = time.process_time()
        if running:
            counted.seconds[running[-1]] += now - since[0]
        since[0] = now

    def timed_statement(machine: Machine, node: ast.stmt, state: State) -> list[State]:
        charge()
        running.append(node.lineno)
        counted.runs[node.lineno] += 1
        try:
            states = statement(machine, node, state)
        finally:
            charge()
            running.pop()
        if len(states) > 1:
            counted.more[node.lineno] += len(states) - 1
        return states

    def counted_fork(state: State) -> State:
        if running:
            counted.forks[running[-1]] += 1
        return fork(state)

    with patch.object(Machine, "statement", timed_statement), patch.object(State, "fork", counted_fork):
        analyse(text, path)
    return counted


def report(path: Path) -> Iterator[str]:
    """Both views of a file, as text."""
    text = read(str(path))
    begin = time.process_time()
    found = analyse(text, str(path))
    seconds = time.process_time() - begin
    yield f"{path}: {seconds:.3f} s"
    yield "  " + ", ".join(f"{name} {count}" for name, count in found.stats.items() if count)
    yield f"  {'calls':>9} {'own s':>8} {'total s':>8}  function (under the profiler, which makes calls expensive)"
    for place, calls, own, total in functions(text, str(path)):
        yield f"  {calls:9,} {own:8.3f} {total:8.3f}  {place}"
    gc.collect()
    counted = lines(text, str(path))
    yield f"  {'runs':>9} {'own s':>8} {'forks':>8} {'paths+':>8}  line"
    rows = text.splitlines()
    slowest = sorted(counted.seconds.items(), key=lambda entry: -entry[1])[:TOP]
    for row, own in slowest:
        runs, forks, more = counted.runs[row], counted.forks[row], counted.more[row]
        yield f"  {runs:9,} {own:8.3f} {forks:8,} {more:8,}  {row}: {rows[row - 1].strip()[:90]}"
