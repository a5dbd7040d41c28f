"""The programs whose errors are to be cured, and what PyTorch and the analyser say of each."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "server"), *(str(ROOT / "tests" / part) for part in ("mdtest", "oracle"))]

import sandbox  # noqa: E402
from tools.fuzz.judge import NAME, run  # noqa: E402
from tools.fuzz.pool import TooLong, draw  # noqa: E402

from mdjudge import analysed, turned_on  # noqa: E402
from mdreveal import without_reveals  # noqa: E402
from mdspec import Block, beside, read_programs  # noqa: E402
from tapelint import analysis  # noqa: E402
from tapelint.analysis import Report  # noqa: E402
from tapelint.report import Diagnostic, Fix  # noqa: E402
from tapelint.source.edit import apply  # noqa: E402
from tapelint.workspace import Config, Resolver  # noqa: E402

from .gradients import Reached, recording  # noqa: E402
from .trained import Trained, watching  # noqa: E402

Text = tuple[str | tuple[str, str], ...]
"""The text of a program, and the names and texts of the files beside it."""
Offers = tuple[Report, dict[Diagnostic, tuple[Fix, ...]]]
SECONDS = 10
"""A program that raises nothing in so long runs for ever, and clean."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What PyTorch does: its error, in which row, and which leaves it reaches. No error where it runs clean, or where
    the program itself raises (``own_errors``): that is what it is meant to do. ``trained`` is with what it trains.
    """

    error: str
    row: int
    reached: Reached
    trained: Trained = field(default_factory=Trained)


@dataclass(frozen=True, slots=True)
class Written:
    """A program that stands in a file: a block of the literate tests or of the corpus, a script, or a case that has a
    ``twin``, the text of which is right.
    """

    kind: str
    name: str
    block: Block
    twin: str | None = None
    ran: dict[Text, Ran] = field(default_factory=dict, compare=False, repr=False)
    """What PyTorch did with it, and with each program that an edit made of it, so that each runs once."""
    offers: dict[Text, Offers] = field(default_factory=dict, compare=False, repr=False)

    def anew(self) -> Written:
        """The same program, of which nothing is known."""
        return replace(self, ran={}, offers={})

    def with_text(self, text: str) -> Written:
        """The same program after an edit."""
        return replace(self, block=replace(self.block, preamble="", text=text))

    @property
    def text(self) -> str:
        """The whole program."""
        return str(self.block.program)

    @property
    def _all_text(self) -> Text:
        return self.text, *self.block.files.items()

    def run(self) -> Ran:
        """What PyTorch does with it."""
        if self._all_text not in self.ran:
            self.ran[self._all_text] = self._run()
        return self.ran[self._all_text]

    def _run(self) -> Ran:
        with recording(f"<{self.block.name}>") as reached, watching() as trained, arguments([self.block.name]):
            try:
                with limited(SECONDS):
                    outcome = sandbox.run(self.block)
            except (SystemExit, TooLong):
                outcome = sandbox.Outcome()
        return Ran("" if outcome.is_own else outcome.error, outcome.row, reached, trained)

    def with_fix(self, report: Report, fix: Fix) -> Written:
        """The program, and the files beside it, after a fix of ``report``."""
        folder, made = Path(report.path).parent, self.with_text(apply(report.source.text, fix.edits))
        files = {str(Path(each.filename).relative_to(folder)): each.after for each in fix.others}
        return replace(made, block=replace(made.block, files={**made.block.files, **files}))

    def all_cures(self) -> Offers:
        """The report, and the fixes of each finding."""
        if self._all_text not in self.offers:
            with beside(self.block) as main:
                report = in_project(self.block, main) if self.block.files else analysed(self.block, main)
                found = (*report.diagnostics, *report.elsewhere)
                self.offers[self._all_text] = report, {each: analysis.fixes(report, each) for each in found}
        return self.offers[self._all_text]

    def cures(self, row: int, error: str) -> tuple[Report, list[tuple[Fix, ...]]]:
        """The report, and the fixes of each finding that is this error, the likeliest first."""
        report, fixes = self.all_cures()
        return report, [fixes[diagnostic] for diagnostic in telling(report, row, error)]


@dataclass(frozen=True, slots=True)
class Random:
    """A program of the fuzzer. All ways through it are run."""

    kind: str
    name: str
    text: str

    def with_text(self, text: str) -> Random:
        """The same program after an edit."""
        return replace(self, text=text)

    def run(self) -> Ran:
        """Run it under PyTorch; of several errors the first in the text counts."""
        with recording(NAME) as reached:
            truth = run(self.text)
        first = min(truth.errors, key=lambda error: error.row, default=None)
        return Ran(f"{first.kind}: {truth.message}" if first else "", first.row if first else 0, reached)

    def with_fix(self, report: Report, fix: Fix) -> Random:
        """The program after a fix of ``report``."""
        return self.with_text(apply(report.source.text, fix.edits))

    def cures(self, row: int, error: str) -> tuple[Report, list[tuple[Fix, ...]]]:
        """The report, and the fixes of each finding that is this error, the likeliest first."""
        report = analysis.analyse(self.text, "fuzzed.py")
        return report, [analysis.fixes(report, diagnostic) for diagnostic in telling(report, row, error)]


def in_project(block: Block, main: Path) -> Report:
    """The report on a block whose files are all of one project, so that they may be edited, too."""
    config = turned_on(block)

    def config_of(path: str) -> Config | None:
        return config if Path(path).is_relative_to(main.parent) else None

    resolve = Resolver([str(main.parent)])
    return analysis.analyse(str(block.program), str(main), config, resolve=resolve, config_of=config_of)


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """What is still running inside after so long ends with TooLong."""

    def ended(*_: object) -> None:
        raise TooLong

    handler = signal.signal(signal.SIGALRM, ended)
    left, _ = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, left)
        signal.signal(signal.SIGALRM, handler)


@contextlib.contextmanager
def arguments(words: list[str]) -> Iterator[None]:
    """The program inside sees these words as its command line."""
    before, sys.argv = sys.argv, words
    try:
        yield
    finally:
        sys.argv = before


Program = Written | Random


def telling(report: Report, row: int, error: str) -> list[Diagnostic]:
    """The findings that tell of the ``error`` that PyTorch raises in ``row``, the likeliest first."""
    found = []
    for diagnostic in (*report.diagnostics, *report.elsewhere):
        if diagnostic.raises is None:
            continue
        raised = diagnostic.raised_at.span.row if diagnostic.raised_at else diagnostic.span.row
        rows = {diagnostic.span.row, *(step.span.row for step in diagnostic.related)}
        others = [raised != row, row not in rows, diagnostic.raises[:20] not in error]
        found.append((others, diagnostic))
    found.sort(key=lambda pair: pair[0])
    return [diagnostic for _, diagnostic in found]


def written() -> Iterator[Written]:
    """The blocks of the literate tests and of the corpus that raise."""
    for block in read_programs():
        if block.verdict.kind == "raises":
            kind = "corpus" if "corpus" in block.file.parts else "blocks"
            whole = replace(block, preamble="", text=without_reveals(block.program))
            yield Written(kind, block.name, whole)


def cases(folder: Path) -> Iterator[Written]:
    """The cases in a folder: ``bad.py``, and ``fixed.py`` beside it, each case in a folder of its own."""
    for path in sorted(folder.glob("*/*/bad.py")):
        name, twin = f"{path.parent.parent.name}/{path.parent.name}", path.with_name("fixed.py").read_text("utf-8")
        yield Written("cases", name, Block(path, name, 0, path.read_text("utf-8"), preamble=""), twin)


def scripts(folder: Path, pattern: str) -> Iterator[Written]:
    """The scripts in a folder whose names fit, those that raise nothing too."""
    for path in sorted(folder.rglob(pattern)):
        name = str(path.relative_to(folder))
        yield Written("scripts", name, Block(path, name, 0, path.read_text(encoding="utf-8"), preamble=""))


def random_program(seed: int) -> Random | None:
    """The program of a seed, if PyTorch raises an error there that is one of autograd's."""
    text, truth, _ = draw(seed)
    return Random("fuzzed", f"seed {seed}", text) if truth.usable and truth.whole and truth.errors else None
