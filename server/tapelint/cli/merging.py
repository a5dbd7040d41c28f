"""The findings of all files of a run, each hazard once.

    train.py      calls helper.py twice: TL101 at helper.py line 5, an error
    helper.py     by itself: TL101 at line 5, a warning (if `finish` is called twice)

The analyses of several files may show a hazard at the same place. The gravest one is printed; of equally grave ones
that which rests on what a caller does, then that of the file itself.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..report import for_tools
from ..severity import Severity
from ..source import Span
from .task import FileResult, Found

Key = tuple[str, str, Span]


@dataclass(slots=True)
class Merged:
    """What is known so far. What is printed does not depend on the order in which files were checked."""

    # the files of the run in order, by absolute path, each with what is listed of its notices
    files: dict[str, list[Any]] = field(default_factory=dict)
    found: dict[Key, list[Found]] = field(default_factory=dict)
    # whether a finding is not to be printed, because a baseline has it
    is_known: Callable[[Found], bool] = lambda found: False

    def add(self, result: FileResult) -> None:
        """Add what the analysis of one file has found."""
        self.files.setdefault(os.path.abspath(result.path), []).extend(result.listed)
        for each in result.found:
            self._take(each)

    def add_caller(self, result: FileResult) -> None:
        """Add what a file that uses one of the run has found there."""
        for each in result.found:
            if os.path.abspath(each.diagnostic.filename) in self.files:
                self._take(each)

    def _take(self, found: Found) -> None:
        at = found.diagnostic
        self.found.setdefault((os.path.abspath(at.filename), at.code, at.span), []).append(found)

    def places(self) -> dict[str, frozenset[tuple[str, int]]]:
        """The codes and rows of all findings, by the absolute path of the file."""
        found: dict[str, set[tuple[str, int]]] = {}
        for path, code, span in self.found:
            found.setdefault(path, set()).add((code, span.row))
        return {path: frozenset(found[path]) for path in sorted(found)}

    def best(self) -> Iterator[Found]:
        """Each hazard once, as it is printed."""
        yield from map(_best, self.found.values())

    def printed(self, output_format: str) -> Iterator[tuple[Found | None, Any]]:
        """What is printed, with the finding where it is one: of the files of the run in order, then of others."""
        by_file: dict[str, list[Found]] = {path: [] for path in self.files}
        for (path, *_), reports in self.found.items():
            by_file.setdefault(path, []).append(_best(reports))
        others = sorted(path for path in by_file if path not in self.files)
        for path in (*self.files, *others):
            seen: Counter[str] = Counter()
            for each in sorted(by_file[path], key=_in_file):
                if self.is_known(each):
                    continue
                text = for_tools.gitlab(each.diagnostic, each.row, seen) if output_format == "gitlab" else each.text
                yield each, each.block or text
            for notice in self.files.get(path, ()):
                yield None, notice


def _in_file(found: Found) -> tuple[Span, Severity, str]:
    return found.diagnostic.span, found.diagnostic.severity, found.diagnostic.code


def _best(reports: Sequence[Found]) -> Found:
    """The report of a hazard to print; it offers the fixes that the analysis of its own file has verified, or else
    those of another.
    """
    ranked = sorted(reports, key=_rank)
    best = ranked[0]
    offering = max(ranked, key=lambda each: (each.has_fixes, _says_why(each), each.is_own))
    if offering is best:
        return best
    shown = best.block and offering.block and best.block.with_cures_of(offering.block)
    return replace(best, text=_with(best, offering.offers), offers=offering.offers, block=shown)


def _rank(found: Found) -> tuple[Severity, bool, bool, int, tuple[tuple[str, Span], ...]]:
    at = found.diagnostic
    story = tuple((step.filename, step.span) for step in at.related)
    return at.severity, at.is_latent, not found.is_own, len(story), story


def _says_why(found: Found) -> bool:
    """Whether it says anything of fixes, at least why there is none."""
    return bool(found.block.no_fix if found.block else found.offers)


def _with(found: Found, offers: Any) -> Any:
    """The text of a finding with the fixes that another report of it offers."""
    return {**found.text, **offers} if isinstance(found.text, Mapping) else found.text
