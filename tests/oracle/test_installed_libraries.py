"""PyTorch raises in a program that uses an installed library just where tapelint says so."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.installed_programs import PROGRAMS, installed_in


@pytest.mark.parametrize("name", PROGRAMS)
def test_pytorch_raises_where_an_error_is_reported(name: str, tmp_path: Path) -> None:
    text, expected = PROGRAMS[name]
    installed_in(tmp_path)
    (tmp_path / name).write_text(text)
    done = subprocess.run(
        [sys.executable, name],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode != 0) is bool(expected), done.stderr
    assert ("\nRuntimeError: " in done.stderr) is bool(expected), done.stderr
