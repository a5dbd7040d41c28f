"""What autograd knows of one execution path. ``domain.state.State`` adds the values that the program holds.

Tensors, writes and graph nodes are immutable records: a copy copies dictionaries of references and nothing else.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

from ..because import NOTHING, Because
from .model.choices import UNGUARDED, Region
from .model.graph import BackwardPass, Node, SavedTensor, Tensor, Write
from .model.program_point import Iteration, ProgramPoint
from .model.stores import EvaluationGraph, LastStore, RetainedGraphs

if TYPE_CHECKING:
    from .gradients.history import GradientHistory, Pass, Use
    from .gradients.reference_cycles import Cycle
    from .model.cuts import Withheld
    from .passes.node_hooks import Hook
    from .passes.retained_graphs import RetainedPass


fresh_id: Callable[[], int] = itertools.count(1).__next__
"""A number never returned before; numbers grow, so creation order can be read off them."""


Modes = tuple["bool | None", bool, "ProgramPoint | None"]
"""Grad mode, inference mode, and where ``torch.set_grad_enabled`` set them."""

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
_set = dict.__setitem__


class TrackedDict(dict[K, V]):
    """A dictionary that knows which of its keys were set since the last fork: comparing two paths looks at these."""

    __slots__ = ("touched",)

    def __init__(self, items: Iterable[tuple[K, V]] | dict[K, V] = ()) -> None:
        super().__init__(items)
        self.touched: set[K] = set()

    def __setitem__(self, key: K, value: V) -> None:
        self.touched.add(key)
        _set(self, key, value)


class AutogradState:
    """Tensors, graphs and gradients on one path, and where in the program the path is."""

    __slots__ = (
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
        "withheld",
        "evaluation_graphs",
        "unread",
        "grad_mode",
        "grad_mode_set_at",
        "inference",
        "modes_outside",
        "iterations",
        "calls",
        "path_condition",
        "supposed",
        "supposed_code",
        "guard",
        "changes",
    )

    def __init__(self) -> None:
        # Each tensor by its id.
        self.tensors: TrackedDict[int, Tensor] = TrackedDict()
        # The last write of each version counter.
        self.writes: TrackedDict[int, Write] = TrackedDict()
        # By storage: the last write that the storage's own version counter does not count (through ``.data``).
        self.untracked_writes: dict[int, Write] = {}
        # What each statement in a running loop stored last.
        self.last_stores: dict[ast.AST, LastStore] = {}
        # By the statement that stored them: the graphs that were still held when their loop ended.
        self.retained_after_loop: dict[ast.AST, RetainedGraphs] = {}
        # By leaf: its gradient has a graph that refers to the leaf.
        self.cycles: dict[int, Cycle] = {}
        # The tensors with a graph that unknown code was given and may keep.
        self.escaped: frozenset[int] = frozenset()
        # The pass that freed each freed node.
        self.freed: dict[Node, BackwardPass] = {}
        # The first pass with ``retain_graph=True`` that ran each node.
        self.retained: dict[Node, BackwardPass] = {}
        # By statement: its last pass with ``retain_graph=True``, until a later pass uses what it retained.
        self.retaining: dict[ast.AST, RetainedPass] = {}
        # By tensor: the tensor that is its ``.grad``.
        self.grads: dict[int, int] = {}
        # Registered hooks, by the heap id of their handle.
        self.hooks: dict[int, Hook] = {}
        # What a new node keeps in place of what it would save: the inputs of a checkpoint, or () under
        # ``saved_tensors_hooks``; None outside of both.
        self.saved_tensor_override: tuple[SavedTensor, ...] | None = None
        # By leaf: where its gradient comes from and what became of it.
        self.history: dict[int, GradientHistory] = {}
        # The backward passes whose gradients were used, and by what.
        self.consumed_passes: dict[Pass, Use] = {}
        # By leaf: what cuts have kept from its gradient since that was cleared.
        self.withheld: dict[int, frozenset[Withheld]] = {}
        # By run and number of an iteration: what a network in evaluation mode has recorded in it.
        self.evaluation_graphs: dict[tuple[int, int], EvaluationGraph] = {}
        # The stamp of the last call of code that was not read, or of a pass that may have gone where nothing is known.
        self.unread = 0
        # Whether autograd records; None where that is unknown.
        self.grad_mode: bool | None = True
        # Where ``torch.set_grad_enabled`` set it; None if a block or a decorator did.
        self.grad_mode_set_at: ProgramPoint | None = None
        self.inference = False
        # What was on where a program called ``__enter__`` of a mode itself and has not left it yet, innermost last.
        self.modes_outside: tuple[Modes, ...] = ()
        # The running iterations, outermost first.
        self.iterations: tuple[Iteration, ...] = ()
        # The running calls, outermost first.
        self.calls: tuple[ast.AST, ...] = ()
        # The truth assumed for unknown conditions, by their formula.
        self.path_condition: dict[Hashable, bool] = {}
        # What the path supposes that is not so by default, such as that an option is given.
        self.supposed: Because = NOTHING
        # The code that is run only where it holds.
        self.supposed_code: Region | None = None
        # The branches on unknown tests that the path has taken.
        self.guard = UNGUARDED
        # How often a heap object was edited, a backward ran or a hook was removed.
        self.changes = 0

    def copy_to(self, twin: AutogradState) -> None:
        """Set the fields of ``twin`` to copies. Both count from here which tensors and counters they touch."""
        twin.tensors, twin.writes = TrackedDict(self.tensors), TrackedDict(self.writes)
        self.tensors.touched, self.writes.touched = set(), set()
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
        twin.withheld = self.withheld.copy()
        twin.evaluation_graphs, twin.unread = self.evaluation_graphs.copy(), self.unread
        twin.modes, twin.modes_outside = self.modes, self.modes_outside
        twin.iterations, twin.calls = self.iterations, self.calls
        twin.path_condition, twin.supposed, twin.guard = self.path_condition.copy(), self.supposed, self.guard
        twin.supposed_code = self.supposed_code
        twin.changes = self.changes

    def version(self, counter: int) -> int:
        """The number of writes that a version counter has counted."""
        write = self.writes.get(counter)
        return write.version if write is not None else 0

    def has_modified_saved(self, node: Node) -> bool:
        """Whether a tensor that ``node`` saved has been written since."""
        for item in node.saved:
            write = self.writes.get(item.version_counter)
            if item.version != (write.version if write is not None else 0):
                return True
        return False

    def packed(self, saved: Sequence[SavedTensor]) -> tuple[SavedTensor, ...]:
        """What a new node keeps that would save ``saved``."""
        return tuple(saved) if self.saved_tensor_override is None or not saved else self.saved_tensor_override

    @property
    def modes(self) -> Modes:
        return self.grad_mode, self.inference, self.grad_mode_set_at

    @modes.setter
    def modes(self, modes: Modes) -> None:
        self.grad_mode, self.inference, self.grad_mode_set_at = modes

    def enter(self, mode: bool | None, inference: bool | None) -> None:
        """Set grad mode. Inference mode lasts through ``no_grad`` and ``enable_grad``, where ``inference`` is None;
        nothing is recorded in it, whatever they set.
        """
        if inference is not None:
            self.inference = inference
        self.grad_mode, self.grad_mode_set_at = False if self.inference else mode, None

    def grad_fns(self, tensors: Iterable[int]) -> list[Node]:
        """The nodes that made tensors, as far as these have a graph."""
        return [node for key in tensors if (node := self.tensors[key].grad_fn) is not None]

    def point(self, node: ast.AST) -> ProgramPoint:
        """The program point of ``node`` in the running iterations and calls."""
        return ProgramPoint(node, self.iterations, self.calls, self.supposed, self.supposed_code, self.guard)
