"""One execution path: everything that can change, in a few maps, cheap to fork.

Objects on the heap (frames, lists, instances) are copied on the first write after a fork; tensors and graph nodes are
immutable records, so a fork copies dictionaries of references and nothing else.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from .model.fork_history import ForkDiff, ForkHistory, TrackedDict
from .model.graph import BackwardPass, Node, SavedTensor, Tensor, Write
from .model.program_point import Iteration, ProgramPoint
from .model.stores import LastStore, RetainedGraphs

if TYPE_CHECKING:
    from .gradients.history import GradientHistory, Pass, Use
    from .gradients.reference_cycles import Cycle


class HeapObject(Protocol):
    """Anything mutable that a program can hold: it must know how to copy itself (one level deep)."""

    def copy(self) -> HeapObject: ...


fresh_id: Callable[[], int] = itertools.count(1).__next__
"""A number never handed out before; numbers grow, so creation order can be read off them."""


class State:
    """A path through the program, up to now.

    ``completion`` is set once the path leaves the normal flow (``break``, ``continue``, ``return``, ``raise``), with
    ``completion_value``. ``retained`` are the nodes that a backward with ``retain_graph=True`` ran, ``retaining`` its
    last pass by statement, if no later pass used what it kept (``walks``). ``untracked_writes`` holds, for each memory,
    the writes its own version counter does not count (through ``.data``). ``hooks`` are known by their handles.
    ``saved_tensor_override``, if set, is what nodes keep in place of what they would save: the inputs of the checkpoint
    they are made in, or nothing that a write could spoil. ``last_stores`` is what statements in loops stored last,
    ``retained_after_loop`` what loops left behind, ``escaped`` what unknown code was given, ``cycles`` the gradients
    that hold their own leaf. ``history`` is the past of each leaf's gradient, ``consumed_passes`` the backward passes
    whose gradients some code has used (``gradients``), ``evaluation_graphs`` the graphs that networks in evaluation
    mode made in the first iterations of running loops. ``path_condition`` remembers the truth assumed for unknown
    conditions.
    """

    __slots__ = (
        "heap",
        "owned",
        "tensors",
        "writes",
        "untracked_writes",
        "last_stores",
        "retained_after_loop",
        "cycles",
        "escaped",
        "freed",
        "retained",
        "retaining",
        "grads",
        "hooks",
        "saved_tensor_override",
        "history",
        "consumed_passes",
        "evaluation_graphs",
        "grad_mode",
        "grad_mode_set_at",
        "inference",
        "iterations",
        "calls",
        "path_condition",
        "completion",
        "completion_value",
        "changes",
        "frame",
        "fork_history",
    )

    def __init__(self) -> None:
        self.heap: dict[int, Any] = {}
        self.owned: set[int] = set()
        self.tensors: TrackedDict[int, Tensor] = TrackedDict()
        self.writes: TrackedDict[int, Write] = TrackedDict()
        self.untracked_writes: dict[int, Write] = {}
        self.last_stores: dict[ast.AST, LastStore] = {}
        self.retained_after_loop: dict[ast.AST, RetainedGraphs] = {}
        self.cycles: dict[int, Cycle] = {}
        self.escaped: frozenset[int] = frozenset()
        self.freed: dict[Node, BackwardPass] = {}
        self.retained: dict[Node, BackwardPass] = {}
        self.retaining: dict[Any, Any] = {}
        self.grads: dict[int, int] = {}
        self.hooks: dict[int, Any] = {}
        self.saved_tensor_override: tuple[SavedTensor, ...] | None = None
        self.history: dict[int, GradientHistory] = {}
        self.consumed_passes: dict[Pass, Use] = {}
        self.evaluation_graphs: dict[tuple[int, int], tuple[Node, ProgramPoint]] = {}
        self.grad_mode: bool | None = True
        self.grad_mode_set_at: ProgramPoint | None = None
        self.inference = False
        self.iterations: tuple[Iteration, ...] = ()
        self.calls: tuple[Any, ...] = ()
        self.path_condition: dict[Hashable, bool] = {}
        self.completion: str | None = None
        self.completion_value: Any = None
        self.changes = 0
        self.frame = 0
        self.fork_history: ForkHistory | None = None

    def fork(self) -> State:
        """A second path that shares its past with this one."""
        twin = State.__new__(State)
        self.fork_history = twin.fork_history = ForkHistory(
            self.fork_history, self.owned, self.tensors.touched, self.writes.touched
        )
        twin.heap = self.heap.copy()
        twin.tensors, twin.writes = TrackedDict(self.tensors), TrackedDict(self.writes)
        self.owned, self.tensors.touched, self.writes.touched = set(), set(), set()
        twin.owned = set()
        twin.untracked_writes = self.untracked_writes.copy()
        twin.last_stores = self.last_stores.copy()
        twin.retained_after_loop = self.retained_after_loop.copy()
        twin.cycles = self.cycles.copy()
        twin.escaped = self.escaped
        twin.freed = self.freed.copy()
        twin.retained = self.retained.copy()
        twin.retaining = self.retaining.copy()
        twin.grads = self.grads.copy()
        twin.hooks = self.hooks.copy()
        twin.saved_tensor_override = self.saved_tensor_override
        twin.history, twin.consumed_passes = self.history.copy(), self.consumed_passes.copy()
        twin.evaluation_graphs = self.evaluation_graphs.copy()
        twin.grad_mode, twin.inference = self.grad_mode, self.inference
        twin.grad_mode_set_at = self.grad_mode_set_at
        twin.iterations, twin.calls = self.iterations, self.calls
        twin.path_condition = self.path_condition.copy()
        twin.completion, twin.completion_value = self.completion, self.completion_value
        twin.changes, twin.frame = self.changes, self.frame
        return twin

    def difference(self, other: State) -> ForkDiff:
        """Where this path and ``other`` may differ: what either has changed since they parted."""
        found = ForkDiff(self.fork_history, other.fork_history)
        for path in (self, other):
            found.add(path.owned, path.tensors.touched, path.writes.touched)
        return found

    def become(self, other: State) -> None:
        """Continue as ``other``, which must not be used any more."""
        for slot in State.__slots__:
            setattr(self, slot, getattr(other, slot))

    # The heap

    def new(self, thing: HeapObject) -> int:
        """Put ``thing`` on the heap; the number it is known by."""
        key = fresh_id()
        self.heap[key] = thing
        self.owned.add(key)
        return key

    def edit(self, key: int) -> Any:
        """The heap object ``key``, ready to be changed on this path only."""
        self.changes += 1
        if key in self.owned:
            return self.heap[key]
        thing = self.heap[key] = self.heap[key].copy()
        self.owned.add(key)
        return thing

    # Tensors

    def version(self, counter: int) -> int:
        write = self.writes.get(counter)
        return write.version if write is not None else 0

    def has_modified_saved(self, node: Node) -> bool:
        """Whether something that ``node`` saved has been written since."""
        for item in node.saved:
            write = self.writes.get(item.version_counter)
            if item.version != (write.version if write is not None else 0):
                return True
        return False

    def packed(self, kept: Sequence[SavedTensor]) -> tuple[SavedTensor, ...]:
        """What a new node holds in place of ``last_stores``."""
        return tuple(kept) if self.saved_tensor_override is None or not kept else self.saved_tensor_override

    def enter(self, mode: bool | None, inference: bool | None) -> None:
        """Set grad mode. Inference mode lasts through ``no_grad`` and ``enable_grad``, where ``inference`` is None;
        nothing is recorded in it, whatever they say.
        """
        if inference is not None:
            self.inference = inference
        self.grad_mode, self.grad_mode_set_at = False if self.inference else mode, None

    def point(self, node: Any) -> ProgramPoint:
        return ProgramPoint(node, self.iterations, self.calls)
