"""A unit: a part of the execution that is kept between two analyses of a document.

While a unit runs, ``Machine.unit`` is that unit, and all that is counted, noted and looked up goes into it.

What listeners keep with the unit in which an event happens, so that it is there again when the unit is reused.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from ..autograd import Facts, fresh_id
from ..because import RunBy
from ..source import TreeDiff
from .import_lookups import ImportLookups
from .resume_point import Block
from .statistics import AnalysisStats, Ended, Lost

if TYPE_CHECKING:
    from .loops.convergence import StableIteration

if TYPE_CHECKING:
    from .loops.thresholds import LoopExtension
    from .module_system import LoadedModule

N = TypeVar("N")


class UnitNotes:
    """At most one record of each class. A listener has a class of its own, which is made without arguments."""

    __slots__ = ("_records",)

    def __init__(self) -> None:
        self._records: dict[type, object] = {}

    def record(self, kind: type[N]) -> N:
        """The record of a class, empty where nothing was kept yet."""
        found = self._records.get(kind)
        if not isinstance(found, kind):
            found = self._records[kind] = kind()
        return found


@dataclass(slots=True)
class IterationFacts:
    """What is noted while a unit runs, to know which iterations need not be executed again."""

    # The iterations that ended as they had begun, by loop.
    stable: dict[ast.AST, StableIteration] = field(default_factory=dict)
    # Attributes of objects, and names of other scopes, that were read or set: heap id and name, and the fuel that was
    # used when that was last.
    accessed: dict[tuple[int, str], int] = field(default_factory=dict)
    # The `if` statements on a number whose body was seen to do nothing.
    inert: set[ast.AST] = field(default_factory=set)

    def later(self, count: int) -> IterationFacts:
        """The same for a unit that goes on after ``count`` fuel, and counts its own from 0."""
        return IterationFacts(
            self.stable.copy(), {what: when - count for what, when in self.accessed.items()}, self.inert.copy()
        )


@dataclass(eq=False, slots=True)
class AnalysisUnit:
    """A part of the execution and all that it produced."""

    # What autograd knows after it; None once no other unit begins with it.
    facts: Facts | None
    # The imported modules that it may use.
    loads: dict[LoadedModule, None]
    # How much fuel it had.
    fuel: int
    # What runs it.
    run_by: RunBy = RunBy.PROGRAM
    # The function that is run by itself, if it is one of these.
    function: ast.AST | None = None
    # Whether that is given tensors which are supposed to require grad.
    is_latent: bool = False
    # Whether some of what it shows then needs none of them: the graph is of what the function holds.
    shows_own_graph: bool = False
    # Whether it leaves out the calls that Python refuses, of functions of the program.
    leaves_out_refused: bool = False
    # The objects that it makes have ids above this one.
    began: int = field(default_factory=fresh_id)
    # What it counted.
    stats: AnalysisStats = field(default_factory=AnalysisStats)
    # The entry points that were given up in it.
    unfollowed: list[Lost] = field(default_factory=list)
    # Where it ends for certain, since the program raises there.
    ended: Ended | None = None
    # The unit in whose end it begins, if it is an entry point beside the script.
    base: AnalysisUnit | None = None
    # Definitions that it called.
    called: set[ast.AST] = field(default_factory=set)
    # Definitions that it called, each with a parameter that it gave something that may carry a graph.
    led: set[tuple[ast.AST, str]] = field(default_factory=set)
    # Definitions whose body it read: an edit of one of them makes the unit invalid.
    dependencies: set[ast.AST] = field(default_factory=set)
    # Statements and conditional expressions that it executed to their end.
    completed: set[ast.AST] = field(default_factory=set)
    # Questions about code that it did not execute, with their answers (`Machine.query`).
    queries: dict[tuple[Callable[..., Any], tuple[ast.AST | str, ...]], Any] = field(default_factory=dict)
    # What it looked up in other files.
    import_lookups: ImportLookups = field(default_factory=ImportLookups)
    # Functions that returned at least once.
    completed_functions: set[ast.AST] = field(default_factory=set)
    # Where it called backward, by file and node, and whether the root was once known to carry a graph.
    backward_sites: dict[tuple[str, ast.AST], bool] = field(default_factory=dict)
    # What listeners keep of its events.
    notes: UnitNotes = field(default_factory=UnitNotes)
    # Which iterations need not run again. The next unit of the script goes on with it.
    iteration_facts: IterationFacts = field(default_factory=IterationFacts)
    # The runs of loops that take more iterations than usual, by number of the run. The next unit of the script goes on
    # with them.
    loop_extensions: dict[int, LoopExtension] = field(default_factory=dict)
    # The induction values, and the lists whose length counts iterations, that decided something. The next unit of the
    # script goes on with them.
    observed: set[int] = field(default_factory=set)
    # Heap objects that distinguished paths lately: a join compares them first.
    suspects: list[int] = field(default_factory=list)
    # The functions of which a call took more than its share of the fuel. The next unit of the script goes on with them.
    abandoned: set[ast.AST] = field(default_factory=set)
    # The fuel that calls of a function have taken that does not train. The next unit of the script goes on with it.
    taken: dict[ast.AST, int] = field(default_factory=dict)
    # The functions of which a call that ended has returned a tensor without a graph, of one that may have had one. The
    # next unit of the script goes on with them.
    cutting: set[ast.AST] = field(default_factory=set)
    # The fuel that each `__setattr__` has taken; less than none where it did once not keep what it was given. The next
    # unit of the script goes on with it.
    keeping: dict[ast.AST, int] = field(default_factory=dict)
    # Where a variable was read that was not bound.
    unbound: set[ast.AST] = field(default_factory=set)
    # The trees of the modules that it may use, as far as they were asked for.
    loaded_trees: tuple[ast.Module, ...] = ()
    # Whether its fuel was used up before its end.
    is_exhausted: bool = False
    # The least fuel with which no call would take more than its share.
    fuel_needed: int = 0
    # The fuel that the units of the script before it used.
    fuel_used_before: int = 0
    # The fuel that it used.
    fuel_used: int = 0
    # Where in the script it ended, from the outermost block to the innermost; empty outside of the script.
    resume_point: tuple[Block, ...] = ()
    # Whether the script or the imported module goes no further.
    is_truncated: bool = False
    # What other units begin with: its type depends on the kind of unit.
    result: Any = None

    def successor(self, facts: Facts, loads: dict[LoadedModule, None], fuel: int) -> AnalysisUnit:
        """A unit that goes on in the script where this one ended, and knows what this one knew of loops."""
        return AnalysisUnit(
            facts,
            loads,
            fuel,
            fuel_used_before=self.fuel_used_before + self.fuel_used,
            iteration_facts=self.iteration_facts.later(self.fuel_used),
            loop_extensions={run: loop.copy() for run, loop in self.loop_extensions.items()},
            observed=self.observed.copy(),
            abandoned=self.abandoned.copy(),
            taken=self.taken.copy(),
            cutting=self.cutting.copy(),
            keeping=self.keeping.copy(),
        )

    def is_valid_after(self, found: TreeDiff) -> bool:
        """Whether it would be the same in a tree that was ``found`` to be the same so far: what it has executed and
        read is, and all that it has asked has the same answer.
        """
        return (
            all(found.keeps(block.node, block.field, block.done) for block in self.resume_point[-1:])
            and all(found.keeps(outer.node, outer.field, outer.done - 1) for outer in self.resume_point[:-1])
            and all(outer.leads_to(inner) for outer, inner in zip(self.resume_point, self.resume_point[1:]))
            and self.dependencies.isdisjoint(found.bodies)
            and all(question(*about) == answer for (question, about), answer in self.queries.items())
        )

    @property
    def is_script(self) -> bool:
        """Whether it is a part of the script: no other unit has a resume point."""
        return bool(self.resume_point)

    def is_valid_within(self, limit: int) -> bool:
        """Whether it would be the same with ``limit`` fuel."""
        if limit == self.fuel:
            return True
        return max(self.fuel_used, self.fuel_needed) <= limit and not self.is_exhausted and not self.abandoned
