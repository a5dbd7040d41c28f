"""Python's own names: a program that does not define one of them means what Python does."""

from __future__ import annotations

import builtins

EXCEPTIONS = frozenset(
    name for name, each in vars(builtins).items() if isinstance(each, type) and issubclass(each, BaseException)
)
"""The classes of exceptions, by all of their names (``IOError`` is ``OSError``)."""
BUILTINS = EXCEPTIONS | frozenset(
    "abs all any bool bytes callable classmethod dict dir divmod enumerate filter float format frozenset getattr "
    "globals hasattr hash id input int isinstance issubclass iter len list locals map max min next object open ord "
    "print property range repr reversed round set setattr slice sorted staticmethod str sum super tuple type vars "
    "zip".split()
)
