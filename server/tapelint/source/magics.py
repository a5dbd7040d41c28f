"""What IPython understands and Python does not, replaced by Python that stands at the same rows and columns.

%matplotlib inline         pass
!pip install torch         pass
files = !ls                files = get_ipython()      whatever that is
%time loss = step()        if 1: loss = step()        timed, and run in the program's namespace
%%bash                     (nothing: the cell is in another language)
%%time                     pass                       and the rest of the cell is run
torch.nn?                  pass
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .cells import Cell
from .edit import rows
from .lexing import tokens

_CANDIDATE = re.compile(r"^[ \t]*[%!?]|=[ \t]*[%!]|\?[ \t]*$", re.MULTILINE)
_MAGIC = re.compile(r"(?P<indent>[ \t]*)(?:[%!?]|%?[\w.*]+\?{1,2}[ \t]*$)")
_ASSIGNED = re.compile(r"(?P<target>[ \t]*\w[\w\s.,\[\]'\"]*=[ \t]*)(?P<magic>[%!].*)")
_TIMED = re.compile(r"(?P<indent>[ \t]*)%time (?P<code>.*\S.*)")
_TIMED_VALUE = re.compile(r"%time (?P<code>.*\S.*)")
_WHOLE = re.compile(r"\s*%%(?P<name>\w+)")
_COMPOUND = re.compile(r"\s*(?:async|class|def|for|if|try|while|with|match|-)\b|\s*[-@]")

RUN_AS_PYTHON = frozenset({"time", "capture", "prun", "snakeviz", "memray_flamegraph", "wandb"})
"""Cell magics that run the rest of the cell in the program's own namespace."""


def without_magics(text: str, cells: Sequence[Cell]) -> str:
    """The text as Python may parse it: as many rows, and what is Python stays where it is."""
    if not _CANDIDATE.search(text):
        return text
    lines = rows(text)
    found: list[str] = []
    for cell in cells:
        found += _cell(lines[cell.first - 1 : cell.last])
    return "\n".join([*found, *lines[len(found) :]])


def _cell(lines: Sequence[str]) -> Iterator[str] | Sequence[str]:
    begin = next((i for i, line in enumerate(lines) if line.strip()), 0)
    whole = _WHOLE.match(lines[begin]) if lines else None
    if whole is None:
        return _statements([*lines[:begin], *_first_outdented(lines[begin:])])
    if whole["name"] not in RUN_AS_PYTHON:
        return [""] * len(lines)
    return [*lines[:begin], "pass", *_statements(lines[begin + 1 :])]


def _first_outdented(lines: Sequence[str]) -> Sequence[str]:
    """The lines with the first one at the margin, if it is a magic and those below stand there: IPython takes the
    indentation of the first line of a cell away.
    """
    below = next((line for line in lines[1:] if line.strip()), "")
    if not lines or below[:1].isspace() or _MAGIC.match(lines[0]) is None or _TIMED.match(lines[0]):
        return lines
    return [lines[0].lstrip(), *lines[1:]]


def _statements(lines: Sequence[str]) -> Iterator[str]:
    """The lines of a cell. Only where a statement begins a sign can be a magic: elsewhere ``%`` is an operator."""
    text = "\n".join(lines)
    if not _CANDIDATE.search(text):
        yield from lines
        return
    index, offset = 0, 0
    while index < len(lines):
        line = lines[index]
        plain = _plain(line)
        size = _continued(lines, index) if plain is not None else _statement_rows(text, offset)
        size = min(size, len(lines) - index)
        if plain is None:
            yield from lines[index : index + size]
        else:
            yield plain
            yield from [""] * (size - 1)
        offset += sum(len(row) + 1 for row in lines[index : index + size])
        index += size


def _plain(line: str) -> str | None:
    """What stands for a line that is no Python; None for one that is."""
    timed = _TIMED.match(line)
    if timed is not None and not _COMPOUND.match(timed["code"]):
        return f"{timed['indent']}if 1: {timed['code']}"
    magic = _MAGIC.match(line)
    if magic is not None:
        return f"{magic['indent']}pass"
    assigned = _ASSIGNED.match(line)
    if assigned is None:
        return None
    value = _TIMED_VALUE.match(assigned["magic"])
    return assigned["target"] + (" " * len("%time ") + value["code"] if value else "get_ipython()")


def _continued(lines: Sequence[str], index: int) -> int:
    """The rows of a magic: a backslash at the end joins the next one."""
    size = 1
    while lines[index + size - 1].endswith("\\") and index + size < len(lines):
        size += 1
    return size


def _statement_rows(text: str, offset: int) -> int:
    """The rows of the statement that begins at ``offset``."""
    size, depth = 1, 0
    for token in tokens(text, offset):
        kind = token.lastgroup
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth = max(0, depth - 1)
        elif kind == "newline" and not depth:
            break
        size += token.group().count("\n")
    return size
