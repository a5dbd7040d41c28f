"""The values that a test is run with: each of ``parametrize`` once, the others as they come first.

@pytest.mark.parametrize("size", [1, 8])
@pytest.mark.parametrize("act", [nn.ReLU(), nn.Tanh()])       (1, ReLU), (8, ReLU), (1, Tanh)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field

from ...domain.state import State
from ...domain.values import FALSE, NONE, Const, External, HeapRef, Instance, Tuple, Value, something
from ...domain.values import Sequence as Items
from ...engine.machine import Machine
from ...frozen import frozen
from ...models.frameworks.unit_tests import PARAM
from .marks import Mark, evaluated

PARAMETRIZE = "pytest.mark.parametrize"
EXPAND = ("parameterized.parameterized.expand", "absl.testing.parameterized.parameters")
"""Decorators of methods: each item is what one test is given, in the order of its parameters."""
MAX_CASES = 6
"""Sets of values with which one test is run at most."""


@frozen
class Case:
    """One run of a test: its values, and ``request.param`` of fixtures, by their names."""

    values: dict[str, Value] = field(default_factory=dict)
    params: dict[str, Value] = field(default_factory=dict)

    def changed(self, other: Case) -> Case:
        """The same with the values of ``other``."""
        return Case(self.values | other.values, self.params | other.params)


Dimension = Sequence[Case]
"""The sets of values that one decorator gives."""


def cases_of(dimensions: Iterable[Dimension]) -> list[Case]:
    """Runs in which each set of values is there once, as far as these are not too many."""
    known = [dimension for dimension in dimensions if dimension]
    first = Case()
    for dimension in known:
        first = first.changed(dimension[0])
    others = [first.changed(case) for dimension in known for case in dimension[1:]]
    return [first, *others][:MAX_CASES]


def dimensions_of(
    machine: Machine, state: State, scope: int, marks: Iterable[Mark], parameters: Sequence[str]
) -> Iterator[Dimension]:
    """What the marks of a test with these ``parameters`` give it."""
    for mark in marks:
        if mark.name == PARAMETRIZE:
            yield _parametrized(machine, state, scope, mark)
        elif mark.name in EXPAND:
            rows = items_of(machine, state, scope, mark, 0, "input")
            yield [Case(dict(zip(parameters, _parts(state, row) or (row,)))) for row in rows]


def fixture_params(machine: Machine, state: State, scope: int, mark: Mark, name: str) -> Dimension:
    """What ``params=`` of a fixture gives it, one after the other."""
    return [Case({}, {name: value}) for value in items_of(machine, state, scope, mark, 1, "params")]


def _parametrized(machine: Machine, state: State, scope: int, mark: Mark) -> Dimension:
    written = mark.argument(0, "argnames")
    names = _names(state, evaluated(machine, state, scope, written)) if written is not None else ()
    indirect = mark.argument(2, "indirect")
    asked = evaluated(machine, state, scope, indirect) if indirect is not None else FALSE
    found: list[Case] = []
    for row in items_of(machine, state, scope, mark, 1, "argvalues"):
        parts = (row,) if len(names) == 1 else _parts(state, row)
        if parts is None or len(parts) != len(names):
            parts = tuple(something(name) for name in names)
        values = dict(zip(names, parts))
        through = set(values) if asked == Const(True) else set(_names(state, asked))
        direct = {name: value for name, value in values.items() if name not in through}
        found.append(Case(direct, {name: value for name, value in values.items() if name in through}))
    return found


def items_of(machine: Machine, state: State, scope: int, mark: Mark, index: int, name: str) -> list[Value]:
    """The items of an argument of a mark, without those that have marks of their own: these are skipped, or fail."""
    written = mark.argument(index, name)
    value = evaluated(machine, state, scope, written) if written is not None else NONE
    if isinstance(value, HeapRef) and isinstance(held := state.heap.get(value.id), Items):
        items = held.items
    else:
        items = list(value.items) if isinstance(value, Tuple) else [Const(each) for each in _plain(value)]
    plain = [_unwrapped(state, item) for item in items[: 2 * MAX_CASES]]
    return [item for item in plain if item is not None]


def _plain(value: Value) -> Iterable[object]:
    return value.value if isinstance(value, Const) and isinstance(value.value, (str, tuple)) else ()


def _unwrapped(state: State, item: Value) -> Value | None:
    """What ``pytest.param`` holds; None if it has marks."""
    thing = state.heap.get(item.id) if isinstance(item, HeapRef) else None
    if not isinstance(thing, Instance) or thing.kind != External(PARAM):
        return item
    values = thing.attributes.get("values")
    if "marks" in thing.attributes or not isinstance(values, Tuple):
        return None
    return values.items[0] if len(values.items) == 1 else values


def _parts(state: State, row: Value) -> tuple[Value, ...] | None:
    """The values of one set; None where it is no tuple or list."""
    if isinstance(row, Tuple):
        return row.items
    thing = state.heap.get(row.id) if isinstance(row, HeapRef) else None
    return tuple(thing.items) if isinstance(thing, Items) and not thing.is_partial else None


def _names(state: State, value: Value) -> tuple[str, ...]:
    """The names in ``"a, b"`` or ``["a", "b"]``."""
    if isinstance(value, Const) and isinstance(value.value, str):
        return tuple(name.strip() for name in value.value.split(",") if name.strip())
    parts = _parts(state, value) or ()
    return tuple(each.value for each in parts if isinstance(each, Const) and isinstance(each.value, str))
