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

Colours, links, wrapping and widths are made by rich. It takes 20 ms to load: only who prints for people does.

>>> print(printed(snippet({1: "loss.backward()", 2: "step()"}, Span(1, 1, 1, 5), 2, context=1), PLAIN), end="")
   |
 1 | loss.backward()
   | ^^^^
 2 | step()
   |
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from io import StringIO
from itertools import accumulate
from pathlib import Path

from rich.cells import cell_len, split_graphemes
from rich.color import ColorSystem
from rich.console import Console
from rich.style import Style
from rich.text import Text
from rich.theme import Theme

from ..headline import capitalized
from ..source import Span
from .block import CONTEXT, MOST_ROWS, SAFE, Block, Cure, Row
from .diagnostic import Diagnostic, with_effect
from .look import PLAIN, WIDTH, Look, printable

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
    gutter = len(str(max(_numbers(block, look))))
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
        label = f"{'or' if number else 'fix'} {_made_by(block, cure, look)}".rstrip()
        yield from labelled(label, with_effect(cure.title.removesuffix(_UNSAFE), cure.effect), look.width)
        for filename, groups in cure.changes:
            if len(cure.changes) > 1 or filename != block.diagnostic.filename:
                first = next(row for group in groups for row in group if row.sign != " ")
                yield joined(_arrow(gutter), *_place(filename, Span(first.number, first.begin + 1, 0, 0), look))
            yield from changed([_news(group, seen) for group in groups], gutter, look.width)


def _news(group: Sequence[Row], seen: Set[str]) -> list[Row]:
    """The rows of a change without those that stay and were ``seen`` above it; where rows only come they say where."""
    takes = any(row.sign == "-" for row in group)
    return [row for row in group if row.sign != " " or not takes or row.text not in seen]


def _made_by(block: Block, cure: Cure, look: Look) -> str:
    """Which options make a fix."""
    if cure.option and look.names_options:
        return f"[{cure.option}]"
    if cure.applicability == "manual" and look.names_options:
        return f"[--fix --extend-select {block.diagnostic.code}]"
    return "[unsafe]" if cure.applicability == "unsafe" else ""


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


STYLES = {
    "error": Style.parse("bold red"),
    "warning": Style.parse("bold yellow"),
    "information": Style.parse("bold cyan"),
    "hint": Style.parse("bold blue"),
    "bold": Style.parse("bold"),
    "gutter": Style.parse("bold blue"),
    "note": Style.parse("bold cyan"),
    "help": Style.parse("bold cyan"),
    "removed": Style.parse("red"),
    "added": Style.parse("green"),
}
_CODE = r"`[^`]+`"
_BESIDE = 9
"""A longer label has text below it."""
_UNBOUNDED = 1 << 20
"""Columns of a console that cuts nothing: rows are made to fit before."""


def ansi(style: str, text: str) -> str:
    """Text in the style of this name, as terminals understand it."""
    return STYLES[style].render(text, color_system=ColorSystem.STANDARD)


def styled(text: str, style: str = "", link: str | None = None) -> Text:
    """A text in the style of this name, which leads to ``link``."""
    return Text(printable(text), STYLES.get(style, Style.null()) + Style(link=link))


def wrapped(text: Text, width: int) -> list[Text]:
    """The text in rows of at most so many columns; a word that has no place in one goes on in the next."""
    return [*text.wrap(Console(file=StringIO()), max(width, 1), overflow="fold")] or [text]


def labelled(label: str, text: str, width: int, style: str = "help", indent: str = "") -> Iterator[Text]:
    """The rows of ``label: text``, all of the text right of the label where that is short."""
    head = f"{indent}{label}{'' if label.endswith('.') else ':'} "
    beside = " " * min(len(head), _BESIDE)
    body = styled(" " * (len(head) - len(beside)) + text)
    body.highlight_regex(_CODE, "bold")
    for number, row in enumerate(wrapped(body, width - len(beside))):
        yield joined(styled(head, style), row[len(head) - len(beside) :]) if number == 0 else joined(beside, row)


def joined(*parts: Text | str) -> Text:
    """One row of several pieces."""
    return Text.assemble(*parts)


def printed(rows: Iterable[Text], look: Look) -> str:
    """The rows as one text, each with its line end, with what ``look`` has of colours and links."""
    if not look.is_coloured:
        return "".join(f"{row.plain.rstrip()}\n" for row in rows)
    console = Console(
        file=StringIO(),
        width=_UNBOUNDED,
        force_terminal=True,
        force_jupyter=False,
        color_system="standard",
        legacy_windows=False,
        no_color=False,
        theme=Theme({}, inherit=False),
    )
    with console.capture() as captured:
        for row in rows:
            row.rstrip()
            console.print(row, soft_wrap=True, markup=False, highlight=False, emoji=False)
    return captured.get()


_TAB = 4
"""Columns between the stops of tabs."""
_CUT = "..."


def snippet(
    known: Mapping[int, str], span: Span, gutter: int, width: int = WIDTH, severity: str = "error", context: int = 0
) -> list[Text]:
    """The rows of ``span``, underlined, and so many of ``context`` around it; their numbers take ``gutter`` columns.
    Empty where none of its rows is ``known``.
    """
    inside = [row for row in range(span.row, span.end_row + 1) if row in known]
    if span.row not in known:
        return []
    code = _Code(gutter, width, "" if len(inside) == 1 else "  ")
    rows = [code.edge()]
    rows += code.around(known, range(span.row - context, span.row))
    rows += _underlined(known, span, code, severity) if len(inside) == 1 else _embraced(known, span, code, severity)
    if context:
        rows += [*code.around(known, range(span.end_row + 1, span.end_row + context + 1)), code.edge()]
    return rows


