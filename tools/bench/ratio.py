"""How long the analysis of a file takes, measured in parses: ``analyse`` over ``ast.parse`` of the same text.

A ratio says much the same on every machine. Only files that mention torch are measured; the others cost nothing.
"""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tapelint.analysis import analyse
from tapelint.source import NOTEBOOK, SourceError, may_use_torch, read
from tapelint.workspace import discover

from .timing import best_of

REPEATS = 3


@dataclass(frozen=True, slots=True)
class Measured:
    """One file: processor seconds of analysis and of ``ast.parse``, and what the analysis counted."""

    path: str
    lines: int
    analysis: float
    parse: float
    stats: dict[str, int]

    @property
    def ratio(self) -> float:
        return self.analysis / self.parse


def torch_files(folders: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    """The files below the folders that may use torch and parse, each once."""
    seen: set[Path] = set()
    for folder in folders:
        for path in map(Path, discover(str(folder))):
            try:
                text = read(str(path))
                if path.suffix != NOTEBOOK and path.resolve() not in seen and may_use_torch(text):
                    seen.add(path.resolve())
                    ast.parse(text)
                    yield path, text
            except (SourceError, SyntaxError, ValueError, RecursionError, MemoryError):
                continue


def measure(path: Path | str, text: str) -> Measured:
    """Both times of one text, the best of three."""
    gc.collect()
    parse = best_of(REPEATS, lambda: ast.parse(text))
    stats: dict[str, int] = {}
    analysis = best_of(REPEATS, lambda: stats.update(analyse(text, str(path)).stats))
    return Measured(str(path), text.count("\n") + 1, analysis, parse, stats)
