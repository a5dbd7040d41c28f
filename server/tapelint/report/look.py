"""What a stream can show: how wide it is, colours, links, text that does no harm there. Nothing is loaded for that;
:mod:`.full` makes use of it.
"""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Callable
from importlib import import_module
from typing import TextIO

from ..frozen import frozen

Style = Callable[[str, str], str]
"""``style(name, text)``: the text in one of the styles of :mod:`.full`."""

WIDTH = 80
"""How wide text is where that is not known."""
_NARROWEST = 40
_LINKING_PROGRAMS = frozenset(("Hyper", "iTerm.app", "terminology", "WezTerm", "vscode", "ghostty", "zed"))
_LINKING_TERMINALS = frozenset(("xterm-kitty", "alacritty", "alacritty-direct", "foot", "xterm-ghostty"))
_FIRST_LINKING_VTE = 5000


@frozen
class Look:
    """How findings are printed for a person: in how many columns, with each step of the story or with one line for all
    of them, in colour, with links (OSC 8). Paths below ``folder`` are printed as they are seen from there. Options of
    the command line are named where it is at hand.
    """

    width: int = WIDTH
    has_story: bool = True
    is_coloured: bool = False
    has_links: bool = False
    folder: str | None = None
    names_options: bool = True


PLAIN = Look()


def look_for(stream: TextIO, has_story: bool = True, is_terminal: bool = True) -> Look:
    """How to print to ``stream``; without ``is_terminal`` it is a file that was named."""
    if not is_terminal:
        return Look(has_story=has_story)
    has_colours = is_coloured(stream)
    return Look(_columns(stream), has_story, has_colours, has_colours and _has_links(stream))


def style_for(is_coloured: bool) -> Style:
    """The styles of :mod:`.full`, which is loaded for that, or none."""
    if not is_coloured:
        return plain
    ansi: Style = import_module(".full", __package__).ansi
    return ansi


def plain(style: str, text: str) -> str:
    """Text without colour."""
    return text


def is_coloured(stream: TextIO) -> bool:
    """Whether to colour what goes to ``stream``: see https://no-color.org and https://force-color.org."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    if not stream.isatty() or os.environ.get("TERM") == "dumb":
        return False
    return sys.platform != "win32" or _understands_escapes()


def _understands_escapes() -> bool:
    """Whether Windows' console does."""
    from rich.console import detect_legacy_windows

    return not detect_legacy_windows()


def _columns(stream: TextIO) -> int:
    """How wide the terminal is: as COLUMNS says, or as it says itself."""
    try:
        columns = int(os.environ.get("COLUMNS", ""))
    except ValueError:
        columns = 0
    if columns <= 0:
        try:
            columns = os.get_terminal_size(stream.fileno()).columns
        except (OSError, ValueError, AttributeError):
            columns = 0
    return max(columns, _NARROWEST) if columns > 0 else WIDTH


def _has_links(stream: TextIO) -> bool:
    """Whether text can be a link: no terminal can be asked, so this knows those that can do it, as ruff does."""
    forced = os.environ.get("FORCE_HYPERLINK")
    if forced is not None:
        return forced.strip() != "0"
    if not stream.isatty() or "CI" in os.environ:
        return False
    if any(name in os.environ for name in ("DOMTERM", "WT_SESSION", "KONSOLE_VERSION")):
        return True
    vte = os.environ.get("VTE_VERSION", "")
    return (
        (vte.isdigit() and int(vte) >= _FIRST_LINKING_VTE)
        or os.environ.get("TERM_PROGRAM") in _LINKING_PROGRAMS
        or os.environ.get("TERM") in _LINKING_TERMINALS
    )


# Signs that make a terminal show text in another order than it is executed in.
_REORDERING = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})


def printable(text: str) -> str:
    """Text that cannot move a terminal's cursor: every control character but the tab as ``\\ufffd``."""
    if text.isprintable():
        return text
    return "".join(sign if sign == "\t" or not _is_control(sign) else "\ufffd" for sign in text)


def _is_control(sign: str) -> bool:
    return unicodedata.category(sign) in ("Cc", "Cs", "Zl", "Zp") or unicodedata.bidirectional(sign) in _REORDERING
