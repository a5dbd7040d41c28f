"""What comes out of an iterable, as far as it is known.

for x, y in loader        three batches of data, and there may be more
for i in range(3)         0, 1, 2, exactly
for i in range(1000)      0, 1, and then some number
for row in tensor         views of the tensor (``unbind``)
"""

from __future__ import annotations

import ast
from dataclasses import replace

from ..bounds import BOUNDS
from ..domain.completion import IteratorExhausted, ProgramRaised
from ..domain.induction import InductionValue
from ..domain.mro import mro_of, own_method
from ..domain.opaque_values import assumption_of, part_of
from ..domain.state import State
from ..domain.values import (
    BuiltinMethod,
    Const,
    Due,
    External,
    Generator,
    HeapRef,
    Instance,
    Mapping,
    Origin,
    Partial,
    Range,
    Sequence,
    Spread,
    TensorRef,
    Tuple,
    Unknown,
    Value,
    Zip,
    of_key,
    unknown_number,
)
from ..engine.evaluation import Items
from ..engine.loops.lengths import before
from ..engine.machine import Machine
from ..engine.paths.truth import length
from ..models.torch import dispatch
from ..models.torch.autograd.grad_access import facts, reach
from ..source import Definition, cached_on_node, walk


def started(machine: Machine, state: State, value: Value, node: ast.AST) -> Value:
    """What ``iter(value)`` gives, if code of the program says so: an object with ``__next__``, a generator, a list."""
    if isinstance(value, Zip):
        return Zip(tuple(started(machine, state, part, node) for part in value.parts))
    if isinstance(value, HeapRef) and isinstance(state.heap[value.id], Instance):
        made = machine.call_dunder(state, value, "__iter__", [], node)
        return value if made is None else made
    return value


def items_of(machine: Machine, state: State, value: Value, node: ast.AST, iterations: int | None = None) -> Items:
    """Up to ``iterations`` items of ``value`` where there may be many; all of them where they are few and known.
    Objects of the program are asked for theirs.
    """
    most = machine.limits.unroll if iterations is None else iterations
    found = items_due(machine, state, started(machine, state, value, node), node, most)
    if len(found.values) > BOUNDS.items:
        found = Items(found.values[: BOUNDS.items], False)
    for number, item in enumerate(found.values):
        try:
            found.values[number] = come_due(machine, state, item, node)
        except IteratorExhausted:
            return Items(found.values[:number], True)
    return found


def spread(machine: Machine, state: State, value: Value, node: ast.AST, iterations: int | None = None) -> Items:
    """The items of ``*value``."""
    found = items_of(machine, state, value, node, iterations)
    if not found.exact:
        found.values[:] = [_spread(each) for each in found.values]
    return found


def _spread(item: Value) -> Value:
    if not isinstance(item, Unknown):
        return item
    return Spread(item.note, item.requires_grad, item.tensor_id, item.formula, item.origin)


def come_due(machine: Machine, state: State, item: Value, node: ast.AST, everywhere: bool = False) -> Value:
    """An item whose iteration begins: what is due is asked for, on every path or on one of them. Raises Exhausted where
    the program says that there is none.
    """
    if isinstance(item, Tuple) and any(isinstance(part, (Due, Tuple)) for part in item.items):
        return Tuple(tuple(come_due(machine, state, part, node, everywhere) for part in item.items), item.names)
    if not isinstance(item, Due):
        return item
    machine.fuel_used += 1
    name = "__next__" if item.index is None else "__getitem__"
    given: list[Value] = [] if item.index is None else [item.index]
    own = own_method(state, item.receiver, name)
    if own is None:
        return Unknown("item")
    try:
        return machine.memoize(
            node, name, lambda key: machine.call(state, own, given, {}, node, key if everywhere else None)
        )
    except ProgramRaised as error:
        if "StopIteration" in error.kinds or "IndexError" in error.kinds and item.index is not None:
            raise IteratorExhausted(error.name, is_meant=True) from None
        raise


