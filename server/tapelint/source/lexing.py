"""Statements of a text that does not parse, found by brackets, quotes and indentation alone.

Only recovery needs this: where Python's own parser gives up, the shape of the lines still says where a statement
begins and which lines belong to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_TOKEN = re.compile(
    r"""
    (?P<comment> \#[^\n]* )
  | (?P<string> [rRbBuUfFtT]{0,2} (?: '''(?:\\.|[^\\])*?''' | \"\"\"(?:\\.|[^\\])*?\"\"\"
              | '(?:\\.|[^\\'\n])*' | "(?:\\.|[^\\"\n])*" ) )
  | (?P<name> [^\W\d]\w* )
  | (?P<open> [\[({] )
  | (?P<close> [\])}] )
  | (?P<join> \\\n )
  | (?P<newline> \n )
  | (?P<other> [^\s\w] )
    """,
    re.VERBOSE | re.DOTALL,
)


def tokens(text: str, start: int = 0) -> Iterator[re.Match[str]]:
    """Names, strings, comments, brackets, line ends and other signs, from ``start`` on; ``lastgroup`` says which."""
    return _TOKEN.finditer(text, start)


def indentation(line: str) -> int:
    """The column Python gives the first sign of a line: tabs go to multiples of eight, a form feed starts over."""
    column = 0
    for sign in line:
        if sign == " ":
            column += 1
        elif sign == "\t":
            column += 8 - column % 8
        elif sign == "\f":
            column = 0
        else:
            break
    return column


def is_blank(line: str) -> bool:
    """Whether a line holds no code."""
    return not line.strip() or line.lstrip().startswith("#")


def statement_starts(lines: Sequence[str]) -> list[int]:
    """For each line the index of the line on which its statement begins.

    A line inside brackets that stands no deeper than the statement and closes nothing is taken for a new statement:
    someone is still typing the bracket above it.
    """
    starts: list[int] = []
    start, depth, joined = 0, 0, False

    def begin(index: int) -> None:
        nonlocal start, depth
        line = lines[index]
        stray = depth and not is_blank(line) and indentation(line) <= indentation(lines[start])
        if not joined and (not depth or (stray and line.lstrip()[0] not in "])}")):
            start, depth = index, 0
        starts.append(start)

    begin(0)
    for token in tokens("\n".join(lines)):
        kind = token.lastgroup
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth = max(0, depth - 1)
        elif kind in ("newline", "join"):
            joined = kind == "join"
            begin(len(starts))
            joined = False
        elif kind == "string":
            starts.extend([start] * token.group().count("\n"))
    return starts
