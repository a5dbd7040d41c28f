"""A line for each finding.

train.py:3:1: error[TL201] [*] Writes `y` in place, but `exp` saved it for `y.sum().backward()`
"""

from __future__ import annotations

from .block import SAFE
from .diagnostic import Diagnostic
from .look import Style, plain
from .printable import printable


def concise(diagnostic: Diagnostic, fixable: str = "", style: Style = plain) -> str:
    """One finding as one line, ``[*]`` where ``--fix`` cures it."""
    word, span = diagnostic.severity.word, diagnostic.span
    mark = f" [{style('help', '*')}]" if fixable == SAFE else ""
    place = f"{style('bold', printable(diagnostic.filename))}:{span.row}:{span.column}"
    return f"{place}: {style(word, f'{word}[{diagnostic.code}]')}{mark} {printable(diagnostic.message)}"
