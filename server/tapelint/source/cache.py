"""Texts that were parsed before: an imported module is read once, however many files import it.

Parsing is a function of the text and the path, so what is remembered never goes stale: an edited file has another text.
"""

from __future__ import annotations

from collections import OrderedDict

from .parsing import Source, parse

MOST_CHARACTERS = 1_000_000
"""Of all remembered texts together: their trees take about a hundred times that in bytes."""

_known: OrderedDict[tuple[str, str], Source] = OrderedDict()
_characters = 0


def parsed(text: str, path: str) -> Source:
    """``parse(text, path)``, from memory if it was asked for lately."""
    global _characters
    key = path, text
    source = _known.get(key)
    if source is not None:
        _known.move_to_end(key)
        return source
    source = _known[key] = parse(text, path)
    _characters += len(text)
    while _characters > MOST_CHARACTERS and len(_known) > 1:
        (_, old), _ = _known.popitem(last=False)
        _characters -= len(old)
    return source
