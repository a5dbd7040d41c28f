"""What is looked up in other files. The budget for their text is used first come, first served.

A unit keeps a note of what it looked up. After an edit it is still valid only if it would look up the same, although
other units may now come before it: so the notes are replayed in the order of the units.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..stubs import Resolve, with_stubs

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


class Lookups:
    """What imports mean, and which texts were taken within the budget."""

    # All that was ever asked for: the module's name and the importing file, with path and text of what was found.
    resolved: dict[tuple[str, str], Found | None]
    # The texts that were taken for the text that is analysed now, by path.
    paths: dict[str, str]

    def __init__(self, resolve: Resolve, characters: int) -> None:
        """``characters`` of text may be taken (`Limits.import_characters`)."""
        self._characters = characters
        self._resolve = with_stubs(resolve)
        self.resolved = {}
        self.begin()

    def begin(self) -> None:
        """Nothing is taken yet."""
        self.paths = {}
        self._size = 0
        self._refused: set[str] = set()

    def resume(self, resolve: Resolve) -> None:
        """Begin with another text of the analysed file."""
        self._resolve = with_stubs(resolve)
        self.begin()

    def meaning(self, name: str, importer: str) -> Found | None:
        """What an import means, whatever it costs."""
        key = name, importer
        if key not in self.resolved:
            self.resolved[key] = self._resolve(name, importer)
        return self.resolved[key]

    def take(self, name: str, importer: str) -> Found | None:
        """What an import means, as long as the budget lasts."""
        found = self.meaning(name, importer)
        if found is None or found[0] in self.paths:
            return found
        if found[0] in self._refused or self._size + len(found[1]) > self._characters:
            self._refused.add(found[0])
            return None
        self.paths[found[0]] = found[1]
        self._size += len(found[1])
        return found