def items_due(machine: Machine, state: State, value: Value, node: ast.AST, iterations: int) -> Items:
    """The items of what iteration has ``started`` on; those of an object of the program are not asked for yet."""
    if isinstance(value, Tuple):
        return Items(list(value.items), True)
    if isinstance(value, Range):
        return _range(machine, value, iterations)
    if isinstance(value, Zip):
        return _zipped(machine, state, value, node, iterations)
    if isinstance(value, TensorRef):
        return _tensor(machine, state, value, node, iterations)
    if isinstance(value, Const) and isinstance(value.value, (str, bytes)):
        most = machine.limits.max_unroll
        return Items([Const(c) for c in value.value[:most]], len(value.value) <= most)
    if isinstance(value, Generator):
        return machine.collect(state, value, iterations)
    if isinstance(value, HeapRef):
        found = _object_items(machine, state, value, iterations)
        if found is not None:
            return found
    return _unknown_items(value, iterations)


def most_items(state: State, value: Value) -> int | None:
    """How many items there are at most in what iteration has ``started`` on; None of what is not known, and of the rows
    of a tensor.
    """
    match value:
        case Tuple():
            return len(value.items)
        case Range():
            return length(value)
        case Zip():
            return min((n for part in value.parts if (n := most_items(state, part)) is not None), default=None)
        case HeapRef():
            thing = state.heap[value.id]
            return len(thing.items) if isinstance(thing, (Sequence, Mapping)) and not thing.is_partial else None
        case _:
            return None


def _zipped(machine: Machine, state: State, value: Zip, node: ast.AST, iterations: int) -> Items:
    """The items of several iterables side by side, as far as the shortest goes."""
    parts = [items_due(machine, state, part, node, iterations) for part in value.parts]
    ends = [len(part.values) for part in parts if part.exact]
    if ends and any(len(part.values) < min(ends) for part in parts):  # where one ends the others go as far
        parts = [
            part if part.exact or isinstance(source, Generator) else items_due(machine, state, source, node, min(ends))
            for source, part in zip(value.parts, parts)
        ]
    count = min((len(p.values) for p in parts), default=0)
    exact = any(p.exact and len(p.values) == count for p in parts)
    return Items([Tuple(tuple(p.values[i] for p in parts)) for i in range(count)], exact)


def _object_items(machine: Machine, state: State, value: HeapRef, iterations: int) -> Items | None:
    """The items of a list or a dict, and of an object whose class says how it is iterated over; None for any other."""
    thing = state.heap[value.id]
    machine.observations.add(value.id)
    if isinstance(thing, Sequence):
        return _known(thing.items, thing.is_partial, iterations)
    if isinstance(thing, Mapping):
        return _known([of_key(k) for k in thing.items], thing.is_partial, iterations)
    if not isinstance(thing, Instance):
        return None
    if own_method(state, value, "__next__"):
        return Items([Due(value)] * iterations, False)
    if External("typing.NamedTuple") in mro_of(state, thing.kind):
        return Items(list(thing.attributes.values()), True)
    if own_method(state, value, "__getitem__") and not own_method(state, value, "__iter__"):
        return Items([Due(value, InductionValue(index, machine.observations)) for index in range(iterations)], False)
    return None


def _unknown_items(value: Value, iterations: int) -> Items:
    """Items of an unknown value: a loader yields data; the result of an unknown call may hold anything."""
    if isinstance(value, Unknown) and value.origin is Origin.NUMBER:
        return Items([unknown_number() for _ in range(iterations)], False)  # the sizes of a tensor
    data = isinstance(value, Unknown) and (value.requires_grad is False or value.origin is Origin.LOADER)
    grad, whole = False if data else None, getattr(value, "formula", None) or value
    return Items(
        [Unknown(requires_grad=grad, formula=("[]", whole, Const(i)), origin=Origin.BATCH) for i in range(iterations)],
        False,
    )


def freezes(machine: Machine, *code: ast.AST) -> bool:
    """Whether code says what requires grad, itself or in a function that it calls, by its name."""
    called = frozenset[str]().union(*(facts(node)[2] for node in code))
    by_calls = (not called.isdisjoint(machine.query(_freezing, tree)) for tree in machine.trees)
    return any(map(_says_what_requires_grad, code)) or any(by_calls)


@cached_on_node
def _freezing(tree: ast.AST) -> frozenset[str]:
    """The functions of a file that say what requires grad."""
    return frozenset(
        each.name for each in walk(tree) if isinstance(each, Definition) and _says_what_requires_grad(each)
    )


@cached_on_node
def _says_what_requires_grad(code: ast.AST) -> bool:
    names = (getattr(node, "attr", node.value if isinstance(node, ast.Constant) else "") for node in walk(code))
    return any(name in ("requires_grad", "requires_grad_") for name in names)


