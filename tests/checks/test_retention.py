"""Graphs that a loop collects: which iterations they are of, what is alive of them, and what holds them."""

from __future__ import annotations

import ast

import pytest
from tests.domain.paths import LOOP, Path

from tapelint.analysis import made
from tapelint.autograd import Facts, LastStore, Node, Stored, StoreKind
from tapelint.checks.retention import IterationSpans, on_loop_left
from tapelint.domain.values import NONE, External, HeapRef, Instance, TensorRef, Tuple
from tapelint.engine.lifecycle import LoopLeft
from tapelint.source import parse

MACHINE = made(parse(""), Facts())
RUN = 1
STATEMENT = ast.parse("kept.append(h)").body[0]


def graph(path: Path, tensor: TensorRef) -> Node:
    node = path.node(tensor)
    assert isinstance(node, Node)
    return node


def store(path: Path, tensor: TensorRef, how: StoreKind = StoreKind.APPENDED) -> None:
    stored = Stored(path.state.point(STATEMENT), "kept", None, STATEMENT, how)
    path.state.last_stores[STATEMENT] = LastStore(tensor.id, stored)


def carried(iterations: int) -> tuple[Path, TensorRef]:
    """``h = h.exp()`` in each iteration."""
    path = Path()
    h = path.leaf()
    for number in range(1, iterations + 1):
        path.iterate(number)
        h = path.op("exp", h)
        path.bind(h=h)
        store(path, h, StoreKind.ASSIGNED)
    return path, h


def collected(iterations: int, detached: bool = False) -> Path:
    """``kept.append(w.exp())`` in each iteration."""
    path = Path()
    w = path.leaf()
    path.bind(kept=path.list())
    for number in range(1, iterations + 1):
        path.iterate(number)
        h = path.data() if detached else path.op("exp", w)
        path.append("kept", h)
        store(path, h)
    return path


def retained(path: Path) -> list[TensorRef]:
    on_loop_left(MACHINE, LoopLeft(path.state, RUN))
    return [TensorRef(each.tensor) for each in path.state.retained_after_loop.values()]


def test_the_iterations_that_a_graph_reaches_into() -> None:
    path, h = carried(3)
    spans = IterationSpans(path.state, RUN)
    assert spans.iterations(graph(path, h)) == {1, 2, 3}
    assert IterationSpans(path.state, RUN + 1).iterations(graph(path, h)) == frozenset()


def test_a_graph_of_one_iteration_is_not_spread() -> None:
    path, h = carried(1)
    spans = IterationSpans(path.state, RUN)
    assert spans.iterations(graph(path, h)) == {1}
    assert spans.alive([graph(path, h)]) == () and not spans.carried(graph(path, h))


def test_nodes_alive_hold_saved_tensors_and_are_not_freed() -> None:
    path, h = carried(2)
    spans = IterationSpans(path.state, RUN)
    assert len(spans.alive([graph(path, h)])) == 2 and not spans.freed([graph(path, h)])
    path.backward(h)
    assert spans.alive([graph(path, h)]) == () and spans.freed([graph(path, h)])


def test_nodes_made_before_the_loop_are_not_counted() -> None:
    path = Path()
    h = path.op("exp", path.leaf())
    before = graph(path, h)
    for number in (1, 2):
        path.iterate(number)
        h = path.op("exp", h)
    assert before not in IterationSpans(path.state, RUN).alive([graph(path, h)])


def test_ops_that_save_nothing_are_neither_alive_nor_freed() -> None:
    path = Path()
    h = path.leaf()
    for number in (1, 2):
        path.iterate(number)
        h = path.op("neg", h)
    spans = IterationSpans(path.state, RUN)
    assert spans.iterations(graph(path, h)) == {1, 2}
    assert spans.alive([graph(path, h)]) == ()
    path.backward(h)
    assert not spans.freed([graph(path, h)])


def test_an_op_on_its_own_earlier_result_carries() -> None:
    path, h = carried(2)
    assert IterationSpans(path.state, RUN).carried(graph(path, h))
    alone = collected(2)
    last = alone.state.last_stores[STATEMENT].tensor
    assert not IterationSpans(alone.state, RUN).carried(graph(alone, TensorRef(last)))


def test_a_carried_state_is_retained_by_its_name() -> None:
    path, h = carried(2)
    assert retained(path) == [h]


def test_a_list_of_graphs_is_retained() -> None:
    path = collected(2)
    assert len(retained(path)) == 1
    (kept,) = path.state.retained_after_loop.values()
    assert kept.lap.loop is LOOP and kept.lap.number == 2 and len(kept.alive) == 2


@pytest.mark.parametrize(
    ("path", "run"),
    [(collected(1), RUN), (collected(2, detached=True), RUN), (collected(2), RUN + 1)],
    ids=["one iteration", "no graph", "another run of the loop"],
)
def test_what_is_not_retained(path: Path, run: int) -> None:
    on_loop_left(MACHINE, LoopLeft(path.state, run))
    assert not path.state.retained_after_loop


def test_what_no_name_holds_is_not_retained() -> None:
    path, _ = carried(2)
    assert retained(path.bind(h=NONE)) == []
    path = collected(2)
    assert retained(path.bind(kept=NONE)) == []


def test_holders_are_found_through_objects_and_tuples() -> None:
    path = collected(2)
    held = Tuple((path["kept"],))
    owner = HeapRef(path.state.new(Instance(External("a.Trainer"), {"history": held})))
    assert len(retained(path.bind(kept=NONE, trainer=owner))) == 1
