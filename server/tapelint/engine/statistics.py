"""Counters of what an analysis did not see, and the entry points that it gave up.

for x in stream: train(x)      # a root of which nothing is known is counted, and so is a path that was dropped
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Literal

from ..fault import Fault
from ..frozen import frozen


@dataclass(slots=True)
class AnalysisStats:
    """What the analysis executed, and what it did not see, counted."""

    # Entry points.
    entries: int = 0
    # Entry points that were given up, or not begun, because their fuel was used.
    out_of_fuel: int = 0
    # Internal errors.
    faults: int = 0
    # Paths that were dropped because there were too many.
    dropped: int = 0
    # Calls of functions that are not known, or nested too deep.
    unknown_calls: int = 0
    # Calls of backward that were executed, and those with a root of which it is not known whether it has a graph.
    backwards: int = 0
    unknown_roots: int = 0
    # Fuel.
    steps: int = 0
    # Errors of PyTorch.
    raised: int = 0
    # Paths that ended in an error, and imported modules whose top level did not end: what is below was not seen.
    failed: int = 0
    # Entry points with a path that ended in an exception which is not an error of PyTorch.
    stopped: int = 0
    # Places in this file that call backward, and those where the root was once known to have a graph.
    backward_sites: int = 0
    known_roots: int = 0
    # Methods called `forward` in this file, and those that were once executed to their end.
    forwards: int = 0
    ended: int = 0

    @property
    def is_complete(self) -> bool:
        """Whether all paths were followed, to their end or to an error of PyTorch."""
        return not (self.out_of_fuel or self.faults or self.dropped or self.stopped)


@frozen
class Entry:
    """Where an execution starts."""

    # An "event" is where a rule starts; "latent" is a function that is called again for an imagined caller, "switched"
    # one on an object that is made another way, "turn" one before another one; a "call" is one that took more than its
    # share and was left.
    kind: Literal["script", "function", "object", "cell", "module", "event", "latent", "switched", "turn", "call"]
    # The function that runs or is called, the class of which an object is made, the first statement of the cell that is
    # run again, or the node at which the event happened; None for the script and for a module.
    node: ast.AST | None = None
    # The class of a method.
    owner: ast.AST | None = None
    # The file of an imported module.
    path: str = ""


@frozen
class Ended:
    """Where an entry point ends whatever its tests give, since PyTorch raises what the program does not catch and no
    event tells; or would end, if it was not followed as something ``instead``.
    """

    node: ast.AST
    # The calls that lead there, outermost first.
    calls: tuple[ast.AST, ...]
    # The class of the exception and what it says.
    error: str
    message: str
    # What it is followed as: what it did in an old version of PyTorch, for which it was written.
    instead: str = ""


@frozen
class Lost:
    """An entry point that was given up: a budget was used, or an internal error ended it."""

    entry: Entry
    # False where the budget was used before it had begun.
    begun: bool = True
    # The internal error, and the code of the rule in which it happened ("" where it was in the engine).
    fault: Fault | None = None
    rule: str = ""