def shown(machine: Machine, state: State, items: list[Value], first: int) -> list[Value]:
    """The items that a loop is run for: the first, and of the others the program's own objects, each with a state of
    its own (``for layer in net.modules(): layer.reset()``). Of plain values that are left, one that is not known stands
    for all.
    """
    if len(items) <= first:
        return items
    own = [item for item in items[first:] if _is_own(state, item)][: machine.limits.own_items]
    return [*items[:first], *(own or [_one_of(items[first:])])]


def _one_of(items: list[Value]) -> Value:
    """One of several items, it is not known which: of tuples (a name and its layer) part by part."""
    rows = [item.items for item in items if isinstance(item, Tuple)]
    if len(rows) == len(items) and len({len(row) for row in rows}) == 1:
        return Tuple(tuple(_one_of(list(column)) for column in zip(*rows)))
    plain = [item.value for item in items if isinstance(item, Const)]
    if len(plain) < len(items) or plain.count(plain[0]) == len(plain):
        return items[-1]
    is_number = {type(value) for value in plain} <= {int, float}
    return unknown_number() if is_number else Unknown("item", False, origin=Origin.ITEM)


def _is_own(state: State, item: Value) -> bool:
    if isinstance(item, Partial):
        return any(_is_own(state, given) for given in item.args)
    if isinstance(item, Tuple):
        return any(_is_own(state, part) for part in item.items)
    thing = state.heap[item.id] if isinstance(item, HeapRef) else None
    return isinstance(thing, Instance) and isinstance(thing.kind, HeapRef)


def _known(items: list[Value], more: bool, iterations: int) -> Items:
    if not more:
        return Items(list(items), True)
    filled = list(items)
    while filled and len(filled) < iterations:
        filled.append(items[-1])
    return Items(filled or [Unknown("item") for _ in range(iterations)], False)


def _range(machine: Machine, value: Range, iterations: int) -> Items:
    size = length(value)
    # One that is not longer than a loop over an unknown range and its end is executed exactly.
    if size is not None and size <= max(iterations, machine.limits.unroll + 1):
        return Items([Const(i) for i in range(value.start, value.stop, value.step)], True)  # type: ignore[arg-type]
    begin, step = value.start, value.step
    if begin is None or not step:
        return Items([unknown_number() for _ in range(iterations)], False)
    known: list[Value] = [InductionValue(begin + i * step, machine.observations) for i in range(iterations - 1)]
    last = unknown_number()
    if value.bound is not None:
        last = replace(last, formula=before(value.bound))
    elif step > 0:
        last = replace(last, formula=("AtLeast", last, Const(begin + (iterations - 1) * step)))
    return Items([*known, last], False)


def _tensor(machine: Machine, state: State, value: TensorRef, node: ast.AST, iterations: int) -> Items:
    if assumption_of(state, value.id):
        return Items([part_of(machine.facts, state, value.id, node) for _ in range(iterations)], False)
    views = dispatch.run(machine, state, "unbind", [value], {}, node)
    if isinstance(views, Tuple):
        return Items([*views.items, *views.items[-1:] * (iterations - len(views.items))], False)
    return Items([value] * iterations, False)


def unpack(machine: Machine, state: State, value: Value, count: int | None, node: ast.AST) -> list[Value]:
    """Exactly ``count`` items for an unpacking assignment (as many as are known for None)."""
    if isinstance(value, TensorRef) and count is not None:
        items = items_of(machine, state, value, node, count).values
    elif isinstance(value, Unknown) and count is not None:
        whole = value.formula or value
        parts = [value.another(("[]", whole, Const(i))) for i in range(count)]
        return _alike(machine, state, value, parts)
    elif isinstance(value, BuiltinMethod) and count is not None:
        return _alike(machine, state, value, [Unknown(origin=Origin.BATCH) for _ in range(count)])
    else:
        items = items_of(machine, state, value, node, max(count or 0, machine.limits.unroll)).values
    if count is None:
        return items
    while len(items) < count:
        items.append(Unknown("item") if not items or not isinstance(items[-1], Unknown) else items[-1].another())
    return items[:count]


def _alike(machine: Machine, state: State, whole: Unknown | BuiltinMethod, items: list[Unknown]) -> list[Value]:
    """Items of what is unknown: they can reach what it reaches, as the optimizers of ``a, b = self.optimizers``."""
    held = frozenset(reach(machine, state, [whole]))
    if held:
        machine.facts.objects.holders.update((item.tensor_id, held) for item in items)
    return list(items)
