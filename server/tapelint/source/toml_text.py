"""The text of a TOML file as plain data, by the parser that the Python at hand has."""

from __future__ import annotations

import sys


def read_toml(text: str) -> dict[str, object]:
    """Its table. Raises ValueError where it is not valid, or holds a number with more digits than Python reads;
    RecursionError where its brackets are nested too deeply.
    """
    if sys.version_info >= (3, 11):
        import tomllib as toml
    else:
        import tomli as toml
    found: dict[str, object] = toml.loads(text)
    return found
