"""What happened, published to the rules. An event holds everything a rule needs; rules never look at a state.

second backward  ->  FreedGraphReached(node=<Mul>, freed=..., point=...)

The two errors of a backward that are easily taken for each other, by what their messages say.

with pytest.raises(RuntimeError, match="second time"):     does not end what says "modified by an inplace operation"
    loss.backward()

Steps of optimizers between a graph's first backward and a later one: what they wrote of it, and what they spared.

fake = G(z)
score = D(fake)
d_loss(score).backward()
opt_d.step()                # writes what D has: `score` is out of date, `fake` is spared
g_loss(score).backward()
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import ClassVar, Literal

from ...because import NOTHING, Because
from ...frozen import frozen
from ..model.cuts import Cut, Withheld
from ..model.graph import BackwardPass, Leaf, Node, SavedTensor, ViewKind, Write
from ..model.graph_search import leaf_tensors
from ..model.program_point import Iteration, ProgramPoint
from ..model.stores import RetainedGraphs, Stored

SECOND_TIME = "Trying to backward through the graph a second time"
MODIFIED = "one of the variables needed for gradient computation has been modified by an inplace operation"
MESSAGES = (SECOND_TIME, MODIFIED)
"""What they begin with; the rest is about tensors."""


@lru_cache(4096)
def is_of_another(pattern: str, message: str) -> bool:
    """Whether a pattern, as ``re.search`` takes it, describes the other of the two messages and not this one. Where it
    describes neither it may be about the rest.
    """
    if message not in MESSAGES:
        return False
    try:
        return any(re.search(pattern, each) for each in MESSAGES) and not re.search(pattern, message)
    except (re.error, RecursionError):
        return False


@frozen(eq=False, kw_only=True)
class Event:
    """Something a rule may observe."""

    # What PyTorch's message begins with, as far as it is known.
    MESSAGE: ClassVar[str] = ""

    # When it happened.
    point: ProgramPoint
    # What it needs besides: of the path, see ``supposed``.
    because: Because = NOTHING

    @property
    def raises(self) -> bool:
        """Whether PyTorch raises there, so that nothing is reported where the program catches it."""
        return True

    @property
    def supposed(self) -> Because:
        """What is supposed of the path on which it happened."""
        return self.point.supposed


@frozen(eq=False, kw_only=True)
class SilentEvent(Event):
    """Something that PyTorch does not refuse."""

    @property
    def raises(self) -> bool:
        return False


@frozen(eq=False, kw_only=True)
class AfterWrite(SilentEvent):
    """Something silent that comes of an earlier write; of several, of the first."""

    write: Write

    @property
    def supposed(self) -> Because:
        """That of the write, which the path loses where it meets one without."""
        return self.point.supposed or self.write.point.supposed


@frozen(eq=False, kw_only=True)
class FreedGraphReached(Event):
    """A backward reached a node whose saved tensors an earlier backward freed."""

    MESSAGE = SECOND_TIME

    node: Node
    # The pass that freed it.
    freed: BackwardPass
    # From the root to the node.
    path: tuple[Node, ...]
    root: int
    # The first node of the path that the earlier backward had run already.
    shared: Node
    # What would be next if the graph had been retained: a saved tensor that was written meanwhile.
    spoiled: tuple[Node, SavedTensor, Write] | None
    # The node through which the earlier backward reached ``shared``, if it did not begin there.
    first_use: Node | None
    # Whether an optimizer has stepped in the iterations between: then what the graph holds is out of date.
    stepped: bool = False
    # What an optimizer has written since the earlier backward's root was made, of what either backward leads to.
    update: LaterUpdate | None = None


@frozen(eq=False, kw_only=True)
class CellRunAgain(SilentEvent):
    """A second run of a notebook's cell, with nothing run in between, reached what the first one had freed."""

    # The number of the cell, from 1.
    cell: int
    # The number of the cell that the graph comes from, which may be the same.
    built: int
    reached: FreedGraphReached


@frozen(eq=False, kw_only=True)
class SavedTensorModified(Event):
    """A backward needed a saved tensor that was written after it was saved."""

    MESSAGE = MODIFIED

    node: Node
    saved: SavedTensor
    write: Write
    # From the root to the node.
    path: tuple[Node, ...]
    root: int
    # The earlier backward with ``retain_graph=True`` that has walked the node, if one has.
    retained: BackwardPass | None = None
    # The node through which the path enters what is older than the write, if the same write has updated every leaf
    # below: those are done with.
    settled: Node | None = None
    # Whether it is a view that PyTorch guards (one of several made at once): then PyTorch refuses the view.
    guarded: bool = False
    # What the step of an optimizer that wrote has left alone.
    update: LaterUpdate | None = None

    @property
    def supposed(self) -> Because:
        """That of the write, which the path loses where it meets one without."""
        return self.point.supposed or self.write.point.supposed


