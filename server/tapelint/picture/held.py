"""The picture of a finding about graphs that are held: what holds them, and the graph of each iteration."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from ..autograd import Facts, Leaf, Node, ProgramPoint, Tensor, resolve_view
from ..autograd.events import graph_walks as walks
from ..autograd.events import training_step as training
from ..autograd.events.graph_walks import Event
from ..autograd.model.stores import RetainedGraphs
from ..autograd.model.views import edge_of
from ..autograd.state import AutogradState, fresh_id
from ..headline import number_of
from ..recording import Sight
from ..rules.support.story import tensor_name
from .model import DRAWN, Draft
from .subject import Subject

Sights = Mapping[ast.AST, Sequence[Sight]]


def of_held(event: Event, facts: Facts, state: AutogradState, sights: Sights) -> Subject | None:
    """What an event says of graphs that are held; None where it speaks of none, or they are not known any more."""
    subject = Subject(state)
    match event:
        case walks.GraphKeptAlive(collected=kept) if kept.tensor in state.tensors:
            _collected(subject, kept, sights)
        case walks.LeafHoldsItself(leaf=leaf, tensor=key, stored=stored) if {leaf, key} <= state.tensors.keys():
            _holder(subject, f"`{stored.target}`", ["an attribute of the leaf"], stored.point)
            _roots(subject, [resolve_view(state, key)], ())
            _cycle(subject, leaf)
        case walks.GradientCycle(leaf=leaf, past=past) if leaf in state.grads and leaf in state.tensors:
            _gradient(subject, facts, leaf, past)
        case training.EvaluationRecorded():
            _roots(subject, [], sights.get(event.point.node, ()))
            subject.hazards = {*subject.roots}
            subject.notes.append("No backward uses what is marked: it is recorded in each iteration, and thrown away.")
        case walks.RetainedUnused(past=past):
            _retained(subject, past)
        case _:
            return None
    return subject if subject.roots else None


def _collected(subject: Subject, kept: RetainedGraphs, sights: Sights) -> None:
    """A variable or container, and what the iterations have put into it."""
    last = f"the last one: {number_of(len(kept.added), 'node')}, {number_of(kept.saved, 'saved tensor')}"
    details = ["keeps a graph of every iteration", last]
    _holder(subject, f"`{kept.stored.target}`", details, kept.stored.point, is_last=True)
    value = kept.stored.value if kept.stored.collects else None  # a name holds its last value alone
    _roots(subject, [resolve_view(subject.state, kept.tensor)], sights.get(value, ()) if value is not None else ())
    subject.hazards = {root for root in subject.roots if root in kept.added} or {*subject.roots}


def _gradient(subject: Subject, facts: Facts, leaf: int, past: ProgramPoint) -> None:
    """A ``.grad`` with a graph, which the pass at ``past`` has filled."""
    stamp = _when(subject.state, leaf, past)
    subject.arrow(subject.moment("pass", past, stamp, True, ["records the gradient"]), "holder", "fills", True)
    name = tensor_name(facts, leaf) or "the leaf"
    _holder(subject, f".grad of {name}", ["its graph holds the leaf", "nothing clears it"], past)
    subject.drafts["holder"].stamp = stamp
    subject.arrows += [("holder", edge, "holds", True) for edge in _cycle(subject, leaf)]


def _retained(subject: Subject, past: ProgramPoint) -> None:
    """What the pass at ``past`` has retained."""
    run = next((run for run in subject.state.retained.values() if run.point == past), None)
    if run is not None:
        subject.passes, subject.roots = [run], [*run.begin]
        subject.hazards = {item for item in run.begin if isinstance(item, Node)}
        subject.notes.append("No backward walks what is marked once more: retain_graph=True keeps it for nothing.")


def _holder(subject: Subject, title: str, details: list[str], point: ProgramPoint, is_last: bool = False) -> None:
    """What holds; with ``is_last`` it stands behind all iterations, as it holds something of each."""
    subject.drafts["holder"] = draft = Draft("holder", title, details, point, fresh_id(), True)
    if is_last:
        draft.laps = ()


def _roots(subject: Subject, tensors: Sequence[Tensor], sights: Sequence[Sight]) -> None:
    """The graphs of what was kept: of the first iterations on this path, as far as they are known, and the last one."""
    state = subject.state
    laps = set[object]()
    for sight in sights:
        known = [tensor for tensor in sight.tensors if tensor.id in state.tensors]
        if known and sight.point.iterations not in laps and len(laps) < DRAWN.iterations:
            laps.add(sight.point.iterations)
            tensors = [*tensors, *known]
    for edge in dict.fromkeys(map(edge_of, tensors)):
        if edge is not None and edge not in subject.roots:
            subject.root(edge)
            subject.arrow("holder", edge, "holds", True)


def _cycle(subject: Subject, leaf: int) -> tuple[Leaf, ...]:
    """The leaf holds the holder, whose graph leads to it; none where it is no leaf that is known."""
    edge = edge_of(resolve_view(subject.state, leaf))
    if not isinstance(edge, Leaf):
        return ()
    subject.root(edge)
    subject.hazards.add(edge)
    subject.arrow(edge, "holder", "holds", True)
    return (edge,)


def _when(state: AutogradState, leaf: int, point: ProgramPoint) -> int:
    """The stamp of the pass at ``point`` that has filled the gradient of a leaf."""
    passes = state.history[leaf].passes if leaf in state.history else ()
    return next((run.stamp for run in passes if run.point == point), fresh_id())
