"""What the server remembers of documents, so that an edit costs what it changes: of the few that were analysed last."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from . import deferred

if TYPE_CHECKING:
    from ..analysis import AnalysisCache

MOST = 4


class Memories:
    """The memory of each document; only the worker touches it."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, AnalysisCache] = OrderedDict()

    def of(self, uri: str) -> AnalysisCache:
        memory = self._known.setdefault(uri, deferred.analysis.AnalysisCache(persistent=True))
        self._known.move_to_end(uri)
        while len(self._known) > MOST:
            self._known.popitem(last=False)
        return memory

    def drop(self, uri: str) -> None:
        self._known.pop(uri, None)
