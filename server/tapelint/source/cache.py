"""Texts that were parsed before: an imported module is read once, however many files import it.

Parsing is a function of the text and the path, so what is remembered never goes stale: an edited file has another text.
Of a file that is edited in an editor only the last texts are remembered.
"""

from __future__ import annotations

from collections import OrderedDict

from .parsing import Source, parse

MOST_CHARACTERS = 1_000_000
"""Of all remembered texts together: their trees take about a hundred times that in bytes."""

VERSIONS = 2
"""Texts that are remembered of one file: that before an edit comes back where the edit is undone, or was only tried."""

_known: OrderedDict[tuple[str, str], Source] = OrderedDict()


def parsed(text: str, path: str) -> Source:
    """``parse(text, path)``, from memory if it was asked for lately."""
    key = path, text
    source = _known.get(key)
    if source is not None:
        _known.move_to_end(key)
        return source
    source = _known[key] = parse(text, path)
    for old in [known for known in _known if known[0] == path][:-VERSIONS]:
        del _known[old]
    while len(_known) > 1 and sum(len(known) for _, known in _known) > MOST_CHARACTERS:
        _known.popitem(last=False)
    return source
