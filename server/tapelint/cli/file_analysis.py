"""The analysis of one file. What fixes and prints findings is imported by the first file that has any."""

from __future__ import annotations

from .. import analysis
from ..source import Notebook
from ..workspace import Resolver
from .task import FileResult, Task


def analyse_file(task: Task, text: str | Notebook, resolver: Resolver, result: FileResult) -> None:
    """Analyse ``text``, fix it where the task says so, and add what is reported to ``result``."""
    report = analysis.analyse(text, task.path, task.config, resolve=resolver, is_imported=resolver.is_imported)
    result.stats.update(report.stats)
    if report.diagnostics or report.notices:
        from .file_findings import add_findings

        add_findings(task, report, result)
