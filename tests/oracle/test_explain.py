"""Real tracebacks of programs that PyTorch refuses lead to the finding that predicts the error, where it raises."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("torch")

import sandbox
from tools.cures.programs import Written, written

from mdjudge import turned_on
from mdspec import beside
from tapelint.analysis import Report, analyse
from tapelint.tracebacks import explained, raised_in, the_one
from tapelint.tracebacks.cause import Nearness
from tapelint.workspace import Resolver

ROOT = Path(__file__).parents[2]
PROGRAMS = [
    one for one in written() if one.kind == "corpus" and not any(label.kind == "FN" for label in one.block.labels)
]
SCRIPTS = sorted((ROOT / "examples").glob("*.py"))


def leads_there(traceback: str, path: Path, report: Report) -> bool:
    """Whether a traceback of the program at ``path`` leads to a finding that PyTorch's error stands in."""
    made = explained(the_one(raised_in(traceback)), str(path.parent), lambda _: report)
    return [match.nearness for match in made.matches][:1] == [Nearness.RAISES_THERE]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda one: one.name)
def test_corpus(program: Written) -> None:
    trace = sandbox.run(program.block).trace
    with beside(program.block) as main:
        main.write_text(program.text, encoding="utf-8")
        resolve = Resolver([str(main.parent)]) if program.block.files else lambda *_: None
        report = analyse(program.text, str(main), turned_on(program.block), resolve=resolve)
        assert leads_there(trace.replace(f'"<{program.block.name}>"', f'"{main}"'), main, report), trace


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_examples(path: Path) -> None:
    """Through the command line, from standard error of the program; ``looks_wrong_is_right`` runs."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "server"), "OMP_NUM_THREADS": "1"}
    run = partial(subprocess.run, capture_output=True, text=True, cwd=ROOT, env=environment)
    ran = run([sys.executable, str(path)])
    made = run([sys.executable, "-m", "tapelint", "explain"], input=ran.stderr)
    if ran.returncode == 0:
        assert (made.returncode, made.stdout) == (2, "")
        return
    row = [line for line in ran.stderr.splitlines() if f'"{path}"' in line][-1].split("line ")[1].split(",")[0]
    assert made.returncode == 0
    assert f"raised at {path.relative_to(ROOT)}:{row}\n" in made.stdout
    assert "\nerror[TL" in made.stdout
