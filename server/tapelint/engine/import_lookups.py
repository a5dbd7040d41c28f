"""What is looked up in other files, in the order in which it is: a budget for text is used by those that come first.

A step keeps a note of what it has looked up. After an edit, that step is what it was only if it would be answered the
same again, where others may have come before it: so notes are gone through once more, in the order of the steps.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..stubs import Resolve, with_stubs

Found = tuple[str, str]
"""The path and the text of a module."""


@dataclass(slots=True)
class ImportLookups:
    """What a step has looked up: modules by name and importing file, with whether they were taken; modules executed,
    by path, with whether they were running just then, or None if there was no budget left to run them. ``absent`` are
    the names that were found in no module, by the file that asked for them.
    """

    notes: dict[tuple[str, str] | str, bool | None] = field(default_factory=dict)
    absent: set[tuple[str, str]] = field(default_factory=set)


class Lookups:
    """What imports mean. ``resolved`` is all that was ever asked for, whether it was then taken or not; ``paths`` are
    the texts taken by what has been executed for the text analysed now.
    """

    def __init__(self, resolve: Resolve, characters: int) -> None:
        """``characters`` of text may be taken (`Limits.import_characters`)."""
        self._characters = characters
        self._resolve = with_stubs(resolve)
        self.resolved: dict[tuple[str, str], Found | None] = {}
        self.begin()

    def begin(self) -> None:
        """Nothing is taken yet."""
        self.paths: dict[str, str] = {}
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
