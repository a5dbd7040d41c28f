"""Who uses what a file defines: scripts, examples, tests, notebooks, other modules of the project.

    project/nets/unet.py        class UNet
    project/nets/__init__.py    from .unet import UNet
    project/train.py            from nets import UNet            a script: comes first
    project/tests/test_unet.py  from nets.unet import UNet

Text first: a file whose import statements have none of the words cannot import the file. What is left is parsed, and
its imports are resolved. A project is looked at as long as it has not too many files or too much text.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from ..bounds import BOUNDS
from ..frozen import frozen
from ..source import NOTEBOOK, SourceError, notebook, read
from ..source.pytest_files import TestConventions
from .files import discover, is_excluded_by_name
from .importers import imported_words
from .mentions import ALL, mentioned, outline
from .resolver import Resolver


@frozen
class Caller:
    """A file that uses another one, by these names."""

    path: str
    names: frozenset[str]


@frozen
class Callers:
    """The callers of some files, the best first; ``of`` says by path which each has. The search ``was_cut`` where the
    project is too large.
    """

    of: Mapping[str, tuple[Caller, ...]]
    was_cut: bool = False


def find_callers(
    targets: Sequence[str], resolver: Resolver, few: int = 3, cancel: Callable[[], bool] = lambda: False
) -> Callers:
    """The callers of each of the files ``targets`` (absolute paths) in their projects, ``few`` at most; the files
    themselves are among them. Nothing more is looked for once ``cancel()`` is true.
    """
    wanted = {target: words for target in targets if (words := _words_of(target, resolver))}
    found: dict[str, list[tuple[tuple[int, int, int, str], Caller]]] = {target: [] for target in wanted}
    was_cut = False
    for root in sorted({resolver.root(target) for target in wanted}):
        below = {target: words for target, words in wanted.items() if resolver.root(target) == root}
        search = _Search(root)
        for path, target in _candidates(search, below, resolver, cancel):
            if cancel():
                return Callers({})
            ranked = _ranked(path, target, below[target], resolver) if len(found[target]) < 2 * few else None
            if ranked is not None:
                found[target].append(ranked)
        was_cut |= search.was_cut
    best = {target: tuple(caller for _, caller in sorted(each, key=_rank)[:few]) for target, each in found.items()}
    return Callers(best, was_cut)


def users(path: str, resolver: Resolver) -> dict[str, str] | None:
    """The files of the project that use what a file defines, with their texts; None where there may be more."""
    target = os.path.abspath(path)
    found = find_callers([target], resolver, BOUNDS.parsed_callers)
    paths = [caller.path for caller in found.of.get(target, ())]
    if found.was_cut or len(paths) >= BOUNDS.parsed_callers:
        return None
    resolver.found.update(paths)
    return {path: text_of(path, resolver) or "" for path in paths}


def _rank(each: tuple[tuple[int, int, int, str], Caller]) -> tuple[int, int, int, str]:
    return each[0]


def _words_of(target: str, resolver: Resolver) -> frozenset[str]:
    """The words one of which every import of a file has: its own name, and what it defines for those between."""
    folder, name = os.path.split(target)
    stem = name.rpartition(".")[0]
    text = resolver.text(target)
    if not name.endswith(".py") or not text or not outline(text).has_functions:
        return frozenset()
    defined = {word for word in outline(text).defines if not word.startswith("__")}
    return frozenset(defined | {os.path.basename(folder) if stem == "__init__" else stem}) if defined else frozenset()


class _Search:
    """The files of a project, as far as they are looked at."""

    def __init__(self, root: str) -> None:
        self.root, self.was_cut = root, False
        self._files = self._bytes = 0

    def files(self, unsaved: Mapping[str, str]) -> Iterator[tuple[str, _Looked]]:
        """Each file with what is looked at of its text: ``unsaved``, by absolute path, or as it is on disk."""
        for path in discover(self.root, self._is_enough):
            if self.was_cut:
                return
            text = unsaved.get(path)
            found = self._on_disk(path)
            if found is not None:
                yield path, found if text is None else _looked_at(path, text.encode("utf-8", "replace"))

    def _is_enough(self, path: str) -> bool:
        """Leaves out what is usually excluded, and whatever comes after the last file that is looked at."""
        self._files += 1
        self.was_cut |= self._files > BOUNDS.project_files or self._bytes > BOUNDS.project_bytes
        return self.was_cut or is_excluded_by_name(path)

    def _on_disk(self, path: str) -> _Looked | None:
        try:
            status = os.stat(path)
            self._bytes += min(status.st_size, BOUNDS.caller_bytes)
            return (
                _read(path, status.st_mtime_ns, status.st_size) if 0 < status.st_size <= BOUNDS.caller_bytes else None
            )
        except OSError:
            return None


@frozen
class _Looked:
    """What is looked at of each file: the words of its import statements, and whether it has ``__name__`` in it."""

    words: tuple[str, ...]
    has_name: bool


@lru_cache(maxsize=2 * BOUNDS.project_files)
def _read(path: str, changed: int, size: int) -> _Looked:
    return _looked_at(path, Path(path).read_bytes())


def _looked_at(path: str, data: bytes) -> _Looked:
    return _Looked(tuple(map(sys.intern, _words(path, data))), b"__name__" in data)


def _candidates(
    search: _Search, wanted: Mapping[str, frozenset[str]], resolver: Resolver, cancel: Callable[[], bool]
) -> Iterator[tuple[str, str]]:
    """The files that may import one of those wanted, each with that one; for each the nearest."""
    by_word: dict[str, list[str]] = {}
    for target, words in wanted.items():
        for word in words:
            by_word.setdefault(word, []).append(target)
    near: dict[str, list[tuple[int, int, str]]] = {target: [] for target in wanted}
    for path, found in search.files(resolver.unsaved):
        if cancel():
            return
        for target in {target for word in found.words for target in by_word.get(word, ())} - {path}:
            near[target].append((_kind(path, found.has_name), _distance(path, target), path))
    for target, paths in near.items():
        yield from ((path, target) for *_, path in sorted(paths)[: BOUNDS.parsed_callers])


_IMPORT = re.compile(rb"^[ \t]*(?:from[ \t]+[\w.]+[ \t]+)?import\b(?:[^(\\\n]|\\\r?\n)*(?:\([^)]*\))?", re.MULTILINE)
_WORD = re.compile(rb"\w+")


def _words(path: str, data: bytes) -> frozenset[str]:
    """The words of the import statements of a file, rather one too many than one too few."""
    if path.endswith(NOTEBOOK):
        return imported_words(data.decode("utf-8", "replace"))
    statements = b"\n".join(_IMPORT.findall(data))
    return frozenset(word.decode("utf-8", "replace") for word in _WORD.findall(statements))


def _ranked(
    path: str, target: str, words: frozenset[str], resolver: Resolver
) -> tuple[tuple[int, int, int, str], Caller] | None:
    """A candidate that does import the file, with its rank: scripts, tests, others; then those that use more."""
    text = text_of(path, resolver)
    if not text:
        return None
    own = outline(text)
    names = mentioned(own, path, target, words, resolver.by_path, resolver.text)
    if not names:
        return None
    uses = sum(text.count(name) for name in names if name != ALL)
    share = 1000 * uses // (text.count("\n") + 1)  # a file about it before a long one that uses it now and then
    return (_kind(path, own.is_script), _distance(path, target), -share, path), Caller(path, frozenset(names))


def _kind(path: str, is_script: bool) -> int:
    """0 for scripts and notebooks, 1 for what pytest runs, 2 for other modules."""
    if TestConventions().is_test_file(path):
        return 1
    return 0 if is_script or path.endswith(NOTEBOOK) else 2


def text_of(path: str, resolver: Resolver) -> str | None:
    """The program in a file, or in a notebook."""
    if not path.endswith(NOTEBOOK):
        return resolver.text(path)
    try:
        return notebook(read(path)).text
    except SourceError:
        return None


def _distance(path: str, target: str) -> int:
    """How many folders lie between two files."""
    one, other = path.split(os.sep)[:-1], target.split(os.sep)[:-1]
    same = len(os.path.commonprefix([one, other]))
    return len(one) + len(other) - 2 * same


def best_of_all(found: Callers, known: Iterable[str], most: int) -> dict[str, tuple[int, frozenset[str]]]:
    """The callers of several files that are not ``known`` to be executed anyway, ``most`` at most: the best of every
    file before the second best of any. With each comes its rank, and all names that it uses.
    """
    names: dict[str, tuple[int, frozenset[str]]] = {}
    left = set(known)
    for rank, each in _in_turn([*found.of.values()]):
        before = names.get(each.path)
        if each.path not in left and (before is not None or len(names) < most):
            names[each.path] = (rank, each.names) if before is None else (before[0], before[1] | each.names)
    return names


def _in_turn(lists: Sequence[Sequence[Caller]]) -> Iterator[tuple[int, Caller]]:
    """The first of every list, then the second of every one, and so on, each with its number from 0."""
    for number in range(max(map(len, lists), default=0)):
        yield from ((number, each[number]) for each in lists if number < len(each))
