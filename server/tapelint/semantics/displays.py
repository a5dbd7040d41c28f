"""Displays, comprehensions, f-strings and the other expressions without semantics of their own."""

from __future__ import annotations

import ast

from ..bounds import BOUNDS
from ..domain.induction import derived, raw_value
from ..domain.opaque_values import is_data
from ..domain.state import State
from ..domain.values import Const, Frame, Generator, HeapRef, Mapping, SequenceKind, Tuple, Unknown, Value, entry_key
from ..engine.evaluation import Items
from ..engine.lifecycle import LoopLeft
from ..engine.machine import EXPRESSIONS, Machine
from ..engine.open_objects import made
from ..engine.paths.truth import tested_truth
from ..models.python.sets import collected
from ..source import cached_on_node, walk
from .assign import assign
from .iteration import freezes, items_of, shown, spread
from .refused.refusals import refuse_iteration

SOURCE = ".0"
"""The name under which the scope of a generator expression has its first iterable, as in CPython."""


def elements(machine: Machine, nodes: list[ast.expr], state: State) -> tuple[list[Value], bool]:
    """The values of a display, stars spread out, and whether there may be more."""
    values: list[Value] = []
    more = False
    for node in nodes:
        if isinstance(node, ast.Starred):
            given = machine.eval(node.value, state)
            refuse_iteration(state, given)
            items = spread(machine, state, given, node)
            values += items.values
            more = more or not items.exact
        else:
            values.append(machine.eval(node, state))
    return values, more


def tuple_display(machine: Machine, node: ast.Tuple, state: State, key: object) -> Value:
    is_spelled = not any(isinstance(each, ast.Starred) for each in node.elts)
    values = elements(machine, node.elts, state)[0]
    return Tuple(tuple(values), is_spelled=is_spelled) if _are_few(values) else Unknown()


def _are_few(values: list[Value]) -> bool:
    """Whether the values of a tuple, those of the tuples in it included, are few enough to be compared: ``s = (s, s)``
    doubles them each time.
    """
    waiting, count = [*values], 0
    while waiting and count <= BOUNDS.items:
        value = waiting.pop()
        count += 1
        if isinstance(value, Tuple):
            waiting += value.items
    return count <= BOUNDS.items


def list_display(machine: Machine, node: ast.List | ast.Set, state: State, key: object) -> Value:
    values, more = elements(machine, node.elts, state)
    place = state.new(collected(state, "list" if isinstance(node, ast.List) else "set", values, more))
    made(machine, state, place)
    return HeapRef(place)


def dict_display(machine: Machine, node: ast.Dict, state: State, key: object) -> Value:
    display = Mapping({})
    for name, value in zip(node.keys, node.values):
        item = machine.eval(value, state)
        if name is None:
            source = state.heap[item.id] if isinstance(item, HeapRef) else None
            if isinstance(source, Mapping):
                display.items.update(source.items)
                display.is_partial = display.is_partial or source.is_partial
            else:
                display.is_partial = True
                display.items[Unknown("key", False)] = Unknown("item", False if is_data(state, item) else None)
            continue
        key = entry_key(machine.eval(name, state))
        display.items[key] = item
        display.is_partial = display.is_partial or isinstance(key, Unknown)
    place = state.new(display)
    made(machine, state, place)
    return HeapRef(place)


def comprehend(
    machine: Machine,
    state: State,
    generators: list[ast.comprehension],
    results: list[ast.expr],
    iterations: int,
    parent: int,
    source: Value | None = None,
) -> Items:
    """Run a comprehension in a scope of its own. With several ``results`` (a dict's key and value) items are tuples.
    ``source`` is its first iterable, if that has been evaluated already.
    """
    outer = state.frame
    state.frame = scope = state.new(Frame({}, parent, state.get(parent, Frame).module))
    depth = len(state.iterations)
    found: list[Value] = []
    memo = machine.memo
    before = memo.base, memo.counts
    try:
        exact = _comprehend(machine, state, generators, results, iterations, found, depth, source)
    finally:
        memo.base, memo.counts = before
    state.frame = outer
    state.iterations = state.iterations[:depth]
    if not any(machine.query(_makes_scopes, part) for part in (*generators, *results)):
        state.heap.pop(scope, None)
    return Items(found, exact)


@cached_on_node
def _makes_scopes(node: ast.AST) -> bool:
    """Whether an expression makes functions or generators, which look names up in the scope around them."""
    return any(isinstance(part, (ast.Lambda, ast.GeneratorExp)) for part in walk(node))


