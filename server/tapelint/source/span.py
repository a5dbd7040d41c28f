"""Where something stands in a text, in the units people and editors count in.

>>> Span(2, 5, 2, 9)
2:5-2:9
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of text: rows from 1, columns in characters (code points) from 1, the end exclusive."""

    row: int
    column: int
    end_row: int
    end_column: int

    def __repr__(self) -> str:
        return f"{self.row}:{self.column}-{self.end_row}:{self.end_column}"

    def holds(self, row: int, column: int) -> bool:
        """Whether a cursor at ``row``, ``column`` touches this span (its end included, as editors do)."""
        return (self.row, self.column) <= (row, column) <= (self.end_row, self.end_column)
