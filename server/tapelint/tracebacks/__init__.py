"""From a traceback to its cause: read what Python printed, and find the finding that predicts it."""

from __future__ import annotations

from .cause import Explanation, Match, Nearness, Place, at_line, explained, the_one
from .traceback_text import Frame, Raised, raised_in
from .words import error, findings, in_words, offered, place_of_raise, remarks, seen, shown

__all__ = [
    "Explanation",
    "Frame",
    "Match",
    "Nearness",
    "Place",
    "Raised",
    "at_line",
    "error",
    "explained",
    "findings",
    "in_words",
    "offered",
    "place_of_raise",
    "raised_in",
    "remarks",
    "seen",
    "shown",
    "the_one",
]
