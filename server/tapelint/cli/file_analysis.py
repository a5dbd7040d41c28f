"""The analysis of one file. What fixes and prints findings is imported by the first file that has any."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import lru_cache, partial

from .. import analysis
from ..engine.limits import of_caller
from ..source import Notebook
from ..workspace import Resolver
from .caching.asking import Asking
from .streams import is_logged
from .task import FileResult, Task

PATIENCE = 10.0
"""Seconds of processor time after which a caller is given up: its fuel is spent long before, but for outliers."""


def analyse_file(task: Task, text: str | Notebook, asking: Asking, result: FileResult) -> None:
    """Analyse ``text``, fix it where the task says so, and add what is reported to ``result``."""
    report = _of_caller(task, text, asking) if task.focus else _of_file(task, text, asking)
    if report is None:
        return
    if not task.focus:
        result.stats.update(report.stats)
    if report.diagnostics or report.elsewhere or report.notices or task.tells_coverage or is_logged("debug"):
        from .file_findings import add_findings

        add_findings(task, report, result)


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
