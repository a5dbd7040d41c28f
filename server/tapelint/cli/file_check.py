"""One file, from its name to the text that is printed about it.

What most files do not need is imported by the first that does: a file that does not concern torch is never analysed.
"""

from __future__ import annotations

import os
import time
from functools import cache

from ..fault import fault_of
from ..report.notice import Kind, Notice, internal
from ..source import NOTEBOOK, SourceError, concerns_torch, notebook, read
from ..workspace import Resolver, config, given
from . import result_cache
from .streams import note
from .task import FileResult, Task


def check_file(task: Task) -> FileResult:
    """Analyse a file. Raises nothing: an internal error is a failure of this file, not of the run."""
    result = FileResult(task.path)
    start = time.perf_counter()
    note("debug", f"{task.path}: begins")
    try:
        text = read(task.path) if task.text is None else task.text
        result.before = result.after = text if task.fix != "no" else ""
        book = notebook(text) if task.path.endswith(NOTEBOOK) else None
        asked = result_cache.Asking(_resolver(), task.path)
        if concerns_torch(book.text if book else text, task.path, asked):
            from .file_analysis import analyse_file  # the engine: 100 ms

            analyse_file(task, book or text, asked, result)
        else:
            result.skipped = "Neither it nor a file that it imports mentions torch"
            note("info", f"{task.path}: skipped: {result.skipped}")
        result.seconds = time.perf_counter() - start
        if task.is_recorded:
            result.record = asked.record(text, result)
    except SourceError as error:
        _add_notice(task, result, Notice(Kind.NOT_READ, task.path, f"Cannot be read: {error}"))
    except Exception as error:
        _add_notice(task, result, internal(task.path, "it was not checked", fault_of(error)))
    result.seconds = result.seconds or time.perf_counter() - start
    note("info", f"{task.path}: {len(result.found)} found in {result.seconds:.3f} s")
    return result


def unchecked(task: Task, notice: Notice) -> FileResult:
    """The result of a file that could not be checked; ``notice`` says why."""
    result = FileResult(task.path)
    _add_notice(task, result, notice)
    return result


def _add_notice(task: Task, result: FileResult, notice: Notice) -> None:
    if task.focus:
        return  # it is no file of the run
    from .file_notices import add_notice  # 30 ms, for it needs the rules

    add_notice(task, result, notice)


def begin_run() -> None:
    """Know nothing of what a run before this one, in this process, has read: it may have changed."""
    _resolver.cache_clear()
    for known in (config, given, result_cache):
        known.forget()


@cache
def _resolver() -> Resolver:
    """One for all files of a run in this process, so that a module that many of them import is read once."""
    return Resolver([os.curdir])
