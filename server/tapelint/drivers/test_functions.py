"""Tests: which functions they are, by the conventions of pytest and unittest, and whether their runner calls them.

tests/test_net.py
    def test_forward(model): ...          pytest, by the names of the file and the function
    class TestNet:
        def test_backward(self): ...      by the names of the class and the method
    class Forward(unittest.TestCase):
        @unittest.expectedFailure         what it raises is expected
        def test_shape(self): ...         unittest, by the class that it derives from

Otherwise a test is a function that nobody calls: its fixtures are as unknown as other parameters, and what sets it up
assigns what it reads.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ..domain.mro import mro_of
from ..domain.state import State
from ..domain.values import Class, External, Function, HeapRef
from ..engine.machine import Machine
from ..frozen import frozen
from ..models.frameworks.training_loops import TEST_CASE, derives
from .annotations import named

SKIPS = ("pytest.mark.skip", "unittest.skip")
SKIPS_IF = {"pytest.mark.skipif": True, "unittest.skipIf": True, "unittest.skipUnless": False}
"""By what their condition has to be."""
FAILS = ("pytest.mark.xfail", "unittest.expectedFailure")
FIXTURES = ("pytest.fixture", "pytest.yield_fixture", "pytest_asyncio.fixture")


def is_test(machine: Machine, state: State, function: Function, owner: HeapRef | None) -> bool:
    """Whether a function, or a method of a class, is run as a test."""
    if isinstance(function.node, ast.Lambda):
        return False
    name = function.node.name
    if owner is None:
        return machine.collects_tests and machine.tests.is_test_function(name)
    if derives(state, owner, TEST_CASE):
        return name.startswith("test")
    return is_test_class(machine, state, owner) and machine.tests.is_test_function(name)


def is_test_class(machine: Machine, state: State, kind: HeapRef) -> bool:
    """Whether the methods of a class are tests."""
    if derives(state, kind, TEST_CASE):
        return True
    return machine.collects_tests and machine.tests.is_test_class(state.get(kind.id, Class).name)


def is_fixture(machine: Machine, state: State, function: Function) -> bool:
    """Whether a decorator makes a function a fixture of tests."""
    own = [] if isinstance(function.node, ast.Lambda) else function.node.decorator_list
    return any(name in FIXTURES for name, _ in _marks(machine, state, function.frame, own))


@frozen
class Verdict:
    """What the marks of a test say of its run."""

    # None where it is not known whether it runs.
    runs: bool | None = True
    # Whether it is meant to fail.
    fails: bool = False


def verdict_of(machine: Machine, state: State, function: Function, owner: HeapRef | None) -> Verdict:
    """What the marks of a test say, and those of its file, its class and what that derives from."""
    decorated = [(machine.module, _of_file(machine.tree))]
    for kind in mro_of(state, owner) if owner is not None else ():
        if isinstance(kind, HeapRef) and isinstance(thing := state.heap[kind.id], Class):
            decorated.append((thing.scope, thing.node.decorator_list))
    if not isinstance(function.node, ast.Lambda):
        decorated.append((function.frame, function.node.decorator_list))
    marks = [mark for scope, decorators in decorated for mark in _marks(machine, state, scope, decorators)]
    runs: bool | None = True
    for name, condition in marks:
        if name in SKIPS or name in SKIPS_IF and condition is SKIPS_IF[name]:
            return Verdict(False)
        if name in SKIPS_IF and condition is None:
            runs = None
    return Verdict(runs, any(name in FAILS for name, _ in marks))


def _marks(
    machine: Machine, state: State, scope: int, decorators: Iterable[ast.expr]
) -> Iterator[tuple[str, bool | None]]:
    """The dotted names of the decorators that are of libraries, each with its condition, if that is written as True or
    False.
    """
    for decorator in decorators:
        call = decorator if isinstance(decorator, ast.Call) else None
        value = named(machine, state, scope, decorator if call is None else call.func)
        if isinstance(value, External):
            first = call.args[0] if call is not None and call.args else None
            yield value.name, first.value if isinstance(first, ast.Constant) and type(first.value) is bool else None


def _of_file(tree: ast.Module) -> list[ast.expr]:
    """The marks that ``pytestmark`` gives to all tests of a file."""
    for statement in tree.body:
        match statement:
            case ast.Assign([ast.Name("pytestmark")], value):
                return list(value.elts) if isinstance(value, (ast.List, ast.Tuple)) else [value]
    return []
