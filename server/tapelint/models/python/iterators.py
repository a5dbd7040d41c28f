"""``itertools``: iterators made of others, item by item as far as these are known.

for i in count(1): ...                 1, 2, and then some number
for batch in islice(loader, 1): ...    one batch of data, and no more
zip(loader, cycle(others))             as long as `loader` is
"""

from __future__ import annotations

import itertools

from ...domain.state import State
from ...domain.values import Const, External, HeapRef, Mapping, Range, Sequence, Tuple, Value
from ...engine.machine import Machine
from ...engine.paths.truth import length
from ..torch.registry import Call, function


def _made(machine: Machine, state: State, values: list[Value], is_partial: bool) -> Value:
    most = machine.limits.made_items
    return HeapRef(state.new(Sequence("iterator", values[:most], is_partial or len(values) > most)))


@function("itertools.count")
def counting(machine: Machine, state: State, call: Call) -> Value:
    start, step = _number(call.get(0, "start", Const(0))), _number(call.get(1, "step", Const(1)))
    return Range(start, None, step)


def _number(value: Value) -> int | None:
    return value.value if isinstance(value, Const) and isinstance(value.value, int) else None


@function("itertools.chain", "itertools.chain.from_iterable")
def chained(machine: Machine, state: State, call: Call) -> Value:
    is_plain = call.name == "itertools.chain"
    sources = call.args if is_plain else machine.iterate(state, call.get(0, "iterable"), call.node).values
    found = [machine.iterate(state, source, call.node) for source in sources]
    values = [value for each in found for value in each.values]
    return HeapRef(state.new(Sequence("iterator", values, not all(each.exact for each in found))))


@function("itertools.cycle")
def cycled(machine: Machine, state: State, call: Call) -> Value:
    """A few known items over and over; anything else may be long, and is iterated over as it is."""
    source = call.get(0, "iterable")
    found = machine.iterate(state, source, call.node) if _is_listed(state, source) else None
    if found is None or not found.exact:
        return source
    times = -(-machine.limits.max_unroll // max(len(found.values), 1))
    return _made(machine, state, found.values * times, bool(found.values))


@function("itertools.islice")
def sliced(machine: Machine, state: State, call: Call) -> Value:
    """Some of the items, where it is known which; of what may be long the first few, if no more are asked for."""
    source, bounds = call.get(0, "iterable"), _bounds(call.args[1:])
    if bounds is None:
        return source
    if isinstance(source, Range):
        return _part_of_range(source, bounds)
    is_short = bounds.stop is not None and bounds.stop <= machine.limits.unroll
    if not is_short and not _is_listed(state, source) or _is_iterator(state, source):
        return source
    found = machine.iterate(state, source, call.node, bounds.stop)
    is_whole = found.exact or bounds.stop is not None and bounds.stop <= len(found.values)
    return _made(machine, state, found.values[bounds], not is_whole)


def _bounds(given: list[Value]) -> slice | None:
    """``stop``, or ``start``, ``stop`` and perhaps ``step``; None where one is not known, or refused by Python."""
    numbers = [each.value for each in given if isinstance(each, Const) and isinstance(each.value, int | None)]
    if len(numbers) < len(given) or not 1 <= len(given) <= 3 or any(each is not None and each < 0 for each in numbers):
        return None
    found = slice(*numbers)
    return None if found.step == 0 else found


def _part_of_range(source: Range, bounds: slice) -> Range:
    """The numbers of a range from one place to another."""
    begin, step = bounds.start or 0, bounds.step or 1
    if source.start is None or source.step is None:
        return Range(None, None, None)
    size = length(source)
    ends = [end for end in (size, bounds.stop) if end is not None]
    stop = source.start + min(ends) * source.step if ends else None
    bound = source.bound if bounds.stop is None else None
    return Range(source.start + begin * source.step, stop, source.step * step, bound)


def _is_listed(state: State, value: Value) -> bool:
    """Whether all items of a value are known, and iteration leaves it as it is."""
    thing = state.heap[value.id] if isinstance(value, HeapRef) else value
    if isinstance(thing, (Sequence, Mapping)):
        return not thing.is_partial and thing.kind != "iterator"
    return isinstance(thing, (Tuple, Range))


def _is_iterator(state: State, value: Value) -> bool:
    """Whether it is a known iterator, of which some items may be gone."""
    thing = state.heap[value.id] if isinstance(value, HeapRef) else None
    return isinstance(thing, Sequence) and thing.kind == "iterator"


@function("itertools.product")
def combined(machine: Machine, state: State, call: Call) -> Value:
    """Each item of one iterable with each of the others, the last one fastest."""
    times = _number(call.kwargs.get("repeat", Const(1)))
    if times is None or not 0 <= times <= machine.limits.made_items:
        return machine.call_unknown(state, call.args, call.kwargs, call.node, External(call.name))
    found = [machine.iterate(state, source, call.node) for source in call.args]
    rows = itertools.product(*(each.values for each in found), repeat=times)
    values: list[Value] = [Tuple(row) for row in itertools.islice(rows, machine.limits.made_items + 1)]
    return _made(machine, state, values, not all(each.exact for each in found))
