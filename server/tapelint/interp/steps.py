"""An analysis is made of steps; what one of them found stays true until something that it has read is edited.

    import torch                      a stretch of the script
    model, opt = build()              a stretch of the script: has read `build`
    def train(model): ...             nobody calls it, so it is a step of its own: reads `train`
    class Trainer:
        def __init__(self): ...       the object its methods run on, made once: reads `__init__`
        def fit(self): ...            a step that begins with that object: reads `fit`

A step begins in the states and with the facts that another one ended with (the stretch above it, the end of the
script, the object), and knows nothing of those beside it. While it runs the machine writes down which functions it
enters. After an edit the tree is the old one with new bodies in it (``source.adoption``), so a step still holds if
those that it builds on do, and none of the functions that it has read has a new body. Nothing is guessed: who wants to
know something of code that is not executed uses ``Machine.ask`` (what is the same answer is the same to it), or notes
the definition in ``Machine.read``.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from ..source import Source, adopt
from ..tape import State, Tape
from .counted import watched
from .machine import Holes, Machine, Place, place_of
from .told import Resolve, telling

if TYPE_CHECKING:
    from .imports import Imports
    from .loaded import Loaded


@dataclass(eq=False, slots=True)
class Step:
    """A part of the execution and all that came of it.

    ``read`` are the definitions that were looked into, ``called`` those that ran, ``asked`` what was asked about other
    code, with the answers; ``loads`` the modules it may use; ``notes`` what listeners made of its events. ``end`` is
    what others build on, ``row`` the index of the statement of the script where it ended; the script goes no further if
    it was ``cut``. ``count`` are the steps of the machine that it took, of ``limit``.
    """

    tape: Tape | None
    loads: dict[Loaded, None]
    limit: int
    holes: Holes = field(default_factory=Holes)
    called: set[ast.AST] = field(default_factory=set)
    read: set[ast.AST] = field(default_factory=set)
    asked: dict[tuple[Callable[..., Any], tuple[ast.AST, ...]], Any] = field(default_factory=dict)
    ended: set[ast.AST] = field(default_factory=set)
    walks: dict[tuple[str, ast.AST], bool] = field(default_factory=dict)
    notes: dict[str, dict[Any, Any]] = field(default_factory=dict)
    count: int = 0
    row: int = 0
    cut: bool = False
    end: Any = None

    def holds(self, edited: set[ast.AST]) -> bool:
        """Whether nothing that it has read is among ``edited``, and all that it has asked has the same answer."""
        return (
            self.called.isdisjoint(edited)
            and self.read.isdisjoint(edited)
            and all(question(*about) == answer for (question, about), answer in self.asked.items())
        )

    def fits(self, limit: int) -> bool:
        """Whether it would have run just so with that many steps to go."""
        return limit == self.limit or self.count <= limit and not self.holes.spent


_SWAPPED = ("tape", "loads", "holes", "called", "read", "asked", "ended", "walks", "notes")


@contextmanager
def recorded(m: Machine, tape: Tape, loads: Iterable[Loaded], limit: int) -> Iterator[Step]:
    """Run as a step: with these facts, within so many steps, and all that is counted and noted is the step's own."""
    step = Step(tape, dict.fromkeys(loads), limit)
    outer = [getattr(m, name) for name in _SWAPPED], m.steps, m.limit
    for name in _SWAPPED:
        setattr(m, name, getattr(step, name))
    m.steps, m.limit, m.suspects = 0, limit, []
    try:
        with watched():
            yield step
    finally:
        step.count = m.steps
        values, m.steps, m.limit = outer
        for name, value in zip(_SWAPPED, values):
            setattr(m, name, value)


@dataclass(slots=True)
class Memory:
    """The steps of a document's last analysis. ``keeps`` is set where there will be a next one; ``under`` is what else
    the analysis depends on, such as a configuration. ``alone`` is what was found out about other files.
    """

    keeps: bool = False
    under: object = None
    alone: dict[str, Any] = field(default_factory=dict)
    machine: Machine | None = None
    source: Source | None = None
    script: list[Step] = field(default_factory=list)
    finish: Step | None = None
    objects: dict[int, Step] = field(default_factory=dict)
    entries: dict[ast.AST, Step] = field(default_factory=dict)

    def forget(self) -> None:
        """Begin anew."""
        self.machine = self.source = self.finish = None
        self.script, self.objects, self.entries = [], {}, {}

    def resume(self, source: Source, resolve: Resolve | None, under: object = None) -> Machine | None:
        """The machine that ran an older text of ``source``, its tree edited and the steps forgotten that have read
        what is new; None where nothing is left.
        """
        machine, old = self.machine, self.source
        if machine is None or old is None:
            return None
        self.source = None
        same = not source.cells and under == self.under and _same_modules(machine.imports, resolve)
        found = adopt(old, source) if same else None
        if found is None:
            self.forget()
            return None
        self.source, machine.tree = source, source.tree
        edited = found.bodies
        whole = len(self.script)
        for index, stretch in enumerate(self.script):
            if stretch.row > found.kept or not stretch.holds(edited):
                del self.script[index:]
                break
        if len(self.script) < whole or found.kept < len(source.tree.body) or not _still(self.finish, edited):
            self.finish, self.objects, self.entries = None, {}, {}
        self.objects = {key: step for key, step in self.objects.items() if step.holds(edited)}
        self.entries = {key: step for key, step in self.entries.items() if step.holds(edited)}
        if machine.imports is not None and resolve is not None:
            machine.imports.resume(source, resolve)
        return machine

    def begin(self, machine: Machine, source: Source, under: object = None) -> None:
        """``machine`` is about to execute a text."""
        self.forget()
        if under != self.under:
            self.alone, self.under = {}, under
        if self.keeps and not source.cells:
            self.machine, self.source = machine, source

    def tape(self, step: Step) -> Tape:
        """The facts that a step ended with, for another one to go on with."""
        return step.tape.fork() if self.keeps else step.tape

    def paths(self, states: list[State]) -> list[State]:
        """The paths that a step ended in, for another one to go on with."""
        return [state.fork() for state in states] if self.keeps else states


def _still(step: Step | None, edited: set[ast.AST]) -> bool:
    return step is not None and step.holds(edited)


def _same_modules(imports: Imports | None, resolve: Resolve | None) -> bool:
    """Whether all that was imported is still what it was."""
    if imports is None or resolve is None:
        return imports is None and resolve is None
    find = telling(resolve)
    return imports.is_whole and all(find(*key) == found for key, found in imports.looked_up.items())


def complete(steps: Iterable[Step]) -> Iterator[Step]:
    """The steps, those that ran the imported modules included."""
    seen: dict[Loaded, None] = {}
    for step in steps:
        for module in step.loads:
            if module not in seen:
                seen[module] = None
                yield module.step
        yield step


def total(steps: Iterable[Step]) -> Holes:
    """What all steps have counted."""
    found: Counter[str] = Counter()
    for step in steps:
        found.update(asdict(step.holes))
        found["steps"] += step.count
    return Holes(**found)


def walked(steps: Iterable[Step]) -> dict[Place, bool]:
    """Where the program goes backward, and whether the root was once known to carry a graph."""
    found: dict[Place, bool] = {}
    for step in steps:
        for (path, node), rooted in step.walks.items():
            place = place_of(path, node)
            found[place] = found.get(place, False) or rooted
    return found
