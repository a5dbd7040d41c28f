"""Paths that are equivalent become one, which has forgotten the plain values in which they differed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from tests.domain.paths import PLACES, Path, numbers
from tests.domain.test_equivalence import PROGRAMS, Program, begun, equivalent, run

from tapelint.autograd import leaf
from tapelint.autograd.model.graph import Extent, Kind
from tapelint.domain.completion import Break
from tapelint.domain.values import Const, HeapRef, Mapping, Sequence, TensorRef, Tuple, Unknown, Value


@given(PROGRAMS, PROGRAMS, PROGRAMS)
def test_join_is_idempotent(before: Program, after: Program, otherwise: Program) -> None:
    """What was joined to a path adds nothing to it a second time; if it was not, no path has changed."""
    path = run(begun(), before)
    fork = path.fork()
    run(path, after), run(fork, otherwise)
    untouched = fork.fork()
    joined = path.join(fork)
    assert path.join(fork) is joined
    assert joined or fork.state.heap == untouched.state.heap


@given(PROGRAMS, PROGRAMS, PROGRAMS)
def test_joined_paths_were_equivalent(before: Program, after: Program, otherwise: Program) -> None:
    path = run(begun(), before)
    fork = path.fork()
    run(path, after), run(fork, otherwise)
    alike = equivalent(path, fork)
    assert path.join(fork) is alike


def joined(mine: Value, yours: Value) -> Value:
    """What is left of a variable that has one value on a path and another one on the path that it is joined to."""
    path = begun()
    fork = path.fork().bind(c=yours)
    assert path.bind(c=mine).join(fork)
    return fork["c"]


@pytest.mark.parametrize(
    ("mine", "yours", "requires_grad"),
    [
        (Const(1), Const(2), False),
        (Const("train"), Unknown("mode", False), False),
        (Const(1), Unknown("batch"), None),
        (numbers(1), Const(2), None),
    ],
)
def test_a_value_that_differs_is_unknown(mine: Value, yours: Value, requires_grad: bool | None) -> None:
    for one, two in ((mine, yours), (yours, mine)):
        left = joined(one, two)
        assert isinstance(left, Unknown) and left.requires_grad is requires_grad


def test_a_value_that_is_the_same_is_kept() -> None:
    assert joined(Const(3), Const(3)) == Const(3)


def test_two_data_tensors_are_joined_to_a_data_tensor() -> None:
    path = begun()
    fork = path.fork()
    assert path.bind(c=path.data()).join(fork.bind(c=fork.data()))
    left = fork["c"]
    assert isinstance(left, TensorRef) and fork.state.tensors[left.id].requires_grad is False


@pytest.mark.parametrize(("sizes", "kind"), [((4,), "float"), ((4,), "int"), ((5,), "float"), (None, None)])
def test_two_data_tensors_are_of_the_sizes_and_the_dtype_that_both_have(sizes: Extent, kind: Kind) -> None:
    path = begun()
    fork = path.fork()
    path.bind(c=TensorRef(leaf(path.state, PLACES["data"], sizes=(4,), kind="float")))
    fork.bind(c=TensorRef(leaf(fork.state, PLACES["leaf"], sizes=sizes, kind=kind)))
    assert path.join(fork)
    left = fork["c"]
    assert isinstance(left, TensorRef)
    tensor = fork.state.tensors[left.id]
    assert tensor.sizes == ((4,) if sizes == (4,) else None) and tensor.kind == ("float" if kind == "float" else None)


@pytest.mark.parametrize("is_tuple", [False, True])
@pytest.mark.parametrize("is_first", [False, True])
def test_a_tensor_and_an_unknown_value_are_joined_to_a_tensor(is_tuple: bool, is_first: bool) -> None:
    path = begun()
    data: Value = path.data()
    values: list[Value] = [Tuple((data, Const(1))) if is_tuple else data, Unknown("state")]
    mine, yours = values if is_first else reversed(values)
    fork = path.fork().bind(c=yours)
    assert path.bind(c=mine).join(fork)
    left = fork["c"]
    item = left.items[0] if isinstance(left, Tuple) else left
    assert isinstance(item, TensorRef) and fork.state.tensors[item.id].requires_grad is None


def test_objects_made_separately_forget_where_they_differ() -> None:
    path = begun()
    fork = path.fork()
    for each, number in ((path, 1), (fork, 2)):
        h = each["b"]
        each.bind(c=each.dict(h=h, number=Const(number)))
    assert path.join(fork)
    left = fork["c"]
    assert isinstance(left, HeapRef)
    thing = fork.state.get(left.id, Mapping)
    assert thing.items["h"] == fork["b"] and isinstance(thing.items["number"], Unknown) and not thing.is_partial


@pytest.mark.parametrize("mine", [False, True])
@pytest.mark.parametrize("yours", [False, True])
def test_what_either_path_may_hold_more_of_is_partial(mine: bool, yours: bool) -> None:
    path = begun()
    fork = path.fork()
    for each, is_partial in ((path, mine), (fork, yours)):
        named, listed = each.dict(h=each["b"]), each.list(each["b"])
        each.state.edit(named.id, Mapping).is_partial = each.state.edit(listed.id, Sequence).is_partial = is_partial
        each.bind(named=named, listed=listed)
    assert path.join(fork)
    named, listed = fork["named"], fork["listed"]
    assert isinstance(named, HeapRef) and isinstance(listed, HeapRef)
    assert fork.state.get(named.id, Mapping).is_partial is (mine or yours)
    assert fork.state.get(listed.id, Sequence).is_partial is (mine or yours)


def test_constants_beside_a_graph_are_forgotten_where_they_differ() -> None:
    path = begun()
    fork = path.fork()
    for each, number in ((path, 1), (fork, 2)):
        items = (each["b"], Const(number), Const("same"))
        each.bind(c=Tuple(items), items=each.list(*items, Tuple(items)))
    assert path.join(fork)
    spelled, listed = fork["c"], fork["items"]
    assert isinstance(spelled, Tuple) and isinstance(listed, HeapRef)
    *items, inner = fork.state.get(listed.id, Sequence).items
    assert isinstance(inner, Tuple)
    for found in (spelled.items, items, inner.items):
        assert found[0] == fork["b"] and isinstance(found[1], Unknown) and found[2] == Const("same")
    assert not fork.state.get(listed.id, Sequence).is_partial


def test_lists_of_other_lengths_are_partial_and_items_that_differ_unknown() -> None:
    path = begun().bind(x=Const(0))
    path.bind(items=path.list(Const(1)), names=path.dict(a=Const(1), b=Const(2)))
    fork = path.fork()
    items, names = path["items"], path["names"]
    assert isinstance(items, HeapRef) and isinstance(names, HeapRef)
    fork.append("items", Const(2))
    fork.state.edit(names.id, Mapping).items["a"] = Const(5)
    assert path.join(fork)
    left, right = fork.state.heap[items.id], fork.state.heap[names.id]
    assert isinstance(left, Sequence) and left.is_partial
    assert isinstance(right, Mapping) and isinstance(right.items["a"], Unknown) and right.items["b"] == Const(2)
    assert not right.is_partial
    assert not path.state.get(items.id, Sequence).is_partial


def test_assumptions_that_differ_are_forgotten() -> None:
    path = begun()
    path.state.path_condition["both"] = True
    fork = path.fork()
    path.state.path_condition.update(mine=True, choice=True)
    fork.state.path_condition.update(yours=True, choice=False)
    assert path.join(fork)
    assert fork.state.path_condition == {"both": True}


def _complete(path: Path) -> None:
    path.state.completion = Break()


def _no_grad(path: Path) -> None:
    path.state.grad_mode = False


def _scope(path: Path) -> None:
    path.state.frame = path.state.new(path.state.heap[path.state.frame].copy())


@pytest.mark.parametrize(
    "change", [_complete, _no_grad, _scope, lambda path: path.iterate(2)], ids=["completion", "mode", "scope", "loop"]
)
def test_paths_at_another_point_or_in_another_mode_are_not_joined(change: Callable[[Path], None]) -> None:
    path = begun()
    fork = path.fork()
    change(fork)
    assert not path.join(fork) and not fork.join(path)
    change(path)
    assert path.join(fork) is (change is not _scope)
