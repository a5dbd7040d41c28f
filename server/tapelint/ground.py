"""What a finding rests on beside what is decided by the code: the one list of messages, formats and editors."""

from __future__ import annotations

from enum import Enum, auto
from typing import Literal

from .frozen import frozen

GroundKind = Literal["ordinary", "called", "chosen", "followed", "guessed", "tested"]
"""``ordinary``: what programs usually do, such as that a loop runs twice. ``called``: which code uses that in which it
happens. ``chosen``: which way an unknown test goes. ``followed``: that other paths were left out for their number.
``guessed``: what an object is, or what a caller does. ``tested``: a test does it, so it is no use of the program.
"""


class RunBy(Enum):
    """What runs the code in which a hazard was found."""

    # The program: the script, and what it imports.
    PROGRAM = auto()
    # pytest or unittest.
    TESTS = auto()
    # A caller that was imagined: no code of the program calls it.
    IMAGINED = auto()


@frozen
class Ground:
    """One thing that a finding needs; ``text`` is a clause without a full stop (``"`args.resume` is false"``)."""

    kind: GroundKind
    text: str

    @property
    def sentence(self) -> str:
        """What a reader must know of it; empty for what goes without saying."""
        match self.kind:
            case "ordinary" | "tested":
                return ""
            case "chosen":
                return f"Happens if {self.text}."
            case "called" | "followed":
                return f"Happens {self.text}."
            case "guessed":
                return f"Assumes that {self.text}."
