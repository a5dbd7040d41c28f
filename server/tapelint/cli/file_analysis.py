"""The analysis of one file. What fixes and prints findings is imported by the first file that has any."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from functools import lru_cache, partial

from .. import analysis
from ..engine.limits import of_caller
from ..source import Notebook
from ..workspace import Resolver
from .result_cache import Asking
from .streams import is_logged
from .task import FileResult, Task

BACKWARD = "backward"
"""What the text has of a file that goes backward."""
PATIENCE = 10.0
"""Seconds of processor time after which a caller is given up: its fuel is spent long before, but for outliers."""


def analyse_file(task: Task, text: str | Notebook, asking: Asking, result: FileResult) -> None:
    """Analyse ``text``, fix it where the task says so, and add what is reported to ``result``."""
    report = _of_caller(task, text, asking) if task.focus else _of_file(task, text, asking)
    if report is None:
        return
    reached = (place for place, is_known in report.walks.items() if is_known)
    result.reached = frozenset((os.path.abspath(path), row, column) for path, row, column in reached)
    if not task.focus:
        result.stats.update(report.stats)
    if report.diagnostics or report.elsewhere or report.notices or is_logged("debug"):
        from .file_findings import add_findings  # 8 ms that a file without findings does not need

        add_findings(task, report, result)
    if not task.focus and (task.tells_coverage or not result.found and _is_unfollowed(report)):
        from .file_coverage import add_coverage  # 14 ms, as above

        add_coverage(task, report, result)


def _is_unfollowed(report: analysis.Report) -> bool:
    """Whether a file may go backward, by its text, and no backward in it was followed."""
    own = (is_known for (path, *_), is_known in report.walks.items() if path in ("", report.path))
    return BACKWARD in report.source.text and not any(own)


def _of_file(task: Task, text: str | Notebook, asking: Asking) -> analysis.Report:
    config_of = partial(asking.config_of, given=task.given)
    return analysis.analyse(
        text,
        task.path,
        task.config,
        resolve=asking,
        is_imported=asking.is_imported,
        config_of=config_of,
        users=asking.users if task.config.callers else None,
        shared=_shared(asking.resolver),
    )


def _of_caller(task: Task, text: str | Notebook, asking: Asking) -> analysis.Report | None:
    """What a file shows in others: what stands in itself belongs to its own check."""
    end = time.process_time() + PATIENCE
    try:
        report = analysis.analyse(
            text,
            task.path,
            task.config,
            cancel=lambda: time.process_time() > end,
            resolve=asking,
            limits=of_caller(task.rank),
            config_of=partial(asking.config_of, given=task.given),
            focus=task.focus,
            shared=_shared(asking.resolver),
        )
    except analysis.Cancelled:
        asking.is_complete = False
        return None
    return replace(report, diagnostics=(), notices=())


@lru_cache(maxsize=1)
def _shared(resolver: Resolver) -> analysis.SharedModules:
    """One for all files whose imports ``resolver`` finds: a module that many of them import is executed once."""
    return analysis.SharedModules()
