"""What an analysis has not seen is not passed over in silence: it is counted, and what was not followed is named.

for x in stream: train(x)      # a graph that no code could follow is a hole, a path that was dropped is one
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Literal

from ..fault import Fault


@dataclass(slots=True)
class AnalysisStats:
    """What the analysis did not see, counted.

    ``backward_sites`` are the places in this file that go backward, ``known_roots`` those where the root was once known
    to carry a graph; ``forwards`` the methods of that name, ``ended`` those that were once run to their end. ``failed``
    are the paths that came to an error, and the imported modules that were cut: what is below that was not seen.
    """

    entries: int = 0
    out_of_fuel: int = 0
    faults: int = 0
    dropped: int = 0
    unknown_calls: int = 0
    backwards: int = 0
    unknown_roots: int = 0
    steps: int = 0
    raised: int = 0
    failed: int = 0
    stopped: int = 0
    backward_sites: int = 0
    known_roots: int = 0
    forwards: int = 0
    ended: int = 0


@dataclass(frozen=True, slots=True)
class Entry:
    """Where an execution starts. ``node`` is the function, the class of which an object is made, or the first
    statement of the cell that is run once more; None for the script. ``owner`` is the class of a method, ``path`` the
    file of an imported module whose top level runs. A rule starts at an ``event``, which happened at ``node``.
    """

    kind: Literal["script", "function", "object", "cell", "module", "event"]
    node: ast.AST | None = None
    owner: ast.AST | None = None
    path: str = ""


@dataclass(frozen=True, slots=True)
class Lost:
    """An entry point that was not followed to its end: a budget was spent, before it had begun where that is False, or
    a ``fault`` of the engine, or of the ``rule`` with this code, ended it.
    """

    entry: Entry
    begun: bool = True
    fault: Fault | None = None
    rule: str = ""