def _comprehend(
    machine: Machine,
    state: State,
    generators: list[ast.comprehension],
    results: list[ast.expr],
    iterations: int,
    found: list[Value],
    depth: int,
    source: Value | None = None,
) -> bool:
    if not generators:
        machine.unit.completed.update(results)
        values = [machine.eval(result, state) for result in results]
        found.append(values[0] if len(values) == 1 else Tuple(tuple(values)))
        return True
    first, rest, limits = generators[0], generators[1:], machine.limits
    if source is None:
        source = machine.eval(first.iter, state)
        refuse_iteration(state, source)
    items = items_of(machine, state, source, first.iter, iterations)
    exact = items.exact
    rounds = (
        limits.frozen_items
        if len(items.values) > limits.comprehension_items and freezes(machine, *results)
        else limits.comprehension_items
    )
    run, base = machine.new_run(), machine.memo.base
    for number, item in enumerate(shown(machine, state, items.values, rounds), 1):
        machine.memo.base, machine.memo.counts = (base + number) * BOUNDS.occurrences, {}
        machine.begin_iteration(state, first, run, number, depth)
        assign(machine, state, first.target, item, first, None)
        verdicts = [tested_truth(machine, state, machine.eval(test, state)) for test in first.ifs]
        if False in verdicts:
            continue
        exact = exact and None not in verdicts
        exact = _comprehend(machine, state, rest, results, iterations, found, depth + 1) and exact
    if len(state.iterations) > depth:
        machine.lifecycle.loop_left.publish(machine, LoopLeft(state, run))
    return exact and len(items.values) <= rounds


def list_comprehension(machine: Machine, node: ast.ListComp | ast.SetComp, state: State, key: object) -> Value:
    items = comprehend(machine, state, node.generators, [node.elt], machine.limits.unroll, state.frame)
    kind: SequenceKind = "list" if isinstance(node, ast.ListComp) else "set"
    return HeapRef(state.new(collected(state, kind, items.values, not items.exact)))


def dict_comprehension(machine: Machine, node: ast.DictComp, state: State, key: object) -> Value:
    items = comprehend(machine, state, node.generators, [node.key, node.value], machine.limits.unroll, state.frame)
    made = Mapping({}, not items.exact)
    for pair in items.values:
        assert isinstance(pair, Tuple)
        label, value = pair.items
        key = entry_key(label)
        made.items[key] = value
        made.is_partial = made.is_partial or isinstance(key, Unknown)
    return HeapRef(state.new(made))


def generator_expression(machine: Machine, node: ast.GeneratorExp, state: State, key: object) -> Value:
    """A scope of its own, which has the first iterable: that is evaluated here, whenever it is iterated over."""
    source = machine.eval(node.generators[0].iter, state)
    refuse_iteration(state, source)
    scope = Frame({SOURCE: source}, state.frame, state.get(state.frame, Frame).module)
    return Generator(node, state.new(scope))


def formatted(machine: Machine, node: ast.JoinedStr, state: State, key: object) -> Value:
    """The text, if all that is put into it is known and put there plainly: ``f"fc{i}"``; else what is known of it."""
    parts: list[Value] = []
    is_plain = True
    for part in node.values:
        parts.append(machine.eval(part.value if isinstance(part, ast.FormattedValue) else part, state))
        is_plain &= not isinstance(part, ast.FormattedValue) or part.conversion == -1 and part.format_spec is None
    known = [part for part in parts if isinstance(part, Const) and isinstance(raw_value(part), (str, int))]
    if len(known) < len(parts):  # nothing was read of a number that counts iterations
        return Unknown("text", False, formula=("Text", *parts) if is_plain else None)
    if not is_plain or sum(len(part.value) for part in known if isinstance(part.value, str)) > BOUNDS.text:
        return Unknown("text", False)
    try:
        return derived(lambda *texts: "".join(map(str, texts)), *known)
    except ValueError:  # a number of more digits than Python writes
        return Unknown("text", False)


def walrus(machine: Machine, node: ast.NamedExpr, state: State, key: object) -> Value:
    value = machine.eval(node.value, state)
    assign(machine, state, node.target, value, node, node.value)
    return value


def starred(machine: Machine, node: ast.Starred | ast.Await, state: State, key: object) -> Value:
    return machine.eval(node.value, state)


EXPRESSIONS.update(
    {
        ast.Tuple: tuple_display,
        ast.List: list_display,
        ast.Set: list_display,
        ast.Dict: dict_display,
        ast.ListComp: list_comprehension,
        ast.SetComp: list_comprehension,
        ast.DictComp: dict_comprehension,
        ast.GeneratorExp: generator_expression,
        ast.JoinedStr: formatted,
        ast.NamedExpr: walrus,
        ast.Starred: starred,
        ast.Await: starred,
    }
)
