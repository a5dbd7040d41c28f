"""An exception of tapelint's own, as it is reported: what it was and where, short enough for one line.

OverflowError: cannot convert float infinity to integer (engine/paths/witnesses.py:99 in _tried)
"""

from __future__ import annotations

import re
import traceback
from dataclasses import field
from pathlib import Path

from .frozen import frozen

_PACKAGE = Path(__file__).resolve().parent
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_LONGEST = 200
_FRAMES = 16
REPORT = "this is a bug of tapelint, please report it"


@frozen
class Fault:
    """One exception: the name of its class, its text in one line, the innermost frame of tapelint, and the last frames
    of its traceback. Two are equal where the same thing went wrong in the same place.
    """

    kind: str
    text: str = field(compare=False)
    frame: str
    trace: str = field(compare=False, repr=False)

    def __str__(self) -> str:
        said = f"{self.kind}: {self.text}" if self.text else self.kind
        return f"{said} ({self.frame})"


def fault_of(error: BaseException) -> Fault:
    """What there is to say of ``error``, which was caught. No addresses: the same fault reads the same in every run."""
    text = _ADDRESS.sub("", " ".join(str(error).split()))
    if len(text) > _LONGEST:
        text = text[: _LONGEST - 3] + "..."
    trace = "".join(traceback.format_exception(type(error), error, error.__traceback__, limit=-_FRAMES, chain=False))
    return Fault(type(error).__name__, text, _frame(error), trace.rstrip())


def _frame(error: BaseException) -> str:
    """The innermost frame in tapelint's own code, as ``engine/paths/witnesses.py:99 in _tried``."""
    found = "outside of tapelint"
    step = error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        path = _PACKAGE.parent / code.co_filename  # compiled code says a path from there
        if path.is_relative_to(_PACKAGE):
            found = f"{path.relative_to(_PACKAGE).as_posix()}:{step.tb_lineno} in {code.co_name}"
        step = step.tb_next
    return found
