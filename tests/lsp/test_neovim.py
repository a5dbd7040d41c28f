"""A second real client, which takes pushed diagnostics only: ``tests/editor/neovim.lua`` against the working tree."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from wire import COMMAND, ENVIRONMENT

EDITOR = Path(__file__).resolve().parents[1] / "editor"


@pytest.mark.skipif(shutil.which("nvim") is None, reason="neovim (nvim) is not installed")
def test_neovim_diagnoses_fixes_and_undoes():
    run = subprocess.run(
        ["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-n", "train.py", "-c", f"luafile {EDITOR / 'neovim.lua'}"],
        cwd=EDITOR / "workspace",
        env={**ENVIRONMENT, "TAPELINT_SERVER": "\n".join(COMMAND)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.returncode == 0 and "ok" in run.stdout, run.stdout + run.stderr
