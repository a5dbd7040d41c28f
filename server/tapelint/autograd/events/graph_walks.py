"""What happened, published to the rules. An event holds everything a rule needs; rules never look at a state.

second backward  ->  FreedGraphReached(node=<Mul>, freed=..., moment=...)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..model.cuts import Cut
from ..model.graph import BackwardPass, Leaf, Node, SavedTensor, Write
from ..model.program_point import ProgramPoint
from ..model.stores import RetainedGraphs


@dataclass(frozen=True, slots=True)
class Event:
    """Something a rule may observe. ``point`` is when; ``assumption`` names the assumption it rests on, if any.

    ``raises`` is whether PyTorch raises there, so that nothing is reported where the program catches it.
    """

    raises: ClassVar[bool] = True

    point: ProgramPoint
    assumption: str | None


@dataclass(frozen=True, slots=True)
class FreedGraphReached(Event):
    """A backward reached a node whose saved tensors an earlier backward freed.

    ``path`` leads from the root to the node; ``shared`` is its first node that the earlier backward had run already.
    ``spoiled`` is what would be next if the graph had been retained: a saved tensor that was written meanwhile.
    ``first_use`` is the node through which the earlier backward came to ``shared``, if it did not begin there.
    ``stepped`` is whether an optimizer has stepped in the iterations between: what the graph holds is out of date.
    """

    node: Node
    freed: BackwardPass
    path: tuple[Node, ...]
    root: int
    shared: Node
    spoiled: tuple[Node, SavedTensor, Write] | None
    first_use: Node | None
    stepped: bool = False


@dataclass(frozen=True, slots=True)
class CellRunAgain(Event):
    """A second run of a notebook's ``cell``, with nothing run in between, ``reached`` what the first one had freed.

    ``built`` is the cell that the graph comes from, which may be the same. Both count from 1.
    """

    raises = False

    cell: int
    built: int
    reached: FreedGraphReached


@dataclass(frozen=True, slots=True)
class SavedTensorModified(Event):
    """A backward needed a saved tensor that was written after it was saved. ``retained`` is whether an earlier one with
    ``retain_graph=True`` has walked the node. ``settled`` is the node through which ``path`` enters what is older than
    the write, if the same write has updated every leaf below: those are done with. ``guarded`` is whether it is a
    view that PyTorch guards (one of several made at once): then it refuses the view.
    """

    node: Node
    saved: SavedTensor
    write: Write
    path: tuple[Node, ...]
    root: int
    retained: bool = False
    settled: Node | None = None
    guarded: bool = False


@dataclass(frozen=True, slots=True)
class BackwardWithoutGraph(Event):
    """backward() on a tensor that does not require grad. ``cut`` is where the graph was lost, if known."""

    root: int
    cut: Cut | None


@dataclass(frozen=True, slots=True)
class LeafWritten(Event):
    """An in-place write, with grad mode on, to a leaf that requires grad (or to a view of one). ``given`` is whether
    what is written has a graph, ``wanted`` whether any of it requires grad, be it a leaf.
    """

    tensor: int
    how: str
    view: bool
    given: bool = False
    wanted: bool = False


@dataclass(frozen=True, slots=True)
class BackwardRan(Event):
    """A backward finished: how many nodes it walked, how many leaves got a gradient.

    ``ran`` are those nodes and ``reached`` those leaves; ``frees`` whether it freed, for certain, what the nodes had
    saved, ``keeps`` whether it kept that for certain. ``accumulates`` is whether it fills ``.grad``, as ``backward``
    does; ``autograd.grad`` returns the gradients instead.
    """

    raises: ClassVar[bool] = False

    root: int
    executed: int
    leaves: int
    ran: tuple[Node, ...] = ()
    reached: tuple[int, ...] = ()
    frees: bool = False
    saves_anything: bool = False
    accumulates: bool = True


@dataclass(frozen=True, slots=True)
class SavedTensorAltered(Event):
    """A backward used a saved tensor whose memory was written behind the back of its version counter."""

    raises: ClassVar[bool] = False

    node: Node
    saved: SavedTensor
    write: Write
    root: int


@dataclass(frozen=True, slots=True)
class ViewRefused(Event):
    """An in-place write to a view that autograd does not allow: one of several (``multi``), one that a custom
    ``function`` returned, or one made under ``no_grad`` or ``inference`` mode. ``made`` is when.
    With ``written`` it is no write but a use of the view after that write to its base.
    """

    tensor: int
    how: str
    kind: str
    made: ProgramPoint
    written: Write | None = None


@dataclass(frozen=True, slots=True)
class RetainedGraphReached(Event):
    """A backward reached, in a later iteration, a node whose graph an earlier one had walked with
    ``retain_graph=True``. ``path`` leads from the root to the node; ``spoiled`` is what was written meanwhile: only
    then PyTorch raises.
    """

    node: Node
    past: BackwardPass
    path: tuple[Node, ...]
    root: int
    spoiled: tuple[Node, SavedTensor, Write] | None

    @property
    def raises(self) -> bool:  # type: ignore[override]
        return self.spoiled is not None


@dataclass(frozen=True, slots=True)
class RetainedUnused(Event):
    """A backward with ``retain_graph=True`` ran again, and no backward had walked what it retained in its ``past``
    run.
    """

    raises: ClassVar[bool] = False

    past: ProgramPoint


@dataclass(frozen=True, slots=True)
class WalkedAgain(Event):
    """A backward ran nodes of a graph that an earlier iteration's backward had run before, and nothing was raised.

    ``node`` is where the old graph begins, ``past`` the earlier pass. ``whole`` says that the root of that pass is in
    it: its whole gradient is added once more. ``stale`` is a write to one of its leaves since, if the values that the
    graph was built from have changed and ``reader`` has saved one that came of them.
    """

    raises: ClassVar[bool] = False

    node: Node
    past: BackwardPass
    root: int
    whole: bool
    stale: Write | None
    leaf: int
    reader: Node | None


@dataclass(frozen=True, slots=True)
class GraphKeptAlive(Event):
    """A loop collected graphs that no backward walked before the path ended."""

    raises: ClassVar[bool] = False

    collected: RetainedGraphs


@dataclass(frozen=True, slots=True)
class GradientCycle(Event):
    """A ``leaf`` is held by its own gradient, which has a graph since ``past``: for good, as ``call`` returns and
    the leaf is no longer reachable, or for as long as iterations have been adding to it.
    """

    raises: ClassVar[bool] = False

    leaf: int
    past: ProgramPoint
    call: ProgramPoint | None


@dataclass(frozen=True, slots=True)
class GradientModified(Event):
    """A hook, or the backward of a Function, wrote in place the gradient that ``item`` was given; ``addition`` has
    handed the same tensor to ``others``, which come later.
    """

    raises: ClassVar[bool] = False

    addition: Node
    item: Node | Leaf
    others: tuple[Node | Leaf, ...]


@dataclass(frozen=True, slots=True)
class GraphTensorWritten(Event):
    """An in-place op wrote a tensor that has a graph, and autograd recorded it."""

    raises: ClassVar[bool] = False

    tensor: int
    how: str
