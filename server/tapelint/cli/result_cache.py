"""What earlier runs have found, kept in a folder: a file whose check can only say the same again is not checked.

    .tapelint_cache/0.1.0/6f0c2d51f2a1.jsonl     what the runs in one folder have found

What an analysis reads is its arguments: the text, the configuration, and what imports mean. An entry holds what all of
these were (``Asking`` notes it in the process that does it), and counts as long as they are (``Validity``).

    train.py     import helper     is helper.py, whose text has this digest
    train.py     import wandb      is not found: a wandb.py that appears would answer

The folder may be gone, read-only, written by another run or by anyone: what cannot be used is as if it were not there,
and no run fails because of it. What comes from a file is data that anyone may have written: it is checked against the
types of the fields, and nothing in it is executed.

>>> plain(Span(1, 5, 1, 9))
[1, 5, 1, 9]
>>> restored(Span, [1, 5, 1, 9])
1:5-1:9
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import tempfile
import time
import types
import typing
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import Enum
from functools import cache, lru_cache, partial
from hashlib import blake2b
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal, Union

from .. import __version__
from ..frozen import frozen
from ..output_formats import FORMATS
from ..report.notice import Kind
from ..source import INIT, SourceError, read
from ..source import Span as Span
from ..workspace import Config, Given, Resolver, checked_below
from ..workspace.callers import users
from ..workspace.config import OF_A_PROJECT, OF_A_RUN
from .request import BRIEF
from .streams import note, say, tell
from .task import FileResult, Task


def plain(value: Any) -> Any:
    """A value as JSON has it: a dataclass is the list of its fields."""
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, (str, int, float)) or value is None:
        return value
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, frozenset):
        return sorted(plain(each) for each in value)
    if isinstance(value, (tuple, list)):
        return [plain(each) for each in value]
    return [plain(getattr(value, field.name)) for field in fields(value)]


def restored(kind: Any, value: Any) -> Any:
    """The value of a type that JSON holds; raises ValueError where it cannot be one."""
    if kind is Any:
        return value
    origin, arguments, is_record = _shape(kind)
    if origin in (Union, types.UnionType):
        return _one_of(arguments, value)
    if origin is Literal:
        return _checked(value, value in arguments)
    if origin in (dict, Counter):
        of_values = arguments[-1] if origin is dict else int
        table = _checked(value, isinstance(value, dict))
        return origin({key: restored(of_values, each) for key, each in table.items()})
    if is_record:
        row = _checked(value, isinstance(value, list) and len(value) == len(arguments))
        return origin(*map(restored, arguments, row))
    if arguments:
        return origin(restored(arguments[0], each) for each in _checked(value, isinstance(value, list)))
    if issubclass(kind, Enum):
        return kind[_checked(value, isinstance(value, str) and value in kind.__members__)]
    return _checked(value, type(value) is kind)


@lru_cache(maxsize=128)
def _shape(kind: Any) -> tuple[Any, tuple[Any, ...], bool]:
    """What makes a value of a type, the types of its parts, and whether these are fields of their own."""
    if is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        return kind, tuple(hints[field.name] for field in fields(kind)), True
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is tuple and arguments[1:] != (...,):
        return lambda *parts: parts, arguments, True
    return origin, arguments, False


def _one_of(kinds: tuple[Any, ...], value: Any) -> Any:
    for kind in kinds:
        try:
            return restored(kind, value)
        except ValueError:
            pass
    raise ValueError(value)


def _checked(value: Any, is_right: bool) -> Any:
    if not is_right:
        raise ValueError(value)
    return value


def digest(text: str) -> str:
    """What stands for a text: no other text has the same."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


FOLDER = ".tapelint_cache"
IGNORED = "# Automatically created by tapelint.\n*\n"
TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# A cache of tapelint. https://bford.info/cachedir/\n"
KEPT = 30
"""Days that an entry is kept without being used."""


@dataclass(slots=True)
class Entries:
    """What is in a file of the cache: stamps of files, and by key what was found, as JSON, with the day of its last
    use.
    """

    stamps: dict[str, Stamp] = field(default_factory=dict)
    found: dict[str, tuple[int, str]] = field(default_factory=dict)


