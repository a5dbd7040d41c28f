"""What is done once, when the playground is built, so that a browser need not do it: runs in Pyodide, in Node.

prepare()    imports all of tapelint and lets it answer once; then the memory of Python is written to a file
woken()      in the browser, when that memory is read again: puts back the files that it has lost

The file system is no part of that memory. Modules are not read again; other files of the packages are.
"""

from __future__ import annotations

import gc
import importlib
import json
import pkgutil
from collections.abc import Callable
from pathlib import Path

import tapelint

from .session import NAME, answering

PROGRAMS = "tapelint.stubs.programs"
"""Programs that are read as text, and never imported."""
TRIED = "import torch\ny = torch.ones(3, requires_grad=True).exp()\ny += 1\ny.sum().backward()\n"
"""One of each question about this reads the tables, and imports what is imported late."""


class Prepared:
    """What the memory holds for the page: an answering session, and the files that are not modules."""

    def __init__(self, answer: Callable[[str], str], files: dict[Path, bytes]) -> None:
        self.answer, self._files = answer, files

    def woken(self) -> Callable[[str], str]:
        """Put the files back; what answers questions."""
        for path, text in self._files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text)
        return self.answer


def prepare(packages: Path, folder: Path) -> Prepared:
    """Import all of tapelint, which is in the folder ``packages``, and answer once; ``folder`` is the session's."""
    for module in pkgutil.walk_packages(tapelint.__path__, "tapelint."):
        if not module.name.startswith((PROGRAMS, "tapelint.__main__")):
            importlib.import_module(module.name)
    folder.mkdir()
    answer = answering(str(folder))
    at = TRIED.index("y +=")
    for question in (
        {"ask": "check", "text": TRIED},
        {"ask": "cures", "finding": 0},
        {"ask": "hover", "at": at},
        {"ask": "graph", "at": at},
        {"ask": "explain", "traceback": "RuntimeError: Trying to backward through the graph a second time"},
        {"ask": "check", "text": ""},
    ):
        answer(json.dumps(question))
    files = {path: path.read_bytes() for path in sorted(packages.rglob("*")) if is_read(path)}
    gc.collect()
    return Prepared(answer, {**files, folder / NAME: b""})


def is_read(path: Path) -> bool:
    """Whether this is a file that is no module: a table, a grammar, or a program that is executed abstractly."""
    is_program = PROGRAMS.replace(".", "/") in str(path)
    return path.is_file() and (path.suffix not in (".py", ".pyc", ".md") or is_program)
