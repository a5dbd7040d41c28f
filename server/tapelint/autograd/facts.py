"""What one analysis remembers beside its paths: names for tensors, where values were kept, where graphs ended.

Ids are never reused, so that what is known of one is shared by all paths. Each record has those who write it; most of
it is only added to, what is replaced says so (``the last ...``).
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Hashable, Iterator
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, TypeVar

from ..frozen import frozen
from .event_bus import EventBus
from .model.choices import PathGuard, literals_of, without
from .model.cuts import UNKNOWN_PROVENANCE, Cut, Provenance
from .model.graph import BackwardResult, Node, Write
from .model.program_point import Iteration, ProgramPoint
from .model.stores import Stored
from .state import AutogradState

if TYPE_CHECKING:
    from .events.graph_walks import HiddenWriteUsed
    from .events.training_step import EvaluationUndone, TrainedInEvaluation
    from .model.func_levels import Level
    from .model.hidden_writes import HiddenWrite


@frozen
class Unmarked:
    """An ``autograd.Function`` wrote one of its inputs in place without ``mark_dirty``."""

    function: str
    # forward's name for the input.
    argument: str
    # The history that the input still has, which knows nothing of the write.
    grad_fn: Node
    write: Write
    # When the Function ran.
    applied: ProgramPoint


@frozen
class StateTaken:
    """``state_dict()`` of a module, which holds the parameters' own memory."""

    # The parameters, each with the version that it had.
    versions: tuple[tuple[int, int], ...]
    point: ProgramPoint


@frozen
class Kept:
    """A list was given the memory of a tensor, or the tensor got another name."""

    # Orders it among the writes.
    stamp: int
    point: ProgramPoint
    # The id of the tensor, or of the unknown value that is the array.
    key: int


R = TypeVar("R", bound="Record")


@dataclass(slots=True, eq=False)
class Record:
    """Facts about one subject. Tensors, storages and counters are keyed by their ids."""

    def fork(self: R) -> R:
        """One that begins with these facts, and of whose own facts this one knows nothing."""
        twin = type(self)()
        for each in fields(self):
            value = getattr(self, each.name)
            setattr(twin, each.name, value.copy() if isinstance(value, (dict, set)) else value)
        return twin

    def merge_from(self: R, other: R) -> None:
        """Know what ``other`` knows; what is known here comes first."""
        for name in vars(type(self))["__dataclass_fields__"]:  # `fields` makes a tuple of them, at each call
            value, more = getattr(self, name), getattr(other, name)
            if more and isinstance(value, set):
                value |= more
            elif more and isinstance(value, dict):
                for key, fact in more.items():
                    value.setdefault(key, fact)


@dataclass(slots=True, eq=False)
class Origins(Record):
    """Where values come from and where they were kept, as a message says it: written by what binds, stores, returns."""

    # The first name that each tensor was given, which is the one a user recognises.
    names: dict[int, str] = field(default_factory=dict)
    stored: dict[int, tuple[Stored, ...]] = field(default_factory=dict)
    # Where functions of the program returned tensors that may require grad.
    returned: dict[int, tuple[ProgramPoint, ...]] = field(default_factory=dict)
    # Where tensors, and the unknown arrays and numbers computed from them, come from.
    provenance: dict[int, Provenance] = field(default_factory=dict)
    # The first time that a list was given the memory of a tensor, by the list's heap id and the storage.
    kept_in: dict[tuple[int, int], Kept] = field(default_factory=dict)
    # Where a tensor that was there already got another name, by its id and that name.
    bound: dict[tuple[int, str], Kept] = field(default_factory=dict)
    # For each attribute and item of an object, the target and the value of the last assignment to it.
    attribute_stores: dict[tuple[int, str], tuple[ast.expr, ast.expr]] = field(default_factory=dict)
    # The calls of ``detach`` whose results nobody has, since they are all of a statement.
    dropped: set[ast.AST] = field(default_factory=set)