def today() -> int:
    """The number of the day."""
    return int(time.time() // (24 * 60 * 60))


def load(path: str, maker: str) -> Entries:
    """What ``maker``, a version of tapelint, has written to a file; nothing where that cannot be read."""
    try:
        with open(path, encoding="utf-8", newline="\n") as file:
            head, *rows = file.read().split("\n")
        made_by, stamps = restored(tuple[str, dict[str, Any]], json.loads(head))
        if made_by != maker:
            return Entries()
        entries = Entries({name: restored(Stamp, stamp) for name, stamp in stamps.items()})
        for row in filter(None, rows):
            key, day, record = row.split("\t")
            entries.found[key] = (int(day), record)
    except (OSError, ValueError, RecursionError):
        return Entries()
    return entries


def save(path: str, maker: str, entries: Entries) -> None:
    """Replace a file of the cache, in one step. Raises OSError where that is not possible."""
    folder = os.path.dirname(path)
    _prepare(os.path.dirname(folder))
    os.makedirs(folder, exist_ok=True)
    oldest = today() - KEPT
    rows = [json.dumps([maker, entries.stamps], separators=(",", ":"))]
    rows += (f"{key}\t{day}\t{record}" for key, (day, record) in entries.found.items() if day >= oldest)
    handle, temporary = tempfile.mkstemp(dir=folder)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write("\n".join(rows))
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _prepare(folder: str) -> None:
    """Make the folder. One that holds something else is left as it is: what it says to git is not ours."""
    os.makedirs(folder, exist_ok=True)
    if os.listdir(folder):
        return
    for name, text in ((".gitignore", IGNORED), ("CACHEDIR.TAG", TAG)):
        with contextlib.suppress(FileExistsError), open(os.path.join(folder, name), "x", encoding="utf-8") as file:
            file.write(text)


def caches_below(folder: str) -> Iterable[str]:
    """The folders of caches in a folder, at any depth."""
    for place, below, _ in os.walk(folder):
        if FOLDER in below:
            below.remove(FOLDER)
            found = os.path.join(place, FOLDER)
            if not os.path.islink(found):
                yield found


Answer = tuple[str, str]
"""The absolute path of a module, and what stands for its text."""
PASSING = frozenset((Kind.NOT_READ, Kind.FAULT))
"""Kinds of notices that another run may well not have."""


@frozen
class Basis:
    """What a result rests on: what stands for the text of the file; what each import meant, by the file that imports,
    and which of these files add folders to ``sys.path``; whether files may be imported; as what the imported files are
    checked; and which files use one, with what stands for their texts.
    """

    text: str
    imports: dict[str, dict[str, Answer | None]] = field(default_factory=dict)
    adding: dict[str, bool] = field(default_factory=dict)
    imported: dict[str, bool] = field(default_factory=dict)
    configs: dict[str, str | None] = field(default_factory=dict)
    users: dict[str, dict[str, str] | None] = field(default_factory=dict)


class Asking:
    """Answers what the analysis of the file ``main`` asks, and notes it."""

    def __init__(self, resolver: Resolver, main: str) -> None:
        self.resolver, self.main = resolver, main
        # the analysis came to its end, not to that of a time
        self.is_complete = True
        self._basis = Basis("")

    def __call__(self, module: str, importer: str) -> tuple[str, str] | None:
        """The path and the text of ``module`` as ``importer`` names it."""
        found = self.resolver(module, importer)
        answer = (os.path.abspath(found[0]), _digest(found[1])) if found else None
        self._basis.imports.setdefault(importer, {})[module] = answer
        if importer not in self._basis.adding:
            self._basis.adding[importer] = self.resolver.adds(importer)
        return found

    def is_imported(self, path: str) -> bool:
        """Whether another file of the project may import this one."""
        answer = self._basis.imported[path] = self.resolver.is_imported(path)
        return answer

    def users(self, path: str) -> dict[str, str] | None:
        """The files of the project that use one, with their texts."""
        found = users(path, self.resolver)
        self._basis.users[path] = users_digest(found)
        return found

    def config_of(self, path: str, given: Given) -> Config | None:
        """The configuration of an imported file; None where it is not checked."""
        config = _config(os.path.abspath(path), self.resolver.root(self.main), given)
        self._basis.configs[path] = config_digest(config)
        return config

    def record(self, text: str, result: FileResult) -> str | None:
        """The result of the main file with what it rests on, as JSON; None where another run may find others."""
        if not self.is_complete or any(notice.kind in PASSING for notice in result.notices):
            return None
        basis = replace(self._basis, text=digest(text))
        return json.dumps([plain(basis), plain(replace(result, before="", after=""))], separators=(",", ":"))


def users_digest(found: dict[str, str] | None) -> dict[str, str] | None:
    """What stands for the files that use one."""
    return None if found is None else {path: _digest(text) for path, text in found.items()}


def config_digest(config: Config | None) -> str | None:
    """What stands for all of a configuration that findings depend on."""
    return _digest_of(config) if config else None


def forget() -> None:
    """Read configurations anew from now on."""
    _config.cache_clear()


@lru_cache(maxsize=4096)
def _config(path: str, root: str, given: Given) -> Config | None:
    return checked_below(path, root, given)


@lru_cache(maxsize=256)
def _digest_of(config: Config) -> str:
    usual = {name: getattr(Config(), name) for name in (*OF_A_RUN, *OF_A_PROJECT)}
    return digest(json.dumps(plain(replace(config, **usual))))


@lru_cache(maxsize=1024)
def _digest(text: str) -> str:
    return digest(text)


FRESH = 2_000_000_000
"""Nanoseconds: a file that was changed so shortly before may be changed again without another time of change."""

Stamp = tuple[int, int, int, str]
"""When a file was changed, its size and its inode, and what stands for its text."""


class Texts:
    """What stands for the text of each file. A file that has the stamp of an earlier run is not read."""

    def __init__(self) -> None:
        self.known: dict[str, Stamp] = {}
        self.fresh: dict[str, Stamp] = {}
        self._digests: dict[str, str | None] = {}

    def digest(self, path: str) -> str | None:
        """What stands for the text of the file at an absolute path; None where it cannot be read."""
        if path not in self._digests:
            self._digests[path] = self._looked_up(path)
        return self._digests[path]

    def _looked_up(self, path: str) -> str | None:
        try:
            status = os.stat(path)
            stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
            known = self.known.get(path)
            if known and known[:3] == stamp:
                return known[3]
            found = digest(read(path))
        except FileNotFoundError:
            return digest("") if os.path.basename(path) == INIT else None
        except (OSError, ValueError, SourceError):
            return None
        if time.time_ns() - status.st_mtime_ns > FRESH:
            self.fresh[path] = (*stamp, found)
        return found


class Validity:
    """Answers once more what analyses have asked."""

    def __init__(self, texts: Texts, resolver: Resolver, given: Given) -> None:
        self._texts, self._resolver, self._given = texts, resolver, given
        self._in_folder = cache(resolver.by_folder)
        self._located = cache(resolver.locate)
        self._is_imported = cache(resolver.is_imported)
        self._root = cache(resolver.root)
        self._config_below = cache(self._config)

    def holds(self, basis: Basis, main: str) -> bool:
        """Whether the analysis of the file ``main`` would be given what it was given."""
        return (
            basis.text == self._texts.digest(os.path.abspath(main))
            and all(
                self._are_same(importer, asked.items(), basis.adding.get(importer, True))
                for importer, asked in basis.imports.items()
            )
            and all(config == self._config_below(path, self._root(main)) for path, config in basis.configs.items())
            and all(answer == self._is_imported(path) for path, answer in basis.imported.items())
            and all(answer == users_digest(users(path, self._resolver)) for path, answer in basis.users.items())
        )

    def _are_same(self, importer: str, asked: Iterable[tuple[str, Answer | None]], adds: bool) -> bool:
        """Whether imports mean what they meant; the importer ``adds`` folders to ``sys.path``."""
        folder = os.path.dirname(os.path.abspath(importer))
        locate = partial(self._located, importer=importer) if adds else partial(self._in_folder, own=folder)
        return all(answer == self._answer(locate(module)) for module, answer in asked)

    def _answer(self, path: str | None) -> Answer | None:
        found = self._texts.digest(path) if path else None
        return (path, found) if path and found else None

    def _config(self, path: str, root: str) -> str | None:
        return config_digest(checked_below(path, root, self._given))


Answers = Generator[FileResult, None, None]
Compute = Callable[[list[Task], dict[int, FileResult]], Answers]
"""Checks files, in order; it puts what has come before its turn, by number, into a table."""
ASKED = (*FORMATS, BRIEF)
"""All formats that a run may have asked for."""
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


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
        early: dict[int, FileResult] = {}
        left: list[int] = []
        try:
            for number, task in enumerate(tasks):
                if found := self._find(task):
                    known[number] = found
                else:
                    left.append(number)
            asked = [replace(tasks[number], is_recorded=_is_kept(tasks[number])) for number in left]
            with closing(compute(asked, early)) as computed:
                for number, task in enumerate(tasks):
                    yield known.pop(number) if number in known else self._keep(task, next(computed))
        finally:
            come.update(known)
            come.update((left[place], self._keep(tasks[left[place]], result)) for place, result in early.items())

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
            if task.explains_silence and found.unfollowed and not found.is_explained:
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
    helpers = [name for name in ("parso",) if find_spec(name)]
    return f"{__version__} {code} {sys.implementation.name} {sys.version_info[:3]} {' '.join(helpers)}"


def _stamps(folder: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda each: each.name):
            if entry.is_dir(follow_symlinks=False):
                if entry.name != "__pycache__":
                    yield from _stamps(entry.path)
            else:
                yield f"{entry.path} {entry.stat().st_mtime_ns}"


def remove_caches() -> int:
    """``tapelint clean``: remove the caches in the current folder and below, and say which; the exit status."""
    status = 0
    for folder in caches_below(os.curdir):
        try:
            shutil.rmtree(folder)
        except OSError as error:
            tell("error", f"{os.path.normpath(folder)}: cannot be removed: {error.strerror or error}")
            status = 2
        else:
            say(f"Removing cache at: {os.path.normpath(folder)}")
    return status
