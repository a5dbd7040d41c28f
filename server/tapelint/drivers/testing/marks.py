"""What decorators say of a test: whether it runs, with which values, and whether it is meant to fail.

@pytest.mark.parametrize("size", [1, 8])                              its values
@unittest.skipIf(not torch.cuda.is_available(), "no GPU")             whether it runs
@pytest.mark.xfail                                                    what it raises is expected
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ...domain.completion import ProgramRaised, takes
from ...domain.exception_kinds import kinds_of
from ...domain.mro import mro_of
from ...domain.state import State
from ...domain.values import FALSE, Class, Const, External, Frame, Function, HeapRef, Unknown, Value
from ...engine.machine import Machine
from ...frozen import frozen

SKIPS = ("pytest.mark.skip", "unittest.skip")
SKIPS_IF = {"pytest.mark.skipif": True, "unittest.skipIf": True, "unittest.skipUnless": False}
"""By what their condition has to be."""
FAILS = ("pytest.mark.xfail", "unittest.expectedFailure")
FIXTURES = ("pytest.fixture", "pytest.yield_fixture", "pytest_asyncio.fixture")


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
