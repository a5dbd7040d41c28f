"""What hovers have shown of a version of a document, so that only the first of them executes the program."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from . import deferred
from .analysis_result import AnalysisResult

if TYPE_CHECKING:
    from ..analysis import Report
    from ..hover import Hovers


class KeptHovers:
    """It is kept for one document, the one that was asked for last, and until its text changes: it may take as much
    memory as the analysis.
    """

    def __init__(self) -> None:
        self._last: weakref.ref[AnalysisResult] | None = None

    def of(self, result: AnalysisResult, report: Report) -> Hovers:
        """The hovers of a result with this ``report``."""
        before = self._last() if self._last is not None else None
        if before is not None and before is not result:
            before.hovers = None
        self._last = weakref.ref(result)
        result.hovers = result.hovers or deferred.hover.Hovers(report)
        return result.hovers
