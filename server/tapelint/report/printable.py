"""Text of the checked program as it may go to a terminal, a log or a document."""

from __future__ import annotations

import unicodedata

# Signs that make a terminal show text in another order than it is executed in.
_REORDERING = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})


def printable(text: str) -> str:
    """Text that cannot move a terminal's cursor: every control character but the tab as ``\\ufffd``."""
    if text.isprintable():
        return text
    return "".join(sign if sign == "\t" or not _is_control(sign) else "\ufffd" for sign in text)


def _is_control(sign: str) -> bool:
    return unicodedata.category(sign) in ("Cc", "Cs", "Zl", "Zp") or unicodedata.bidirectional(sign) in _REORDERING
