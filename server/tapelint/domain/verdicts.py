"""Whether something holds, as far as is known: True, False, or None where that is unknown (Kleene's logic)."""

from __future__ import annotations

from collections.abc import Iterable


def any_of(verdicts: Iterable[bool | None]) -> bool | None:
    """Whether one of several holds."""
    found = set(verdicts)
    return True if True in found else None if None in found else False


def all_of(verdicts: Iterable[bool | None]) -> bool | None:
    """Whether each of several holds."""
    found = set(verdicts)
    return False if False in found else None if None in found else True
