"""What a picture is about: from the event of a finding, or from an expression, to the parts that matter."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from ..autograd import Leaf, Node, ProgramPoint, SavedTensor, Tensor, Write, resolve_view
from ..autograd.events import graph_walks as walks
from ..autograd.events.graph_walks import Event
from ..autograd.model.cuts import Cut
from ..autograd.model.graph import BackwardPass
from ..autograd.model.views import edge_of
from ..autograd.state import AutogradState
from ..recording import Sight
from .model import Draft, Relation

COLUMNS = 3
"""So many iterations of an expression are drawn."""


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


def of_event(event: Event, state: AutogradState) -> Subject | None:
    """The parts that an event speaks of; None where it speaks of no graph."""
    subject = Subject(state)
    if not _of_pass(event, subject) and not _of_write(event, subject):
        return None
    for run in subject.passes:
        subject.roots += [item for item in run.begin if item not in subject.roots]
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
        if key in laps or len(laps) == COLUMNS or any(t.id not in last.tensors for t in sight.tensors):
            continue
        laps.add(key)
        for tensor in sight.tensors:
            edge = edge_of(tensor)
            if edge is None:
                subject.tensors.append(tensor)
            elif edge not in subject.roots:
                subject.roots.append(edge)
    return subject


def _walking(subject: Subject, event: Event, root: int) -> None:
    """A backward from the tensor ``root`` is where the finding shows."""
    begin: tuple[Node | Leaf, ...] = ()
    if root in subject.state.tensors:
        tensor = resolve_view(subject.state, root)
        edge = edge_of(tensor)
        if edge is not None:
            begin = (edge,)
            subject.roots.append(edge)
        else:
            subject.tensors.append(tensor)
    subject.now, subject.raises = BackwardPass(event.point, root, begin), event.raises


def _written(subject: Subject, key: int, op: str, event: Event, point: ProgramPoint | None = None) -> None:
    """A write to a tensor, which PyTorch refuses or does not notice."""
    subject.written, subject.raises = ((op, point or event.point, key),), event.raises
    if key not in subject.state.tensors:
        return
    tensor = resolve_view(subject.state, key)
    edge = edge_of(tensor)
    if edge is not None:
        subject.roots.append(edge)
        subject.hazards = {edge}
    else:
        subject.tensors.append(tensor)
