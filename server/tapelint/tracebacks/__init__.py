"""From a traceback to its cause: read what Python printed, and find the finding that predicts it."""

from __future__ import annotations

from .cause import Explanation, Match, Nearness, Place, at_line, explained, the_one
from .traceback_text import Frame, Raised, raised_in
from .words import findings, in_words, seen, shown

__all__ = [
    "Explanation",
    "Frame",
    "Match",
    "Nearness",
    "Place",
    "Raised",
    "at_line",
    "explained",
    "findings",
    "in_words",
    "raised_in",
    "seen",
    "shown",
    "the_one",
]
