"""The text of an ``.ipynb`` file with other code in its cells: only the sources of cells that differ are written anew.

Outputs, metadata, identities, the order of keys and the layout of the JSON stay as they are, byte for byte.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from .cells import Cell
from .edit import line_starts, rows
from .notebooks import notebook

_DECODER = json.JSONDecoder()
_BLANK = " \t\r\n"


def with_code(file: str, code: str, cells: Sequence[Cell]) -> str:
    """The notebook ``file`` with the program ``code``, cut into ``cells`` that are numbered as those of the file are.
    Raises SourceError where ``file`` is no notebook.
    """
    before, after = notebook(file), rows(code)
    old = rows(before.text)
    changed: list[tuple[int, int, str]] = []
    places = [*_cells(file)]
    for was, now in zip(before.cells, cells, strict=True):
        lines = after[now.first - 1 : now.last]
        if lines != old[was.first - 1 : was.last]:
            start, end = _source(file, places[was.number - 1])
            changed.append((start, end, _written(file[start:end], lines, _indent(file, start))))
    for start, end, text in reversed(changed):
        file = file[:start] + text + file[end:]
    return file


def _written(before: str, lines: Sequence[str], indent: str) -> str:
    """A source as JSON, in the layout of the one that it replaces: a string, or a list of lines."""
    value = json.loads(before)
    whole = value if isinstance(value, str) else "".join(part for part in value if isinstance(part, str))
    newline = "\r\n" if "\r\n" in whole else "\n"
    text = newline.join(lines) + (newline if whole.endswith(("\n", "\r")) else "")
    is_escaped = before.isascii() and not whole.isascii()
    if isinstance(value, str):
        return json.dumps(text, ensure_ascii=is_escaped)
    starts = [*line_starts(text), len(text)]
    parts = [text[a:b] for a, b in zip(starts, starts[1:]) if a < b]
    items = [json.dumps(part, ensure_ascii=is_escaped) for part in parts]
    if not items:
        return "[]"
    if "\n" not in before:
        return f"[{', '.join(items) if ', ' in before else ','.join(items)}]"
    first = before.index('"')
    inner = before[before.rindex("\n", 0, first) + 1 : first] if "\n" in before[:first] else f"{indent} "
    separator = f",\n{inner}"
    return f"[\n{inner}{separator.join(items)}\n{indent}]"


def _indent(file: str, at: int) -> str:
    """The blanks at the beginning of the row of a place."""
    row = file[file.rfind("\n", 0, at) + 1 : at]
    return row[: len(row) - len(row.lstrip())]


def _source(file: str, cell: int) -> tuple[int, int]:
    """Where the source of the cell that begins at an offset stands; ``input`` in versions 2 and 3 of the format."""
    members = {key: (start, end) for key, start, end in _members(file, cell)}
    return members["source"] if "source" in members else members["input"]


def _cells(file: str) -> Iterator[int]:
    """Where the cells begin, in the order in which they are counted."""
    top = {key: start for key, start, _ in _members(file, _skip(file, 0))}
    if "cells" in top:
        yield from (start for start, _ in _items(file, top["cells"]))
        return
    for sheet, _ in _items(file, top["worksheets"]):
        if file[sheet] == "{":
            own = {key: start for key, start, _ in _members(file, sheet)}
            if "cells" in own and file[own["cells"]] == "[":
                yield from (start for start, _ in _items(file, own["cells"]))


def _members(file: str, at: int) -> Iterator[tuple[str, int, int]]:
    """The keys of the object at an offset, each with where its value begins and ends."""
    at = _skip(file, at + 1)
    while file[at] != "}":
        key, at = _DECODER.raw_decode(file, at)
        start = _skip(file, _skip(file, at) + 1)
        _, end = _DECODER.raw_decode(file, start)
        yield key, start, end
        at = _after(file, end)


def _items(file: str, at: int) -> Iterator[tuple[int, int]]:
    """Where the items of the list at an offset begin and end."""
    at = _skip(file, at + 1)
    while file[at] != "]":
        _, end = _DECODER.raw_decode(file, at)
        yield at, end
        at = _after(file, end)


def _after(file: str, at: int) -> int:
    """Where the next member begins, or the object or list ends."""
    at = _skip(file, at)
    return _skip(file, at + 1) if file[at] == "," else at


def _skip(file: str, at: int) -> int:
    while at < len(file) and file[at] in _BLANK:
        at += 1
    return at
