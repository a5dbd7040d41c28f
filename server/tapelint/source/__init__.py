"""Text to tree, spans and suppression comments; knows nothing of tapelint's other packages."""

from __future__ import annotations

from .cache import parsed
from .edit import Edit, apply, line_starts, rows
from .parsing import Source, concerns_torch, imported, may_use_torch, parse
from .reading import SourceError, read
from .recovery import UNPARSED, Problem
from .span import Span
from .suppression import Suppression, Suppressions

__all__ = [
    "UNPARSED",
    "Edit",
    "Problem",
    "Source",
    "SourceError",
    "Span",
    "Suppression",
    "Suppressions",
    "apply",
    "concerns_torch",
    "imported",
    "line_starts",
    "may_use_torch",
    "parse",
    "parsed",
    "read",
    "rows",
]
