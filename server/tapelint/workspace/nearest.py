"""What counts for a folder: what it says itself, or else what the nearest folder above it says."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Generic, TypeVar

Said = TypeVar("Said")


class Nearest(Generic[Said]):
    """``own`` tells what one folder says, or None. Each is asked once, and without recursion: there are folders deeper
    than Python recurses.
    """

    def __init__(self, own: Callable[[str], Said | None]) -> None:
        self._own = own
        self._known: dict[str, Said | None] = {}

    def __call__(self, folder: str) -> Said | None:
        """What counts for a folder, which is an absolute path."""
        known, unknown = self._known, []
        while folder not in known:
            unknown.append(folder)
            above, said = os.path.dirname(folder), self._own(folder)
            if said is not None or above == folder:
                known[folder] = said
                break
            folder = above
        found = known[folder]
        known.update(dict.fromkeys(unknown, found))
        return found

    def forget(self) -> None:
        """Ask the folders anew from now on: they may have changed."""
        self._known = {}
