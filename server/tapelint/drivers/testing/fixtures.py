"""Fixtures: what pytest gives a test for a parameter, made anew for each test.

@pytest.fixture(params=[2, 4])
def model(request, device):                 asks for `device`, which conftest.py defines, and is made for each param
    net = nn.Linear(request.param, 1)
    yield net                               the test runs here
    net.zero_grad()                         and this after it

Those of a wider scope (`module`, `session`) are made for each test, too: any test may be run alone.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Protocol

from ...domain.state import State
from ...domain.values import (
    BoundMethod,
    External,
    Frame,
    Function,
    Generator,
    HeapRef,
    Instance,
    Mapping,
    Value,
    something,
)
from ...engine.machine import Machine
from ...engine.syntax.syntactic_summary import syntactic_summary
from ...frozen import frozen
from ...models.frameworks.unit_tests import FIXTURES, REQUEST
from ...semantics.calls import call_value
from ...semantics.functions import run_generator
from .cases import Case, Dimension, fixture_params
from .fixture_places import Places, function_of
from .marks import fixture_of
from .requested_names import requested_names

Given = dict[str, Value]
Then = Callable[[State, Given], list[State]]
"""What is done with the values of fixtures: the paths on which it ends."""


class Made(Protocol):
    """What is done with a fixture that was made, after those that are ``known``."""

    def __call__(self, path: State, value: Value, *, known: Given) -> list[State]: ...


@frozen
class Fixtures:
    """Makes the fixtures that a test asks for."""

    machine: Machine
    places: Places
    # Where the story of a fixture begins that stands in another file.
    site: ast.AST

    def dimensions(self, state: State, names: Sequence[str], seen: frozenset[str] = frozenset()) -> Iterator[Dimension]:
        """What ``params=`` gives the fixtures that are asked for by these names, and those that they ask for."""
        for name in names:
            fixture = self.places.find(state, name) if name not in seen else None
            if fixture is None:
                continue
            function = function_of(fixture)
            mark = fixture_of(self.machine, state, function)
            if mark is not None:
                scope = state.get(function.frame, Frame).module
                yield fixture_params(self.machine, state, scope, mark, name)
            asked = [*parameters(fixture), *requested_names(function, {})]
            yield from self.dimensions(state, asked, seen | {name})

    def provide(self, state: State, names: Sequence[str], given: Given, case: Case, then: Then) -> list[State]:
        """Make the fixtures of these names, each with what it asks for, then do something with them, then undo them."""
        missing = [name for name in names if name not in given]
        if not missing:
            return then(state, given)
        name, *rest = missing
        fixture = self.places.find(state, name) if len(given) < MAX_FIXTURES else None
        if fixture is None:
            return self.provide(state, rest, {**given, name: something(name)}, case, then)

        def made(path: State, value: Value, *, known: Given) -> list[State]:
            return self.provide(path, rest, {**known, name: value}, case, then)

        return self._make(state, fixture, name, given, case, made)

    def _make(
        self, state: State, fixture: Function | BoundMethod, name: str, given: Given, case: Case, made: Made
    ) -> list[State]:
        """Make what a fixture asks for, and then the fixture. Its own name stands for the one that it overrides."""
        asked = [*parameters(fixture), *requested_names(function_of(fixture), given, case.params.get(name))]
        needs = [each for each in asked if each not in ("request", name)]
        run = partial(self._run, fixture=fixture, name=name, needs=needs, case=case, made=made)
        overridden = self.places.above(state, name, fixture) if name in asked else None
        if overridden is None:
            return self.provide(state, needs, given, case, run)

        def over(path: State, value: Value, *, known: Given) -> list[State]:
            return self.provide(path, needs, known, case, partial(run, own=value))

        return self._make(state, overridden, name, given, case, over)

    def _run(
        self,
        state: State,
        given: Given,
        fixture: Function | BoundMethod,
        name: str,
        needs: Sequence[str],
        case: Case,
        made: Made,
        own: Value | None = None,
    ) -> list[State]:
        machine, node = self.machine, function_of(fixture).node
        asked = parameters(fixture)
        values = {need: given[need] for need in needs if need in asked}
        is_own = state.get(function_of(fixture).frame, Frame).module == machine.module
        site = node if is_own else self.site
        if name in asked:
            values[name] = own if own is not None else something(name)

        def make(path: State) -> Value:
            if "request" in asked:
                values["request"] = request_with(path, {need: given[need] for need in needs}, case.params.get(name))
            return machine.memoize(node, "fixture", partial(_called, machine, path, fixture, values, site))

        results: list[State] = []
        for path, value in machine.run_values(state, make):
            if value is None:
                results.append(path)
            elif isinstance(value, Generator) and syntactic_summary(node).yields and value.function is not None:
                results += _yielding(machine, path, value, site, partial(made, known=given))
            else:
                results += made(path, value, known=given)
        return machine.join_and_cap(results) if len(results) > 1 else results


MAX_FIXTURES = 40
"""Fixtures of one test."""


def request_with(state: State, fixtures: Given, param: Value | None = None) -> Value:
    """The ``request`` of a function that has asked for these fixtures."""
    attributes: dict[str, Value] = {FIXTURES: HeapRef(state.new(Mapping(dict(fixtures))))}
    if param is not None:
        attributes["param"] = param
    return HeapRef(state.new(Instance(External(REQUEST), attributes, True)))


def _called(
    machine: Machine, state: State, fixture: Function | BoundMethod, values: Given, site: ast.AST, key: object
) -> Value:
    return call_value(machine, state, fixture, [], dict(values), site, key)


def _yielding(
    machine: Machine, state: State, generator: Generator, site: ast.AST, made: Callable[[State, Value], list[State]]
) -> list[State]:
    """A fixture that yields: its value, the test, and what it does after that. It is called at ``site``."""
    outer = state.calls
    state.calls = (*outer, site)

    def within(path: State, value: Value) -> list[State]:
        path.calls = outer
        return made(path, value)

    ends = run_generator(machine, state, generator, within)
    for end in ends:
        end.calls = outer
    return ends


def parameters(called: Function | BoundMethod) -> list[str]:
    """What pytest gives a function: its parameters without a default, but for the object of a method."""
    function = function_of(called)
    spec = function.node.args
    named = [each.arg for each in (*spec.posonlyargs, *spec.args)]
    required = named[: len(named) - len(spec.defaults)][isinstance(called, BoundMethod) :]
    return required + [each.arg for each, default in zip(spec.kwonlyargs, spec.kw_defaults) if default is None]
