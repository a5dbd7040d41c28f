"""The default output: the finding, its code, what PyTorch says, what it rests on, what to do, the story that leads
there, and the way out.

error[TL201] saved-tensor-modified: Writes `y` in place, which `exp` saved for backward
 --> train.py:3:1
  |
3 | y += 1
  | ^^^^^^
  = PyTorch: “one of the variables needed for gradient computation has been modified by an inplace operation”
  = help: ...
  1. `exp` saves its result
 --> train.py:2:5
  |
2 | y = x.exp()
  |     ^^^^^^^
  = fix: ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher

from ..source import Span
from ..source import rows as rows_of
from .diagnostic import NO_OFFER, Diagnostic, FileEdits, Offer
from .snippet import printable, snippet
from .style import Style, plain

_MOST_CHANGED_ROWS = 12

Lines = Callable[[str], Sequence[str]]
"""The rows of a file by its name; empty where it cannot be read."""


def full(diagnostic: Diagnostic, text: str, lines: Lines, offer: Offer = NO_OFFER, style: Style = plain) -> str:
    """One finding as a block of text. ``text`` is that of the file, or cell, it is in."""
    gutter = _gutter(diagnostic)
    edge = style("gutter", " " * (gutter + 1) + "=")
    parts = [
        f"{style(diagnostic.severity.word, f'{diagnostic.severity.word}[{diagnostic.code}]')} "
        f"{style('bold', f'{diagnostic.name}: {printable(diagnostic.message)}')}",
        _place(diagnostic.filename, diagnostic.span, gutter, style),
        snippet(lines(diagnostic.filename), diagnostic.span, gutter, diagnostic.severity.word, style),
    ]
    notes = (("PyTorch", diagnostic.raises and f"“{diagnostic.raises}”"), ("note", diagnostic.needs))
    for name, note in (*notes, ("help", diagnostic.help)):
        if note:
            parts.append(f"{edge} {style('help', name)}: {printable(note)}")
    for number, link in enumerate(diagnostic.related, 1):
        parts.append(f"{' ' * (gutter + 1)}{style('bold', f'{number}. {printable(link.message)}')}")
        parts.append(_place(link.filename, link.span, gutter, style))
        parts.append(snippet(lines(link.filename), link.span, gutter, "information", style))
    return "\n".join(part for part in parts if part) + "\n" + offered(diagnostic, text, offer, style)


def offered(diagnostic: Diagnostic, text: str, offer: Offer, style: Style = plain, checked: str | None = None) -> str:
    """The end of that block: the best fix, and what else there is; or why there is none. ``text`` is that of the file
    ``checked``, by default the one that the finding is in.
    """
    fixes, gutter, parts = offer.fixes, _gutter(diagnostic), list[str]()
    edge = style("gutter", " " * (gutter + 1) + "=")
    best = next((fix for fix in fixes if fix.preferred), fixes[0] if fixes else None)
    if best:
        asked = f" (made by --fix with --extend-select {diagnostic.code})" if best.applicability == "manual" else ""
        parts.append(f"{edge} {style('help', 'fix')}: {printable(best.title)}{asked}")
        own = (FileEdits(checked or diagnostic.filename, text, best.edits),) if best.edits else ()
        parts.extend(_changes((*own, *best.others), diagnostic, style))
        for other in fixes:
            if other is not best:
                parts.append(f"{edge} {style('help', 'or')}: {printable(other.title)}")
    elif offer.no_fix:
        parts.append(f"{edge} {style('help', 'no safe fix')}: {printable(offer.no_fix)}")
    return "".join(f"{part}\n" for part in parts if part)


def _changes(changes: Sequence[FileEdits], diagnostic: Diagnostic, style: Style) -> Iterator[str]:
    """The rows that a fix changes, below the name of the file where that is not the one of the finding alone."""
    gutter = _gutter(diagnostic)
    for change in changes:
        if len(changes) > 1 or change.filename != diagnostic.filename:
            yield _place(change.filename, change.edits[0].span, gutter, style)
        yield from _changed_rows(change, gutter, style)


def _gutter(diagnostic: Diagnostic) -> int:
    """How many columns the numbers of the rows need."""
    return len(str(max([diagnostic.span.end_row, *(link.span.end_row for link in diagnostic.related)])))


def concise(diagnostic: Diagnostic) -> str:
    """One finding as one line."""
    place = f"{diagnostic.filename}:{diagnostic.span.row}:{diagnostic.span.column}"
    return printable(f"{place}: {diagnostic.code} {diagnostic.message}")


def _place(filename: str, span: Span, gutter: int, style: Style) -> str:
    arrow = style("gutter", " " * gutter + "-->")
    return f"{arrow} {printable(filename)}:{span.row}:{span.column}"


def _changed_rows(change: FileEdits, gutter: int, style: Style) -> Iterator[str]:
    """The rows a fix takes away and the rows it puts there; nothing where these are too many to take in."""
    try:
        fixed = change.after
    except ValueError:
        return
    old, new = rows_of(change.text), rows_of(fixed)
    shown: list[str] = []
    for kind, a, b, c, d in _differences(old, new):
        if kind != "equal":
            shown += [style("removed", f"{row + 1:>{gutter}} - {printable(old[row])}") for row in range(a, b)]
            shown += [style("added", f"{row + 1:>{gutter}} + {printable(new[row])}") for row in range(c, d)]
    if len(shown) <= _MOST_CHANGED_ROWS:
        yield from shown


def _differences(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """What differs, as difflib's opcodes; the long equal beginning and end are not its business."""
    least = min(len(old), len(new))
    head = next((i for i in range(least) if old[i] != new[i]), least)
    tail = next((i for i in range(least - head) if old[-1 - i] != new[-1 - i]), least - head)
    inner_old, inner_new = old[head : len(old) - tail], new[head : len(new) - tail]
    for kind, a, b, c, d in SequenceMatcher(None, inner_old, inner_new, autojunk=False).get_opcodes():
        yield kind, a + head, b + head, c + head, d + head
