"""The files of a run: those whose result is known are not checked, and what is found of the others is kept."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec

from ... import __version__
from ...output_formats import FORMATS
from ...source import SourceError
from ...workspace import Given, Resolver
from ..request import BRIEF
from ..streams import note
from ..task import FileResult, Task
from .asking import Basis, config_digest
from .encoding import digest, plain, restored
from .store import FOLDER, Entries, load, save, today
from .validity import Texts, Validity

Answers = Generator[FileResult, None, None]
Compute = Callable[[list[Task], dict[int, FileResult]], Answers]
"""Checks files, in order; it puts what has come before its turn, by number, into a table."""
ASKED = (*FORMATS, BRIEF)
"""All formats that a run may have asked for."""
_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


@dataclass(slots=True)
class _File:
    """A file of the cache in memory."""

    path: str
    entries: Entries
    is_changed: bool = False
    is_used: bool = False


@dataclass(slots=True)
class Cache:
    """The cache of one run. ``folder`` is what the user has named; without it, it is that of each configuration, or
    lies beside it.
    """

    given: Given
    folder: str = ""
    _files: dict[str, _File] = field(default_factory=dict)
    _texts: Texts = field(default_factory=Texts)
    _validity: Validity | None = None

    def answers(self, tasks: Sequence[Task], compute: Compute, come: dict[int, FileResult]) -> Answers:
        """The results in the order of the tasks; ``come`` holds those that have come before their turn."""
        known: dict[int, FileResult] = {}
        left: list[int] = []
        try:
            for number, task in enumerate(tasks):
                found = self._find(task)
                if found is None:
                    left.append(number)
                else:
                    known[number] = found
            yield from self._in_order(tasks, known, left, compute, come)
        finally:
            come.update(known)

    def _in_order(
        self,
        tasks: Sequence[Task],
        known: dict[int, FileResult],
        left: list[int],
        compute: Compute,
        come: dict[int, FileResult],
    ) -> Answers:
        early: dict[int, FileResult] = {}
        asked = [replace(tasks[number], is_recorded=_is_kept(tasks[number])) for number in left]
        try:
            with closing(compute(asked, early)) as computed:
                for number in range(len(tasks)):
                    yield known.pop(number) if number in known else self._keep(tasks[number], next(computed))
        finally:
            for place, result in early.items():
                come[left[place]] = self._keep(tasks[left[place]], result)

    def _find(self, task: Task) -> FileResult | None:
        """What an earlier run has found, where this one would find the same. It may have printed in another format,
        where it has found nothing: findings are kept as they were printed.
        """
        if not _is_kept(task):
            return None
        file = self._file(task)
        for form in (task.output_format, *(each for each in ASKED if each != task.output_format)):
            key = _key(task, form)
            _, record = file.entries.found.get(key, (0, None))
            found = self._restored(task, record) if record is not None else None
            if record is None or found is None:
                continue
            if form != task.output_format:
                found = None if found.found else _in_format(task, found)
            if found is not None:
                note("debug", f"{task.path}: not changed since the last run, and not checked again")
                self._enter(file, key, record)
                return found
        return None

    def _restored(self, task: Task, record: str) -> FileResult | None:
        """The result in a record, if it is one and still holds."""
        try:
            basis, result = json.loads(record)
            is_valid = self._checker().holds(restored(Basis, basis), task.path)
            found: FileResult | None = restored(FileResult, result) if is_valid else None
        except (ValueError, TypeError, RecursionError):
            return None
        return found if found is not None and found.path == task.path else None

    def _checker(self) -> Validity:
        if self._validity is None:
            self._validity = Validity(self._texts, Resolver([os.curdir]), self.given)
        return self._validity

    def _keep(self, task: Task, result: FileResult) -> FileResult:
        """Enter a result that was made in this run."""
        if result.record is not None:
            self._enter(self._file(task), _key(task, task.output_format), result.record)
            self._texts.digest(os.path.abspath(task.path))  # with its stamp the next run need not read it
            result.record = None
        return result

    def _enter(self, file: _File, key: str, record: str) -> None:
        entry = (today(), record)
        file.is_used = True
        file.is_changed |= file.entries.found.get(key) != entry
        file.entries.found[key] = entry

    def _file(self, task: Task) -> _File:
        """The file of the cache that a task belongs to."""
        folder = self.folder or task.config.cache_dir or os.path.join(task.config.root or os.curdir, FOLDER)
        if folder not in self._files:
            path = os.path.join(os.path.abspath(folder), __version__, f"{digest(os.getcwd())[:12]}.jsonl")
            entries = load(path, _maker())
            self._files[folder] = _File(path, entries)
            self._texts.known.update(entries.stamps)
        return self._files[folder]

    def save(self) -> None:
        """Write what is new. Where that is not possible the next run has more to do, and that is all."""
        for file in self._files.values():
            if not file.is_used:
                continue
            fresh = {path: stamp for path, stamp in self._texts.fresh.items() if file.entries.stamps.get(path) != stamp}
            if file.is_changed or fresh:
                file.entries.stamps.update(fresh)
                try:
                    save(file.path, _maker(), file.entries)
                except OSError as error:
                    note("debug", f"the cache is not written: {file.path}: {error.strerror or error}")


def _is_kept(task: Task) -> bool:
    """Whether a result can count for another run: it is that of a file as it lies on the disk."""
    return task.text is None and task.fix == "no"


def _in_format(task: Task, found: FileResult) -> FileResult | None:
    """A result without findings in the format of the task; None where its file cannot be read any more."""
    if not found.notices:
        return found
    told: Callable[[Task, FileResult], FileResult] = import_module("tapelint.cli.file_notices").in_format
    try:
        return told(task, found)
    except SourceError:
        return None


def _key(task: Task, output_format: str) -> str:
    """What stands for all that a task says, but for the text and the imports of its file."""
    form = (task.path, output_format, task.tells_coverage, sorted(task.focus), task.rank)
    return digest(json.dumps([*plain(form), config_digest(task.config)]))


@cache
def _maker() -> str:
    """The version of all that results depend on beside what is checked. A checkout has that of its files, too."""
    is_installed = os.path.basename(os.path.dirname(_PACKAGE)) in ("site-packages", "dist-packages")
    code = "" if is_installed else digest("\n".join(_stamps(_PACKAGE)))
    helpers = [name for name in ("libcst", "parso") if find_spec(name)]
    return f"{__version__} {code} {sys.implementation.name} {sys.version_info[:3]} {' '.join(helpers)}"


def _stamps(folder: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda each: each.name):
            if entry.is_dir(follow_symlinks=False):
                if entry.name != "__pycache__":
                    yield from _stamps(entry.path)
            else:
                yield f"{entry.path} {entry.stat().st_mtime_ns}"
