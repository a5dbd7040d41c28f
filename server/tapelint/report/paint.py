"""Colours, links, wrapping and widths, by rich. To load it takes 20 ms: only what prints for a person imports this."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import StringIO

from rich.color import ColorSystem
from rich.console import Console
from rich.style import Style
from rich.text import Text
from rich.theme import Theme

from .look import Look, printable

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