@frozen(eq=False, kw_only=True)
class BackwardWithoutGraph(Event):
    """backward() on a tensor that does not require grad."""

    root: int
    # Where the graph was lost, if known.
    cut: Cut | None
    # A leaf that it was computed from, that an optimizer holds, and that was made not to require grad.
    frozen: int | None = None
    # Whether that is why: the same call has gone backward to it before, or the graph was lost nowhere else.
    is_frozen_only: bool = False


@frozen(eq=False, kw_only=True)
class LeafWritten(Event):
    """An in-place write, with grad mode on, to a leaf that requires grad (or to a view of one)."""

    tensor: int
    # The op or method that wrote.
    op: str
    # Whether a view of the leaf was written.
    view: bool
    # Whether the leaf is a Parameter.
    parameter: bool = False
    # Whether what is written was computed with a graph.
    given: bool = False
    # Whether any of what is written requires grad, be it a leaf.
    wanted: bool = False


@frozen(eq=False, kw_only=True)
class BackwardRan(SilentEvent):
    """A backward finished."""

    root: int
    # The nodes that it ran.
    ran: tuple[Node, ...] = ()
    # The leaves that got a gradient.
    reached: tuple[int, ...] = ()
    # Whether it freed for certain what the nodes had saved.
    frees: bool = False
    # Whether it retained that for certain.
    retains: bool = False
    # Whether it fills ``.grad``, as ``backward`` does; ``autograd.grad`` returns the gradients instead.
    accumulates: bool = True
    # Whether it may have raised on the way: something that is not certain says so, and the program went on.
    halted: bool = False
    # What cuts have kept from leaves.
    withheld: frozenset[Withheld] = frozenset()


@frozen(eq=False, kw_only=True)
class SavedTensorAltered(AfterWrite):
    """A backward used a saved tensor whose memory was written without its version counter."""

    node: Node
    saved: SavedTensor
    root: int


@frozen(eq=False, kw_only=True)
class ViewRefused(Event):
    """An in-place write to a view that autograd does not allow, or a use of the view after such a write to its base."""

    tensor: int
    # The op or method that wrote; empty where the view is used.
    op: str
    # One of several views (``multi``), one that a custom ``function`` returned, or one made under ``no_grad`` or
    # ``inference`` mode.
    kind: ViewKind
    # When the view was made that is protected.
    made: ProgramPoint
    # Of a view of that one: when it was made itself.
    part: ProgramPoint | None = None
    # The write to the base, where the view is used.
    written: Write | None = None


@frozen(eq=False, kw_only=True)
class HiddenWriteUsed(AfterWrite):
    """A tensor with a graph was used after a write that the graph does not know, and a backward goes through both."""

    tensor: int


@frozen(eq=False, kw_only=True)
class KeptValueOverwritten(AfterWrite):
    """A list was given the memory of a tensor that it holds already, and that was written in between: both entries are
    the same. ``point`` is the call.
    """

    # The first time that the list was given it.
    first: ProgramPoint
    # The storage.
    memory: int
    # Whether the list was given an array of NumPy.
    is_array: bool


@frozen(eq=False, kw_only=True)
class KeptValueCompared(AfterWrite):
    """A tensor was compared with, or subtracted from, what was kept of it before it was written: the same memory."""

    # Where it was kept.
    kept: ProgramPoint
    # The expressions of what was kept, and of the other operand.
    source: ast.expr
    other: ast.expr


@frozen(eq=False, kw_only=True)
class OwnStateUsed(SilentEvent):
    """A ``state_dict()`` that was kept while the parameters were written is loaded or saved: it holds what they are
    now. Or a network loads its own, by another name.
    """

    # When it was taken.
    taken: ProgramPoint
    # The first write since; None where it was taken just now.
    write: Write | None
    # ``load`` into the same module, or ``save`` to a file.
    use: Literal["load", "save"]
    # What is loaded or saved, as the call says it.
    source: ast.expr | None


@frozen(eq=False, kw_only=True)
class ViewDetached(Event):
    """``detach_()`` of a view, which PyTorch refuses."""

    tensor: int
    # When the view was made.
    made: ProgramPoint


