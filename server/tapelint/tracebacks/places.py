"""Where a frame of a traceback is on this machine: files are found by the end of their path, rows by their text."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import PurePosixPath, PureWindowsPath

from ..source import Source
from .traceback_text import Frame

_INSTALLED = {"site-packages", "dist-packages"}


def file_of(frame: Frame, root: str) -> str | None:
    """The file of a frame: the one at its path, or the one below ``root`` whose path has the longest end in common,
    since programs run on other machines. None where there is none, and for installed packages and Python's own library.
    """
    path = PureWindowsPath(frame.path) if "\\" in frame.path else PurePosixPath(frame.path)
    parts = path.parts
    if _INSTALLED & set(parts) or frame.path.startswith("<") or not frame.path.endswith((".py", ".ipynb")):
        return None
    given = os.path.expanduser(frame.path)
    if os.path.isfile(given):
        own = os.path.abspath(given)
        return own if not _is_pythons(own) else None
    ends = (os.path.join(root, *parts[start:]) for start in range(1 if path.is_absolute() else 0, len(parts)))
    return next((os.path.abspath(end) for end in ends if os.path.isfile(end)), None)


def _is_pythons(path: str) -> bool:
    """Whether a file belongs to the Python that runs this."""
    return path.startswith(os.path.dirname(os.__file__) + os.sep)


def row_of(frame: Frame, source: Source) -> int | None:
    """The row of a frame in the file as it is now, in rows of ``source.text``: the one with the same text that is
    nearest to where it was. None where no row has it.
    """
    cell = _cell_rows(frame, source)
    rows = source.lines
    expected = cell[0] + frame.row - 1 if cell else frame.row
    if not frame.code:
        return expected if 1 <= expected <= len(rows) else None
    first, last = cell or (1, len(rows))
    same = [row for row in range(first, last + 1) if _is_same(rows[row - 1], frame.code)]
    return min(same, key=lambda row: abs(row - expected), default=None)


def _is_same(line: str, code: str) -> bool:
    """Whether a line has the code that a traceback shows; Python leaves out what is beside an expression nowhere, but
    IPython cuts long lines.
    """
    return "".join(line.split()) == "".join(code.split())


def _cell_rows(frame: Frame, source: Source) -> tuple[int, int] | None:
    """The rows of the cell that a frame of IPython is in, where only one cell has its code at its row."""
    if not source.cells or frame.path.endswith(".ipynb"):
        return None
    found = [
        (cell.first, cell.last)
        for cell in source.cells
        if cell.first + frame.row - 1 <= cell.last and _is_same(source.lines[cell.first + frame.row - 2], frame.code)
    ]
    return found[0] if len(found) == 1 else None


def entries(frames: Sequence[Frame], root: str) -> list[str]:
    """The files of a traceback that are here, each once, the one that was started first."""
    return list(dict.fromkeys(path for frame in frames if (path := file_of(frame, root)) is not None))
