"""What the code of a path can still find: through variables, objects, views and graph edges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.domain.paths import Path, meeting

from tapelint.domain.completion import Return
from tapelint.domain.reachability import LocalJoinPoint, reachable, reachable_graph, reached
from tapelint.domain.values import (
    NONE,
    BoundMethod,
    BuiltinMethod,
    Const,
    External,
    Frame,
    HeapRef,
    Instance,
    Optimizer,
    Partial,
    Sequence,
    Slice,
    Super,
    TensorRef,
    Tuple,
    Value,
)

HOLDERS: dict[str, Callable[[Path, TensorRef], Value]] = {
    "the tensor itself": lambda path, x: x,
    "a tuple": lambda path, x: Tuple((NONE, Tuple((x,)))),
    "a list": lambda path, x: path.list(NONE, x),
    "a list in a dict": lambda path, x: path.dict(a=path.list(x)),
    "an object": lambda path, x: HeapRef(path.state.new(Instance(External("torch.nn.Module"), {"weight": x}))),
    "an optimizer": lambda path, x: HeapRef(path.state.new(Optimizer("SGD", [x.id]))),
    "a bound method": lambda path, x: BoundMethod(NONE, x),
    "a method of a library": lambda path, x: BuiltinMethod(x, "add_"),
    "super()": lambda path, x: Super(NONE, x),
    "an argument of functools.partial": lambda path, x: Partial(NONE, (x,), ()),
    "a keyword of functools.partial": lambda path, x: Partial(NONE, (), (("x", x),)),
    "a slice": lambda path, x: Slice(NONE, x, NONE),
}


def tensors(path: Path, live: str) -> set[int]:
    return reachable(path.state, frozenset(live.split()), (), {}).tensors


@pytest.mark.parametrize("holder", HOLDERS)
def test_values_lead_to_a_tensor(holder: str) -> None:
    path = Path()
    x = path.leaf()
    path.bind(holder=HOLDERS[holder](path, x))
    assert x.id in tensors(path, "holder")
    assert x.id in LocalJoinPoint(frozenset(("holder",)), (), {}).reachable(path.state).tensors


def test_dead_variables_lead_nowhere() -> None:
    path = Path()
    x, y = path.leaf(), path.leaf()
    path.bind(x=x, y=y)
    assert tensors(path, "x") == {x.id}
    assert tensors(path, "y x") == {x.id, y.id}


def test_a_view_leads_to_its_base() -> None:
    path = Path()
    base, view, part = path.leaf(), path.leaf(), path.leaf()
    for lower, upper in ((view, base), (part, view)):
        path.state.tensors[lower.id] = replace(path.state.tensors[lower.id], base=upper.id)
    path.bind(part=part)
    assert tensors(path, "part") == {part.id, view.id, base.id}
    assert LocalJoinPoint(None, (), {}).reachable(path.state).tensors == {part.id, view.id, base.id}


def test_running_calls_keep_their_arguments() -> None:
    path = Path()
    x = path.leaf()
    assert reachable(path.state, frozenset(), (Tuple((x,)),), {}).tensors == {x.id}


def test_objects_of_other_paths_are_searched_once() -> None:
    path = Path()
    x = path.leaf()
    path.list(x)
    path.fork()  # from here on the path owns nothing
    known: dict = {}
    first = reachable(path.state, frozenset(), (), known)
    assert first.tensors == {x.id} and known
    path.state.get(next(iter(known)), Sequence).items.clear()  # which code that respects ownership never does
    assert reachable(path.state, frozenset(), (), known).tensors == {x.id}


def test_containers_that_nothing_leads_to_are_not_reached() -> None:
    path = Path()
    innermost = path.list(NONE)
    inner = path.list(innermost)
    outer, other = path.list(inner), path.list(NONE)
    assert reached(path.state, (), {}) == set()
    path.bind(outer=outer)
    assert reached(path.state, (), {}) == {outer.id, inner.id, innermost.id}
    path.state.completion = Return(other)
    assert reached(path.state, (), {}) == {outer.id, inner.id, innermost.id, other.id}


def test_the_graph_below_a_variable_is_reachable() -> None:
    path = Path()
    h = path.op("exp", path.leaf())
    y = path.op("sum", h)
    path.bind(h=h, y=y)
    path.bind(h=NONE)
    assert reachable_graph(path.state) == {path.node(h), path.node(y)}
    path.bind(y=Const(1))
    assert reachable_graph(path.state) == set()


def test_graphs_of_dead_variables_are_not_reachable() -> None:
    path = Path()
    x = path.leaf()
    h, y = path.op("exp", x), path.op("neg", x)
    path.bind(h=h, y=y)
    assert reachable_graph(path.state, frozenset(("y",))) == {path.node(y)}
    assert meeting("h").reachable_graph(path.state) == {path.node(h)}


def test_graphs_in_lists_and_tuples_are_reachable() -> None:
    path = Path()
    x = path.leaf()
    h, y = path.op("exp", x), path.op("neg", x)
    path.bind(held=path.list(h, Tuple((y,))))
    assert reachable_graph(path.state) == {path.node(h), path.node(y)}


def test_the_scope_of_the_caller_is_not_local() -> None:
    """A function reaches its own variables and those of the scopes around it, not those of its caller."""
    path = Path()
    module = path.state.frame
    own, mine, theirs = path.leaf(), path.leaf(), path.leaf()
    path.bind(shared=own)
    path.state.new(Frame({"history": theirs}, module, module))
    outer = path.state.new(Frame({}, module, module))
    path.state.frame = path.state.new(Frame({"mine": mine}, outer, module))
    local = LocalJoinPoint(None, (), {}).reachable(path.state)
    assert local.tensors == {own.id, mine.id}
    assert local.objects == {outer, module}
    assert theirs.id in tensors(path, "mine")
