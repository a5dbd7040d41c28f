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


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    pattern = pattern.removeprefix("./").rstrip("/")
    parts = re.split(r"(\*\*/|\*\*|\*|\?|\[!?[^\]]+\])", pattern)
    anywhere = "" if "/" in pattern else "(?:.*/)?"
    return re.compile(anywhere + "".join(map(_part, parts)) + "(?:/.*)?$", re.DOTALL)


def _part(part: str) -> str:
    known = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    if part.startswith("[") and part.endswith("]"):
        return f"[^{part[2:]}" if part.startswith("[!") else part
    return known.get(part) or re.escape(part)
