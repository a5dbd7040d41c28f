"""Tests: which functions they are, by the conventions of pytest and unittest, and how their runner calls them.

tests/test_net.py
    def test_forward(model): ...          pytest, by the names of the file and the function
    class TestNet:
        def setup_method(self): ...       called before each
        def test_backward(self): ...      by the names of the class and the method
    class Forward(unittest.TestCase):
        @unittest.expectedFailure         what it raises is expected
        def test_shape(self): ...         unittest, by the class that it derives from

What a fixture or a parameter of `parametrize` gives a test is not known.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from ..because import NOTHING, guess
from ..domain.completion import ProgramRaised, takes
from ..domain.exception_kinds import kinds_of
from ..domain.mro import mro_of, own_method
from ..domain.parameter_defaults import defaults_of
from ..domain.state import State
from ..domain.values import (
    FALSE,
    NONE,
    BoundMethod,
    Class,
    Const,
    External,
    Frame,
    Function,
    HeapRef,
    Unknown,
    Value,
    something,
)
from ..engine.lifecycle import PathEnded
from ..engine.machine import Machine
from ..engine.syntax.syntactic_summary import is_abstract
from ..frozen import frozen
from ..models.frameworks.training_loops import TEST_CASE, derives
from ..semantics.calls import call_value
from .arguments import positional
from .framework_driver import call_site

OF_FILES = ("setup_module", "setUpModule", "setup_function")
OF_CLASSES = ("setup_class", "setup_method")
"""What pytest calls before a test; ``setUp`` of unittest has run on the object."""
AFTER = ("tearDown", "teardown_method")
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


def inherited_tests(machine: Machine, state: State, kind: HeapRef) -> Iterator[Function]:
    """The tests that a class has of those that it derives from, wherever they are defined."""
    if not is_test_class(machine, state, kind):
        return
    seen = set(state.get(kind.id, Class).attributes)
    for base in mro_of(state, kind):
        thing = state.heap[base.id] if isinstance(base, HeapRef) else None
        for name, value in thing.attributes.items() if isinstance(thing, Class) else ():
            if name not in seen and isinstance(value, Function) and _is_run(machine, state, value, kind):
                yield value
            seen.add(name)


def _is_run(machine: Machine, state: State, function: Function, kind: HeapRef) -> bool:
    return is_test(machine, state, function, kind) and not machine.query(is_abstract, function.node)


def is_test_class(machine: Machine, state: State, kind: HeapRef) -> bool:
    """Whether the methods of a class are tests."""
    if derives(state, kind, TEST_CASE):
        return True
    return machine.collects_tests and machine.tests.is_test_class(state.get(kind.id, Class).name)


def run_test(
    machine: Machine, state: State, function: Function, owner: HeapRef | None, receiver: HeapRef | None
) -> list[State]:
    """Run a test, or a fixture as if it were one: what sets it up, the test, what tears it down."""
    scope = state.get(function.frame, Frame).module
    marks = (*marks_around(machine, state, owner), *marks_of(machine, state, function))
    verdict = verdict_of(machine, state, scope, marks)
    if verdict.runs is False:
        return [state]
    bound = BoundMethod(function, receiver) if receiver is not None and function.kind != "static" else function
    site = function.node if owner is None else call_site(state, machine.module, function, owner)
    names = [*positional(function, int(isinstance(bound, BoundMethod))), *function.node.args.kwonlyargs]
    defaults = defaults_of(function)
    values: dict[str, Value] = {each.arg: something(each.arg) for each in names if each.arg not in defaults}

    def call(path: State, called: Value, given: dict[str, Value], what: str) -> None:
        machine.memoize(function.node, what, lambda key: call_value(machine, path, called, [], dict(given), site, key))

    def run(path: State) -> None:
        for before in _set_up(machine, path, owner, receiver):
            call(path, before, {}, "setup")
        call(path, bound, values, "test")
        around = path.get(machine.module, Frame).variables.values()
        held = [*around, *(() if receiver is None else (receiver,))]
        machine.lifecycle.path_ended.publish(machine, PathEnded(path, NONE, held))
        for after in _methods(path, receiver, AFTER):
            call(path, after, {}, "teardown")

    name = getattr(function.node, "name", "lambda")
    because = guess(f"`{name}` is not skipped") if verdict.runs is None else NOTHING
    with machine.facts.events.assuming(because), machine.facts.events.handling(verdict.fails):
        return machine.run_paths(state, run)


def _set_up(machine: Machine, state: State, owner: HeapRef | None, receiver: HeapRef | None) -> Iterator[Value]:
    """What is called before a test."""
    variables = state.get(machine.module, Frame).variables
    yield from (variables[name] for name in OF_FILES if isinstance(variables.get(name), Function))
    if owner is not None and not derives(state, owner, TEST_CASE):
        yield from _methods(state, receiver, OF_CLASSES)


def _methods(state: State, receiver: HeapRef | None, names: Sequence[str]) -> Iterator[Value]:
    """Those of the methods that the object of a test has."""
    found = (own_method(state, receiver, name) for name in names) if receiver is not None else ()
    yield from filter(None, found)


@frozen
class Mark:
    """A decorator of a library, by its dotted name, with what it is called with."""

    name: str
    call: ast.Call | None

    def argument(self, index: int, name: str) -> ast.expr | None:
        """The argument at ``index`` or called ``name``, as it is written."""
        if self.call is None:
            return None
        if index < len(self.call.args):
            return self.call.args[index]
        return self.keyword(name)

    def keyword(self, name: str) -> ast.expr | None:
        """The argument that is written with its name."""
        return next((each.value for each in self.call.keywords if each.arg == name), None) if self.call else None


def evaluated(machine: Machine, state: State, scope: int, node: ast.expr) -> Value:
    """What an expression gives in a ``scope``, on one path; unknown where it raises."""
    frame, state.frame = state.frame, scope
    (path, value), *_ = machine.run_values(state, lambda inner: machine.eval(node, inner))
    if path is not state:
        state.become(path)
    state.completion, state.frame = None, frame
    return value if value is not None else Unknown("decorator")


def marks_of(machine: Machine, state: State, function: Function) -> list[Mark]:
    """The decorators of a function that are of libraries, the outermost first."""
    scope = state.get(function.frame, Frame).module
    return (
        [] if isinstance(function.node, ast.Lambda) else [*_marks(machine, state, scope, function.node.decorator_list)]
    )


def marks_around(machine: Machine, state: State, owner: HeapRef | None) -> list[Mark]:
    """The same of its file, its class and what that derives from, whose marks are those of all their tests."""
    found = list(_marks(machine, state, machine.module, _of_file(machine.tree)))
    for kind in mro_of(state, owner) if owner is not None else ():
        if isinstance(kind, HeapRef) and isinstance(thing := state.heap[kind.id], Class):
            if isinstance(scope := state.heap.get(thing.scope), Frame):
                found += _marks(machine, state, scope.module, thing.node.decorator_list)
    return found


def fixture_of(machine: Machine, state: State, function: Function) -> Mark | None:
    """What makes a function a fixture; None if it is none."""
    return next((mark for mark in marks_of(machine, state, function) if mark.name in FIXTURES), None)


def _marks(machine: Machine, state: State, scope: int, decorators: Iterable[ast.expr]) -> Iterator[Mark]:
    for decorator in decorators:
        call = decorator if isinstance(decorator, ast.Call) else None
        value = evaluated(machine, state, scope, call.func if call is not None else decorator)
        if isinstance(value, External):
            yield Mark(value.name, call)


def _of_file(tree: ast.Module) -> list[ast.expr]:
    """The marks that ``pytestmark`` gives to all tests of a file."""
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == "pytestmark" for target in statement.targets
        ):
            value = statement.value
            return list(value.elts) if isinstance(value, (ast.List, ast.Tuple)) else [value]
    return []


@frozen
class Verdict:
    """What the marks of a test say of its run."""

    # None where it is not known whether it runs.
    runs: bool | None = True
    # Whether it is meant to fail.
    fails: bool = False


def _is_meant(machine: Machine, state: State, scope: int, mark: Mark) -> bool:
    """Whether a test that is meant to fail may do so by what PyTorch raises, where its condition is not known to be
    false.
    """
    condition, kinds = mark.argument(0, "condition"), mark.keyword("raises")
    if condition is not None and evaluated(machine, state, scope, condition) == FALSE:
        return False
    named = kinds_of(state, evaluated(machine, state, scope, kinds)) if kinds is not None else ()
    return kinds is None or takes(named, ProgramRaised("RuntimeError"))


def verdict_of(machine: Machine, state: State, scope: int, marks: Iterable[Mark]) -> Verdict:
    """Whether a test with these marks runs, and is meant to fail."""
    runs: bool | None = True
    fails = False
    for mark in marks:
        if mark.name in SKIPS:
            return Verdict(False)
        if mark.name in FAILS:
            fails = fails or _is_meant(machine, state, scope, mark)
        elif mark.name in SKIPS_IF:
            condition = mark.argument(0, "condition")
            value = evaluated(machine, state, scope, condition) if condition is not None else None
            if not isinstance(value, Const) or isinstance(value.value, str):
                runs = None
            elif bool(value.value) is SKIPS_IF[mark.name]:
                return Verdict(False)
    return Verdict(runs, fails)
