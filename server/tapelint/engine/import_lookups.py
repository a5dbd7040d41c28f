"""What is looked up in other files. The budget for their text is used first come, first served.

A unit keeps a note of what it looked up. After an edit it is still valid only if it would look up the same, although
other units may now come before it: so the notes are replayed in the order of the units. A module that the analysis of
another file has executed is replayed in the same way, and what its imports meant is asked for again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ..stubs import INSTALLED, Resolve, with_stubs
from .limits import Limits

Found = tuple[str, str]
"""The path and the text of a module."""


@dataclass(slots=True)
class ImportLookups:
    """What a unit looked up in other files."""

    # Of an import (the module's name and the importing file): whether its text was taken. Of an executed module (its
    # path): whether it was running just then, or None where no budget was left to execute it.
    notes: dict[tuple[str, str] | str, bool | None] = field(default_factory=dict)
    # Names that no module has: the file that asked, and the name.
    absent: set[tuple[str, str]] = field(default_factory=set)
    # What imports meant that it asked about, in the order of asking: the module's name and the importing file.
    meanings: dict[tuple[str, str], Found | None] = field(default_factory=dict)
    # Whether modules that it asked about are far from PyTorch, by path.
    torch_free: dict[str, bool] = field(default_factory=dict)
    # Whether it read the file that is analysed.
    has_read_main: bool = False
    # Whether it did not follow a name because a module around it was just following that name.
    is_inside_circle: bool = False

    @property
    def holds_for_any_file(self) -> bool:
        """Whether all that it looked up may be the same for another file that is analysed: no budget left anything out,
        and neither that file nor what was around it had a part in it.
        """
        if self.has_read_main or self.is_inside_circle:
            return False
        return not any(then is None if isinstance(what, str) else not then for what, then in self.notes.items())


class Lookups:
    """What imports mean, and which texts were taken within the budget."""

    # All that was ever asked for: the module's name and the importing file, with path and text of what was found.
    resolved: dict[tuple[str, str], Found | None]
    # The texts that were taken for the text that is analysed now, by path.
    paths: dict[str, str]

    def __init__(self, resolve: Resolve, limits: Limits, notes: Callable[[], ImportLookups]) -> None:
        self._limits, self._notes = limits, notes
        self._resolve = with_stubs(resolve)
        self._libraries: set[str] = set()
        self.resolved = {}
        self.begin()

    def begin(self) -> None:
        """Nothing is taken yet."""
        self.paths = {}
        self._left = {False: self._limits.import_characters, True: self._limits.library_characters}
        self._refused: set[str] = set()

    def resume(self, resolve: Resolve) -> None:
        """Begin with another text of the analysed file."""
        self._resolve = with_stubs(resolve)
        self.begin()

    def meaning(self, name: str, importer: str) -> Found | None:
        """What an import means, whatever it costs."""
        key = name, importer
        if key not in self.resolved:
            found = self.resolved[key] = self._resolve(name, importer)
            if found is not None and (name.startswith(INSTALLED) or importer in self._libraries):
                self._libraries.add(found[0])
        found = self._notes().meanings[key] = self.resolved[key]
        return found

    def is_library(self, path: str) -> bool:
        """Whether a file is of an installed library. What these cost is counted by itself: they take nothing from the
        files of the workspace.
        """
        return path in self._libraries

    def take(self, name: str, importer: str) -> Found | None:
        """What an import means, as long as the budget lasts."""
        found = self.meaning(name, importer)
        if found is None or found[0] in self.paths:
            return found
        path, text = found
        if path in self._refused or len(text) > self._left[self.is_library(path)]:
            self._refused.add(path)
            return None
        self.paths[path] = text
        self._left[self.is_library(path)] -= len(text)
        return found
