"""Counts what became of programs, by where they are from."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from .curing import Cured, End

COLUMNS = f"{'':10}{'raise':>7}{'reported':>10}{'offered':>9}{'%':>7}{'clean':>7}{'%':>7}  of those offered"


def percent(part: int, whole: int) -> float:
    """``part`` of ``whole``; all of nothing."""
    return 100.0 * part / whole if whole else 100.0


@dataclass(slots=True)
class Figures:
    """Of the programs of one kind that raise: how each ended."""

    ends: Counter[End] = field(default_factory=Counter)

    def add(self, cured: Cured) -> None:
        """Count a program."""
        self.ends[cured.end] += 1

    @property
    def raising(self) -> int:
        """Programs that raise under PyTorch."""
        return self.ends.total() - self.ends[End.RUNS]

    @property
    def offered(self) -> int:
        """Those of which every error that is met has a cure."""
        return self.raising - self.ends[End.UNREPORTED] - self.ends[End.UNCURED]

    @property
    def clean(self) -> int:
        """Those that run after their cures, and train what they meant to."""
        return self.ends[End.CLEAN]

    def __str__(self) -> str:
        reported = self.raising - self.ends[End.UNREPORTED]
        ratio = percent(self.offered, self.raising)
        left = {end.value: self.ends[end] for end in (End.RAISES, End.AGAIN, End.LOSES) if self.ends[end]}
        return (
            f"{self.raising:7}{reported:10}{self.offered:9}{ratio:7.1f}{self.clean:7}"
            f"{percent(self.clean, self.offered):7.1f}  {', '.join(f'{n} {words}' for words, n in left.items())}"
        )
