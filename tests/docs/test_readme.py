"""The first example of README prints what README says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")


def test_the_example_has_its_real_output(tmp_path: Path) -> None:
    example = re.search(r"```py\n(.*?)```.*?```\n(.*?)```", README, re.DOTALL)
    assert example
    (tmp_path / "train.py").write_text(example.group(1), encoding="utf-8")
    command = [sys.executable, "-m", "tapelint", "check", "train.py"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", timeout=60)
    assert run.stdout.strip() == example.group(2).strip(), run.stderr
