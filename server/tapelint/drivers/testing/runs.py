"""Runs a test as its runner does: what sets it up, the test with its values and fixtures, what tears it down."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from ...domain.mro import own_method
from ...domain.state import State
from ...domain.values import NONE, BoundMethod, Frame, Function, HeapRef, Value
from ...engine.lifecycle import PathEnded
from ...engine.machine import Machine, OutOfFuel
from ...frozen import frozen
from ...models.frameworks.training_loops import TEST_CASE, derives
from ...semantics.calls import call_value
from ..inherited_templates import call_site
from .cases import Case, cases_of, dimensions_of
from .fixture_places import Places
from .fixtures import Fixtures, Given, parameters, request_with
from .marks import Mark, evaluated, marks_around, marks_of, verdict_of
from .requested_names import requested_names

USES = "pytest.mark.usefixtures"
OF_FILES = ("setup_module", "setUpModule", "setup_function")
OF_CLASSES = ("setup_class", "setup_method")
"""What pytest calls before a test; ``setUp`` of unittest has run on the object."""
AFTER = ("tearDown", "teardown_method")


def run_test(
    machine: Machine, state: State, function: Function, owner: HeapRef | None, receiver: HeapRef | None
) -> list[State]:
    """Run a test, or a fixture as if it were one, with some of the values that it is given."""
    scope = state.get(function.frame, Frame).module
    own = marks_of(machine, state, function)
    around = marks_around(machine, state, owner)
    verdict = verdict_of(machine, state, scope, (*around, *own))
    if verdict.runs is False:
        return [state]
    called = BoundMethod(function, receiver) if receiver is not None and function.kind != "static" else function
    names = parameters(called)
    places = Places(machine, machine.module, receiver, owner)
    site = function.node if owner is None else call_site(state, machine.module, function, owner)
    fixtures = Fixtures(machine, places, site)
    needs = [*places.automatic(state), *_used(machine, state, scope, (*around, *own)), *names]
    dimensions = [*dimensions_of(machine, state, scope, (*own, *around), names), *fixtures.dimensions(state, needs)]
    test = TestRun(machine, called, function, site, fixtures, owner, receiver, needs, names)
    name = getattr(function.node, "name", "lambda")
    premise = f"`{name}` is not skipped" if verdict.runs is None else None
    with machine.facts.events.assuming(premise), machine.facts.events.handling(verdict.fails):
        return test.with_each(state, cases_of(dimensions))


def _used(machine: Machine, state: State, scope: int, marks: Sequence[Mark]) -> Iterator[str]:
    """The fixtures that ``usefixtures`` names."""
    for mark in marks:
        for written in mark.call.args if mark.name == USES and mark.call is not None else ():
            name = getattr(evaluated(machine, state, scope, written), "value", None)
            if isinstance(name, str):
                yield name


@frozen
class TestRun:
    """How one test is run: what is called, and what it ``needs`` beside its parameters."""

    __test__ = False

    machine: Machine
    called: Function | BoundMethod
    function: Function
    # Where its story begins.
    site: ast.AST
    fixtures: Fixtures
    owner: HeapRef | None
    receiver: HeapRef | None
    needs: Sequence[str]
    parameters: Sequence[str]

    def with_each(self, state: State, cases: Sequence[Case]) -> list[State]:
        """Run it with each set of values, as long as half of the fuel is left; that the others do not run is no loss to
        report.
        """
        machine, results = self.machine, list[State]()
        for index, case in enumerate(cases):
            path = state.fork() if index + 1 < len(cases) else state
            if not index:
                results += self.with_values(path, case)
                continue
            machine.unit.fuel_needed = max(machine.unit.fuel_needed, 2 * machine.fuel_used)
            if 2 * machine.fuel_used > machine.fuel:
                break
            try:
                results += self.with_values(path, case)
            except OutOfFuel:
                machine.unit.is_exhausted = True
                break
        return results

    def with_values(self, state: State, case: Case) -> list[State]:
        """Run it once, on every path."""
        needs = [*self.needs, *requested_names(self.function, case.values)]
        return self.fixtures.provide(
            state, [need for need in needs if need != "request"], dict(case.values), case, self._within
        )

    def _within(self, state: State, given: Given) -> list[State]:
        """Run it with what its fixtures give."""
        machine = self.machine
        values = {name: given[name] for name in self.parameters if name != "request"}
        if "request" in self.parameters:
            values["request"] = request_with(state, given)
        results: list[State] = []
        for path in machine.run_paths(state, partial(self._body, values)):
            results += machine.run_paths(path, self._after) if path.completion is None else [path]
        return results

    def _body(self, values: Given, state: State) -> None:
        for before in self._before(state):
            self._call(state, before, {}, "setup")
        self._call(state, self.called, values, "test")
        scope = state.get(self.machine.module, Frame).variables.values()
        held = [*scope, *(() if self.receiver is None else (self.receiver,))]
        self.machine.lifecycle.path_ended.publish(self.machine, PathEnded(state, NONE, held))

    def _before(self, state: State) -> Iterator[Value]:
        """What is called before a test."""
        variables = state.get(self.machine.module, Frame).variables
        yield from (variables[name] for name in OF_FILES if isinstance(variables.get(name), Function))
        if self.owner is not None and not derives(state, self.owner, TEST_CASE):
            yield from self._methods(state, OF_CLASSES)

    def _after(self, state: State) -> None:
        for method in self._methods(state, AFTER):
            self._call(state, method, {}, "teardown")

    def _methods(self, state: State, names: Sequence[str]) -> Iterator[Value]:
        """Those of the methods that the object of the test has."""
        found = (own_method(state, self.receiver, name) for name in names) if self.receiver is not None else ()
        yield from filter(None, found)

    def _call(self, state: State, called: Value, values: Given, what: str) -> Value:
        call: Callable[[object], Value] = partial(self._called, state, called, values)
        return self.machine.memoize(self.function.node, what, call)

    def _called(self, state: State, called: Value, values: Given, key: object) -> Value:
        return call_value(self.machine, state, called, [], dict(values), self.site, key)
