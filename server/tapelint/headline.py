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


def capitalized(text: str) -> str:
    """A sentence with a capital first letter; what is code stays as it is."""
    return text[:1].upper() + text[1:]
