"""One repository under the analysis: every file, in a process of its own, so that memory and time are its own."""

from __future__ import annotations

import logging
import os
import resource
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from tapelint.analysis import Report, analyse
from tapelint.engine.machine import Place
from tapelint.report import Kind
from tapelint.source import NOTEBOOK, Source, SourceError, concerns_torch, notebook, read
from tapelint.workspace import Resolver, discover

from .repository import Repository, files
from .roots import unknown_roots


@dataclass(frozen=True, slots=True, order=True)
class Found:
    """One finding, by what does not change from run to run."""

    path: str
    row: int
    column: int
    code: str
    severity: str
    message: str

    @property
    def place(self) -> str:
        """How it is named in a list."""
        return f"{self.path}:{self.row}:{self.column}: {self.severity} {self.code} {self.message}"


@dataclass(slots=True)
class Survey:
    """What there is to say about one repository."""

    name: str
    commit: str | None
    files: int = 0
    torch_files: int = 0
    unreadable: list[str] = field(default_factory=list)
    stats: dict[str, int] = field(default_factory=dict)
    findings: list[Found] = field(default_factory=list)
    seconds: float = 0.0
    peak_mb: float = 0.0
    slowest: list[tuple[float, str]] = field(default_factory=list)
    roots: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    cut_files: int = 0


def survey(which: Repository, roots: bool = False) -> Survey:
    """Look at a repository in a new process. Raises BrokenProcessPool if that dies, as where memory runs out."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_survey, which, roots).result()


def _survey(which: Repository, roots: bool) -> Survey:
    logging.disable(logging.WARNING)  # of files that are not found, and the like: no business of a table
    with files(which) as folder:
        return look(folder, which.name, which.commit, roots)


def look(folder: Path, name: str, commit: str | None = None, roots: bool = False) -> Survey:
    """Look at all files below ``folder``, in this process; with ``roots`` also at what unknown roots were made of."""
    found = Survey(name, commit)
    stats: Counter[str] = Counter()
    resolver = Resolver([str(folder)])
    taken: list[tuple[float, str]] = []
    walks: dict[Place, bool] = {}
    sources: dict[str, Source] = {}
    began = time.process_time()
    for path in map(Path, discover(str(folder))):
        found.files += 1
        short = os.path.relpath(path, folder)
        start = time.process_time()
        try:
            text = read(str(path))
            book = notebook(text) if path.suffix == NOTEBOOK else None
            if not concerns_torch(book.text if book else text, str(path), resolver):
                continue
            found.torch_files += 1
            report = analyse(book or text, str(path), resolve=resolver)
        except SourceError:
            found.unreadable.append(short)
            continue
        stats.update(report.stats)
        _take(found, short, report)
        sources[str(path)] = report.source
        for place, rooted in report.walks.items():
            walks[place] = walks.get(place, False) or rooted
        taken.append((round(time.process_time() - start, 2), short))
    stats["backward_sites"], stats["known_roots"] = len(walks), sum(walks.values())
    found.stats = dict(stats)
    found.findings.sort()
    found.seconds = round(time.process_time() - began, 2)
    found.slowest = sorted(taken, reverse=True)[:5]
    unit = 2**20 if sys.platform == "darwin" else 2**10
    found.peak_mb = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit, 1)
    unknown = {place for place, rooted in walks.items() if not rooted}
    for file in sorted({file for file, *_ in unknown} & sources.keys()) if roots else ():
        found.roots += unknown_roots(sources[file], os.path.relpath(file, folder), resolver, unknown)
    return found


def _take(found: Survey, short: str, report: Report) -> None:
    """Add what a report says of the file ``short``: findings, faults of the analyser, whether it was cut short."""
    found.faults += [f"{short}: {notice.sentence}" for notice in report.notices if notice.kind is Kind.FAULT]
    found.cut_files += any(notice.kind is Kind.FOLLOWED_IN_PART for notice in report.notices)
    for each in report.diagnostics:
        row, column = each.span.row, each.span.column
        found.findings.append(Found(short, row, column, each.code, each.severity.word, each.message))


def as_data(found: Survey) -> dict[str, Any]:
    """Ready to be written as JSON."""
    return asdict(found)


def from_data(data: dict[str, Any]) -> Survey:
    """What ``as_data`` has written."""
    return Survey(**{**data, "findings": [Found(**each) for each in data["findings"]]})
