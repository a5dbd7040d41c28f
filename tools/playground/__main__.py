"""Build what docs/playground.md loads into build/playground; `make docs` runs it:

python -m tools.playground        (needs node_modules of the checkout and of playground/)

Python is started here, in Node, by Pyodide; the browser goes on with its memory (snapshot.py).
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from .examples import examples

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
WEB = ROOT / "playground"
OUT = ROOT / "build" / "playground"
PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
LEFT_OUT = ("__pycache__", "*.so", "*.pyd", "py.typed")
UNUSED = {
    "tapelint": ("lsp", "cli"),
    "parso": (),
}
"""The packages that an analysis needs sooner or later, and the parts of them that it does not."""
LISTING = """
import sys
before = set(sys.modules)
import tools.playground.session
found = (sys.modules[name] for name in set(sys.modules) - before if "." not in name)
print(*(module.__name__ for module in found if "site-packages" in (getattr(module, "__file__", None) or "")))
"""
"""Prints the installed packages that it takes to start."""


def main() -> None:
    """Build all, in a folder that was emptied."""
    shutil.rmtree(OUT, ignore_errors=True)
    (OUT / "pyodide").mkdir(parents=True)
    for name in PYODIDE:
        shutil.copy(WEB / "node_modules" / "pyodide" / name, OUT / "pyodide")
    (OUT / "examples.json").write_text(json.dumps(examples(), indent=1), encoding="utf-8")
    entries = [str(WEB / "src" / name) for name in ("playground.ts", "worker.ts")]
    _run(
        "node_modules/.bin/esbuild",
        *entries,
        "--bundle",
        "--format=esm",
        "--target=es2022",
        "--minify",
        "--log-level=warning",
        f"--outdir={OUT}",
    )
    with TemporaryDirectory() as folder:
        staged = Path(folder)
        _stage(staged)
        _run("node", str(WEB / "snapshot.mjs"), folder, str(OUT / "tapelint.snapshot"))


def _stage(staged: Path) -> None:
    """Lay out the packages as they are to be found in the browser."""
    listed = subprocess.run([sys.executable, "-c", LISTING], cwd=ROOT, check=True, capture_output=True, text=True)
    for package in {*UNUSED, *listed.stdout.split()}:
        found = find_spec(package)
        if found is None or found.origin is None:
            sys.exit(f"{package} is not installed here: {sys.executable}")
        left_out = shutil.ignore_patterns(*LEFT_OUT, *UNUSED.get(package, ()))
        shutil.copytree(Path(found.origin).parent, staged / package, ignore=left_out)
    here = staged / "tools" / "playground"
    here.mkdir(parents=True)
    for name in ("__init__.py", "session.py", "snapshot.py"):
        shutil.copy(HERE / name, here)


def _run(*command: str) -> None:
    subprocess.run(command, cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
