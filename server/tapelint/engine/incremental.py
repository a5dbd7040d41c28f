"""An analysis is made of steps; what one of them found stays true until something that it has read is edited.

    import torch                      a stretch of the script
    model, opt = build()              a stretch of the script: has read `build`
    def train(model): ...             no code calls it, so it is a step of its own: reads `train`
    class Trainer:
        def __init__(self): ...       the object its methods run on, made once: reads `__init__`
        def fit(self): ...            a step that begins with that object: reads `fit`

A step begins in the states and with the facts that another one ended with (the stretch above it, the end of the
script, the object), and knows nothing of those beside it. While it runs the machine writes down which functions it
has read. After an edit the tree is the old one with new bodies in it (``source.adoption``), so a step still holds if
those that it builds on do, none of the functions that it has read has a new body, and the script is the same as far as
it has come (which may be the middle of a function: ``stretches``). Nothing is guessed: who wants to
know something of code that is not executed uses ``Machine.ask`` (what is the same answer is the same to it), or notes
the definition in ``Machine.read``.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..autograd import Facts
from ..domain.induction import watched
from ..domain.state import State
from ..source import Source, TreeDiff, reuse_tree
from ..stubs import Resolve, with_stubs
from .activation import Activation
from .import_lookups import ImportLookups
from .loops.iteration_facts import IterationFacts
from .loops.loop_entry import LoopEntry
from .machine import Machine, Place, place_of
from .statistics import AnalysisStats, Lost

if TYPE_CHECKING:
    from ..modules.loader import Imports
    from ..modules.module import LoadedModule
    from .loops.thresholds import LoopExtension


@dataclass(frozen=True, slots=True)
class Caller:
    """A ``statement`` that waits for the function it has called (``entry``); ``values`` are what it had evaluated by
    then, ``key`` what the result will be known by.
    """

    statement: ast.stmt
    entry: Activation
    values: dict[Any, Any]
    key: object


@dataclass(frozen=True, slots=True)
class Block:
    """Statements that are being executed, those in a field of ``node``: the first ``done`` have begun. ``caller`` is
    set if they are the body of a function, ``loop_entry`` if they are a loop's, in its first iteration; it has begun
    when the script had ``fuel_used_before`` so many steps.
    """

    node: ast.AST
    field: str
    caller: Caller | None = None
    loop_entry: LoopEntry | None = None
    fuel_used_before: int = 0
    done: int = 0

    @property
    def statements(self) -> list[ast.stmt]:
        return getattr(self.node, self.field)  # type: ignore[no-any-return]

    def next(self) -> Block:
        return replace(self, done=self.done + 1)


@dataclass(eq=False, slots=True)
class AnalysisUnit:
    """A part of the execution and all that came of it.

    ``dependencies`` are the definitions that were looked into, ``called`` those that were called, ``completed`` what
    was executed to its end, ``queries`` what was asked about other code, with the answers; ``import_lookups`` what was
    looked up in other files; ``loads`` the modules it may use; ``listener_notes`` what listeners made of its events.
    ``result`` is what others build on, ``resume_point`` where in the script it ended, from the outermost block to the
    innermost; the script or the module goes no further if it was ``is_truncated``. ``fuel_used`` are the steps of the
    machine that it took, of ``fuel``; those before had ``fuel_used_before`` so many. What is known of loops
    (``iteration_facts``, ``loop_extensions``, ``observed``) is what the next stretch of the script goes on with.
    """

    facts: Facts | None
    loads: dict[LoadedModule, None]
    fuel: int
    stats: AnalysisStats = field(default_factory=AnalysisStats)
    unfollowed: list[Lost] = field(default_factory=list)
    called: set[ast.AST] = field(default_factory=set)
    dependencies: set[ast.AST] = field(default_factory=set)
    completed: set[ast.AST] = field(default_factory=set)
    queries: dict[tuple[Callable[..., Any], tuple[ast.AST, ...]], Any] = field(default_factory=dict)
    import_lookups: ImportLookups = field(default_factory=ImportLookups)
    completed_functions: set[ast.AST] = field(default_factory=set)
    backward_sites: dict[tuple[str, ast.AST], bool] = field(default_factory=dict)
    listener_notes: dict[str, dict[Any, Any]] = field(default_factory=dict)
    iteration_facts: IterationFacts = field(default_factory=IterationFacts)
    loop_extensions: dict[int, LoopExtension] = field(default_factory=dict)
    observed: set[int] = field(default_factory=set)
    fuel_used_before: int = 0
    fuel_used: int = 0
    resume_point: tuple[Block, ...] = ()
    is_truncated: bool = False
    result: Any = None

    def is_valid_after(self, found: TreeDiff) -> bool:
        """Whether it would be the same in a tree that was ``found`` to be the same so far: what it has executed and
        read is, and all that it has asked has the same answer.
        """
        return (
            all(found.keeps(block.node, block.field, block.done) for block in self.resume_point[-1:])
            and all(found.keeps(outer.node, outer.field, outer.done - 1) for outer in self.resume_point[:-1])
            and all(_leads_to(outer, inner) for outer, inner in zip(self.resume_point, self.resume_point[1:]))
            and self.dependencies.isdisjoint(found.bodies)
            and all(question(*about) == answer for (question, about), answer in self.queries.items())
        )

    @property
    def is_script(self) -> bool:
        """Whether it is a stretch of the script: nothing else has a place in it."""
        return bool(self.resume_point)

    def is_valid_within(self, limit: int) -> bool:
        """Whether it would have run just so with that many steps to go."""
        return limit == self.fuel or self.fuel_used <= limit and not self.stats.out_of_fuel


def _leads_to(outer: Block, inner: Block) -> bool:
    """Whether the statement that ``inner`` was begun for still stands where it did, and is what it was."""
    statements = outer.statements
    if len(statements) < outer.done:
        return False
    statement = statements[outer.done - 1]
    return statement is (inner.node if inner.caller is None else inner.caller.statement)


_SWAPPED = (
    *("facts", "loads", "stats", "unfollowed", "called", "dependencies", "completed"),
    *("queries", "import_lookups", "completed_functions", "backward_sites", "listener_notes"),
    *("iteration_facts", "loop_extensions"),
)


@contextmanager
def recorded(
    machine: Machine, facts: Facts, loads: Iterable[LoadedModule], limit: int, before: AnalysisUnit | None = None
) -> Iterator[AnalysisUnit]:
    """Run as a step: with these facts, within so many steps, and all that is counted and noted is the step's own. One
    that goes on where the one ``before`` has ended knows what that knew of loops.
    """
    step = AnalysisUnit(facts, dict.fromkeys(loads), limit)
    if before is not None:
        step.fuel_used_before = before.fuel_used_before + before.fuel_used
        step.iteration_facts, step.observed = before.iteration_facts.later(before.fuel_used), before.observed.copy()
        step.loop_extensions = {
            run: replace(loop, first=loop.first.copy()) for run, loop in before.loop_extensions.items()
        }
    outer = [getattr(machine, name) for name in _SWAPPED], machine.fuel_used, machine.fuel
    for name in _SWAPPED:
        setattr(machine, name, getattr(step, name))
    machine.fuel_used, machine.fuel, machine.suspects = 0, limit, []
    try:
        with watched(step.observed):
            yield step
    finally:
        step.fuel_used = machine.fuel_used
        values, machine.fuel_used, machine.fuel = outer
        for name, value in zip(_SWAPPED, values):
            setattr(machine, name, value)


@dataclass(slots=True)
class AnalysisCache:
    """The steps of a document's last analysis. ``persistent`` is set where there will be a next one; ``config_key`` is
    what else the analysis depends on, such as a configuration. ``standalone_results`` is what was found out about other
    files.
    """

    persistent: bool = False
    config_key: object = None
    standalone_results: dict[str, Any] = field(default_factory=dict)
    machine: Machine | None = None
    source: Source | None = None
    script: list[AnalysisUnit] = field(default_factory=list)
    finish: AnalysisUnit | None = None
    objects: dict[int, AnalysisUnit] = field(default_factory=dict)
    entries: dict[tuple[ast.AST, int], AnalysisUnit] = field(default_factory=dict)

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
        same = not source.cells and under == self.config_key and _same_modules(machine.imports, resolve)
        found = reuse_tree(old, source) if same else None
        if found is None:
            self.forget()
            return None
        self.source, machine.tree = source, source.tree
        self._forget_outdated(found, source.tree)
        if machine.imports is not None and resolve is not None:
            machine.imports.resume(source, resolve)
            kept = [*self.script, self.finish] if self.finish is not None else self.script
            if not all(map(machine.imports.repeat, kept)):
                self.forget()
                return None
        return machine

    def _forget_outdated(self, found: TreeDiff, tree: ast.Module) -> None:
        """Keep of the script the steps before the first that has read what is new, and of the rest those that have
        not: the rest builds on the whole script.
        """
        whole = len(self.script)
        for index, stretch in enumerate(self.script):
            if not stretch.is_valid_after(found):
                del self.script[index:]
                break
        is_whole = len(self.script) == whole and found.keeps(tree, "body", len(tree.body))
        if not is_whole or self.finish is None or not self.finish.is_valid_after(found):
            self.finish, self.objects, self.entries = None, {}, {}
        self.objects = {key: step for key, step in self.objects.items() if step.is_valid_after(found)}
        self.entries = {key: step for key, step in self.entries.items() if step.is_valid_after(found)}

    def begin(self, machine: Machine, source: Source, under: object = None) -> None:
        """``machine`` is about to execute a text."""
        self.forget()
        if under != self.config_key:
            self.standalone_results, self.config_key = {}, under
        if self.persistent and not source.cells:
            self.machine, self.source = machine, source

    def facts(self, step: AnalysisUnit) -> Facts:
        """The facts that a step ended with, for another one to go on with."""
        facts = step.facts
        assert facts is not None, "a step that has ended has facts"
        return facts.fork() if self.persistent else facts

    def paths(self, states: list[State]) -> list[State]:
        """The paths that a step ended in, for another one to go on with."""
        return [state.fork() for state in states] if self.persistent else states


def _same_modules(imports: Imports | None, resolve: Resolve | None) -> bool:
    """Whether all that was imported is still what it was."""
    if imports is None or resolve is None:
        return imports is None and resolve is None
    find = with_stubs(resolve)
    return imports.is_whole and all(find(*key) == found for key, found in imports.lookups.resolved.items())


def complete(steps: Iterable[AnalysisUnit]) -> Iterator[AnalysisUnit]:
    """The steps, those that ran the imported modules included."""
    seen: dict[LoadedModule, None] = {}
    for step in steps:
        for module in step.loads:
            if module not in seen:
                seen[module] = None
                yield module.step
        yield step


def total(steps: Iterable[AnalysisUnit]) -> AnalysisStats:
    """What all steps have counted."""
    found: Counter[str] = Counter()
    for step in steps:
        found.update(asdict(step.stats))
        found["steps"] += step.fuel_used
    return AnalysisStats(**found)


def walked(steps: Iterable[AnalysisUnit]) -> dict[Place, bool]:
    """Where the program goes backward, and whether the root was once known to carry a graph."""
    found: dict[Place, bool] = {}
    for step in steps:
        for (path, node), rooted in step.backward_sites.items():
            place = place_of(path, node)
            found[place] = found.get(place, False) or rooted
    return found
