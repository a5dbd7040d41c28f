"""Runs the command line as its users do: in a process of its own, in a folder of its own."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from plain import Plain, Tapelint, tapelint_in


@pytest.fixture
def tapelint(tmp_path: Path) -> Tapelint:
    """``tapelint("check", "a.py", stdin=..., **environment)`` in ``tmp_path``."""
    return tapelint_in(tmp_path)


@pytest.fixture
def plain(tmp_path: Path) -> Plain:
    """``plain("check", ".")`` in ``tmp_path`` as a user to whom permissions apply."""
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("root may read and write everything, and cannot give that up without setpriv")
    return Plain(tmp_path)
