"""Two paths are compared from the same names at once; programs are sequences of ops that hypothesis draws."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.domain.paths import Path, meeting, numbers

from tapelint.autograd import TorchRaises
from tapelint.domain.completion import Return
from tapelint.domain.equivalence import Bisimulation
from tapelint.domain.values import NONE, Const, HeapRef, TensorRef, Value

NAMES = ("a", "b", "c")


def tensor(path: Path, name: str) -> TensorRef:
    value = path[name]
    return value if isinstance(value, TensorRef) else path.leaf()


def backward(path: Path, name: str, other: str) -> None:
    root = tensor(path, name)
    if path.node(root) is not None:
        with suppress(TorchRaises):
            path.backward(root)


def keep(path: Path, name: str, other: str) -> None:
    path.append("held", path[name])


STATEMENTS: dict[str, Callable[[Path, str, str], object]] = {
    "a = exp(b)": lambda path, a, b: path.bind(**{a: path.op("exp", tensor(path, b))}),
    "a = neg(b)": lambda path, a, b: path.bind(**{a: path.op("neg", tensor(path, b))}),
    "a = b": lambda path, a, b: path.bind(**{a: path[b]}),
    "a = 1": lambda path, a, b: path.bind(**{a: Const(1)}),
    "a = 2": lambda path, a, b: path.bind(**{a: Const(2)}),
    "a = data": lambda path, a, b: path.bind(**{a: path.data()}),
    "a.backward()": backward,
    "a.write_()": lambda path, a, b: path.write(tensor(path, a)),
    "held.append(a)": keep,
}
PROGRAMS = st.lists(
    st.tuples(st.sampled_from(sorted(STATEMENTS)), st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=5
)
Program = list[tuple[str, str, str]]


def begun() -> Path:
    path = Path()
    x = path.leaf()
    return path.bind(a=x, b=path.op("exp", x), c=Const(0), held=path.list())


def run(path: Path, program: Program) -> Path:
    for statement, name, other in program:
        STATEMENTS[statement](path, name, other)
    return path


def equivalent(one: Path, two: Path, live: str | None = None) -> bool:
    return Bisimulation(one.state, two.state, one.facts, meeting(live)).is_equivalent([])


@given(PROGRAMS)
def test_a_path_is_equivalent_to_its_fork(program: Program) -> None:
    path = run(begun(), program)
    fork = path.fork()
    assert equivalent(path, fork) and equivalent(fork, path)


@given(PROGRAMS, PROGRAMS)
def test_the_same_statements_lead_to_equivalent_paths(before: Program, after: Program) -> None:
    path = run(begun(), before)
    fork = path.fork()
    assert equivalent(run(path, after), run(fork, after))


@given(PROGRAMS, PROGRAMS, PROGRAMS)
def test_equivalence_is_symmetric(before: Program, after: Program, otherwise: Program) -> None:
    path = run(begun(), before)
    fork = path.fork()
    one, two = run(path, after), run(fork, otherwise)
    assert equivalent(one, two) is equivalent(two, one)


@pytest.mark.parametrize(
    ("statement", "same"),
    [
        (("a = exp(b)", "a", "a"), False),  # a graph in place of a leaf
        (("a = exp(b)", "b", "a"), True),  # built as the graph before was
        (("a = exp(b)", "b", "b"), False),  # a deeper graph
        (("a = neg(b)", "b", "a"), False),
        (("a.backward()", "b", "b"), False),  # freed on one path only
        (("a.write_()", "b", "b"), False),  # exp has saved its result
        (("a.write_()", "a", "a"), True),  # no op has saved the leaf
        (("a = 1", "c", "c"), True),  # a number
        (("a = 1", "b", "b"), False),  # a number in place of a graph
        (("held.append(a)", "c", "c"), True),
        (("held.append(a)", "b", "b"), False),
    ],
)
def test_one_statement_on_one_path(statement: tuple[str, str, str], same: bool) -> None:
    path = begun()
    fork = path.fork()
    assert equivalent(run(path, [statement]), fork) is same


def test_a_leaf_is_no_plain_value() -> None:
    path = begun()
    fork = path.fork().bind(c=Const(1))
    assert not equivalent(path.bind(c=path.leaf()), fork)


def test_a_name_of_one_path_only() -> None:
    path = begun()
    fork = path.fork()
    fork.bind(d=fork["b"])
    assert not equivalent(path, fork) and not equivalent(fork, path)
    assert equivalent(path, fork, live="a b c held")


def test_a_leaf_that_was_frozen_is_another_one() -> None:
    path = begun()
    fork = path.fork()
    key = tensor(path, "a").id
    fork.state.tensors[key] = replace(fork.state.tensors[key], requires_grad=False)
    assert not equivalent(path, fork)


@pytest.mark.parametrize("is_shared", [True, False])
def test_another_graph_is_freed(is_shared: bool) -> None:
    """Both paths have a gradient; what distinguishes them is which of two graphs, built before or after, is freed."""

    def build(path: Path) -> None:
        path.bind(b=path.op("exp", tensor(path, "a")), c=path.op("exp", tensor(path, "a")))

    path = begun()
    if is_shared:
        build(path)
    fork = path.fork()
    for each, name in ((path, "b"), (fork, "c")):
        if not is_shared:
            build(each)
        each.backward(tensor(each, name))
    assert not equivalent(path, fork)


def test_plain_differences_are_collected() -> None:
    path = begun()
    fork = path.fork().bind(c=Const(1))
    pair = Bisimulation(path.state, fork.state, path.facts, meeting())
    assert pair.is_equivalent([])
    assert pair.plain == [(path.state.frame, path.state.frame, "c")]


def test_dead_names_are_not_compared() -> None:
    path = begun()
    fork = run(path.fork(), [("a = neg(b)", "b", "a")])
    assert equivalent(path, fork, live="a c held")
    assert not equivalent(path, fork, live="b")


def test_objects_made_separately_are_alike_if_they_hold_alike() -> None:
    path = begun()
    fork = path.fork()
    path.bind(pair=path.list(path["b"], numbers(1)))
    assert equivalent(path, fork.bind(pair=fork.list(fork["b"], numbers(1))))
    assert not equivalent(path, fork.bind(pair=fork.list(fork["b"])))
    assert not equivalent(path, fork.bind(pair=fork.dict(b=fork["b"])))


def test_lists_that_contain_themselves_end() -> None:
    path = begun()
    fork = path.fork()
    for each in (path, fork):
        each.bind(loop=each.list(each["b"]))
        each.append("loop", each["loop"])
    assert equivalent(path, fork)


def test_iterations_are_counted_from_the_running_one() -> None:
    """Each path has built its graph in its own iteration; a graph of the iteration before is another one."""
    path = begun()
    fork = path.fork()
    path.iterate(2)
    fork.iterate(3)
    for each in (path, fork):
        each.bind(b=each.op("exp", tensor(each, "a")))
    assert equivalent(path, fork)
    fork.iterate(4)
    assert not equivalent(path, fork)


def test_a_suspect_is_compared_first_and_remembered() -> None:
    path = begun()
    fork = run(path.fork(), [("held.append(a)", "b", "b")])
    held, suspects = path["held"], [path.state.frame]
    assert isinstance(held, HeapRef)
    pair = Bisimulation(path.state, fork.state, path.facts, meeting())
    assert not pair.is_equivalent(suspects)
    assert suspects == [held.id, path.state.frame]


@pytest.mark.parametrize(
    ("mine", "yours", "same"),
    [
        (Const(1), Const(1), True),
        (Const(1), Const(2), True),  # neither has a graph
        (NONE, Const(2), False),  # which a caller tells apart
        (numbers(1, 2), numbers(1, 2), True),
        (NONE, NONE, True),
    ],
)
def test_returned_values(mine: Value, yours: Value, same: bool) -> None:
    path = begun()
    fork = path.fork()
    path.state.completion, fork.state.completion = Return(mine), Return(yours)
    assert Bisimulation(path.state, fork.state, path.facts, meeting()).is_same_completion() is same
