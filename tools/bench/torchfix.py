"""The same files through TorchFix, the other linter for PyTorch: wall time, process start included.

The two look for different things (TorchFix matches syntax, for deprecated and misused API); what is compared is what a
user waits for. The programs take turns, so that a busy machine slows both.
"""

from __future__ import annotations

import math
import re
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .timing import process, tapelint

RUNS = 3


def compare(command: Path, files: Sequence[str]) -> dict[str, Any]:
    """Best wall times over ``files``, one process each, in seconds."""
    check = tapelint("check", "--exit-zero", "--jobs", "1")
    runs = {
        "torchfix": process(str(command), "--select", "ALL", "--jobs", "1", *files),
        "tapelint": process(*check, *files),
        "tapelint without fixes": process(*check, "--output-format", "pylint", *files),
    }
    best = dict.fromkeys(runs, math.inf)
    checked = 0
    for _ in range(RUNS):
        for name, run in runs.items():
            begin = time.perf_counter()
            outcome = run()
            best[name] = min(best[name], time.perf_counter() - begin)
            if name == "torchfix":
                checked = _finished(outcome.stderr)
            elif outcome.returncode != 0:
                raise RuntimeError(f"{name} failed:\n{outcome.stderr[-2000:]}")
    version = process(str(command), "--version")().stdout.strip()
    return {"version": version, "files": checked, **best}


def alone(command: Path, text: str) -> float:
    """The best wall time over one file, in seconds."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.py"
        path.write_text(text, encoding="utf-8")
        run = process(str(command), "--select", "ALL", "--jobs", "1", str(path))
        taken = []
        for _ in range(RUNS):
            begin = time.perf_counter()
            _finished(run().stderr)
            taken.append(time.perf_counter() - begin)
    return min(taken)


def _finished(message: str) -> int:
    """How many files TorchFix says it has checked."""
    found = re.search(r"Finished checking (\d+) files", message)
    if found is None:
        raise RuntimeError(f"TorchFix failed:\n{message[-2000:]}")
    return int(found[1])
