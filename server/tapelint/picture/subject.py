"""What a picture is about: from the event of a finding, or from an expression, to the parts that matter."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

from ..autograd import Leaf, Node, ProgramPoint, SavedTensor, Tensor, Write, resolve_view
from ..autograd.events import graph_walks as walks
from ..autograd.events.graph_walks import Event
from ..autograd.model.cuts import Cut
from ..autograd.model.graph import BackwardPass
from ..autograd.model.views import edge_of
from ..autograd.state import AutogradState
from ..recording import Sight
from ..rules.support.story import code
from .model import DRAWN, Draft, Kind, Relation


@dataclass(slots=True)
class Subject:
    """The parts of a picture that have to be in it; ``state`` is the path that they are on."""

    state: AutogradState
    roots: list[Node | Leaf] = field(default_factory=list)
    # Tensors that are to be drawn though no graph leads to them.
    tensors: list[Tensor] = field(default_factory=list)
    path: tuple[Node, ...] = ()
    hazards: set[Node | Leaf] = field(default_factory=set)
    # What an operation needs as it was, and what has written it.
    spoiled: tuple[tuple[Node, SavedTensor, Write], ...] = ()
    # Writes that PyTorch refuses, or that nothing records: the op, where, and the tensor.
    written: tuple[tuple[str, ProgramPoint, int], ...] = ()
    passes: list[BackwardPass] = field(default_factory=list)
    # The pass in which the finding shows, and whether PyTorch raises there.
    now: BackwardPass | None = None
    raises: bool = False
    cut: Cut | None = None
    # What is no part of a graph, and arrows from or to it.
    drafts: dict[Hashable, Draft] = field(default_factory=dict)
    arrows: list[tuple[Hashable, Hashable, Relation, bool]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def root(self, item: Node | Leaf) -> None:
        """Draw the graph above an operation or a leaf."""
        if item not in self.roots:
            self.roots.append(item)

    def shown(self, tensor: Tensor) -> Hashable:
        """Draw a tensor; what stands for it: its ``grad_fn`` or leaf, with the graph, else itself."""
        edge = edge_of(tensor)
        if edge is not None:
            self.root(edge)
            return edge
        if tensor not in self.tensors:
            self.tensors.append(tensor)
        return "tensor", tensor.id

    def moment(
        self, kind: Kind, point: ProgramPoint, stamp: float, is_marked: bool, details: Iterable[str] = ()
    ) -> Hashable:
        """Draw what happens at a point; what stands for it."""
        self.drafts.setdefault((kind, point), Draft(kind, code(point.node), [*details], point, stamp, is_marked))
        return kind, point

    def arrow(self, begin: Hashable, end: Hashable, how: Relation, is_marked: bool) -> None:
        self.arrows.append((begin, end, how, is_marked))


def of_event(event: Event, state: AutogradState) -> Subject | None:
    """The parts that an event speaks of; None where it speaks of no graph."""
    subject = Subject(state)
    if not _of_pass(event, subject) and not _of_write(event, subject):
        return None
    for item in (item for run in subject.passes for item in run.begin):
        subject.root(item)
    return subject


def _of_pass(event: Event, subject: Subject) -> bool:
    """The parts of an event in which a backward pass has reached something; whether it is one."""
    match event:
        case (
            walks.FreedGraphReached(node=node, path=path, freed=past)
            | walks.RetainedGraphReached(node=node, path=path, past=past)
        ):
            subject.path, subject.passes = path, [past]
            subject.spoiled = (event.spoiled,) if event.spoiled is not None else ()
        case walks.SavedTensorModified(node=node, path=path, retained=retained):
            subject.path, subject.passes = path, [retained] if retained is not None else []
            subject.spoiled = ((node, event.saved, event.write),)
        case walks.SavedTensorAltered(node=node):
            subject.spoiled = ((node, event.saved, event.write),)
        case walks.WalkedAgain(node=node, past=past) | walks.RetainedOutside(node=node, past=past):
            subject.passes = [past]
        case walks.BackwardWithoutGraph(root=root, cut=cut):
            _walking(subject, event, root)
            subject.cut = cut
            subject.roots += [cut.source] if cut is not None and cut.source is not None else []
            return True
        case _:
            return False
    _walking(subject, event, event.root)
    subject.hazards = {node}
    return True


def _of_write(event: Event, subject: Subject) -> bool:
    """The parts of an event in which a write is refused or not noticed; whether it is one."""
    match event:
        case walks.LeafWritten(tensor=key, op=op) | walks.ViewRefused(tensor=key, op=op):
            _written(subject, key, op or "use of a view", event)
        case walks.HiddenWriteUsed(tensor=key, write=write):
            _written(subject, key, write.op, event, write.point)
        case walks.GraphTensorWritten(tensor=key, op=op):
            _written(subject, key, op, event)
        case _:
            return False
    return True


def of_sights(sights: Sequence[Sight], last: AutogradState) -> Subject:
    """The graphs that an expression had, in the first iterations in which it was evaluated on the path of the ``last``
    of its sights.
    """
    subject = Subject(last)
    laps = set[object]()
    for sight in sights:
        key = sight.point.iterations
        if key in laps or len(laps) == DRAWN.iterations or any(t.id not in last.tensors for t in sight.tensors):
            continue
        laps.add(key)
        for tensor in sight.tensors:
            subject.shown(tensor)
    return subject


def _walking(subject: Subject, event: Event, root: int) -> None:
    """A backward from the tensor ``root`` is where the finding shows."""
    begin: tuple[Node | Leaf, ...] = ()
    if root in subject.state.tensors:
        item = subject.shown(resolve_view(subject.state, root))
        begin = (item,) if isinstance(item, (Node, Leaf)) else ()
    subject.now, subject.raises = BackwardPass(event.point, root, begin), event.raises


def _written(subject: Subject, key: int, op: str, event: Event, point: ProgramPoint | None = None) -> None:
    """A write to a tensor, which PyTorch refuses or does not notice."""
    subject.written, subject.raises = ((op, point or event.point, key),), event.raises
    if key in subject.state.tensors:
        item = subject.shown(resolve_view(subject.state, key))
        subject.hazards = {item} if isinstance(item, (Node, Leaf)) else set()
