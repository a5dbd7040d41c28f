"""A tree for a text that does not parse: the broken statements are taken out, the rest keeps its place.

Someone is typing, so most texts an editor sends are broken somewhere. Python's own error says where; the statement
there gives way to an assignment that makes every name it mentions unknown, because it might have done anything to
them: ``h = h.detach(`` must not be read as if ``h`` were left alone.

>>> lines = ["h = h.detach(", "loss.backward()"]
>>> problems = recover(lines)[1]
>>> lines
['h = __unparsed__()', 'loss.backward()']
"""

from __future__ import annotations

import ast
import keyword
import re
import warnings

from ..frozen import frozen
from .edit import Span
from .lexing import indentation, is_blank, statement_starts, tokens

UNPARSED = "__unparsed__()"
"""What stands for the value of what could not be analysed: the result of a function that nothing defines, so nothing is
known of it, and it is another value each time.
"""

_DEFINED = re.compile(
    r"^[ \t]*(?:import[ \t]+(?P<modules>[^\n#;]+)"
    r"|from[ \t]+\S+[ \t]+import[ \t]*(?P<names>\([^)]*\)|[^\n#;]+)"
    r"|(?:async[ \t]+)?(?:def|class)[ \t]+(?P<definition>\w+))",
    re.MULTILINE,
)
_DEFINITION = re.compile(r"\s*(?:async\s+)?(?:def|class)\s+(\w+)")
_JUMP = re.compile(r"\s*(return|raise)\b")
_PRINT = re.compile(r"\s*print\b(?!\s*[=.(\[])")  # the statement of Python 2, which assigns nothing
_NO_BODY = re.compile(r"expected an indented block.* on line (\d+)$")
_HANDLER = re.compile(r"\s*(?:except|finally)\b")
_TRY = re.compile(r"(\s*)try(\s*:)")


@frozen
class Problem:
    """A syntax error, in Python's words; or, where it is a ``limit`` of ours, what is too much for us."""

    message: str
    span: Span
    is_limit: bool = False


def parse_module(text: str) -> ast.Module:
    """``ast.parse`` without the warnings it prints about the text (``"\\d"``, ``x is 3``)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def recover(lines: list[str]) -> tuple[ast.Module | None, tuple[Problem, ...]]:
    """The tree of what is left of ``lines`` (which are changed in place) and what was wrong with the rest.

    Every round costs a parse, so there are fewer of them for a large text; no tree if they do not suffice.
    """
    problems: list[Problem] = []
    replaced: set[int] = set()
    rounds = max(6, min(60, 2_500_000 // (1 + sum(map(len, lines)))))
    for _ in range(rounds):
        try:
            return parse_module("\n".join(lines)), tuple(problems)
        except SyntaxError as error:
            row = min(max(error.lineno or 1, 1), len(lines)) - 1
            problem = Problem(error.msg, _span(error, row, lines[row]))
            if not any(known.span.row == row + 1 for known in problems) and row not in replaced:
                problems.append(problem)
            _take_out(lines, row, error.msg, replaced)
    return None, tuple(problems)


def _span(error: SyntaxError, row: int, line: str) -> Span:
    """Where Python points, kept on the line: its end may be missing, zero or on a later line."""
    begin = min(max(error.offset or 1, 1), len(line) + 1)
    end = error.end_offset if error.end_lineno == row + 1 and error.end_offset else 0
    return Span(row + 1, begin, row + 1, min(max(end, begin + 1), len(line) + 1) if begin <= len(line) else begin)


def _take_out(lines: list[str], row: int, message: str, replaced: set[int]) -> None:
    """Make the broken statement at index ``row`` an assignment; each call leaves less of the text than there was."""
    header = _NO_BODY.match(message)
    if header:
        row = min(int(header.group(1)), len(lines)) - 1
    elif "expected 'except' or 'finally'" in message and _open_try(lines, row):
        return
    elif is_blank(lines[row]):
        row = next((i for i in reversed(range(row)) if not is_blank(lines[i])), row)
    if row in replaced or is_blank(
        lines[row]
    ):  # not even the assignment fits here, or it is unknown where the error is
        row = row if lines[row].strip() else next((i for i, line in enumerate(lines) if line.strip()), row)
        lines[row] = ""
        return
    starts = statement_starts(lines)
    start = starts[row]
    if start in replaced:
        start = row
    end = _end(lines, starts, start, row)
    broken = "\n".join(lines[start:end])
    lines[start] = _indent(lines, start, message) + _stand_in(broken, "\n".join(lines))
    lines[start + 1 : end] = [""] * (end - start - 1)
    replaced.add(start)


def _open_try(lines: list[str], row: int) -> bool:
    """Let the ``try`` above ``row`` that has no handler yet just run its body; whether there is one."""
    handled: set[int] = set()
    for index in reversed(range(row + 1)):
        line = lines[index]
        if _HANDLER.match(line):
            handled.add(indentation(line))
        elif _TRY.match(line):
            if indentation(line) not in handled:
                lines[index] = _TRY.sub(r"\1if 1\2", line, count=1)
                return True
            handled.discard(indentation(line))
    return False


def _end(lines: list[str], starts: list[int], start: int, row: int) -> int:
    """The index after the statement's last line: its own lines, then all that is indented below it."""
    depth = indentation(lines[start])
    end = max(start, row) + 1
    for index in range(start + 1, len(lines)):
        own = starts[index] == start
        if own or (not is_blank(lines[index]) and indentation(lines[index]) > depth):
            end = max(end, index + 1)
        elif not is_blank(lines[index]):
            break
    return end


def _indent(lines: list[str], start: int, message: str) -> str:
    """The white space before the stand-in: the statement's own, or its predecessor's if its own is the error."""
    if "indent" in message and "expected an indented block" not in message:
        start = next((i for i in reversed(range(start)) if not is_blank(lines[i])), start)
    line = lines[start]
    return line[: len(line) - len(line.lstrip())]


def _stand_in(broken: str, text: str) -> str:
    """A statement that leaves every name the broken one mentions unknown.

    Names that are only called stay, as do modules, functions and classes: else one broken line would hide all
    of the file from the analysis.
    """
    jump = _JUMP.match(broken)
    if jump:
        return f"{jump.group(1)} {UNPARSED}"
    if _PRINT.match(broken):
        return "pass"
    definition = _DEFINITION.match(broken)
    if definition and definition.group(1).isidentifier():
        return f"{definition.group(1)} = {UNPARSED}"
    kept = set(keyword.kwlist) | _defined(text)
    mentioned: dict[str, None] = {}
    before = ""
    for token in tokens(broken):
        name = token.group()
        called = broken[token.end() :].lstrip(" \t").startswith("(") if token.lastgroup == "name" else True
        if not called and before != "." and name.isidentifier() and name not in kept:
            mentioned[name] = None
        before = name
    return f"{', '.join(mentioned)} = {UNPARSED}" if mentioned else "pass"


def _defined(text: str) -> set[str]:
    """The names imports, functions and classes bind anywhere in a text, as far as lines can tell."""
    names: set[str] = set()
    for found in _DEFINED.finditer(text):
        if found["definition"]:
            names.add(found["definition"])
        for part in (found["modules"] or found["names"] or "").strip("() \t\n").split(","):
            words = part.split()
            if words:
                names.add(words[-1].partition(".")[0])
    return names
