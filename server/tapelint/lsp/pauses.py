"""How long a thread that analyses may keep the others waiting: they answer what needs no analysis.

Python runs one thread at a time. Another one gets its turn when the switch interval is over, and an answer needs three
turns: to read the request, to handle it, to write. While garbage is looked for no thread gets one. So the interval is
short, and few objects are looked through at a time; all of them only when there is nothing to do (``worker``).
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

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
