"""The folder that is analysed is not trusted: nothing in it is imported. What cannot be analysed is said to be so."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def check(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tapelint", "check", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)


def test_a_module_in_the_current_folder_is_not_imported(tmp_path: Path) -> None:
    for name in ("click", "torch", "libcst", "ast"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported')\n")
    program = "import torch\ny = torch.ones(2, requires_grad=True).exp()\ny += 1\ny.sum().backward()\n"
    (tmp_path / "a.py").write_text(program)
    done = check(tmp_path, "a.py")
    assert done.returncode == 1 and "TL201" in done.stdout and "imported" not in done.stdout + done.stderr
