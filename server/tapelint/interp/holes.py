"""What an analysis has not seen is not passed over in silence: it is counted.

    for x in stream: train(x)      # a graph that nobody could follow is a hole, a path that was dropped is one
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Holes:
    """What the analysis did not see, counted.

    ``walks`` are the places in this file that go backward, ``rooted`` those where the root was once known to carry a
    graph; ``forwards`` the methods of that name, ``ended`` those that were once run to their end.
    """

    entries: int = 0
    spent: int = 0
    faults: int = 0
    dropped: int = 0
    unknown_calls: int = 0
    backwards: int = 0
    rootless: int = 0
    steps: int = 0
    raised: int = 0
    stopped: int = 0
    walks: int = 0
    rooted: int = 0
    forwards: int = 0
    ended: int = 0