@dataclass(slots=True, eq=False)
class Memory(Record):
    """Which tensors and arrays share memory, for all that is known, and writes that no node stands for: written by ops,
    conversions and ``autograd.Function``.
    """

    # The last conversion that may have made a copy of a view, or of a tensor while autograd did not record.
    maybe_copied: dict[int, ProgramPoint] = field(default_factory=dict)
    # The tensor that another one is a view of, if it is no copy: by the result of a ``reshape``.
    maybe_viewed: dict[int, int] = field(default_factory=dict)
    # The tensor that another one is, if a conversion did not copy it: by the result of the conversion.
    maybe_same: dict[int, int] = field(default_factory=dict)
    # The arrays that are the memory of a tensor, by the ids of these unknown values: its storage.
    arrays: dict[int, int] = field(default_factory=dict)
    # The storages of tensors that a conversion to another device or dtype may have copied.
    converted: set[int] = field(default_factory=set)
    # The tensors and arrays that share the memory of a part of a tensor, for all that is known.
    parts: set[int] = field(default_factory=set)
    # Parts of tensors that a slice cut out.
    windows: dict[int, Window] = field(default_factory=dict)
    # The tensors whose entries lie in memory in order: made of nothing but sizes, or by ops that give such.
    contiguous: set[int] = field(default_factory=set)
    # The version counters of tensors that some node has saved.
    saved: set[int] = field(default_factory=set)
    # Writes that the graph does not know, by the node that computed what was written.
    hidden_writes: dict[Node, HiddenWrite] = field(default_factory=dict)
    # What was computed after such a write from what was written.
    hidden_uses: dict[Node, HiddenWriteUsed] = field(default_factory=dict)
    # What forward wrote without ``mark_dirty``, by version counter.
    unmarked: dict[int, Unmarked] = field(default_factory=dict)
    # The node whose backward made a write, by the stamp of the write.
    inside: dict[int, Node] = field(default_factory=dict)
    # The tensors that were there before a write to another tensor of their memory, and that an op was given since, by
    # the stamp of the write.
    read_since: dict[int, frozenset[int]] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Contents(Record):
    """What is in tensors, of which dtype and where: written by each op that makes one (``dtypes``, ``devices``,
    ``constant_contents``). A write or a conversion takes it back.
    """

    # The tensors with the default dtype.
    float32: set[int] = field(default_factory=set)
    # Those that a conversion has given another floating point type, and what is computed of these alone.
    other_floats: set[int] = field(default_factory=set)
    # The parameters that their layer may not have: an argument that is not known decides it.
    optional: set[int] = field(default_factory=set)
    # The tensors that are all or part of what a loop over something unknown takes from it.
    in_batches: set[int] = field(default_factory=set)
    # The unknown values that were given where nothing but a tensor is taken, by the ids that they have as tensors.
    taken: set[int] = field(default_factory=set)
    # The number that fills memory written with constants alone, by its contents; `SEVERAL` where it is not one.
    constants: dict[tuple[int, ...], object] = field(default_factory=dict)
    # The calls that change the default dtype of tensors.
    default_dtype_changed: set[str] = field(default_factory=set)
    # The tensors that are on the CPU.
    on_cpu: set[int] = field(default_factory=set)
    # The device that was asked for when a tensor was made, or moved.
    device_asked: dict[int, Hashable] = field(default_factory=dict)
    # The gradients that were read of copies on another device, if these are copies, by the ids of the unknown values:
    # the copy, and where it was read.
    moved_gradients: dict[int, tuple[int, ProgramPoint]] = field(default_factory=dict)
    # The calls that change the device on which tensors are made.
    default_device_changed: set[str] = field(default_factory=set)


