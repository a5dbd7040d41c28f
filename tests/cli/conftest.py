"""Runs the command line as its users do: in a process of its own, in a folder of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from plain import SERVER, Plain

Tapelint = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def tapelint(tmp_path: Path) -> Tapelint:
    """``tapelint("check", "a.py", stdin=..., **environment)`` in ``tmp_path``."""

    def run(*arguments: str, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[str]:
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "SYSTEMROOT") if name in os.environ}
        done = subprocess.run(
            [sys.executable, "-m", "tapelint", *arguments],
            input=stdin,
            capture_output=True,
            cwd=tmp_path,
            env={**kept, "PYTHONPATH": str(SERVER), "PYTHONIOENCODING": "utf-8", **environment},
            check=False,
            timeout=60,
        )
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


@pytest.fixture
def plain(tmp_path: Path) -> Plain:
    """``plain("check", ".")`` in ``tmp_path`` as a user to whom permissions apply."""
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("root may read and write everything, and cannot give that up without setpriv")
    return Plain(tmp_path)
