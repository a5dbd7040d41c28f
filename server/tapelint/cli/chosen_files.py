"""Which files a run is about: the named ones, and in folders those that neither configuration nor git leave out."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

from ..source import SourceError
from ..workspace import Config, ConfigError, Given, IgnoreFiles, discover, is_excluded_by_name

Complaint = Literal["configuration", "not_read"]
"""What is wrong: a configuration, or a folder that cannot be listed."""
Fail = Callable[[str, Complaint], object]
"""Takes what could not be done, in a sentence, and what is wrong."""


class Selection:
    """The configuration of each path under what the command line says. What cannot be used goes to ``fail``, once."""

    def __init__(self, given: Given, fail: Fail) -> None:
        self._given, self._fail = given, fail
        self._complaints: set[str] = set()
        # how often something could not be used, repetitions included
        self.complained = 0
        self._configs: dict[str, Config | None] = {}

    def config(self, near: str) -> Config | None:
        """The configuration of a file or folder; None where it cannot be used. All files in a folder have the same."""
        folder = near if os.path.isdir(near) else os.path.dirname(near) or os.curdir
        if folder not in self._configs:
            self._configs[folder] = self._read(folder)
        return self._configs[folder]

    def _read(self, folder: str) -> Config | None:
        try:
            return self._given.config(Path(folder))
        except ConfigError as error:
            self._complain(str(error), "configuration")
        return None

    def is_left_out(self, named: str) -> bool:
        """Whether a path is not to be checked although it was named."""
        config = self.config(named)
        return config is not None and config.force_exclude and config.excludes(named)

    def files(self, named: str) -> Iterator[str]:
        """The file, or all files in the folder, at a path that was named, in a stable order."""
        if self.is_left_out(named):
            return
        own = self.config(named)
        is_wanted = own is not None and own.excludes(named)  # named all the same: what is excluded by its names counts
        ignored = IgnoreFiles(named)

        def is_excluded(path: str) -> bool:
            config = self.config(path)
            if config is None:
                return False  # it is said why; the run ends with status 2
            by_name = is_excluded_by_name(path) if is_wanted else config.excludes(path)
            return by_name or (config.respect_gitignore and ignored.ignores(path))

        yield from discover(named, is_excluded, self._cannot_list)

    def _cannot_list(self, error: OSError) -> None:
        self._complain(f"{error.filename}: cannot be read: {error.strerror}", "not_read")

    def _complain(self, message: str, what: Complaint) -> None:
        self.complained += 1
        if message not in self._complaints:
            self._complaints.add(message)
            self._fail(message, what)


def standard_input() -> bytes:
    """All of standard input; raises SourceError where it is closed or a folder."""
    if sys.stdin is None:
        raise SourceError("standard input is closed")
    try:
        return sys.stdin.buffer.read()
    except OSError as error:
        raise SourceError(error.strerror or str(error)) from error


def absence(path: str) -> str:
    """Why there is nothing at a path: often a folder on the way there may not be searched."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        pass
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return "no such file or folder"