@dataclass(slots=True, eq=False)
class Training(Record):
    """What passes, optimizers and hooks do to gradients: written by passes and the models of optimizers."""

    # The steps of optimizers at which leaves without a gradient were looked for, each with the iteration.
    searched: dict[ast.AST, tuple[Iteration, ...]] = field(default_factory=dict)
    # The call sites of nodes that some pass has run.
    walked: set[tuple[ast.AST, tuple[ast.AST, ...]]] = field(default_factory=set)
    # Of these the ones that a pass had retained in another iteration, or that a loop had left.
    walked_later: set[tuple[ast.AST, tuple[ast.AST, ...]]] = field(default_factory=set)
    # Of the first the ones that were run by a pass which records no graph: its gradients are used as they are.
    walked_last: set[tuple[ast.AST, tuple[ast.AST, ...]]] = field(default_factory=set)
    # The unknown conditions that may decide what becomes of gradients, each with the statements in which it decides
    # whether they are cleared.
    gradient_relevant: dict[Hashable, frozenset[ast.If]] = field(default_factory=dict)
    # Of these the truths with which passes may reach more than with the other.
    reaching_when: dict[Hashable, frozenset[tuple[ast.If, bool]]] = field(default_factory=dict)
    # Of conditions that decide nothing but whether a path jumps away: the truth with which it may; None for those that
    # decide more.
    leaves_when: dict[Hashable, bool | None] = field(default_factory=dict)
    # The registrations of hooks that clip the gradient they are given, and where that is.
    clipping_hooks: dict[ast.AST, ProgramPoint] = field(default_factory=dict)
    # What an optimizer held at its last step, by the call site of the step.
    stepped_with: dict[tuple[ast.AST, tuple[ast.AST, ...]], Collection[int]] = field(default_factory=dict)
    # The calls of a method `step` that were executed, of what is known, or with arguments as environments have them.
    steps: set[ast.AST] = field(default_factory=set)
    # The backward calls whose graph, which they have retained, another pass has walked on some path.
    retained_for_use: set[ast.AST] = field(default_factory=set)
    # The tensors that some optimizer was given.
    optimized: set[int] = field(default_factory=set)
    # The leaves that code which was not read could get at, which may have gone backward to them or may lead to them by
    # what it returns. A call before any loop whose result is dropped does neither: it prints or initializes.
    shown: set[int] = field(default_factory=set)
    # What an optimizer holds that other methods of its object step with, too.
    trained_by_others: set[int] = field(default_factory=set)
    # Where leaves were made not to require grad any more, the last time.
    frozen_at: dict[int, ProgramPoint] = field(default_factory=dict)
    # Where such leaves were made to require grad again, the last time.
    unfrozen_at: dict[int, ProgramPoint] = field(default_factory=dict)
    # The leaves that were frozen when an optimizer was made, by its heap id.
    frozen_before: dict[int, frozenset[int]] = field(default_factory=dict)
    # The leaves that the backward at each call has reached.
    reached_at: dict[ast.AST, frozenset[int]] = field(default_factory=dict)
    # Where a scaler has unscaled or stepped last, by its heap id, the optimizer and the method.
    scaled_at: dict[Hashable, ProgramPoint] = field(default_factory=dict)
    # The scalers of mixed precision, by their heap ids; those that came as arguments, each with the argument's name.
    scalers: set[int] = field(default_factory=set)
    handed_scalers: dict[int, str] = field(default_factory=dict)
    # The leaf that stands for what a scaled loss reaches where that is not known, by the scaler that has scaled it, and
    # by the scaled loss.
    scaled_leaves: dict[int, int] = field(default_factory=dict)
    scaled_roots: dict[int, int] = field(default_factory=dict)
    # Tensors whose gradient the program wants.
    wanted_gradients: set[int] = field(default_factory=set)
    # What the backward of a node returned last.
    gradients: dict[Node, BackwardResult] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Networks(Record):
    """What is known of the networks and optimizers of the program: written by the models of modules, and by what
    imagines a caller.
    """

    # The leaves of networks that came as arguments, each with the name of the argument.
    handed_leaves: dict[int, str] = field(default_factory=dict)
    # The leaves of networks that are guessed and have shown that they are some, other than by being called.
    proven_networks: set[int] = field(default_factory=set)
    # The optimizers that came as arguments, by their heap ids, each with the name of the argument.
    handed_optimizers: dict[int, str] = field(default_factory=dict)
    # The leaves that code which is not known was given, by the heap ids of the optimizers that it has made.
    made_for: dict[int, frozenset[int]] = field(default_factory=dict)
    # The leaf that stands for all that an optimizer holds, by the heap id of each.
    stand_ins: dict[int, int] = field(default_factory=dict)
    # The optimizer that code which is not known was given, and no other object, by the ids of the unknown values that
    # it returned.
    schedules: dict[int, int] = field(default_factory=dict)
    # The module that was asked for its parameters, by the empty list that it returned.
    parameters_requested_by: dict[int, int] = field(default_factory=dict)
    # Where modules were given a plain attribute that is called as the flag of tensors, by the leaves of each.
    plain_flags: dict[int, ProgramPoint] = field(default_factory=dict)
    # Where the mode of a module was set last.
    mode_set: dict[int, ProgramPoint] = field(default_factory=dict)
    # The calls of networks in training mode, and where each was first; the graphs that the same calls have recorded in
    # evaluation mode in a later iteration.
    training_calls: dict[tuple[ast.AST, int, int], ProgramPoint] = field(default_factory=dict)
    recorded_in_evaluation: dict[Node, TrainedInEvaluation] = field(default_factory=dict)
    # The networks that were called in evaluation mode; of frozen ones that were set to it in vain, the ``eval()`` and
    # the ``train()`` that has undone it, and their first calls after that.
    called_in_evaluation: set[int] = field(default_factory=set)
    undone_evaluations: dict[int, tuple[ProgramPoint, ProgramPoint]] = field(default_factory=dict)
    run_in_training: dict[int, EvaluationUndone] = field(default_factory=dict)
    # What ``state_dict()`` returned, by heap id.
    states_taken: dict[int, StateTaken] = field(default_factory=dict)
    # Leaves that stand for many parameters, of which the program has accessed some.
    partially_exposed: set[int] = field(default_factory=set)


