"""What the server remembers, so that an edit costs what it changes: of the few documents that were analysed last, and
of the modules that they import.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from . import deferred

if TYPE_CHECKING:
    from ..analysis import AnalysisCache, SharedModules


class Memories:
    """The memory of each document, and what all files share; only the worker touches it."""

    def __init__(self, most: int = 4) -> None:
        self._most = most
        self._known: OrderedDict[str, AnalysisCache] = OrderedDict()
        self._shared: SharedModules | None = None

    @property
    def shared(self) -> SharedModules:
        """The modules that were executed for one file and that others may import."""
        if self._shared is None:
            self._shared = deferred.analysis.SharedModules()
        return self._shared

    def memory(self, uri: str) -> AnalysisCache:
        memory = self._known.setdefault(uri, deferred.analysis.AnalysisCache(persistent=True))
        self._known.move_to_end(uri)
        while len(self._known) > self._most:
            self._known.popitem(last=False)
        return memory

    def drop(self, uri: str) -> None:
        self._known.pop(uri, None)
