"""What the analysis of a file asked for beside its text, noted in the process that does it.

train.py     import helper     is helper.py, whose text has this digest
train.py     import wandb      is not found: a wandb.py that appears would answer
"""

from __future__ import annotations

import json
import os
from dataclasses import field, replace
from functools import lru_cache

from ...frozen import frozen
from ...report.notice import Kind
from ...workspace import Config, Given, Resolver, checked_below
from ...workspace.callers import users
from ...workspace.config import OF_A_PROJECT, OF_A_RUN
from ..task import FileResult
from .encoding import digest, plain

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