@frozen(eq=False, kw_only=True)
class OverlapRefused(Event):
    """A part of a tensor was written with another one that it overlaps, which PyTorch refuses."""

    # Where the part was made that is read.
    read: ProgramPoint
    # The tensor that both are parts of.
    whole: int
    # False if that needs one more than the entries that are written, or that the tensor is contiguous.
    is_certain: bool


@frozen(eq=False, kw_only=True)
class OverlapCopied(SilentEvent):
    """A part of a tensor was written with one before it that it overlaps, and PyTorch does not compare the two."""

    # Where the part was made that is read.
    read: ProgramPoint
    # The tensor that both are parts of.
    whole: int


@frozen(eq=False, kw_only=True)
class RetainedGraphReached(Event):
    """A backward reached, in a later iteration, a node whose graph an earlier one walked with ``retain_graph=True``."""

    node: Node
    # The pass that retained it.
    past: BackwardPass
    # From the root to the node.
    path: tuple[Node, ...]
    root: int
    # What was written meanwhile: only then PyTorch raises.
    spoiled: tuple[Node, SavedTensor, Write] | None

    @property
    def raises(self) -> bool:
        return self.spoiled is not None


@frozen(eq=False, kw_only=True)
class RetainedOutside(SilentEvent):
    """A backward with ``retain_graph=True`` walked, as in an earlier iteration, a graph that was built before the loop.
    No optimizer has been given the leaves below it, while steps use the gradients of others.
    """

    # The uppermost node of that graph.
    node: Node
    # The earlier pass, which retained it.
    past: BackwardPass
    # From the root to the node.
    path: tuple[Node, ...]
    root: int
    leaves: tuple[int, ...]


@frozen(eq=False, kw_only=True)
class RetainedUnused(SilentEvent):
    """A backward with ``retain_graph=True`` ran again, and no backward had walked what its last run retained."""

    # The last run.
    past: ProgramPoint


@frozen(eq=False, kw_only=True)
class WalkedAgain(SilentEvent):
    """A backward ran nodes of a graph that an earlier iteration's backward had run before, and nothing was raised."""

    # Where the old graph begins.
    node: Node
    # The earlier pass.
    past: BackwardPass
    root: int
    # Whether the root of the earlier pass is in the graph: its whole gradient is added once more.
    whole: bool
    # A write to one of the leaves since, if the values that the graph was built from have changed.
    stale: Write | None
    leaf: int
    # A node that has saved a value which was computed from the leaf, if there is such a write.
    reader: Node | None


@frozen(eq=False, kw_only=True)
class GraphKeptAlive(SilentEvent):
    """A loop collected graphs that no backward walked before the path ended."""

    collected: RetainedGraphs


@frozen(eq=False, kw_only=True)
class GradientCycle(SilentEvent):
    """A leaf is held by its own gradient, which has a graph."""

    leaf: int
    # Since when the gradient has a graph.
    past: ProgramPoint
    # The call that returns, so that the leaf is no longer reachable; None where iterations have been adding to it.
    call: ProgramPoint | None


@frozen(eq=False, kw_only=True)
class LeafHoldsItself(SilentEvent):
    """A leaf that a loop makes in every iteration holds, in an attribute, a tensor whose graph leads to it."""

    leaf: int
    # The tensor with the graph, and how it was kept.
    tensor: int
    stored: Stored
    lap: Iteration


@frozen(eq=False, kw_only=True)
class GradientModified(SilentEvent):
    """A hook, or the backward of a Function, wrote in place the gradient that it was given."""

    # The node that has handed the same tensor to several.
    addition: Node
    # What was given the gradient that was written.
    item: Node | Leaf
    # What is given the same tensor later.
    others: tuple[Node | Leaf, ...]


@frozen(eq=False, kw_only=True)
class GraphTensorWritten(SilentEvent):
    """An in-place op wrote a tensor that has a graph, and autograd recorded it."""

    tensor: int
    # The op.
    op: str


@frozen
class LaterUpdate:
    """What an optimizer has written between two backwards through a graph, at ``point`` for the last time."""

    point: ProgramPoint
    # The leaves that it wrote, and those that it held besides.
    written: frozenset[int]
    held: frozenset[int]
    # The nodes next to the root that lead to leaves, but to none that was written.
    spared: tuple[Node, ...]

    def finishes(self, root: Node, part: Node) -> bool:
        """Whether it wrote all that ``part`` leads to, and held nothing of what ``root`` leads to beside that."""
        below = leaf_tensors([part])
        rest = leaf_tensors([root]) - below
        return below <= self.written and bool(rest) and not rest & (self.written | self.held)
