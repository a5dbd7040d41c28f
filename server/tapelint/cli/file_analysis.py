"""The analysis of one file. What fixes and prints findings is imported by the first file that has any."""

from __future__ import annotations

from functools import partial

from .. import analysis
from ..source import Notebook
from ..workspace import Resolver, checked_as
from .task import FileResult, Task


def analyse_file(task: Task, text: str | Notebook, resolver: Resolver, result: FileResult) -> None:
    """Analyse ``text``, fix it where the task says so, and add what is reported to ``result``."""
    config_of = partial(checked_as, resolver=resolver, main=task.path, override=dict(task.override))
    report = analysis.analyse(
        text, task.path, task.config, resolve=resolver, is_imported=resolver.is_imported, config_of=config_of
    )
    result.stats.update(report.stats)
    if report.diagnostics or report.elsewhere or report.notices:
        from .file_findings import add_findings

        add_findings(task, report, result)
