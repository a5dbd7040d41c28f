"""How long the server waits, and lets the user wait; all in seconds.

How long a thread that analyses may keep the others waiting: they answer what needs no analysis.

Python runs one thread at a time. Another one gets its turn when the switch interval is over, and an answer needs three
turns: to read the request, to handle it, to write. While garbage is looked for no thread gets one. So the interval is
short, and few objects are looked through at a time; all of them only when there is nothing to do (``worker``).
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from ..frozen import frozen


@frozen
class Delays:
    """Times that tests shorten and that nothing else changes."""

    # Without an edit, before a text is analysed: at most, and at least where the last analysis was fast.
    edit: float = 0.15
    shortest_edit: float = 0.02
    # Without an edit, before what the next line may answer is said.
    pause: float = 2.0
    # Before work that nobody waits for.
    idle: float = 0.1
    # Without a change, before files that are not open are checked.
    closed_files: float = 0.5
    # Without work, before there is time to look for garbage.
    garbage: float = 2.0
    # For fixes that the editor asks for by itself, where the user has asked, and for all of a file.
    fixes: float = 1.0
    fixes_asked_for: float = 5.0
    many_fixes: float = 20.0
    # For the client to say its settings, and for the server to start.
    settings: float = 2.0
    start: float = 4.0
    # Before the status says that an analysis is running, and before a progress bar is shown.
    status: float = 0.4
    progress: float = 1.0


DELAYS = Delays()


SWITCH = 0.001
"""Seconds; Python's own 0.005 three times is most of what a user may wait."""
THRESHOLDS = (5_000, 4, 50)
"""As ``gc.set_threshold`` takes them. The young are looked through in 3 ms, the middle ones in 10. All are, before
there is time for it, when they have grown by a quarter since the last time and a million objects have survived.
"""


def shorten() -> None:
    """Call once, when the server is loaded, with no collection going on (``gc.disable``)."""
    sys.setswitchinterval(SWITCH)
    gc.set_threshold(*THRESHOLDS)
    _keep()


@contextmanager
def loading() -> Iterator[None]:
    """While modules are loaded: hardly anything of that is garbage, and all of it stays."""
    gc.disable()
    try:
        yield
    finally:
        _keep()


def _keep() -> None:
    """Leave what there is now out of all collections to come."""
    gc.freeze()
    gc.enable()
