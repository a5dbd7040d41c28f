"""Patterns for files, as in ignore files: what a pattern matches it matches with all that is below.

build             every file or folder of that name
tests/*.py        below the folder of the configuration; `*` stays within one name
**/generated      at any depth
"""

from __future__ import annotations

import os
import re
from functools import cache


def matches(pattern: str, path: str, root: str) -> bool:
    """Whether ``pattern`` matches ``path``, or a folder that it is in, below ``root``."""
    try:
        inside = os.path.relpath(os.path.abspath(path), root or os.curdir)
    except ValueError:  # another drive
        return False
    if inside.startswith(os.pardir):
        return False
    return _compiled(pattern).match(inside.replace(os.sep, "/")) is not None


def complaint(pattern: str) -> str | None:
    """Why a pattern is none; None where it can be used."""
    try:
        _compiled(pattern)
    except ValueError as error:
        return str(error)
    return None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Raises ValueError for a pattern that is none."""
    pattern = pattern.removeprefix("./").rstrip("/")
    parts = re.split(r"(\*\*/|\*\*|\*|\?|\[!?[^\]]+\])", pattern)
    anywhere = "" if "/" in pattern else "(?:.*/)?"
    return re.compile(anywhere + "".join(map(_part, parts)) + "(?:/.*)?$", re.DOTALL)


def _part(part: str) -> str:
    known = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    if part.startswith("[") and part.endswith("]"):
        return _set(part[1:-1])
    return known.get(part) or re.escape(part)


def _set(inside: str) -> str:
    """One sign of a set: ``a-z`` and single signs, or with ``!`` before them any other."""
    wanted = inside.removeprefix("!")
    if not wanted:
        raise ValueError(f"[{inside}] names no sign")
    for low, high in re.findall("(.)-(.)", wanted, re.DOTALL):
        if low > high:
            raise ValueError(f"{low}-{high} runs backwards")

    def escaped(found: re.Match[str]) -> str:
        return "-".join(re.escape(sign) for sign in found.groups() if sign)

    listed = re.sub("(.)-(.)|(.)", escaped, wanted, flags=re.DOTALL)
    return f"[{'^' * inside.startswith('!')}{listed}]"