@dataclass(slots=True, eq=False)
class Objects(Record):
    """What is known of the program's objects, by their heap ids: written by the engine and by what picks an item."""

    # Tensors without a graph that code which was not read has seen, or that an object holds by which it may reach
    # them: they may have been made to require grad.
    handed_out: set[int] = field(default_factory=set)
    # Objects that no code has made: other methods of theirs may have been called before.
    imagined: set[int] = field(default_factory=set)
    # The unknown values that constructors of such objects were given.
    made_with: set[int] = field(default_factory=set)
    # The heap objects that code which was run has made, with the iterations in which it did.
    made: dict[int, tuple[Iteration, ...]] = field(default_factory=dict)
    # The containers among them that were changed since.
    changed: set[int] = field(default_factory=set)
    # Those that may hold more than such code has put there: code that was not read was given them, or what they hold
    # has names that are computed.
    open_objects: set[int] = field(default_factory=set)
    # The unknown values that were given leaves, and those leaves.
    holders: dict[int, frozenset[int]] = field(default_factory=dict)
    # The index by which each tensor was taken out of a container, by the container's heap id and the tensor's.
    picked: dict[tuple[int, int], Hashable] = field(default_factory=dict)
    # The index by which the object that stands for all of a container was taken first, and in which iterations.
    picked_objects: dict[tuple[int, int], tuple[Hashable, tuple[Iteration, ...]]] = field(default_factory=dict)
    # The containers that something was put into at a place that is not known, by their heap ids.
    filled: set[int] = field(default_factory=set)


@dataclass(slots=True, eq=False)
class Running(Record):
    """In which circumstances code runs: this changes all the time. Whoever sets it sets it back."""

    # How many nodes passes have reached that are not yet paid for in fuel.
    nodes_visited: int = 0
    # The transforms of ``torch.func`` that are running, the innermost last.
    levels: tuple[Level, ...] = ()
    # Set under autocast, or where that is not known.
    casting: bool = False


