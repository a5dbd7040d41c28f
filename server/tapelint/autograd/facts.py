"""What one analysis remembers beside its paths: names for tensors, where values were kept, and who listens.

These facts never change once known and ids are never reused, so they are shared by all paths.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import TYPE_CHECKING

from .events.graph_walks import Event
from .frozen import frozen
from .model.graph import BackwardResult, Node, Write
from .model.program_point import ProgramPoint
from .model.stores import Stored
from .state import State

if TYPE_CHECKING:
    from .model.func_levels import Level


@frozen
class Cut:
    """Where a tensor lost its graph, and why (``detach``, ``no_grad``, ``item`` ...). ``grad_mode_set_at`` is the call
    that had switched gradients off until further notice, if that is why; ``source`` the graph it was cut from, if
    there was one, ``leaves`` the parameters that a graph would lead to, if none was made; ``rewrapped`` is where a
    tensor was made again of the numbers.
    """

    point: ProgramPoint
    reason: str
    grad_mode_set_at: ProgramPoint | None = None
    source: Node | None = None
    leaves: tuple[int, ...] = ()
    wrapped: ProgramPoint | None = None


@frozen
class Unmarked:
    """An ``autograd.Function`` wrote one of its inputs in place and did not say so.

    ``argument`` is forward's name for it, ``grad_fn`` the history it still has, which knows nothing of the write.
    ``applied`` is when the Function ran.
    """

    function: str
    argument: str
    grad_fn: Node
    write: Write
    applied: ProgramPoint


class Facts:
    """Facts and listeners of one analysis.

    ``made_by_scaler`` are the tensors that a scaler of mixed precision made, ``gradient_relevant`` the unknown
    conditions that may decide what becomes of gradients (and whether by clearing them), ``holders`` the unknown values
    that were given leaves, ``gradient_derived`` the tensors that the program computed from gradients,
    ``manual_updates`` those that it computed from a leaf and a gradient, each with its leaf, ``detached_terms`` sums
    with a graph, of which one term lost its own, each with where, ``read_as_number`` what was in the tensors that
    unknown numbers were read from, ``attribute_stores`` for each attribute and item of an object the last assignment to
    it, its target and its value, ``parameters_requested_by`` the module that was asked for its parameters, by the empty
    list it gave; ``partially_exposed`` the leaves that stand for many parameters, of which some code had some in hand;
    ``wanted_gradients`` the tensors whose gradient the program wants, ``float32`` the tensors of the default dtype,
    ``default_dtype_changed`` the calls that change that of others, ``levels`` the transforms of ``torch.func`` that are
    running, the innermost last; ``nodes_visited`` counts the nodes that passes have reached.

    Of the program's own Functions: ``gradients`` is what a node's backward returned last, ``inside`` the node whose
    backward made a write (by the write's stamp), ``unmarked`` what forward wrote in secret (by version counter).
    ``casting`` is set under autocast, or where that is not known.
    """

    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self.stored: dict[int, tuple[Stored, ...]] = {}
        self.cuts: dict[int, Cut] = {}
        self.rewrapped: dict[int, ProgramPoint] = {}
        self.listeners: list[Callable[[Event], None]] = []
        self.saved: set[int] = set()
        self.searched: set[ast.AST] = set()
        self.walked: set[tuple[ast.AST, tuple[ast.AST, ...]]] = set()
        self.enclosing_handlers = 0
        self.clone_of: dict[int, tuple[int, int]] = {}
        self.gradients: dict[Node, BackwardResult] = {}
        self.unmarked: dict[int, Unmarked] = {}
        self.inside: dict[int, Node] = {}
        self.assumption: str | None = None
        self.levels: tuple[Level, ...] = ()
        self.casting = False
        self.made_by_scaler: dict[int, ProgramPoint] = {}
        self.gradient_relevant: dict[Hashable, bool] = {}
        self.holders: dict[int, frozenset[int]] = {}
        self.gradient_derived: set[int] = set()
        self.read_as_number: dict[int, tuple[int, ...]] = {}
        self.manual_updates: dict[int, int] = {}
        self.detached_terms: dict[int, Cut] = {}
        self.attribute_stores: dict[tuple[int, str], tuple[ast.expr, ast.expr]] = {}
        self.parameters_requested_by: dict[int, int] = {}
        self.partially_exposed: set[int] = set()
        self.wanted_gradients: set[int] = set()
        self.float32: set[int] = set()
        self.default_dtype_changed: set[str] = set()
        self.nodes_visited = 0

    def fork(self) -> Facts:
        """A tape that begins with the facts of this one and whose own facts this one does not see."""
        twin = Facts.__new__(Facts)
        for name, value in vars(self).items():
            setattr(twin, name, value.copy() if isinstance(value, (dict, set)) else value)
        return twin

    def merge_from(self, other: Facts) -> None:
        """Know what ``other`` knows; the names given here come first."""
        for name, value in vars(self).items():
            if isinstance(value, set):
                value |= getattr(other, name)
            elif isinstance(value, dict):
                for key, fact in getattr(other, name).items():
                    value.setdefault(key, fact)

    def publish(self, event: Event) -> None:
        """Tell the listeners; but not of what the program catches itself (``enclosing_handlers`` counts the handlers
        that would). While ``assumption`` is set, everything that happens rests on it.
        """
        if self.enclosing_handlers and event.raises:
            return
        if self.assumption is not None and event.assumption is None:
            event = replace(event, assumption=self.assumption)
        for listener in self.listeners:
            listener(event)

    def relevant_assumptions(self, state: State) -> frozenset[Hashable]:
        """The assumptions of a path on which it depends what is cleared and stepped."""
        return frozenset(key for key in state.path_condition if key in self.gradient_relevant)

    def clearing(self, premises: frozenset[Hashable]) -> frozenset[Hashable]:
        """Those of some assumptions on which it depends what is cleared."""
        return frozenset(key for key in premises if self.gradient_relevant[key])

    def is_single(self, tensor: int) -> bool:
        """Whether a tensor is of single precision for certain: of the default type, which the program leaves alone."""
        return tensor in self.float32 and not self.default_dtype_changed

    def same_values(self, left: tuple[int, int], right: tuple[int, int]) -> bool:
        """Whether two tensors, each with its version, hold the same values for certain: one was cloned from the
        other.
        """
        return self.origin(left) == self.origin(right)

    def origin(self, tensor: tuple[int, int]) -> tuple[int, int]:
        """The tensor, and the version of it, that an unchanged clone was made from."""
        while tensor[1] == 0 and tensor[0] in self.clone_of:
            tensor = self.clone_of[tensor[0]]
        return tensor

    def name(self, tensor: int, name: str) -> None:
        """The first name a tensor is given is the one a user recognises."""
        self.names.setdefault(tensor, name)

    def record_store(self, tensor: int, stored: Stored) -> None:
        self.stored[tensor] = (*self.stored.get(tensor, ()), stored)
