"""What a finding rests on beside what is decided by the code: the one list of messages, formats and editors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

GroundKind = Literal["ordinary", "chosen", "guessed"]
"""``ordinary``: what programs usually do, such as that a loop runs twice. ``chosen``: which way an unknown test goes.
``guessed``: what an object is, or what a caller does.
"""


@dataclass(frozen=True, slots=True)
class Ground:
    """One thing that a finding needs; ``text`` is a clause without a full stop (``"`args.resume` is false"``)."""

    kind: GroundKind
    text: str