@dataclass(slots=True, eq=False)
class Facts:
    """What is known beside the paths, each part with those who write it."""

    events: EventBus = field(default_factory=EventBus)
    origins: Origins = field(default_factory=Origins)
    memory: Memory = field(default_factory=Memory)
    contents: Contents = field(default_factory=Contents)
    training: Training = field(default_factory=Training)
    networks: Networks = field(default_factory=Networks)
    objects: Objects = field(default_factory=Objects)
    running: Running = field(default_factory=Running)

    def fork(self) -> Facts:
        """Facts that begin with these, and of whose own facts these know nothing. The listeners are the same."""
        return Facts(self.events.fork(), *(getattr(self, name).fork() for name in RECORDS))

    def merge_from(self, other: Facts) -> None:
        """Know what ``other`` knows; what is known here comes first."""
        for name in RECORDS:
            getattr(self, name).merge_from(getattr(other, name))
        for key, origins in other.origins.provenance.items():
            if (known := self.origins.provenance[key]) is not origins:
                self.origins.provenance[key] = known.or_else(origins)

    def relevant_assumptions(self, state: AutogradState) -> frozenset[Hashable]:
        """The assumptions of a path on which it depends what is cleared and stepped."""
        return frozenset(key for key in state.path_condition if key in self.training.gradient_relevant)

    def leaving_assumptions(self, state: AutogradState) -> frozenset[Hashable]:
        """Those of them on which something may have been left out: not that a path goes on where others leave the loop,
        or the function, for good.
        """
        training, taken = self.training, state.path_condition
        return frozenset(
            key
            for key in self.relevant_assumptions(state)
            if training.leaves_when.get(key) in (None, taken[key])
            or any(
                isinstance(node, ast.Continue) for side in training.gradient_relevant[key] for node in ast.walk(side)
            )
        )

    def is_in_doubt(self, state: AutogradState) -> bool:
        """Whether passes may reach more where the conditions of a path come out otherwise, and none has on it: in some
        iteration a test that counts them does.
        """
        run, left_out = set[tuple[ast.If, bool]](), set[tuple[ast.If, bool]]()
        for key in self.relevant_assumptions(state):
            for side in self.training.reaching_when.get(key, ()):
                (run if side[1] is state.path_condition[key] else left_out).add(side)
        return not left_out <= run

    def going_on(self, point: ProgramPoint) -> ProgramPoint:
        """A point without the choices to go on: what is missing there is missing where others jump away, too."""
        guard = point.guard
        leaves_when = self.training.leaves_when
        gone_on = frozenset(
            each for each in literals_of(guard.whole) if leaves_when.get(each[0].formula) is (not each[1])
        )
        return replace(point, guard=PathGuard(without(guard.followed, gone_on), without(guard.whole, gone_on)))

    def clearing(self, premises: frozenset[Hashable]) -> frozenset[Hashable]:
        """Those of some assumptions on which it depends what is cleared."""
        return frozenset(key for key in premises if self.training.gradient_relevant[key])

    def clearing_beside(self, premises: frozenset[Hashable], point: ProgramPoint) -> frozenset[Hashable]:
        """Those of some assumptions that decide elsewhere than around ``point`` what is cleared: what stands beside the
        point on its side of a test was executed, and what stands on the other side was not.
        """
        here = {point.node, *point.calls}
        return frozenset(
            key
            for key in premises
            for branch in self.training.gradient_relevant[key]
            if here.isdisjoint(ast.walk(branch))
        )

    def lead_to(self, premises: frozenset[Hashable], *points: ProgramPoint, or_beside: bool = False) -> bool:
        """Whether some assumptions decide no more of what becomes of gradients than whether all of these points are
        reached, ``or`` what is cleared ``beside`` all of them.
        """
        sides = [self.training.gradient_relevant.get(key, frozenset()) for key in premises]
        branches = [{*ast.walk(each)} for side in sides for each in side]
        reached = [[not here.isdisjoint((at.node, *at.calls)) for at in points] for here in branches]
        return all(sides) and all(all(each) or or_beside and not any(each) for each in reached)

    def is_single(self, tensor: int) -> bool:
        """Whether a tensor is of single precision for certain: of the default type, which the program leaves alone."""
        return tensor in self.contents.float32 and not self.contents.default_dtype_changed

    def same_values(self, left: tuple[int, int], right: tuple[int, int]) -> bool:
        """Whether two tensors, each with its version, hold the same values for certain: one was cloned from the
        other.
        """
        return self.origin(left) == self.origin(right)

    def origin(self, tensor: tuple[int, int]) -> tuple[int, int]:
        """The tensor, and the version of it, that an unchanged clone was made from."""
        while tensor[1] == 0 and (source := self.provenance_of(tensor[0]).clone_of) is not None:
            tensor = source
        return tensor

    def provenance_of(self, key: int) -> Provenance:
        """Where a tensor or an unknown value comes from."""
        return self.origins.provenance.get(key, UNKNOWN_PROVENANCE)

    def replaced_by(self, key: int) -> set[int]:
        """The leaves whose name, or attribute, this one has taken, one after the other."""
        found = set[int]()
        before = self.provenance_of(key).replaces
        while before is not None and before not in found:
            found.add(before)
            before = self.provenance_of(before).replaces
        return found

    def record_provenance(self, key: int, learned: Provenance) -> None:
        """Where a tensor or an unknown value comes from; of what ``learned`` says nothing, what was known stays."""
        known = self.origins.provenance.get(key)
        self.origins.provenance[key] = learned if known is None else learned.or_else(known)

    def cuts(self) -> Iterator[tuple[int, Cut]]:
        """What has lost its graph, and where, by id; the value that was known first is first."""
        return ((key, origins.cut) for key, origins in self.origins.provenance.items() if origins.cut is not None)

    def name(self, tensor: int, name: str) -> None:
        """The first name a tensor is given is the one a user recognises."""
        self.origins.names.setdefault(tensor, name)

    def record_store(self, tensor: int, stored: Stored) -> None:
        self.origins.stored[tensor] = (*self.origins.stored.get(tensor, ()), stored)

    def record_return(self, tensor: int, point: ProgramPoint) -> None:
        self.origins.returned[tensor] = (*self.origins.returned.get(tensor, ()), point)


RECORDS = tuple(each.name for each in fields(Facts) if each.name != "events")
"""What a fork has of its own."""


@frozen
class Window:
    """A part of a tensor, cut out by a slice of one dimension: ``x[1:]``, ``x[:, :-1]``, ``x[0, 2:]``."""

    # The id of the tensor that it is a part of.
    whole: int
    # From the left, or, where it is negative, from the right.
    dim: int
    # The size of that dimension of the whole; None where it is unknown.
    size: int | None
    start: int | None
    stop: int | None
    # The numbers by which other dimensions were indexed.
    numbers: tuple[tuple[int, int], ...]
    # Whether its entries lie in memory without gaps, if those of the whole do and are in order; None where it is not
    # known that they are in order.
    is_gapless: bool | None
