"""The first line of what is reported: short enough to be read at once (docs/messages.md)."""

from __future__ import annotations

LONGEST = 100
"""Characters of a headline."""


def headline(*texts: str) -> str:
    """The first of some wordings that is short enough to be read at once; the last one is cut."""
    text = next((text for text in texts if len(text) <= LONGEST), None)
    if text is None:
        text = texts[-1][: LONGEST - 1] + "…"
    return capitalized(text)


def number_of(number: int, thing: str) -> str:
    """``1 tensor``, ``2 tensors``: how many of a thing whose plural ends in s."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def capitalized(text: str) -> str:
    """A sentence with a capital first letter; what is code stays as it is."""
    return text[:1].upper() + text[1:]
