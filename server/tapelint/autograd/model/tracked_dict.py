"""A dictionary that records what was set in it: comparing two paths looks at what they touched since they forked."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


_set = dict.__setitem__


class TrackedDict(dict[K, V]):
    """A dictionary that knows which of its keys were set since the last fork."""

    __slots__ = ("touched",)

    def __init__(self, items: Iterable[tuple[K, V]] | dict[K, V] = ()) -> None:
        super().__init__(items)
        self.touched: set[K] = set()

    def __setitem__(self, key: K, value: V) -> None:
        self.touched.add(key)
        _set(self, key, value)
