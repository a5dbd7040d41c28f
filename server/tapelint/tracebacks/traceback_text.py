"""Tracebacks in the forms in which people copy them.

    File "train.py", line 8, in main            Python, with or without what a launcher puts before each line
    File ~/work/train.py:8, in main(args)       IPython 8
    Cell In[3], line 8                          IPython 8, a cell of a notebook
    <ipython-input-3-1f> in main(args)          IPython before, the row stands in the line with the arrow
    train.py:8: in main                         pytest
    │ /home/me/train.py:8 in main               │   rich

Nothing is refused: what is no traceback has no frames, and a text without the name of an exception is its message.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from ..frozen import frozen


@frozen
class Frame:
    """One call: a row (from 1) of a file, as the machine that ran it named it. ``code`` is the text of the row; empty
    where the traceback does not show it.
    """

    path: str
    row: int
    code: str = ""


@frozen
class Raised:
    """One exception. ``frames`` begin with the outermost call. ``forward`` are those of the forward that anomaly mode
    (``torch.autograd.set_detect_anomaly``) names as the cause.
    """

    kind: str
    message: str
    frames: tuple[Frame, ...] = ()
    forward: tuple[Frame, ...] = ()


_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_PYTHON = re.compile(r'File "(?P<path>[^"]+)", line (?P<row>\d+)')
_IPYTHON = re.compile(r"File (?P<path>[^\"\s][^\"]*?):(?P<row>\d+)(?:, in .*)?$")
_CELL = re.compile(r"(?P<path>Cell In\s?\[\d+\]), line (?P<row>\d+)")
_OLD_IPYTHON = re.compile(r"^(?P<path>\S+) in (?:<\S.*>|\w+\(.*\))(?:\(.*\))?$")
_ARROW = re.compile(r"^(?:-+>|❱) *(?P<row>\d+) ?(?P<code>.*)$")
_PYTEST = re.compile(r"^(?P<path>\S+\.py):(?P<row>\d+): (?P<in>in )?\w+")
_RICH = re.compile(r"^(?P<path>\S+\.(?:py|ipynb)):(?P<row>\d+) in\b")
_BOX = re.compile("[│╭╮╰╯─]")
_PYTEST_CODE = re.compile(r"^>\s+(?P<code>\S.*)$")
_HEADER = re.compile(r"Traceback \(most recent call last\)")
_FORWARD = re.compile(r"Traceback of forward call that caused the error")
_ERROR = re.compile(
    r"(?:^|[\s:\]|])(?P<kind>(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Iteration))"
    r": ?(?P<message>.*)$"
)
_RULE = re.compile(r"^\W{5}|^\w\d{4} |^\w+ +\S+::")
_MARKS = re.compile(r"^[\s~^]*$")


@dataclass(slots=True)
class _Reader:
    """What was read of the current exception, and those that are complete."""

    frames: list[Frame] = field(default_factory=list)
    forward: list[Frame] = field(default_factory=list)
    found: list[Raised] = field(default_factory=list)
    # the last line that pytest has marked: the code of the frame that it names below
    marked: str = ""
    # the path of a frame whose row has not come yet
    pending: str = ""
    # whether the next line is the code of the last frame
    awaits_code: bool = False
    # whether the next line may be the rest of the last message: rich breaks long lines
    awaits_message: bool = False
    is_forward: bool = False

    def line(self, text: str) -> None:
        """Take the next line."""
        if self._continues(text):
            return
        if _FORWARD.search(text):
            self.frames, self.is_forward = [], True
        elif _HEADER.search(text):
            if self.is_forward:
                self.forward, self.is_forward = self.frames, False
            self.frames = []
        elif not self._names_frame(text) and (found := _ERROR.search(text)):
            self._end(found["kind"].rpartition(".")[2], found["message"].strip())

    def _continues(self, text: str) -> bool:
        """Whether the line belongs to the one before: the code of a frame, the rest of a message."""
        if self.awaits_code:
            self.awaits_code = False
            if not _PYTHON.search(text) and not _ERROR.search(text):
                self._name_code(text)
                return True
        if self.awaits_message:
            self.awaits_message = bool(text.strip()) and not _is_mark(text)
            if self.awaits_message:
                last = self.found[-1]
                self.found[-1] = replace(last, message=f"{last.message} {text.strip()}")
                return True
        return False

    def _names_frame(self, text: str) -> bool:
        """Whether the line names a frame, or shows the code of one."""
        stripped = text.strip()
        if found := _PYTHON.search(text):
            self._add(found["path"], int(found["row"]))
            self.awaits_code = True
        elif found := _CELL.search(text) or _IPYTHON.search(text) or _RICH.match(stripped):
            self._add(found["path"], int(found["row"]))
        elif found := _ARROW.match(stripped):
            self._point(int(found["row"]), found["code"].strip())
        elif found := _PYTEST_CODE.match(text):
            self.marked = found["code"].strip()
        elif found := _PYTEST.match(text):
            self._add(found["path"], int(found["row"]), self.marked)
            self.awaits_code, self.marked = bool(found["in"]), ""
        elif (found := _OLD_IPYTHON.match(stripped)) and not _ERROR.search(text):
            self.pending = found["path"]
        else:
            return False
        return True

    def _add(self, path: str, row: int, code: str = "") -> None:
        self.frames.append(Frame(path, row, code))
        self.pending = ""

    def _name_code(self, text: str) -> None:
        code = text.strip()
        if code and not _MARKS.match(code):
            self.frames[-1] = replace(self.frames[-1], code=code)

    def _point(self, row: int, code: str) -> None:
        """IPython's arrow: it shows the code of a frame, and in its old form the row as well."""
        if self.pending:
            self._add(self.pending, row, code)
        elif self.frames and self.frames[-1].row == row:
            self._name_code(code)

    def _end(self, kind: str, message: str) -> None:
        """An exception's last line. pytest prints it before its frames, and Python's warnings have no frames."""
        frames, forward = tuple(self.frames), tuple(self.forward)
        last = self.found[-1] if self.found else None
        if last is not None and last.kind == kind and last.message == message:
            if not last.frames:
                self.found[-1] = Raised(kind, message, frames, forward)
        else:
            self.found.append(Raised(kind, message, frames, forward))
        self.frames, self.forward, self.awaits_message = [], [], True


def _is_mark(text: str) -> bool:
    """Whether a line begins something else than the rest of a message."""
    return any(sign.search(text) for sign in (_PYTHON, _HEADER, _FORWARD, _ERROR, _PYTEST, _IPYTHON, _CELL, _RULE))


def raised_in(text: str) -> tuple[Raised, ...]:
    """The exceptions that ``text`` shows, in its order. A text without any
    is taken for a message; none at all where it is blank.
    """
    reader = _Reader()
    for line in _COLOUR.sub("", text).splitlines():
        reader.line(_BOX.sub(" ", line).rstrip())
    if not reader.found:
        message = " ".join(text.split())
        return (Raised("", message, tuple(reader.frames), tuple(reader.forward)),) if message else ()
    if reader.frames:  # pytest: the frames come below the message
        last = reader.found[-1]
        reader.found[-1] = replace(last, frames=(*last.frames, *reader.frames))
    return tuple(reader.found)
