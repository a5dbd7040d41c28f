"""Print the functions of the package that no check of a folder of repositories has run, those of most statements first.

    python -m tools.rent.executed DIR [--least STATEMENTS]

Only files that go backward are checked, each as the command line does. What never runs in code that it was not written
for is the first place to look for what pays no rent.
"""

from __future__ import annotations

import argparse
import ast
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .__main__ import ROOT, training_files

PACKAGE = ROOT / "server" / "tapelint"
SECONDS = 300
PROBE = """
import os, sys
sys.path.insert(0, {server!r})
ran = set()
sys.setprofile(lambda frame, event, _: ran.add(frame.f_code) if event == "call" else None)
try:
    from tapelint.__main__ import main
    sys.argv = ["tapelint", "check", "--no-cache", "--jobs", "1", "--silent", {file!r}]
    main()
finally:
    sys.setprofile(None)
    with open({out!r}, "w") as out:
        own = (code for code in ran if code.co_filename.startswith({server!r}))
        out.writelines(f"{{code.co_filename}}:{{code.co_firstlineno}}\\n" for code in own)
"""


def ran(repository: Path, name: str) -> set[str]:
    """The functions that a check of one file of a repository runs, by file and first line."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "ran"
        probe = PROBE.format(server=str(ROOT / "server"), file=name, out=str(out))
        try:
            subprocess.run(
                [sys.executable, "-c", probe],
                cwd=repository,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=SECONDS,
            )
        except subprocess.TimeoutExpired:
            return set()
        return set(out.read_text().split("\n")) if out.exists() else set()


def functions() -> Iterator[tuple[str, str, int]]:
    """Each function of the package: where it begins, as code objects say it, its name and its statements."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
                count = sum(isinstance(each, ast.stmt) for each in ast.walk(node))
                yield f"{path}:{first}", f"{path.relative_to(PACKAGE)}:{node.lineno} {node.name}", count


def main() -> int:
    """Check, and print what was not run; the exit status."""
    parser = argparse.ArgumentParser(prog="executed", description="Print which functions no check has run.")
    parser.add_argument("folder", type=Path, help="repositories, each a folder of plain files")
    parser.add_argument("--least", type=int, default=4, help="statements of a function that is printed")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    options = parser.parse_args()
    counts = Counter[str]()
    with ThreadPoolExecutor(options.jobs) as pool:
        checked = [(place, name) for place, names in training_files(options.folder) for name in names]
        for found in pool.map(ran, *zip(*checked)):
            counts.update(found)
    idle = [(count, name) for place, name, count in functions() if not counts[place]]
    print(f"{len(checked)} files; {sum(count for count, _ in idle)} statements in {len(idle)} functions never ran")
    for count, name in sorted(idle, reverse=True):
        if count >= options.least:
            print(f"{count:4} {name}")
    return os.EX_OK


if __name__ == "__main__":
    sys.exit(main())
