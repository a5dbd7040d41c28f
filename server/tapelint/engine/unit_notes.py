"""What listeners keep with the unit in which an event happens, so that it is there again when the unit is reused."""

from __future__ import annotations

from typing import TypeVar

N = TypeVar("N")


class UnitNotes:
    """At most one record of each class. A listener has a class of its own, which is made without arguments."""

    __slots__ = ("_records",)

    def __init__(self) -> None:
        self._records: dict[type, object] = {}

    def of(self, kind: type[N]) -> N:
        """The record of a class, empty where nothing was kept yet."""
        found = self._records.get(kind)
        if not isinstance(found, kind):
            found = self._records[kind] = kind()
        return found
