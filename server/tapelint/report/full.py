"""The default output: what is wrong, what to do, and in one line what leads there.

error[TL201] [*] Writes `y` in place, but `exp` saved it for `y.sum().backward()`
 --> train.py:3:1
  |
2 | y = x.exp()
3 | y += 1
  | ^^^^^^
4 | y.sum().backward()
  |
PyTorch: “one of the variables needed for gradient computation has been modified by an inplace operation”
help: ...
fix [--fix]: Write out of place: compute a new tensor
  |
  - y += 1
3 + y = y + 1
  |
story: 3 steps, first at train.py:2; show with --story
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from pathlib import Path

from rich.text import Text

from ..headline import capitalized
from ..source import Span
from .block import CONTEXT, SAFE, Block, Cure, Row
from .diagnostic import Diagnostic
from .look import PLAIN, Look, printable
from .paint import joined, labelled, printed, styled, wrapped
from .snippet import changed, columns_for, snippet

_UNSAFE = " [unsafe]"
"""How titles end where options are not known, as in editors."""


def full(block: Block, look: Look = PLAIN) -> str:
    """One finding as a block of text."""
    return printed(_rows(block, look), look)


def _title(diagnostic: Diagnostic, fixable: str, look: Look) -> Iterator[Text | str]:
    word = diagnostic.severity.word
    yield styled(f"{word}[{diagnostic.code}]", word, diagnostic.url if look.has_links else None)
    if fixable == SAFE:
        yield joined(" [", styled("*", "help"), "]")
    yield joined(" ", styled(diagnostic.message))


def _rows(block: Block, look: Look) -> Iterator[Text]:
    diagnostic = block.diagnostic
    title = joined(*_title(diagnostic, block.fixable, look))
    title.stylize("bold")
    yield from wrapped(title, look.width)
    known: dict[str, dict[int, str]] = defaultdict(dict)
    for filename, row in block.rows:
        known[filename][row.number] = row.text
    gutter = columns_for(_numbers(block, look))
    yield joined(_arrow(gutter), *_place(diagnostic.filename, diagnostic.span, look))
    own, word = known[diagnostic.filename], diagnostic.severity.word
    yield from snippet(own, diagnostic.span, gutter, look.width, word, CONTEXT)
    if diagnostic.raises:
        yield from labelled("PyTorch", f"“{diagnostic.raises}”", look.width)
    if diagnostic.help:
        yield from labelled("help", diagnostic.help, look.width)
    yield from _cures(block, gutter, look)
    if diagnostic.needs:
        yield from labelled("note", diagnostic.needs, look.width)
    if look.has_story:
        yield from _story(block, known, gutter, look)
    elif diagnostic.related:
        first, count = diagnostic.related[0], len(diagnostic.steps)
        steps = "1 step" if count == 1 else f"{count} steps, first"
        at = f"{os.path.basename(first.filename)}:{first.span.row}"
        yield from labelled("story", f"{steps} at {at}; show with --story", look.width)


def _cures(block: Block, gutter: int, look: Look) -> Iterator[Text]:
    """The best fix, and what else there is; or why there is none."""
    at = block.diagnostic
    around = range(at.span.row - CONTEXT, at.span.end_row + CONTEXT + 1)
    seen = {row.text for filename, row in block.rows if filename == at.filename and row.number in around}
    if not block.cures and block.no_fix:
        yield from labelled("no safe fix", block.no_fix, look.width)
    for number, cure in enumerate(block.cures):
        label = f"{'or' if number else 'fix'} {_made_by(block, cure)}".rstrip()
        yield from labelled(label, cure.title.removesuffix(_UNSAFE), look.width)
        for filename, groups in cure.changes:
            if len(cure.changes) > 1 or filename != block.diagnostic.filename:
                first = next(row for group in groups for row in group if row.sign != " ")
                yield joined(_arrow(gutter), *_place(filename, Span(first.number, first.begin + 1, 0, 0), look))
            yield from changed([_news(group, seen) for group in groups], gutter, look.width)


def _news(group: Sequence[Row], seen: Set[str]) -> list[Row]:
    """The rows of a change without those that stay and were ``seen`` above it; where rows only come they say where."""
    takes = any(row.sign == "-" for row in group)
    return [row for row in group if row.sign != " " or not takes or row.text not in seen]


def _made_by(block: Block, cure: Cure) -> str:
    """Which options make a fix."""
    if cure.option:
        return f"[{cure.option}]"
    if cure.applicability == "manual":
        return f"[--fix --extend-select {block.diagnostic.code}]"
    return "" if cure.applicability == "safe" else "[unsafe]"


def _story(block: Block, known: dict[str, dict[int, str]], gutter: int, look: Look) -> Iterator[Text]:
    """Each step that leads to the finding, in the order of the execution; the last may be that it raises."""
    at = block.diagnostic
    if at.related:
        yield styled("story:", "help")
    for number, step in enumerate(at.related, 1):
        yield from labelled(f"{number}.", step.message, look.width, "bold", " " * (gutter + 1))
        yield joined(_arrow(gutter), *_place(step.filename, step.span, look))
        yield from snippet(known[step.filename], step.span, gutter, look.width, "information")
    if at.related and at.short:
        label = f"{len(at.steps)}."
        yield from labelled(label, capitalized(at.short), look.width, "bold", " " * (gutter + 1))
        yield joined(_arrow(gutter), *_place(at.filename, at.span, look))


def _numbers(block: Block, look: Look) -> Iterator[int]:
    """The numbers of the rows that are shown."""
    yield block.diagnostic.span.row
    yield from (row.number for filename, row in block.rows if filename == block.diagnostic.filename or look.has_story)
    yield from (row.number for cure in block.cures for _, groups in cure.changes for group in groups for row in group)


def _arrow(gutter: int) -> Text:
    return styled(f"{'':{gutter}}--> ", "gutter")


def _place(filename: str, span: Span, look: Look) -> Iterator[Text]:
    """``train.py:3:1``, which opens the file where the terminal can do that."""
    at = f":{span.row}:{span.column}"
    link = None
    if look.has_links and os.path.isfile(filename):
        link = f"{Path(os.path.abspath(filename)).as_uri()}#{span.row}"
    yield styled(f"{printable(_seen_from(look.folder, filename))}{at}", "", link)


def _seen_from(folder: str | None, filename: str) -> str:
    """A path as a user in a folder would write it."""
    if folder is None or not os.path.isabs(filename) or not filename.startswith(os.path.join(folder, "")):
        return filename
    return os.path.relpath(filename, folder)
