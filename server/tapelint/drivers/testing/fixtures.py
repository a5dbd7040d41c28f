"""Fixtures: what pytest gives a test for a parameter, made anew for each test.

@pytest.fixture(params=[2, 4])
def model(request, device):                 asks for `device`, which conftest.py defines, and is made for each param
    net = nn.Linear(request.param, 1)
    yield net                               the test runs here
    net.zero_grad()                         and this after it

Those of a wider scope (`module`, `session`) are made for each test, too: any test may be run alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from ...domain.mro import lookup_in_mro
from ...domain.state import State
from ...domain.values import (
    TRUE,
    BoundMethod,
    External,
    Frame,
    Function,
    Generator,
    HeapRef,
    Instance,
    Value,
    something,
)
from ...engine.machine import Machine
from ...engine.syntax.syntactic_summary import syntactic_summary
from ...semantics.calls import call_value
from ...semantics.functions import run_generator
from .cases import Case, Dimension, fixture_params
from .marks import evaluated, fixture_of

REQUEST = "pytest.FixtureRequest"
MAX_CONFTESTS = 5
"""Folders upward that are searched for a conftest.py."""
Given = dict[str, Value]
Then = Callable[[State, Given], list[State]]
"""What is done with the values of fixtures: the paths on which it ends."""


@dataclass(frozen=True, slots=True)
class Fixtures:
    """The fixtures that a test may ask for: those of its class, its file and the conftest.py upward."""

    machine: Machine
    # The heap id of the scope of the file.
    module: int
    # The object that a method runs on, and its class.
    receiver: HeapRef | None = None
    owner: HeapRef | None = None

    def find(self, state: State, name: str) -> Function | BoundMethod | None:
        """The fixture called ``name``."""
        if self.owner is not None and self.receiver is not None:
            held = lookup_in_mro(state, self.owner, name)
            if held is not None and isinstance(held[1], Function) and self._is_fixture(state, held[1]):
                return BoundMethod(held[1], self.receiver)
        candidates = (self._in_file(state, name), *self._in_conftests(state, name))
        return next((each for each in candidates if each is not None and self._is_fixture(state, each)), None)

    def automatic(self, state: State) -> list[str]:
        """The names of the fixtures of the file and the class that every test has."""
        held: list[tuple[str, Value]] = list(state.get(self.module, Frame).variables.items())
        if self.owner is not None and (scope := state.attributes(self.owner.id)):
            held += scope.items()
        return [name for name, value in held if isinstance(value, Function) and self._is_automatic(state, value)]

    def _is_automatic(self, state: State, function: Function) -> bool:
        mark = fixture_of(self.machine, state, function)
        asked = mark.argument(9, "autouse") if mark is not None else None
        return asked is not None and evaluated(self.machine, state, self.module, asked) == TRUE

    def _is_fixture(self, state: State, function: Function) -> bool:
        return fixture_of(self.machine, state, function) is not None

    def _in_file(self, state: State, name: str) -> Function | None:
        found = state.get(self.module, Frame).variables.get(name)
        if found is None and self.machine.imports is not None:
            frame, state.frame = state.frame, self.module
            found = self.machine.imports.missing(state, name)
            state.frame = frame
        return found if isinstance(found, Function) else None

    def _in_conftests(self, state: State, name: str) -> Iterator[Function]:
        imports = self.machine.imports
        if imports is None:
            return
        for level in range(1, MAX_CONFTESTS + 1):
            found = imports.member(state, f"{'.' * level}conftest", imports.main.path, name)
            if isinstance(found, Function):
                yield found

    def dimensions(self, state: State, names: Sequence[str], seen: frozenset[str] = frozenset()) -> Iterator[Dimension]:
        """What ``params=`` gives the fixtures that are asked for by these names, and those that they ask for."""
        for name in names:
            fixture = self.find(state, name) if name not in seen else None
            if fixture is None:
                continue
            function = _function(fixture)
            mark = fixture_of(self.machine, state, function)
            if mark is not None:
                scope = state.get(function.frame, Frame).module
                yield fixture_params(self.machine, state, scope, mark, name)
            yield from self.dimensions(state, parameters(fixture), seen | {name})

    def provide(self, state: State, names: Sequence[str], given: Given, case: Case, then: Then) -> list[State]:
        """Make the fixtures of these names, each with what it asks for, then do something with them, then undo them."""
        missing = [name for name in names if name not in given]
        if not missing:
            return then(state, given)
        name, *rest = missing
        fixture = self.find(state, name) if len(given) < MAX_FIXTURES else None
        if fixture is None:
            return self.provide(state, rest, {**given, name: something(name)}, case, then)

        def made(path: State, value: Value, known: Given) -> list[State]:
            return self.provide(path, rest, {**known, name: value}, case, then)

        # While it is made its own name stands for nothing: a fixture may override one of that name further up.
        needs = [each for each in parameters(fixture) if each not in ("request", name)]
        run = partial(self._run, fixture=fixture, name=name, needs=needs, case=case, made=made)
        return self.provide(state, needs, given, case, run)

    def _run(
        self,
        state: State,
        given: Given,
        fixture: Function | BoundMethod,
        name: str,
        needs: Sequence[str],
        case: Case,
        made: Callable[[State, Value, Given], list[State]],
    ) -> list[State]:
        machine, node = self.machine, _function(fixture).node
        values = {need: given[need] for need in needs}
        asked = parameters(fixture)
        if name in asked:
            values[name] = something(name)

        def make(path: State) -> Value:
            if "request" in asked:
                param = case.params.get(name)
                attributes = {"param": param} if param is not None else {}
                values["request"] = HeapRef(path.new(Instance(External(REQUEST), attributes, True)))
            return machine.memoize(node, "fixture", partial(_called, machine, path, fixture, values))

        results: list[State] = []
        for path, value in machine.run_values(state, make):
            if value is None:
                results.append(path)
            elif isinstance(value, Generator) and syntactic_summary(node).yields and value.function is not None:
                results += run_generator(machine, path, value, partial(_yielded, made, given))
            else:
                results += made(path, value, given)
        return machine.join_and_cap(results) if len(results) > 1 else results


MAX_FIXTURES = 40
"""Fixtures of one test."""


def _called(machine: Machine, state: State, fixture: Function | BoundMethod, values: Given, key: object) -> Value:
    return call_value(machine, state, fixture, [], dict(values), _function(fixture).node, key)


def _yielded(
    made: Callable[[State, Value, Given], list[State]], given: Given, state: State, value: Value
) -> list[State]:
    return made(state, value, given)


def _function(fixture: Function | BoundMethod) -> Function:
    function = fixture.function if isinstance(fixture, BoundMethod) else fixture
    assert isinstance(function, Function)
    return function


def parameters(called: Function | BoundMethod) -> list[str]:
    """What pytest gives a function: its parameters without a default, but for the object of a method."""
    function = _function(called)
    spec = function.node.args
    named = [each.arg for each in (*spec.posonlyargs, *spec.args)]
    required = named[: len(named) - len(spec.defaults)][isinstance(called, BoundMethod) :]
    return required + [each.arg for each, default in zip(spec.kwonlyargs, spec.kw_defaults) if default is None]
