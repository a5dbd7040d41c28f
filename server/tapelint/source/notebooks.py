"""Notebooks: the code cells, in order, are one program.

>>> book = notebook('{"nbformat": 4, "cells": [{"cell_type": "code", "source": ["a = 1\\\\n", "b = 2"]}]}')
>>> book.text, book.cells
('a = 1\\nb = 2\\n', (Cell(number=1, first=1, rows=2),))
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from ..bounds import BOUNDS
from ..frozen import frozen
from .cells import Cell
from .edit import rows
from .reading import SourceError

NOTEBOOK = ".ipynb"


@frozen
class Notebook:
    """The program of a notebook, and which of its rows are which cell's."""

    text: str
    cells: tuple[Cell, ...]


def joined(sources: Iterable[tuple[int, str]]) -> Notebook:
    """The program that code cells make up, given as their numbers and texts; empty ones have no part in it."""
    lines: list[str] = []
    cells: list[Cell] = []
    for number, source in sources:
        if source.strip():
            own = rows(source)
            if not own[-1]:
                own.pop()
            cells.append(Cell(number, len(lines) + 1, len(own)))
            lines += own
    return Notebook("".join(f"{line}\n" for line in lines), tuple(cells))


def notebook(text: str) -> Notebook:
    """The program of an ``.ipynb`` file. Raises SourceError where it is none, or none of Python."""
    if len(text) > BOUNDS.notebook_characters:
        raise SourceError(f"too large: {len(text):,} characters, the limit is {BOUNDS.notebook_characters:,}")
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise SourceError(f"not a notebook: {error.msg} at {error.lineno}:{error.colno}") from error
    except (RecursionError, ValueError) as error:
        raise SourceError("not a notebook: its JSON cannot be read") from error
    if not isinstance(data, dict):
        raise SourceError("not a notebook: a JSON object is expected")
    return joined((number, code) for number, cell in enumerate(_cells(data), 1) if (code := _code(cell)) is not None)


def _cells(data: dict[str, Any]) -> list[Any]:
    """All cells, of nbformat 4, or of 2 and 3, which had worksheets."""
    language = _language(data)
    if language not in ("", "python", "ipython", "python3", "python2"):
        raise SourceError(f"a notebook of {language}, not of Python")
    sheets = data.get("worksheets")
    found = data.get("cells")
    if found is None and isinstance(sheets, list):
        found = [cell for sheet in sheets if isinstance(sheet, dict) for cell in sheet.get("cells") or ()]
    if not isinstance(found, list):
        raise SourceError("not a notebook: it has no list of cells")
    return found


def _language(data: dict[str, Any]) -> str:
    metadata = data.get("metadata")
    for name, key in (("language_info", "name"), ("kernelspec", "language")):
        known = metadata.get(name) if isinstance(metadata, dict) else None
        language = known.get(key) if isinstance(known, dict) else None
        if isinstance(language, str):
            return language.lower()
    return ""


def _code(cell: Any) -> str | None:
    """The text of a cell of Python; None for any other."""
    if not isinstance(cell, dict) or cell.get("cell_type") != "code":
        return None
    own = (cell.get("metadata") or {}).get("vscode") if isinstance(cell.get("metadata"), dict) else None
    language = own.get("languageId") if isinstance(own, dict) else cell.get("language")
    if language not in (None, "python"):
        return None
    source = cell.get("source", cell.get("input"))
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    return source if isinstance(source, str) else None
