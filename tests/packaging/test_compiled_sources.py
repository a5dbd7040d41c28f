"""The sources that mypyc is given: the first thing that it does is to check their types."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tools.compiled.sources import OPTIONS, UNTYPED, write

ROOT = Path(__file__).resolve().parents[2]


def test_the_rewritten_engine_is_well_typed(tmp_path: Path) -> None:
    modules = write(ROOT / "server" / "tapelint", tmp_path / "tapelint")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    (tmp_path / "mypy.ini").write_text(OPTIONS.format(version=version, untyped=",".join(UNTYPED)))
    paths = [str(path.relative_to(tmp_path)) for path in modules]
    command = [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", *paths]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout
