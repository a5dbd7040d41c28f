"""A trace as text: what was executed, line by line, in the order of execution.

script
   4 | y = torch.exp(w)
     > built ExpBackward0 #1 <- w; saves result (version 0)
     > y: ExpBackward0 #1, version 0
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ..frozen import frozen

WIDTH = 100
GUTTER = " " * 5


@frozen
class Binding:
    """What is known of a name at a statement; ``is_bound`` where the statement binds it."""

    name: str
    text: str
    is_bound: bool


@dataclass(slots=True)
class Passage:
    """A statement on one path, from where it begins, or goes on after what it has called, to where another begins."""

    # The entry point, and where in it: the function, the iterations, the path and its condition.
    entry: str
    context: str
    # The first and the last row of the statement without the blocks in it.
    first: int
    last: int
    text: str
    # Of the scope and the path: names are not described again while nothing about them has changed.
    scope: tuple[object, ...]
    goes_on: bool = False
    notes: list[str | Binding] = field(default_factory=list)


def render(passages: Iterable[Passage], line: int | None = None) -> Iterator[str]:
    """The lines of a trace; of one ``line`` of the file, if that is given, with every name that it reads."""
    entry = context = ""
    known: dict[tuple[object, ...], str] = {}
    for passage in passages:
        if line is not None and not passage.first <= line <= passage.last:
            continue
        notes = list(_news(passage, known, line is not None))
        if passage.goes_on and not notes:
            continue
        if passage.entry != entry:
            yield from ("", passage.entry) if entry else (passage.entry,)
            entry, context = passage.entry, ""
        if passage.context != context:
            context = passage.context
            yield from _wrapped(f"{GUTTER}-- ", context or "at the top level", f"{GUTTER}   ")
        more = " (goes on)" if passage.goes_on else ""
        yield f"{passage.first:4} | {passage.text}"[: WIDTH - len(more)] + more
        for note in notes:
            yield from _wrapped(f"{GUTTER}> ", note, f"{GUTTER}    ")


def _news(passage: Passage, known: dict[tuple[object, ...], str], is_all: bool) -> Iterator[str]:
    """The notes of a passage, but for names that it reads as they were described before."""
    for note in passage.notes:
        if isinstance(note, str):
            yield note
            continue
        key = *passage.scope, note.name
        if is_all or note.is_bound or known.get(key) != note.text:
            yield f"{note.name}: {note.text}"
        known[key] = note.text


def _wrapped(first: str, text: str, rest: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )
