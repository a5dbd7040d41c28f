"""``tapelint check``: which files are checked, in which order, and in how many processes.

The files that use those of a run are executed once more, for what they do to them:

tapelint check helper.py      also executes train.py, which calls `helper.step`, and prints what stands in helper.py
tapelint check .              has executed train.py anyway
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path

from ..bounds import BOUNDS
from ..report.notice import Kind, Notice
from ..source import SourceError, concerns_torch
from ..source.reading import decode
from ..workspace import Config, ConfigError, Resolver, discover
from ..workspace.callers import best_of_all, find_callers
from .chosen_files import absence, standard_input
from .ending import finish
from .file_check import begin_run, check_file, unchecked
from .outcome import Run
from .request import STDIN, Request
from .showing import show_files, show_settings
from .signals import Interrupted, interruptible
from .streams import tell
from .task import FileResult, Task

_FEW = 8
"""Up to so many files one process is faster than starting others."""


def run(request: Request) -> int:
    """Check what is asked for; the exit status."""
    begin_run()
    try:
        os.getcwd()
        outcome = Run(request, request.given)
    except ConfigError as error:
        tell("error", str(error))
        return 2
    except FileNotFoundError as error:
        tell("error", f"the current folder cannot be used: {error.strerror}")
        return 2
    if request.show_files or request.show_settings:
        return _show(outcome)
    try:
        return _checked(outcome)
    finally:
        if outcome.cache:
            outcome.cache.save()


def _checked(outcome: Run) -> int:
    """Check the files, and print what was found; the exit status."""
    come: dict[int, FileResult] = {}
    tasks: list[Task] = []
    try:
        with interruptible():
            tasks += _tasks(outcome)
            if outcome.tells_silence and len(tasks) <= BOUNDS.explained_files:
                outcome.explains_silence = True
                tasks[:] = [replace(task, explains_silence=True) for task in tasks]
            with closing(_answers(outcome, tasks, come)) as answers:
                for answer in _settled(tasks, answers):
                    outcome.take(answer)
            if not outcome.request.diff:
                _add_callers(outcome, tasks)
    except Interrupted as signal:
        for number in sorted(come):
            outcome.take(come[number])
        outcome.interrupted(len(tasks))
        finish(outcome)
        return signal.status
    return finish(outcome)


def _show(run: Run) -> int:
    """Print what would be checked, or how its first file would be; the exit status."""
    tasks = list(_tasks(run))
    if run.request.show_files:
        show_files(task.path for task in tasks)
    elif tasks:
        show_settings(tasks[0].path, tasks[0].config, run.given.finds_files)
    return 2 if run.failures else 0


def _add_callers(run: Run, tasks: list[Task]) -> None:
    """Execute the files that use those of the run, and add what they find there."""
    if not any(task.text is None and task.config.callers for task in tasks):
        return
    using, run.callers_cut = caller_tasks(tasks)
    with closing(_answers(run, using, {})) as answers:
        for answer in answers:
            run.add_caller(answer)


def _settled(tasks: list[Task], answers: Iterator[FileResult]) -> Iterator[FileResult]:
    """The answers, and where a file was fixed that an earlier one has shown findings in, that one checked again."""
    stale: list[tuple[Task, FileResult]] = []
    fixed: set[str] = set()
    for task, answer in zip(tasks, answers, strict=False):
        if answer.fixes and task.writes:
            fixed.add(os.path.abspath(answer.path))
        others = {os.path.abspath(each.diagnostic.filename) for each in answer.found if not each.is_own}
        if task.writes and task.fix != "no" and others:
            stale.append((task, answer))
        else:
            yield answer
    for task, answer in stale:
        if any(os.path.abspath(each.diagnostic.filename) in fixed for each in answer.found if not each.is_own):
            answer.found = check_file(replace(task, fix="no")).found
        yield answer


def _tasks(run: Run) -> Iterator[Task]:
    """The files in the order of the command line, each once, each with the configuration that counts for it."""
    request = run.request
    for name, text in _files(run):
        config = run.selection.config(name)
        if config is not None:
            writes = text is None and not request.diff
            yield Task(name, config, request.asked_format, text, request.fix, writes, request.stats, run.given)


def _files(run: Run) -> Iterator[tuple[str, str | None]]:
    seen: set[str] = set()
    for named in run.request.paths:
        if named == STDIN:
            name = run.request.stdin_filename or "<stdin>"
            run.stdin_name = name
            try:
                run.stdin = standard_input()
                if not run.selection.is_left_out(name):
                    yield name, decode(run.stdin)
                elif run.request.is_filter:
                    sys.stdout.buffer.write(run.stdin)
            except SourceError as error:
                task = Task(name, Config(), run.request.output_format)
                run.take(unchecked(task, Notice(Kind.NOT_READ, name, f"Cannot be read: {error}")))
            continue
        if not os.path.lexists(named):
            run.fail(f"{named or repr(named)}: {absence(named)}")
            continue
        is_empty, complained = True, run.selection.complained
        for file in run.selection.files(named):
            is_empty = False
            if os.path.abspath(file) not in seen:
                seen.add(os.path.abspath(file))
                yield file, None
        if is_empty and run.selection.complained == complained and not run.selection.is_left_out(named):
            run.warn(f"{named}: no Python files here, or all are excluded")


def _answers(run: Run, tasks: list[Task], come: dict[int, FileResult]) -> Generator[FileResult, None, None]:
    """The answers in the order of the tasks; ``come`` holds those that have come before their turn."""
    compute = partial(_computed, run, len(tasks))
    return run.cache.answers(tasks, compute, come) if run.cache else compute(tasks, come)


def _computed(
    run: Run, total: int, tasks: Sequence[Task], come: dict[int, FileResult]
) -> Generator[FileResult, None, None]:
    """The answers of analyses that are made now; those of the others of ``total`` are known."""
    run.progress.begin(len(tasks), total - len(tasks))
    jobs = min(run.request.jobs or os.cpu_count() or 1, len(tasks))
    if jobs < 2 or len(tasks) <= _FEW:
        for task in tasks:
            answer = check_file(task)
            run.progress.take(answer)
            yield answer
        return
    from .pool import in_processes  # multiprocessing takes 10 ms to load, and few runs are so large

    yield from in_processes(tasks, jobs, come, run.progress.take)


FEWEST = 3
"""So many callers are executed for one file; for several, as many as there are files."""


def caller_tasks(tasks: Sequence[Task]) -> tuple[list[Task], bool]:
    """What to execute beside the ``tasks``, and whether a project is too large to look for all of it."""
    resolver = Resolver([os.curdir])
    known = {os.path.abspath(task.path): task for task in tasks}

    @lru_cache(maxsize=64)
    def has_others(root: str) -> bool:
        """Whether a project has a file that is not checked anyway, or more than are looked at."""
        files = [*islice(discover(root), BOUNDS.project_files)]
        return len(files) == BOUNDS.project_files or not known.keys() >= {*files}

    wanted = [
        path
        for path, task in known.items()
        if task.text is None
        and task.config.callers
        and has_others(resolver.root(path))
        and concerns_torch(resolver.text(path) or "", path, resolver)
    ]
    found = find_callers(wanted, resolver)
    made: list[Task] = []
    for path, (rank, names) in best_of_all(found, known, max(FEWEST, len(tasks))).items():
        try:
            config = tasks[0].given.config(Path(path))
        except ConfigError:
            continue
        shown = path if os.path.isabs(tasks[0].path) else os.path.relpath(path)
        asked = replace(tasks[0], path=shown, config=config, text=None, fix="no", writes=False)
        made.append(replace(asked, focus=names, rank=rank))
    return made, found.was_cut
