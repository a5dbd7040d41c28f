"""One execution of a file, kept for those who ask about it: hovers, pictures, what was followed.

A state changes as its path goes on, so a sight copies what holds at that moment: the tensor's record, what was freed,
which tensors had a gradient. What happens later (who saves it, which backward runs its graph, who writes it) comes from
the graph nodes, events and writes collected along the way; ids are never reused, so they match afterwards.

How an execution has come to statements, and where values became unknown.

out = unet(x)             `out` is unknown: the call was not executed
loss = out.sample.sum()   made of `out`
loss.backward()           reads `loss`
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from .. import analysis
from ..analysis.execution import Inputs
from ..analysis.locations import Files
from ..autograd import (
    BackwardPass,
    Facts,
    Iteration,
    Leaf,
    Node,
    ProgramPoint,
    SavedTensor,
    Tensor,
    Write,
    resolve_view,
)
from ..autograd.events.graph_walks import BackwardRan, Event, FreedGraphReached, LeafWritten, SavedTensorModified
from ..autograd.model.graph_search import reachable
from ..autograd.model.program_point import earlier_iteration
from ..autograd.state import AutogradState, TrackedDict, fresh_id
from ..bounds import BOUNDS
from ..domain.state import State
from ..domain.traversal import tensors_in
from ..domain.values import BuiltinMethod, HeapRef, Optimizer, TensorRef, Tuple, Unknown, Value
from ..engine.observer import Decided, DecideReason, Decision, Opaque
from ..engine.statistics import Entry
from ..frozen import frozen
from ..ops.conversions import OF_TENSORS
from ..rules.support.story import code
from ..source import Source
from .call_runs import CallRun, Copies, Snapshot, call_run, snapshot
from .wording import Place, listed, op_name, places, read_by, role, value_at


@dataclass(slots=True, eq=False)
class Visit:
    """A statement on a path: the unknown tensors and values that it reads, by name, and its calls that were not
    executed.
    """

    statement: ast.stmt
    unknown: dict[str, int]
    opaque: list[Opaque] = field(default_factory=list)


class Visits:
    """Observes one execution. ``first`` is how it came to each statement for the first time, ``made`` says for each
    unknown value which statement has bound it first.
    """

    def __init__(self) -> None:
        self.first: dict[ast.stmt, Visit] = {}
        self.made: dict[int, Visit] = {}
        # Why tests went one way.
        self.decided: dict[ast.expr, set[DecideReason]] = {}
        self._running: list[Visit] = []

    def enter(self, entry: Entry) -> None:
        """Execution starts at an entry point, or goes on with it."""

    def begin(self, statement: ast.stmt, state: State) -> None:
        """A statement is executed on a path."""
        visit = Visit(statement, dict(_unknown(state, read_by(statement))))
        self._running.append(visit)
        self.first.setdefault(statement, visit)

    def end(self, statement: ast.stmt, states: list[State]) -> None:
        """It has ended in ``states``."""
        while self._running and self._running[-1].statement is not statement:
            self._running.pop()
        if not self._running:
            return
        visit = self._running.pop()
        for state in states:
            for _, key in _unknown(state, places(statement)[0]):
                self.made.setdefault(key, visit)

    def decide(self, decision: Decision) -> None:
        """The machine has decided what is executed next."""
        if isinstance(decision, Opaque) and self._running:
            self._running[-1].opaque.append(decision)
        elif isinstance(decision, Decided):
            self.decided.setdefault(decision.test, set()).add(decision.reason)


def _unknown(state: State, named: Mapping[str, Place]) -> Iterator[tuple[str, int]]:
    """The names of values of which it is not known whether they have a graph, with what tells the values apart."""
    for name, place in named.items():
        match value_at(state, place):
            case Unknown(tensor_id=key):
                yield name, key
            case TensorRef(id=key) if key in state.tensors and state.tensors[key].requires_grad is None:
                yield name, key


@frozen
class Carried:
    """A graph that an earlier iteration built; ``freed`` if a backward has freed a part of it already."""

    node: Node
    lap: Iteration
    freed: BackwardPass | None


@frozen
class Sight:
    """An expression that is looked at had a value, once; ``stamp`` orders that among nodes, writes and passes.

    ``tensors`` are the tensors of the value (several for a tuple, called ``names``) as they were; ``spent`` the nodes
    that had saved the first one and were freed; ``grads`` the tensors that had a ``.grad``; ``write`` the last write to
    the first one.
    """

    point: ProgramPoint
    value: Value
    tensors: tuple[Tensor, ...]
    names: tuple[str, ...]
    write: Write | None
    spent: frozenset[Node]
    grads: Mapping[int, int]
    grad_mode: bool | None
    carried: Carried | None
    stamp: int

    @property
    def version(self) -> int:
        return self.write.version if self.write else 0


@frozen
class Walk:
    """A backward pass that has ended; ``root`` is the tensor that it began at, as it was; None where that is not known.
    ``stamp`` orders it among nodes and writes.
    """

    stamp: int
    event: BackwardRan
    root: Tensor | None


@dataclass(slots=True)
class OpenCall:
    """A call whose callee has been evaluated: what is called, the program before it, the tensors in its arguments."""

    callee: Value
    before: Snapshot
    given: dict[ast.AST, tuple[int, ...]] = field(default_factory=dict)


class Recording:
    """One execution of ``source``. ``wanted`` are the expressions that are looked at, calls among them as a whole.

    For pictures it ``keeps_paths``: a sight has all tensors in the value, in lists and objects too, and its path.
    """

    def __init__(self, source: Source, wanted: Iterable[ast.AST] = (), keeps_paths: bool = False) -> None:
        self.source, self.facts, self.visits = source, Facts(), Visits()
        # Of expressions, and of calls; the paths of sights by their stamps.
        self.sights: dict[ast.AST, list[Sight]] = {node: [] for node in wanted}
        self.runs: dict[ast.Call, list[CallRun]] = {node: [] for node in self.sights if isinstance(node, ast.Call)}
        self.paths: dict[int, AutogradState] = {}
        self._keeps_paths = keeps_paths
        self._callees: dict[ast.AST, ast.Call] = {node.func: node for node in self.runs}
        self._arguments: dict[ast.AST, ast.Call] = {
            part: node for node in self.runs for part in (*node.args, *(k.value for k in node.keywords))
        }
        self._open: dict[ProgramPoint, OpenCall] = {}
        self._copies = Copies()
        # Events, and how many there were when hooks were removed, by the hook.
        self.events: list[Event] = []
        self.walks: list[Walk] = []
        self.troubles: list[FreedGraphReached | SavedTensorModified | LeafWritten] = []
        self.removed: dict[int, int] = {}
        # What is looked for among the events: the first of them, and its path as it was then.
        self.is_sought: Callable[[Event], bool] | None = None
        self.found: Event | None = None
        self.moment: AutogradState | None = None
        # Tensors, nodes and writes.
        self.nodes: dict[Node, None] = {}
        self.writes: dict[int, dict[tuple[int, ast.AST], Write]] = {}
        self.shared: dict[int, int] = {}
        self.converted: set[int] = set()
        self.retained: set[int] = set()
        self._retains = frozenset(_retained(source.tree))
        self._last_writes: dict[int, Write | None] = {}
        self._savers: dict[int, list[tuple[Node, SavedTensor]]] = {}
        self._state: State | None = None
        # Known at the end: the files that were executed, and whether no path was given up: what was not evaluated is
        # then not reached.
        self.files = Files(source)
        self.is_complete = False
        self.facts.events.subscribe(self.hear)

    def execute(self, inputs: Inputs, cancel: Callable[[], bool] | None = None) -> None:
        """Fill it. Raises analysis.Cancelled."""
        # Where nothing is looked at, what was learnt of values is not kept for it.
        machine = analysis.made(self.source, self.facts, inputs, self.probe if self.sights else None)
        machine.observer = self.visits
        analysis.executed(machine, cancel)
        self.files = Files(self.source, machine.imports.sources if machine.imports else ())
        self.is_complete = machine.unit.stats.is_complete

    # While the program runs

    def hear(self, event: Event) -> None:
        """An event is published."""
        self.events.append(event)
        state = self._state
        if isinstance(event, BackwardRan):
            is_known = state is not None and event.root in state.tensors
            root = resolve_view(state, event.root) if state is not None and is_known else None
            self.walks.append(Walk(fresh_id(), event, root))
        elif isinstance(event, (FreedGraphReached, SavedTensorModified, LeafWritten)):
            self.troubles.append(event)
        if state is not None and self.found is None and self.is_sought is not None and self.is_sought(event):
            self.found, self.moment = event, _as_now(state)

    def probe(self, node: ast.AST, state: State, value: Value) -> None:
        """Note what the value of ``node`` shows: the program calls this for each expression it has evaluated."""
        self._state = state
        match value:
            case TensorRef(id=key):
                self._share(node, state.tensors[key])
            case BuiltinMethod(name="remove", receiver=HeapRef(id=key)) if key in state.hooks:
                self.removed.setdefault(key, len(self.events))
        for counter, write in state.writes.items():
            if self._last_writes.get(counter, write) is not write:
                self._note(counter, write)
        if (call := self._callees.get(node)) is not None:
            if len(self.sights[call]) < BOUNDS.sights:
                self._open[state.point(call)] = OpenCall(value, snapshot(state, value, len(self.events), self._copies))
        elif (call := self._arguments.get(node)) is not None:
            self._give(call, node, state, value)
        if node in self.sights and len(self.sights[node]) < BOUNDS.sights:
            self._see(node, state, value)
            if isinstance(node, ast.Call):
                self._finish(node, state, value)

    def _share(self, node: ast.AST, tensor: Tensor) -> None:
        """Keep what is asked later of a tensor that ``node`` evaluated to: its counter, its graph, what made it."""
        self.shared[tensor.id] = tensor.version_counter
        if tensor.grad_fn is not None and tensor.grad_fn not in self.nodes:
            self._collect(tensor.grad_fn)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in OF_TENSORS:
            self.converted.add(tensor.id)
        if node in self._retains:
            self.retained.add(tensor.id)

    def _give(self, call: ast.Call, argument: ast.AST, state: State, value: Value) -> None:
        """Add an evaluated argument to a call that is watched and has begun."""
        begun = self._open.get(state.point(call))
        if begun is None:
            return
        begun.given[argument] = tuple(tensors_in(state, value))
        if isinstance(value, HeapRef) and isinstance(state.heap[value.id], Optimizer):  # scaler.step(opt)
            begun.before = snapshot(state, BuiltinMethod(value, "step"), len(self.events), self._copies)

    def _finish(self, node: ast.Call, state: State, value: Value) -> None:
        point = state.point(node)
        begun = self._open.get(point)
        if begun is not None:
            run = call_run(state, point, begun.callee, begun.given, begun.before, value, len(self.events), self._copies)
            self.runs[node].append(run)

    def _collect(self, node: Node) -> None:
        new = reachable([node], lambda item: item not in self.nodes)
        self.nodes.update(dict.fromkeys(item for item in new if isinstance(item, Node)))

    def _note(self, counter: int, write: Write | None) -> None:
        self._last_writes[counter] = write
        notes = self.writes.setdefault(counter, {})
        while write is not None and (write.version, write.point.node) not in notes:
            notes[write.version, write.point.node] = write
            write = write.before

    def _see(self, node: ast.AST, state: State, value: Value) -> None:
        if self._keeps_paths:
            found = [("", key) for key in dict.fromkeys(tensors_in(state, value))]
        else:
            found = [(name, item.id) for name, item in _items(value) if isinstance(item, TensorRef)]
        tensors = tuple(resolve_view(state, key) for _, key in found)
        for tensor in tensors:
            self._note(tensor.version_counter, state.writes.get(tensor.version_counter))
            if tensor.grad_fn is not None:
                self._collect(tensor.grad_fn)
        write, carried, spent = None, None, frozenset[Node]()
        point, stamp = state.point(node), fresh_id()
        if tensors:
            counter = tensors[0].version_counter
            write, carried = state.writes.get(counter), _carried(state, tensors[0], point)
            spent = frozenset(n for n in state.freed if any(s.version_counter == counter for s in n.saved))
        names, grads = tuple(name for name, _ in found), self._copies.copy("grads", state.grads)
        sight = Sight(point, value, tensors, names, write, spent, grads, state.grad_mode, carried, stamp)
        self.sights[node].append(sight)
        if self._keeps_paths:
            self.paths[stamp] = state

    # Afterwards

    def line(self, node: ast.AST) -> str:
        """``line 9``, ``nets.py line 9``."""
        place = f"line {getattr(node, 'lineno', '?')}"
        source = self.files.source(node)
        return place if source is self.files.main else f"{os.path.basename(source.path)} {place}"

    def at(self, node: ast.AST) -> str:
        """```loss.backward()` (line 9)``."""
        return f"{code(node)} ({self.line(node)})"

    def made_by(self, node: Node) -> str:
        """```exp` (line 3)``."""
        return f"{op_name(node)} ({self.line(node.created_at.node)})"

    def saved_by(self, savers: Iterable[tuple[Node, SavedTensor]]) -> str:
        """``saved by `exp` as its result (line 3)``."""
        by = (f"{op_name(node)} {role(item)} ({self.line(node.created_at.node)})" for node, item in savers)
        return f"saved by {listed(by)}"

    @property
    def backwards(self) -> list[BackwardRan]:
        """The backward passes that have ended, in order."""
        return [walk.event for walk in self.walks]

    def seen(self, node: ast.AST) -> list[Sight]:
        return self.sights.get(node, [])

    def heard(self, run: CallRun) -> Iterator[Event]:
        """What happened during a run of a call and is booked under it."""
        between = self.events[run.before.heard : run.after.heard]
        return (event for event in between if event.point.node is run.point.node)

    def passes(self, run: CallRun) -> Iterator[BackwardRan]:
        return (event for event in self.heard(run) if isinstance(event, BackwardRan))

    def savers(self, counter: int) -> list[tuple[Node, SavedTensor]]:
        """Every operation that saved a tensor of this version counter, oldest first."""
        if not self._savers:
            for node in sorted(self.nodes, key=lambda n: n.id):
                for saved in node.saved:
                    self._savers.setdefault(saved.version_counter, []).append((node, saved))
        return self._savers.get(counter, [])

    def users(self, counter: int) -> Iterator[Node]:
        """Every operation that was given a tensor of this version counter."""
        for node in self.nodes:
            if any(self.shared.get(key, key) == counter for key in node.operand_ids):
                yield node

    def ran(self, node: Node) -> Iterator[BackwardRan]:
        """The backward passes that ran ``node``, in order."""
        return (event for event in self.backwards if node in event.ran)


def _retained(tree: ast.Module) -> Iterator[ast.expr]:
    """The receivers of ``retain_grad()``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "retain_grad":
            yield node.func.value


