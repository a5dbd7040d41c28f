"""The machine: executes a syntax tree over states.

``Machine.eval(node, state)`` changes ``state`` and returns a value. Only calls of the program's own functions can end
in several states. When one does, the running statement is finished with the first of them, and then once more from that
call on with each of the others: what was evaluated before the call is taken from a memo. So a fork costs nothing where
there is none, and models of libraries are plain functions.

Statements map states to states. Between statements, equivalent states are joined and at most ``Limits.paths`` are kept.

Where the machine stands in the calls of the running entry point.

What the running statement has evaluated, so that it can be finished on another path without evaluating it again.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from ..autograd import Facts, Iteration, NodeVisit
from ..autograd.model.choices import PathGuard
from ..because import Because
from ..domain.completion import ProgramRaised, Raise
from ..domain.induction import Observations
from ..domain.join import try_join
from ..domain.reachability import JoinPoint, Known
from ..domain.state import State
from ..domain.values import Const, External, Frame, HeapRef, Origin, TensorRef, Unknown, Value, something
from ..fault import fault_of
from ..source import Cell, walk
from ..source.pytest_files import TestConventions
from .analysis_unit import AnalysisUnit
from .evaluation import Evaluation
from .lifecycle import Lifecycle
from .limits import Limits
from .module_system import ModuleSystem
from .observer import Dropped, DropReason, GivenUp, Joined, KeptApart, Observer, Opaque, OpaqueReason
from .paths.abandoned import AbandonedPaths
from .paths.entailment import meets_number
from .paths.selection import going_on
from .statistics import Entry, Lost
from .syntax.bound_names import BUILTINS, own_variables
from .syntax.liveness import Live, Loop, live


@dataclass(slots=True)
class RunContext:
    """The calls that are running. Every entry point and every imported module begins with a new one."""

    # How many functions and generators of the program are running inside each other.
    depth: int = 0
    # The functions among them, the outermost first, each with its arguments.
    call_stack: list[tuple[ast.AST, tuple[Value, ...]]] = field(default_factory=list)
    # What takes the values that the running generators of the running function yield, the innermost last.
    consumers: list[Callable[[State, Value], list[State]]] = field(default_factory=list)
    # The call or loop whose body is not to run at once, because the script continues in it statement by statement.
    suspend_at: ast.AST | None = None
    # The call whose function is to run next with just the arguments that the call is known to give.
    spelled_call: ast.Call | None = None
    # Whether a call is running that is given up when it has used its share of the fuel.
    has_share: bool = False
    # The running ``try`` statements that handle an AttributeError, the innermost last.
    awaiting: list[ast.Try] = field(default_factory=list)


Key = tuple[Hashable, int]
"""By what the memo knows an evaluation: a node, or what is done beside its value, and its occurrence."""


@dataclass(slots=True)
class EvalMemo:
    """What the running statement has evaluated."""

    # The values. One that is `ProgramRaised` was raised.
    values: dict[Key, object]
    # The first occurrence of the running round of a comprehension. Each round has occurrences of its own: what is known
    # of one round must not be taken for another's where an earlier round is not evaluated again.
    base: int = 0
    # How often each node was evaluated on this path, in this round.
    counts: dict[Hashable, int] = field(default_factory=dict)
    # Paths on which the statement is still to be finished, each with what was evaluated before they forked.
    pending_paths: list[tuple[State, dict[Key, object]]] = field(default_factory=list)

    def fork(self, path: State, key: object, value: object) -> None:
        """Finish the running statement on another ``path``, too, where ``key`` has given ``value``."""
        assert isinstance(key, tuple)
        self.pending_paths.append((path, {**self.values, key: value}))

    def latest(self, node: ast.AST) -> object:
        """What ``node`` was evaluated to last; None if it was not."""
        return self.values.get((node, self.base + max(self.counts.get(node, 1) - 1, 0)))


class OutOfFuel(Exception):
    """The entry point took more steps than it may; it is given up, and counted. ``paths`` waited beside the one that
    ran.
    """

    def __init__(self) -> None:
        super().__init__()
        self.paths: list[State] = []


class Cancelled(Exception):
    """The result is no longer needed."""


Probe = Callable[[ast.AST, State, Value], None]
Place = tuple[str, int, int]
"""A file, and the row and column of its text at which a node ends."""
T = TypeVar("T")

EXPRESSIONS: dict[type, Callable[..., Value]] = {}
STATEMENTS: dict[type, Callable[..., list[State]]] = {}

_UNASKED = object()


class Machine(Evaluation):
    """Executes one file."""

    # Of the running unit, and swapped with it (`running`). The rest of what belongs to the unit is written into `unit`;
    # these stand here because every evaluated expression, or every op, reads them.
    unit: AnalysisUnit
    facts: Facts
    observations: Observations
    fuel_used: int
    fuel: int

    # Of the running entry point, and swapped with it (`detached`). Every evaluated expression reads the last two.
    context: RunContext
    # What the running statement has evaluated.
    memo: EvalMemo
    # Sees every evaluated expression, if a hover asks.
    probe: Probe | None
    # Sees every statement and every decision, if `tapelint trace` asks.
    observer: Observer | None

    def __init__(
        self,
        facts: Facts,
        tree: ast.Module,
        lifecycle: Lifecycle,
        cancel: Callable[[], bool] | None = None,
        probe: Probe | None = None,
        limits: Limits = Limits(),  # noqa: B008 (frozen)
    ) -> None:
        self.limits = limits
        self._tree, self._module = tree, 0
        self.unit = AnalysisUnit(facts, {}, limits.script_fuel)
        self.observations = Observations(self.unit.observed)
        self.facts = facts
        self.fuel_used = 0
        self.fuel = limits.script_fuel
        self.context = RunContext()
        self.memo = EvalMemo({})
        self.probe = probe
        self.observer = None

        # The checks, by what they listen to.
        self.lifecycle = lifecycle
        # The cells of the file, if it is a notebook.
        self.cells: tuple[Cell, ...] = ()
        # What the project calls a test.
        self.tests = TestConventions()
        # Whether pytest looks for tests in the file, and whether it is there for tests, with some or their fixtures.
        self.collects_tests = self.serves_tests = False
        # Functions that are not tried out where nothing calls them.
        self.untried: frozenset[ast.AST] = frozenset()
        # Whether the result is no longer needed.
        self.cancel = cancel
        # The modules of the workspace; None where every import is an unknown library.
        self.imports: ModuleSystem | None = None
        # How many paths are kept: fewer than `Limits.paths` while an object is made with inferred arguments.
        self.max_paths = limits.paths
        # How many `try` statements with handlers are around what is running.
        self.handlers_around = 0
        # The exceptions whose handlers are running, the innermost last, each as the value that its handler calls it by.
        self.handled: list[ProgramRaised] = []
        # How many runs of loops have begun.
        self.runs = 0
        # The `Sequential` objects that are running, by heap id.
        self.running_sequentials: list[int] = []
        # The classes of which an object is being made for an annotation, by heap id.
        self.imagined_classes: list[int] = []
        # Names of Python, and unknown facts that are the same wherever they are asked for.
        self.builtins: dict[str, Value] = {}
        # The backward pass that visits a node of the program, by heap id of the node's context.
        self.node_visits: dict[int, NodeVisit] = {}
        # Where each layer and each optimizer was made, by heap id.
        self.created_by: dict[int, ast.AST] = {}
        # The `param_groups` that were built for an optimizer, by heap id of the optimizer.
        self.grouped: dict[int, HeapRef] = {}
        # What is reachable from heap objects that no code changes any more.
        self.frozen_contents: Known = {}

    @property
    def tree(self) -> ast.Module:
        """The file that is analysed. A module that reads it while it is executed is another one for another file."""
        self.unit.import_lookups.has_read_main = True
        return self._tree

    @tree.setter
    def tree(self, tree: ast.Module) -> None:
        self._tree = tree

    @property
    def trees(self) -> tuple[ast.Module, ...]:
        """That file and the modules that the running unit may use, to ask about (`query`): what was asked while a
        module was executed is asked again for another file.
        """
        unit = self.unit
        if len(unit.loaded_trees) < len(unit.loads):
            unit.loaded_trees = tuple([module.source.tree for module in unit.loads])
        return self._tree, *unit.loaded_trees

    @property
    def module(self) -> int:
        """The heap id of that file's scope."""
        self.unit.import_lookups.has_read_main = True
        return self._module

    @module.setter
    def module(self, frame: int) -> None:
        self._module = frame

    def take_over(self, other: Machine) -> None:
        """Begin with the modules that the analysis of another file has executed, under the same limits."""
        assert self.imports is not None and other.imports is not None
        self.imports.take_over(other.imports)
        self.runs = max(self.runs, other.runs)
        for name, value in other.builtins.items():
            self.builtins.setdefault(name, value)
        for key, node in other.created_by.items():
            if self.imports.has_made(key):
                self.created_by[key] = node
        for key, groups in other.grouped.items():
            if self.imports.has_made(key):
                self.grouped[key] = groups

    @contextmanager
    def running(self, unit: AnalysisUnit) -> Iterator[None]:
        """While this lasts, ``unit`` is what is counted in, with its own facts and fuel."""
        outer, observed = (self.unit, self.facts, self.fuel_used, self.fuel), self.observations.keys
        assert unit.facts is not None, "a unit that is to run has facts"
        self.unit, self.facts, self.fuel_used, self.fuel = unit, unit.facts, 0, unit.fuel
        self.observations.keys = unit.observed
        try:
            yield
        finally:
            unit.fuel_used = self.fuel_used
            self.unit, self.facts, self.fuel_used, self.fuel = outer
            self.observations.keys = observed

    @contextmanager
    def detached(self) -> Iterator[None]:
        """While this lasts, code runs that is no part of the running statement, such as an imported module: it has
        calls and a memo of its own, what is around that statement is not around it, and the probe does not see it.
        """
        outer = self.context, self.memo, self.probe, self.max_paths, self.handlers_around, self.handled
        self.context, self.memo, self.probe = RunContext(), EvalMemo({}), None
        self.max_paths, self.handlers_around, self.handled = self.limits.paths, 0, []
        try:
            yield
        finally:
            self.context, self.memo, self.probe, self.max_paths, self.handlers_around, self.handled = outer

    def running_file(self, state: State) -> ast.Module:
        """The file whose code is running."""
        return self._tree if self.imports is None else self.imports.here(state).source.tree

    # Expressions

    def eval(self, node: ast.AST, state: State) -> Value:
        kind = type(node)
        if kind is ast.Name:
            value = self.read(state, node)  # type: ignore[arg-type]
            if self.probe is not None:
                self.probe(node, state, value)
            return value
        if kind is ast.Constant:
            return Const(node.value)  # type: ignore[attr-defined]
        self.fuel_used += 1
        if not self.fuel_used & 255:  # a check for every expression would cost more than most expressions
            self.check_fuel()
        memo = self.memo
        counts, values = memo.counts, memo.values
        count = counts.get(node, 0)
        counts[node] = count + 1
        key = (node, memo.base + count)
        if key in values:
            known = values[key]
            if isinstance(known, ProgramRaised):
                raise known
            return known  # type: ignore[return-value]
        handler = EXPRESSIONS.get(kind)
        try:
            value = handler(self, node, state, key) if handler is not None else Unknown(kind.__name__)
        except ProgramRaised as error:
            self._locate(error, node, state)
            raise
        values[key] = value
        if self.probe is not None:
            self.probe(node, state, value)
        return value

    def locate_raises(self, statement: ast.stmt, states: list[State]) -> None:
        """What a statement has raised beside its expressions was raised there."""
        for state in states:
            if type(state.completion) is Raise:
                self._locate(state.completion.error, statement, state)

    def _locate(self, error: ProgramRaised, node: ast.AST, state: State) -> None:
        """Note where the program raises, if that is not known, and whether an event of it was published there."""
        if error.point is None:
            error.point, told = state.point(node), self.facts.events.raised_at
            if told is not None:
                error.is_published = node in told.calls or told.node in error.point.calls or told.node in walk(node)

    def memoize(self, node: ast.AST, what: Hashable, effect: Callable[[object], T]) -> T:
        """What ``effect`` gives, which the program computes beside the value of ``node``: its ``__iter__``, say.
        It is given the key by which the memo knows it, and done once for each evaluation of the node, however often the
        statement is finished.
        """
        memo = self.memo
        part = (node, what, memo.counts.get(node, 0))
        count = memo.counts.get(part, 0)
        memo.counts[part] = count + 1
        key = (part, memo.base + count)
        if key not in memo.values:
            try:
                memo.values[key] = effect(key)
            except ProgramRaised as error:
                memo.values[key] = error
                raise
        known = memo.values[key]
        if isinstance(known, ProgramRaised):
            raise known
        return known  # type: ignore[return-value]

    def check_cancelled(self) -> None:
        """Raise Cancelled where the result is not wanted any more. Whatever goes through many functions asks for each:
        one of them may cost nothing, a thousand cost seconds.
        """
        if self.cancel is not None and self.cancel():
            raise Cancelled

    def check_fuel(self) -> None:
        self.check_cancelled()
        if self.fuel_used > self.fuel:
            raise OutOfFuel

    def charge_pass(self) -> None:
        """Passes through graphs cost steps, too, by the nodes that they have reached."""
        fuel, self.facts.running.nodes_visited = divmod(
            self.facts.running.nodes_visited, self.limits.comparisons_per_fuel
        )
        self.fuel_used += fuel
        self.check_fuel()

    def read(self, state: State, node: ast.Name) -> Value:
        """What the running code reads. Python raises where a variable of a function is not bound; it may be bound there
        by an earlier iteration alone, which then no choice leads to that is meant, unless the number of the iteration
        decides.
        """
        running, unbound = state.heap[state.frame], self.unit.unbound
        assert isinstance(running, Frame)
        value = running.variables.get(node.id)
        if value is not None:
            if unbound and node in unbound and isinstance(value, TensorRef) and self._is_left_over(state, node, value):
                raise ProgramRaised("UnboundLocalError")
            return value
        function = None if node.id in running.shared else running.function
        if function is not None and node.id in self.query(own_variables, function.node):
            if not meets_number(state.path_condition):
                unbound.add(node)
            raise ProgramRaised("UnboundLocalError")
        return self.lookup(state, node.id)

    def _is_left_over(self, state: State, read: ast.Name, value: TensorRef) -> bool:
        """Whether a variable was bound above, in an earlier iteration of the loop and not in this one."""
        bound = [each for each in self.facts.origins.stored.get(value.id, ()) if each.target == read.id]
        if not bound or not state.iterations or bound[-1].point.calls != state.calls:
            return False
        lap, line = state.iterations[-1], getattr(bound[-1].statement, "end_lineno", read.lineno)
        earlier = (each.number for each in bound[-1].point.iterations if each.run == lap.run)
        return line < read.lineno and any(number < lap.number for number in earlier)

    def lookup(self, state: State, name: str) -> Value:
        heap = state.heap
        key = state.frame
        while key:
            frame = heap[key]
            assert isinstance(frame, Frame)
            value: Value | None = frame.variables.get(name)
            if value is not None:
                if key != state.frame:
                    self.unit.iteration_facts.accessed[key, name] = self.fuel_used
                return value
            key = frame.parent
        if self.imports is not None:
            value = self.imports.missing(state, name)
            if value is not None:
                return value
        value = self.builtins.get(name)
        if value is None:
            value = self.builtins[name] = External("builtins." + name) if name in BUILTINS else something(name)
        return value

    def bind(self, state: State, name: str, value: Value) -> None:
        """Assign a variable in the running scope."""
        frame = state.get(state.frame, Frame)
        key = frame.shared.get(name, state.frame) if frame.shared else state.frame
        if key != state.frame:
            self.unit.iteration_facts.accessed[key, name] = self.fuel_used
        state.edit(key, Frame).variables[name] = value

    def fact(self, name: str, origin: Origin = Origin.ANY, about: Hashable = None) -> Value:
        """Something unknown that is the same wherever it is asked for, such as whether tensors are on a GPU; ``about``
        the same thing, where there are several.
        """
        return self.builtins.setdefault(f"({name} {origin.name} {about})", Unknown(name, False, origin=origin))

    def query(self, question: Callable[..., T], *about: ast.AST | str) -> T:
        """What ``question`` answers about code that is not being executed, or about a name in it. It is asked once in a
        unit and written down, for an edit may change the answer.
        """
        known = self.unit.queries.get((question, about), _UNASKED)
        if known is _UNASKED:
            known = self.unit.queries[question, about] = question(*about)
        return known  # type: ignore[no-any-return]

    def count_backward(self, state: State, node: ast.AST, rooted: bool) -> None:
        """The program goes backward at ``node``, which is in the file of the running function."""
        place = self.imports.here(state).path if self.imports is not None else "", node
        self.unit.backward_sites[place] = self.unit.backward_sites.get(place, False) or rooted

    def fail(self, entry: Entry, error: Exception, rule: str = "") -> None:
        """A fault of ours, or of a rule, has ended what began at ``entry``. To run out of Python's stack is one, too:
        it is deep enough for the deepest program that is accepted.
        """
        lost = Lost(entry, fault=fault_of(error), rule=rule)
        if lost not in self.unit.unfollowed:
            self.unit.stats.faults += 1
            self.give_up(lost)

    def give_up(self, lost: Lost) -> None:
        """An entry point is not executed to its end."""
        self.unit.unfollowed.append(lost)
        if self.observer is not None:
            self.observer.decide(GivenUp(lost))

    def drop(self, count: int, reason: DropReason) -> None:
        """So many paths are not executed any further."""
        self.unit.stats.dropped += count
        if self.observer is not None and count:
            self.observer.decide(Dropped(count, reason))

    def leave_opaque(self, node: ast.AST, function: Value | None, reason: OpaqueReason) -> None:
        """The call of ``function`` at ``node`` is not executed."""
        self.unit.stats.unknown_calls += 1
        if self.observer is not None:
            self.observer.decide(Opaque(node, function, reason))

    # Statements

    def run_paths(self, state: State, effect: Callable[[State], None]) -> list[State]:
        """All states in which ``effect`` ends; a path that raises has the completion ``Raise``."""
        return self.resume_paths([(state, {})], effect)

    def run_values(self, state: State, effect: Callable[[State], T]) -> list[tuple[State, T | None]]:
        """The same with what ``effect`` returned on each path; None where it has raised."""
        values: dict[State, T] = {}

        def keep(path: State) -> None:
            values[path] = effect(path)

        return [(path, values.get(path)) for path in self.run_paths(state, keep)]

    def resume_paths(self, work: list[tuple[State, dict[Key, object]]], effect: Callable[[State], None]) -> list[State]:
        """The same for paths on which some of it has been evaluated, the last of them first."""
        outer = self.memo
        results: list[State] = []
        try:
            while work:
                path, values = work.pop()
                frame, iterations = path.frame, path.iterations
                self.memo = EvalMemo(values)
                try:
                    effect(path)
                except ProgramRaised as error:
                    # its traceback would keep these frames, and every path in them, until garbage is collected
                    path.completion = Raise(error.with_traceback(None))
                    self.unit.stats.failed += not error.is_meant
                except OutOfFuel as end:
                    end.paths.extend([*results, *(other for other, _ in work)])
                    raise
                results.append(path)
                forks = self.memo.pending_paths
                for other, _ in forks:  # a path that has forked in a comprehension is in its scope and its iteration
                    other.frame, other.iterations = frame, iterations
                if forks:
                    room = max(self.paths_kept() - len(self.drop_uncaught_raises(results)) - len(work), 0)
                    self.drop(max(len(forks) - room, 0), DropReason.LIMIT)
                    work += forks[:room]
                    if len(forks) > room:
                        going = [*results, *(path for path, _ in work)]
                        self.unit.notes.record(AbandonedPaths).select(going, [path for path, _ in forks[room:]])
        finally:
            self.memo = outer
        return results

    def block(self, body: list[ast.stmt], states: list[State]) -> list[State]:
        """Run statements one after the other; paths that left the normal flow wait at the end."""
        for statement in body:
            if len(states) > 1 and isinstance(statement, Loop):
                states = self.met_before(statement, states)
            if len(states) == 1:
                state = states[0]
                if state.completion is not None:
                    return states
                states = self.statement(statement, state)
            else:
                following: list[State] = []
                running = False
                for index, state in enumerate(states):
                    if state.completion is not None:
                        following.append(state)
                        continue
                    running = True
                    try:
                        following += self.statement(statement, state)
                    except OutOfFuel as end:
                        end.paths.extend([*following, *states[index + 1 :]])
                        raise
                states = following
                if not running:
                    return states
            if len(states) > 1:
                states = self.join_and_cap(states)
        return states

    def statement(self, node: ast.stmt, state: State) -> list[State]:
        handler = STATEMENTS.get(type(node))
        if handler is None:
            return [state]
        self.fuel_used += 1
        observer = self.observer
        if observer is not None:
            observer.begin(node, state)
        states = handler(self, node, state)
        self.locate_raises(node, states)
        if observer is not None:
            observer.end(node, states)
        if len(states) > 1 or not states or type(states[0].completion) is not Raise or type(node) is ast.Raise:
            self.unit.completed.add(node)
        return states

    def met_before(self, loop: ast.For | ast.AsyncFor | ast.While, states: list[State]) -> list[State]:
        """Merge the paths that reach a loop: names that are dead there would have it run for each of them."""
        going = [state for state in states if state.completion is None]
        known = self.live_at(loop, going) if len(going) > 1 else None
        if known is None:
            return states
        return [*self.join_and_cap(going, known.before), *(state for state in states if state.completion is not None)]

    def live_at(self, loop: ast.For | ast.AsyncFor | ast.While, states: list[State]) -> Live | None:
        """What the loop needs of the names of the running scope; None where that is not known."""
        frame = states[0].get(states[0].frame, Frame)
        if frame.function is not None:
            return self.query(live, frame.function.node, loop)
        return self.query(live, self._tree, loop) if states[0].frame == self._module and not self.cells else None

    def drop_uncaught_raises(self, states: list[State]) -> list[State]:
        """Drop paths that end in an uncaught exception, unless no other is left. They have been reported already and
        must not use up the number of paths.
        """
        return self._going(states)[0]

    def _going(self, states: list[State]) -> tuple[list[State], list[PathGuard]]:
        """The paths without those, and what leads to where Python has ended one of these."""
        if self.handlers_around:
            return states, []
        ended: list[PathGuard] = []
        going = [state for state in states if type(state.completion) is not Raise]
        if going and len(going) < len(states):
            abandoned = self.unit.notes.record(AbandonedPaths)
            for state in states:
                error = state.completion.error if type(state.completion) is Raise else None
                if error is not None and not error.by_torch and not error.is_skip:
                    ended.append(abandoned.raise_at(state, going))
                    if error.is_unwanted:
                        _require(state.supposed, going)
        return going or states, ended

    def join_and_cap(self, states: list[State], live: frozenset[str] | None = None) -> list[State]:
        """Merge what is equal in all that can still matter (of variables those ``live``), drop what is too much."""
        meeting = JoinPoint(live, self.context.call_stack, self.frozen_contents)
        suspects = self.unit.suspects
        kept: list[State] = []
        going, ended = self._going(states)
        for state in going:
            for other in kept:
                if try_join(state, other, self.facts, suspects, meeting):
                    if self.observer is not None:
                        self.observer.decide(Joined(state, other, tuple(meeting.forgotten)))
                    break
            else:
                kept.append(state)
        if self.observer is not None and len(kept) > 1:
            self.observer.decide(KeptApart(tuple(kept)))
        for path in kept:
            for each in ended:
                path.guard = path.guard.beside(each)
        self.fuel_used += meeting.work // self.limits.comparisons_per_fuel
        self.check_fuel()
        most = self.paths_kept() if len(kept) > 1 else 1
        if len(kept) > most:
            self.drop(len(kept) - most, DropReason.LIMIT)
            kept = self._selected(kept, most)
        return kept

    def _selected(self, paths: list[State], most: int) -> list[State]:
        """So many paths: those with a premise are left out first; of the others some are, evenly, so that no branch is
        preferred for standing first.
        """
        kept = _without_premises(paths, most)
        going = going_on(kept, most)
        self.unit.notes.record(AbandonedPaths).select(going, [state for state in kept if state not in going])
        return going

    def paths_kept(self) -> int:
        """How many paths may go on: fewer and fewer once half of the fuel is used, so that one of them reaches the end
        of the entry point.
        """
        used, whole = self._used()
        if whole <= 0 or 2 * used <= whole:  # what runs without a share of its own is not cut
            return self.max_paths
        return max(-(-2 * self.max_paths * (whole - used) // whole), 1)

    def iterations_kept(self) -> int:
        """How many iterations of a loop run that has many: two once half of the fuel is used, which still show what one
        does to the graph of another.
        """
        used, whole = self._used()
        return self.limits.unroll if whole <= 0 or 2 * used <= whole else min(self.limits.unroll, 2)

    def _used(self) -> tuple[int, int]:
        """The fuel that the entry point has used, and what it had."""
        unit = self.unit
        used = unit.fuel_used_before + self.fuel_used
        unit.fuel_needed = max(unit.fuel_needed, 2 * used)
        return used, unit.fuel_used_before + unit.fuel

    # Loops count their iterations

    def begin_iteration(self, state: State, loop: ast.AST, run: int, number: int, depth: int) -> None:
        """Begin iteration ``number`` of a run of ``loop`` that has ``depth`` loops around it."""
        state.iterations = (*state.iterations[:depth], Iteration(loop, run, number))

    def new_run(self) -> int:
        self.runs += 1
        return self.runs


def _require(refused: Because, going: list[State]) -> None:
    """Where a program refuses the default of an option, the first path on which it has another value is as it is meant
    to run: that supposes nothing. ``refused`` is what the path supposes that was refused.
    """
    first = going[0]
    if all(path.supposed != refused and not refused.without(path.supposed) for path in going):
        first.supposed = refused


def _without_premises(paths: list[State], limit: int) -> list[State]:
    """So many paths, of those with a premise the first; all others, if these are more."""
    room = limit - sum(not path.supposed for path in paths)
    supposing = [path for path in paths if path.supposed][: max(room, 0)]
    return [path for path in paths if not path.supposed or path in supposing]


def place_of(path: str, node: ast.AST) -> Place:
    """Where a node of a file ends: that is what tells the calls of ``a.b().c()`` apart."""
    return path, getattr(node, "end_lineno", None) or 0, getattr(node, "end_col_offset", None) or 0
