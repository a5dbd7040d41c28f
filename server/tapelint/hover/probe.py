"""Watches expressions while the program is executed once more, and what happens to the tensors seen there.

A state changes as its path goes on, so an observation copies what holds at that moment: the tensor's record, what was
freed, which tensors had a gradient. What happens later (who saves it, which backward runs its graph, who writes it)
comes from the graph nodes, events and writes collected along the way; ids are never reused, so they match afterwards.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

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
from ..domain.state import State
from ..domain.traversal import tensors_in
from ..domain.values import BuiltinMethod, HeapRef, Optimizer, TensorRef, Tuple, Value
from ..frozen import frozen
from ..rules.support.story import code
from .call_trace import CallRun, Copies, Snapshot, call_run, snapshot

MOST = 64
CONVERSIONS = frozenset("to cuda cpu float double half bfloat16 contiguous type_as type xpu pin_memory".split())
"""Methods that return the very tensor where there is nothing to do, and a copy with a node of its own otherwise."""


@frozen
class Carried:
    """A graph that an earlier iteration built; ``freed`` if a backward has freed a part of it already."""

    node: Node
    lap: Iteration
    freed: BackwardPass | None


@frozen
class Observation:
    """The watched expression had a value, once.

    ``tensors`` are the tensors of the value (several for a tuple, called ``names``) as they were; ``spent`` the nodes
    that had saved the first one and were freed; ``grads`` the tensors that had a ``.grad``; ``write`` the last write to
    the first one; ``writes`` what the call that was watched wrote.
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

    @property
    def version(self) -> int:
        return self.write.version if self.write else 0


@dataclass(slots=True)
class OpenCall:
    """A call whose callee has been evaluated: what is called, the program before it, the tensors in its arguments."""

    callee: Value
    before: Snapshot
    given: dict[ast.AST, tuple[int, ...]] = field(default_factory=dict)