def changed(groups: Iterable[Iterable[Row]], gutter: int, width: int = WIDTH) -> Iterator[Text]:
    """What a fix takes away and puts there, between rows that stay."""
    code = _Code(gutter, width)
    yield code.edge()
    for number, group in enumerate(groups):
        if number:
            yield styled("." * min(gutter, len(_CUT)), "gutter")
        for row in group:
            text, begin, end = _cut(*_spread(row.text, row.begin, row.end), code.room)
            if row.sign == " ":
                yield code.numbered(row.number, text)
                continue
            style = "removed" if row.sign == "-" else "added"
            shown = styled(text, style)
            shown.stylize("bold underline", begin, end)
            counted = " " * gutter if row.sign == "-" else f"{row.number:>{gutter}}"
            yield joined(styled(f"{counted} {row.sign} ", style), shown)
    yield code.edge()


class _Code:
    """Rows of code beside their numbers, and rows beside these, each ``indent`` from the edge."""

    def __init__(self, gutter: int, width: int, indent: str = "") -> None:
        self.gutter, self.indent = gutter, indent
        self.room = max(width - gutter - 3 - len(indent), len(_CUT) * 3)

    def edge(self) -> Text:
        """The row above all, or below."""
        return styled(f"{'':{self.gutter}} |", "gutter")

    def beside(self, *parts: Text | str) -> Text:
        """A row below one of code."""
        return joined(self.edge(), " ", *parts)

    def numbered(self, number: int, text: str, mark: Text | None = None) -> Text:
        """A row of code, with what marks it instead of the indent."""
        shown = styled(text)
        return joined(styled(f"{number:>{self.gutter}} |", "gutter"), " ", mark or self.indent, shown)

    def around(self, known: Mapping[int, str], numbers: Iterable[int]) -> Iterator[Text]:
        """The rows of these numbers, where there is something in them."""
        for number in numbers:
            if known.get(number, "").strip():
                yield self.numbered(number, _cut(*_spread(known[number]), self.room)[0])


def _underlined(known: Mapping[int, str], span: Span, code: _Code, severity: str) -> Iterator[Text]:
    """One row with carets."""
    line = known[span.row]
    end = span.end_column - 1 if span.row == span.end_row else len(line.rstrip())
    text, begin, end = _cut(*_spread(line, span.column - 1, end), code.room)
    yield code.numbered(span.row, text)
    carets = "^" * max(1, cell_len(printable(text[begin:end])))
    yield code.beside(" " * cell_len(printable(text[:begin])), styled(carets, severity))


def _embraced(known: Mapping[int, str], span: Span, code: _Code, severity: str) -> Iterator[Text]:
    """Several rows with a line on their left, from where the span begins to where it ends."""
    last = min(span.end_row, max(known))
    bar = styled("| ", severity)
    text, begin, _ = _cut(*_spread(known[span.row], span.column - 1, span.column), code.room)
    if text[:begin].strip():
        yield code.numbered(span.row, text)
        yield code.beside(" ", styled(f"{'_' * (cell_len(printable(text[:begin])) + 1)}^", severity))
    else:
        yield code.numbered(span.row, text, styled("/ ", severity))
    is_whole = last - span.row < MOST_ROWS
    for row in range(span.row + 1, last):
        if is_whole or row < span.row + MOST_ROWS // 2:
            yield code.numbered(row, _cut(*_spread(known[row]), code.room)[0], bar)
    if not is_whole:
        yield joined(styled("." * min(code.gutter, len(_CUT)), "gutter"), " " * max(3, code.gutter), bar)
    line = known[last]
    end = span.end_column - 1 if last == span.end_row else len(line.rstrip())
    text, _, end = _cut(*_spread(line, 0, max(end, 1)), code.room)
    yield code.numbered(last, text, bar)
    yield code.beside(styled(f"|{'_' * cell_len(printable(text[:end]))}^", severity))


def _spread(line: str, begin: int = 0, end: int = 0) -> tuple[str, int, int]:
    """A row with its tabs as blanks, as wide here as everywhere, and where ``begin`` and ``end`` are in it then."""
    if "\t" not in line:
        return line, begin, end
    places, text = [0], ""
    for sign in line:
        text += " " * (_TAB - cell_len(printable(text)) % _TAB) if sign == "\t" else sign
        places.append(len(text))
    return text, places[min(begin, len(line))], places[min(end, len(line))]


def _cut(line: str, begin: int, end: int, room: int) -> tuple[str, int, int]:
    """What of a row to show in ``room`` cells, with ``begin`` and ``end`` in it: its beginning where enough of what is
    between them has a place in that, else what is around them.
    """
    line = printable(line)
    signs, total = split_graphemes(line)
    if max(total, cell_len(line[:begin]) + 1) <= room or not signs:
        return line, begin, end
    starts = [start for start, _, _ in signs]
    cells = [0, *accumulate(size for _, _, size in signs)]  # before each sign, and of all
    where = cells[bisect_right(starts, begin) - 1]
    if where <= room // 2 or cells[bisect_right(starts, max(end - 1, 0))] <= room - len(_CUT):
        left = 0
    else:
        free = room - 2 * len(_CUT)
        left = bisect_right(cells, max(0, min(where - free // 3, total - free)))  # a third of it before the finding
        left = min(left, bisect_right(starts, begin) - 1)
    before = _CUT if left else ""
    most = cells[left] + room - len(before)
    right = len(signs) if total <= most else bisect_right(cells, most - len(_CUT)) - 1
    first, after = starts[left], "" if right == len(signs) else _CUT
    last = len(line) if right == len(signs) else starts[right]
    shift = len(before) - first
    return before + line[first:last] + after, begin + shift, max(min(end, last), begin) + shift
