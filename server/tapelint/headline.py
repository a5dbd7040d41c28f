"""The words of what is reported: short enough to be read at once (docs/messages.md)."""

from __future__ import annotations

LONGEST = 100
"""Characters of a headline."""
LONGEST_TITLE = 60
"""Characters of the title of a cure."""
QUOTED = 60
"""Characters of code, or of a value, that a message or a trace quotes."""


def headline(*texts: str, most: int = LONGEST) -> str:
    """The first of some wordings that is short enough to be read at once; the last one is cut."""
    text = next((text for text in texts if len(text) <= most), None)
    if text is None:
        text = texts[-1][: most - 1] + "…"
    return capitalized(text)


def cure_title(*texts: str) -> str:
    """The first of some wordings that is short enough for a lightbulb."""
    return headline(*texts, most=LONGEST_TITLE)


def titled(template: str, name: str, otherwise: str = "it") -> str:
    """The title of a cure with a name in it, ``otherwise`` where that is too long.

    >>> titled("Detach {} where it is used", "`self.h`")
    'Detach `self.h` where it is used'
    >>> titled("Detach {} where it is used", "`self.layers[number].attention.hidden`")
    'Detach it where it is used'
    """
    return cure_title(template.format(name), template.format(otherwise))


def shortened(text: str, most: int = QUOTED) -> str:
    """Code or a value as it is quoted: cut where it has more characters."""
    return text if len(text) <= most else f"{text[: most - 4]} ..."


def number_of(number: int, thing: str) -> str:
    """``1 tensor``, ``2 tensors``: how many of a thing whose plural ends in s."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def capitalized(text: str) -> str:
    """A sentence with a capital first letter; what is code stays as it is."""
    return text[:1].upper() + text[1:]