class HoverProbe:
    """The probe of hovers. ``wanted`` are the syntax nodes to be watched; calls among them as a whole."""

    def __init__(self, facts: Facts, wanted: Iterable[ast.AST], retains: Iterable[ast.AST] = ()) -> None:
        self.facts = facts
        self.wanted = frozenset(wanted)
        self.retains = frozenset(retains)
        self.observations: dict[ast.AST, list[Observation]] = {node: [] for node in self.wanted}
        self.callees: dict[ast.AST, ast.Call] = {node.func: node for node in self.wanted if isinstance(node, ast.Call)}
        self.arguments: dict[ast.AST, ast.Call] = {
            part: node for node in self.callees.values() for part in (*node.args, *(k.value for k in node.keywords))
        }
        self.runs: dict[ast.Call, list[CallRun]] = {node: [] for node in self.callees.values()}
        self.removed: dict[int, int] = {}
        self.open: dict[ProgramPoint, OpenCall] = {}
        self.nodes: dict[Node, None] = {}
        self.copies = Copies()
        self.by_counter: dict[int, list[tuple[Node, SavedTensor]]] = {}
        self.events: list[Event] = []
        self.backwards: list[BackwardRan] = []
        self.troubles: list[FreedGraphReached | SavedTensorModified | LeafWritten] = []
        self.counters: dict[int, Write | None] = {}
        self.writes: dict[int, dict[tuple[int, ast.AST], Write]] = {}
        self.shared: dict[int, int] = {}
        self.converted: set[int] = set()
        self.retained: set[int] = set()
        # The files that were executed, once they are known: a line of another file is named with that file.
        self.files: Files | None = None
        # Whether no path was given up: what was not evaluated is then not reached.
        self.is_complete = False
        facts.events.subscribe(self.hear)

    def line(self, node: ast.AST) -> str:
        """``line 9``, ``nets.py line 9``."""
        place = f"line {getattr(node, 'lineno', '?')}"
        if self.files is None or (source := self.files.of(node)) is self.files.main:
            return place
        return f"{os.path.basename(source.path)} {place}"

    def at(self, node: ast.AST) -> str:
        """```loss.backward()` (line 9)``."""
        return f"{code(node)} ({self.line(node)})"

    # While the program runs

    def hear(self, event: Event) -> None:
        self.events.append(event)
        if isinstance(event, BackwardRan):
            self.backwards.append(event)
        elif isinstance(event, (FreedGraphReached, SavedTensorModified, LeafWritten)):
            self.troubles.append(event)

    def probe(self, node: ast.AST, state: State, value: Value) -> None:
        """Note what the value of ``node`` shows: the program calls this for each expression it has evaluated."""
        match value:
            case TensorRef(id=key):
                self._share(node, state.tensors[key])
            case BuiltinMethod(name="remove", receiver=HeapRef(id=key)) if key in state.hooks:
                self.removed.setdefault(key, len(self.events))
        for counter, write in state.writes.items():
            if self.counters.get(counter, write) is not write:
                self._note(counter, write)
        if (call := self.callees.get(node)) is not None:
            if len(self.observations[call]) < MOST:
                self.open[state.point(call)] = OpenCall(value, snapshot(state, value, len(self.events), self.copies))
        elif (call := self.arguments.get(node)) is not None:
            self._give(call, node, state, value)
        if node in self.wanted and len(self.observations[node]) < MOST:
            self._sight(node, state, value)
            if isinstance(node, ast.Call):
                self._finish(node, state, value)

    def _share(self, node: ast.AST, tensor: Tensor) -> None:
        """Keep what is asked later of a tensor that ``node`` evaluated to: its counter, its graph, what made it."""
        self.shared[tensor.id] = tensor.version_counter
        if tensor.grad_fn is not None and tensor.grad_fn not in self.nodes:
            self._collect(tensor.grad_fn)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CONVERSIONS:
            self.converted.add(tensor.id)
        if node in self.retains:
            self.retained.add(tensor.id)

    def _give(self, call: ast.Call, argument: ast.AST, state: State, value: Value) -> None:
        """Add an evaluated argument to a call that is watched and has begun."""
        begun = self.open.get(state.point(call))
        if begun is None:
            return
        begun.given[argument] = tuple(tensors_in(state, value))
        if isinstance(value, HeapRef) and isinstance(state.heap[value.id], Optimizer):  # scaler.step(opt)
            begun.before = snapshot(state, BuiltinMethod(value, "step"), len(self.events), self.copies)

    def _finish(self, node: ast.Call, state: State, value: Value) -> None:
        point = state.point(node)
        begun = self.open.get(point)
        if begun is not None:
            run = call_run(state, point, begun.callee, begun.given, begun.before, value, len(self.events), self.copies)
            self.runs[node].append(run)

    def _collect(self, node: Node) -> None:
        new = reachable([node], lambda item: item not in self.nodes)
        self.nodes.update(dict.fromkeys(item for item in new if isinstance(item, Node)))

    def _note(self, counter: int, write: Write | None) -> None:
        self.counters[counter] = write
        notes = self.writes.setdefault(counter, {})
        while write is not None and (write.version, write.point.node) not in notes:
            notes[write.version, write.point.node] = write
            write = write.before

    def _sight(self, node: ast.AST, state: State, value: Value) -> None:
        items = dict(_items(value))
        found = {label: item.id for label, item in items.items() if isinstance(item, TensorRef)}
        names = tuple(found)
        tensors = tuple(resolve_view(state, key) for key in found.values())
        write, carried, spent = None, None, frozenset[Node]()
        for tensor in tensors:
            self._note(tensor.version_counter, state.writes.get(tensor.version_counter))
            if tensor.grad_fn is not None:
                self._collect(tensor.grad_fn)
        point = state.point(node)
        if tensors:
            write = state.writes.get(tensors[0].version_counter)
            carried = _carried(state, tensors[0], point)
            spent = frozenset(
                n for n in state.freed if any(s.version_counter == tensors[0].version_counter for s in n.saved)
            )
        self.observations[node].append(
            Observation(
                point,
                value,
                tensors,
                names,
                write,
                spent,
                self.copies.copy("grads", state.grads),
                state.grad_mode,
                carried,
            )
        )

    # Afterwards

    def seen(self, node: ast.AST) -> list[Observation]:
        return self.observations.get(node, [])

    def heard(self, run: CallRun) -> Iterator[Event]:
        """What happened during a run of a call and is booked under it."""
        between = self.events[run.before.heard : run.after.heard]
        return (event for event in between if event.point.node is run.point.node)

    def passes(self, run: CallRun) -> Iterator[BackwardRan]:
        return (event for event in self.heard(run) if isinstance(event, BackwardRan))

    def savers(self, counter: int) -> list[tuple[Node, SavedTensor]]:
        """Every operation that saved a tensor of this version counter, oldest first."""
        if not self.by_counter:
            for node in sorted(self.nodes, key=lambda n: n.id):
                for saved in node.saved:
                    self.by_counter.setdefault(saved.version_counter, []).append((node, saved))
        return self.by_counter.get(counter, [])

    def users(self, counter: int) -> Iterator[Node]:
        """Every operation that was given a tensor of this version counter."""
        for node in self.nodes:
            if any(self.shared.get(key, key) == counter for key in node.operand_ids):
                yield node

    def ran(self, node: Node) -> Iterator[BackwardRan]:
        """The backward passes that ran ``node``, in order."""
        return (event for event in self.backwards if node in event.ran)


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
