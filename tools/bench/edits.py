"""What an edit of one line costs, when the text before it is known: the editor's case.

The files are ``scripts/*.txt``, training scripts as people write them: a trainer with everything in classes (458
lines), functions around a ``main()``, and a loop below ``if __name__``. In the first one place after the other is
edited; in all of them lines that are executed, evenly spread. All with the memory that the language server would have.
"""

from __future__ import annotations

import ast
import gc
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tapelint.analysis import AnalysisCache, analyse

from .timing import best_of

AIM = 0.1
"""Seconds, for the median of the places."""
SCRIPTS = Path(__file__).with_name("scripts")
FILE = SCRIPTS / "trainer.txt"
LINES = 12
"""How many lines of each script are edited."""
REPEATS = 3

PLACES = {
    "a comment in a training step": ("self.step += 1", "self.step += 1  # of the optimizer"),
    "a docstring": ("Cross entropy with soft labels.", "Cross entropy with softened labels."),
    "a blank line at the top": ("import argparse\n", "\nimport argparse\n"),
    "a function that nothing calls": ("temperature**2", "temperature**3"),
    "a method that nothing calls": ('state["step"]', 'state["steps"]'),
    "what the script does last": ('print(f"best top 1: {best:.2f}")', 'print(f"best: {best:.2f}")'),
    "a function that the script calls": ("smoothing * soft).mean()", "smoothing * soft).sum()"),
    "the training step": ("self.ema.update()\n", "self.ema.update() or None\n"),
    "the forward of a layer": ("F.relu(h + self.shortcut(x))", "F.gelu(h + self.shortcut(x))"),
    "a new statement at the top": ("LOG_EVERY = 50\n", "LOG_EVERY = 50\nVERBOSE = True\n"),
}


@dataclass(frozen=True, slots=True)
class Edited:
    """The processor seconds of the analysis after an edit at one place."""

    place: str
    seconds: float


def texts() -> Iterator[tuple[str, str]]:
    """Each place, and the text that is edited there, beside all places before it."""
    text = FILE.read_text(encoding="utf-8")
    for place, (old, new) in PLACES.items():
        if text.count(old) != 1:
            raise RuntimeError(f"{place}: {old!r} is there {text.count(old)} times")
        text = text.replace(old, new)
        yield place, text


def measure() -> tuple[dict[str, float], list[Edited]]:
    """The times of ``ast.parse`` and of an analysis that knows nothing, and those after each edit."""
    text = FILE.read_text(encoding="utf-8")
    gc.collect()
    fresh = {
        "parse": best_of(REPEATS, partial(ast.parse, text)),
        "fresh": _time(partial(analyse, text, "train.py")),
    }
    memory = AnalysisCache(persistent=True)
    analyse(text, "train.py", memory=memory)
    edited = [(place, partial(analyse, text, "train.py", memory=memory)) for place, text in texts()]
    return fresh, [Edited(place, _time(run)) for place, run in edited]


@dataclass(frozen=True, slots=True)
class Script:
    """A script, and the processor seconds of the analyses after an edit of each of ``LINES`` lines."""

    name: str
    lines: int
    fresh: float
    edited: tuple[float, ...]


def spread() -> Iterator[Script]:
    """What it costs to edit any line: each is changed in the text as it was, so that the next edit takes it back."""
    for path in sorted(SCRIPTS.glob("*.txt")):
        text, memory = path.read_text(encoding="utf-8"), AnalysisCache(persistent=True)
        gc.collect()
        fresh = _time(partial(analyse, text, path.name, memory=memory))
        edited = tuple(_time(partial(analyse, other, path.name, memory=memory)) for other in changed(text))
        yield Script(path.stem, text.count("\n"), fresh, edited)


def changed(text: str) -> Iterator[str]:
    """The text with one of its lines changed: another number, another name, or one more statement."""
    lines = text.split("\n")
    tree = ast.parse(text)
    rows = sorted({node.lineno for node in ast.walk(tree) if isinstance(node, ast.stmt) and not _is_text(node)})
    for row in rows[:: max(1, len(rows) // LINES)][:LINES]:
        yield "\n".join([*lines[: row - 1], altered(lines[row - 1]), *lines[row:]])


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def altered(line: str) -> str:
    """A line with another number in it, another name, or one more statement."""
    number = re.search(r"\b\d+", line)
    if number is not None:
        return f"{line[: number.start()]}{int(number[0]) + 1}{line[number.end() :]}"
    if line.rstrip().endswith((":", "(", "[", "{", ",")):
        return re.sub(r"([A-Za-z_]+)(?!.*[A-Za-z_])", r"\1_", line)
    return f"{line}; pass"


def _time(run: Callable[[], object]) -> float:
    begin = time.process_time()
    run()
    return time.process_time() - begin
