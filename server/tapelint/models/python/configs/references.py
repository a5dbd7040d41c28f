"""A text with references in it, such as ``net-${width}`` or ``<width> * 2``, and the values that they stand for."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ....domain.options import settled
from ....domain.values import Const, Value


def substituted(pattern: re.Pattern[str], text: str, values: Sequence[Value]) -> str | None:
    """The text with a value in the place of each match of ``pattern``, an option with its default; None where one of
    them is not known.
    """
    known = [value for value in map(settled, values) if isinstance(value, Const)]
    if len(known) < len(values):
        return None
    rest = iter(known)
    return pattern.sub(lambda _: str(next(rest).value), text)
