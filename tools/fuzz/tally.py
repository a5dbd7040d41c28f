"""Counts verdicts: of all programs, and of those with each feature."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from .pool import Judged

AGREEMENT = 99.5
LINES = 98.0
ALARMS = 0.0
"""What must be reached, in percent: agreement on raise or not, the right line, false alarms among all programs."""
SORTS = ("false alarm", "silent", "unknown", "otherwise")


def percent(part: int, whole: int) -> float:
    return 100.0 * part / whole if whole else 100.0


@dataclass(slots=True)
class Row:
    """Of some programs: how many raise, on how many the two agree."""

    programs: int = 0
    raising: int = 0
    agree: int = 0
    kind: int = 0
    line: int = 0
    sorts: Counter[str] = field(default_factory=Counter)

    def add(self, judged: Judged) -> None:
        verdict = judged.verdict
        raises = bool(verdict.real)
        self.programs += 1
        self.raising += raises
        self.agree += raises == bool(verdict.said)
        self.kind += raises and verdict.same_kind
        self.line += raises and verdict.same_line
        self.sorts[verdict.sort] += 1

    def __str__(self) -> str:
        return (
            f"{self.programs:8} {self.raising:7} {percent(self.agree, self.programs):8.2f} "
            f"{percent(self.kind, self.raising):8.2f} {percent(self.line, self.raising):8.2f} "
            + " ".join(f"{self.sorts[sort]:7}" for sort in SORTS)
        )


HEADER = f"{'':28}programs   raise  agree %   kind %   line %   false  silent unknown another"


@dataclass(slots=True)
class Tally:
    """The whole run."""

    all: Row = field(default_factory=Row)
    by_feature: dict[str, Row] = field(default_factory=dict)
    kinds: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    statements: list[int] = field(default_factory=list)
    rejected: int = 0

    def add(self, judged: Judged) -> None:
        self.rejected += judged.rejected
        if judged.verdict.sort in ("other error", "lost"):
            self.left_out[judged.verdict.sort] += 1
            return
        self.all.add(judged)
        self.kinds.update({error.kind for error in judged.verdict.real})
        for feature in judged.features:
            self.by_feature.setdefault(feature, Row()).add(judged)

    def reached(self, scatter: float = 0.0) -> bool:
        """Whether all that must be reached is; ``scatter`` percent less will do for a small sample."""
        row = self.all
        return (
            percent(row.agree, row.programs) >= AGREEMENT - scatter
            and percent(row.line, row.raising) >= LINES - scatter
            and percent(row.sorts["false alarm"], max(row.programs, 1)) <= ALARMS + scatter / 5
        )

    def __str__(self) -> str:
        row = self.all
        lines = [
            f"{row.programs} programs, {row.raising} raise under PyTorch "
            f"({', '.join(f'{n} {kind}' for kind, n in self.kinds.most_common())})",
            f"thrown away because PyTorch raises something else: {self.rejected}"
            + "".join(f"; {n} {why}" for why, n in self.left_out.items()),
            f"raise or not: {percent(row.agree, row.programs):.2f} % agree; false alarms {row.sorts['false alarm']}, "
            f"silent {row.sorts['silent']}, silent because unknown {row.sorts['unknown']}",
            f"of those that raise: the same kind {percent(row.kind, row.raising):.2f} %, "
            f"the right line {percent(row.line, row.raising):.2f} %",
            "",
            HEADER,
        ]
        for name, row in sorted(self.by_feature.items(), key=lambda item: -item[1].programs):
            lines.append(f"{name:28}{row}")
        return "\n".join(lines)