def _as_now(state: AutogradState) -> AutogradState:
    """What is asked of a path later, as it is now. The path itself counts what it touches, and must not notice."""
    now = AutogradState()
    now.tensors, now.writes = TrackedDict(state.tensors), TrackedDict(state.writes)
    now.freed, now.grads, now.untracked_writes = state.freed.copy(), state.grads.copy(), state.untracked_writes.copy()
    now.consumed_passes, now.retained = state.consumed_passes.copy(), state.retained.copy()
    now.history = state.history.copy()
    return now


def _items(value: Value, label: str = "") -> Iterator[tuple[str, Value]]:
    """What a value consists of, each with how the program gets at it: ``[0]``, ``[1][0]``, ``.values``."""
    if not isinstance(value, Tuple):
        yield label, value
        return
    for index, item in enumerate(value.items):
        own = f".{value.names[index]}" if index < len(value.names) else f"[{index}]"
        yield from _items(item, f"{label}{own}")


def graph(start: Node | None, most: int = 4000) -> Iterator[Node | Leaf]:
    """Everything a backward from ``start`` can reach, ``most`` of it."""
    return islice(reachable([start]), most) if start is not None else iter(())


def leaves_behind(node: Node | None) -> list[int]:
    """The leaves that a backward through ``node`` gives gradients."""
    return sorted(item.tensor for item in graph(node) if isinstance(item, Leaf))


def _carried(state: State, tensor: Tensor, now: ProgramPoint) -> Carried | None:
    """The part of the tensor's graph that an earlier iteration built, if any; a freed part first, then the youngest."""
    best: Carried | None = None
    for item in graph(tensor.grad_fn):
        if not isinstance(item, Node):
            continue
        lap = earlier_iteration(item.created_at, now)
        if lap is None or isinstance(lap.loop, ast.comprehension):
            continue
        freed = state.freed.get(item) if item.saves_anything else None
        if best is None or (freed is not None, item.id) > (best.freed is not None, best.node.id):
            best = Carried(item, lap, freed)
    return best
