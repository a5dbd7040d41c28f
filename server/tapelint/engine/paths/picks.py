"""What is picked of several things by a key that is not known: a path goes on with each of a few.

    NETS = {"small": Small, "deep": Deep}
    net = NETS[options["net"]]()          one path with a `Small`, one with a `Deep`

Each path has chosen (``autograd.model.choices``): what is found on all of them needs no choice. The same look-up by the
same key gives the same thing on a path.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Sequence

from ...autograd.model.choices import Choice
from ...autograd.state import fresh_id
from ...bounds import BOUNDS
from ...domain.mro import is_module
from ...domain.opaque_values import item_at_unknown_place
from ...domain.state import State
from ...domain.values import (
    NONE,
    Class,
    Const,
    External,
    Function,
    HeapRef,
    Instance,
    Mapping,
    Partial,
    Unknown,
    Value,
    unknown_number,
)
from ...source import written
from ..machine import Machine
from ..observer import Picked
from .conditions import symbolic
from .parting import scope_of

SOME_NETWORK = "(some network)"
"""What makes an object of one of many classes of networks."""


def item_picked(machine: Machine, state: State, items: dict[str, Value], more: bool, node: ast.AST) -> Value:
    """The item of a container at an unknown place, where ``node`` looks it up. ``items`` has them by their names; there
    may be ``more``.
    """
    values = list(items.values())
    if _are_plain(values):
        return _plain_item(values)
    if more and all(value == NONE for value in values):
        return Unknown("item")  # of which None keeps the place
    kinds = {_kind(state, value) for value in values}
    if len(kinds) < 2:
        return item_at_unknown_place(state, values)
    found = picked(machine, state, items, node) if None not in kinds and not more else None
    if found is None and all(is_module(state, value) for value in values):
        found = Partial(External(SOME_NETWORK), (Const(written(node)),), ())
    return Unknown("item") if found is None else found


def code_picked(machine: Machine, state: State, thing: Mapping, node: ast.AST) -> Value | None:
    """What a registry of classes and functions has under an unknown key, which is taken for one that it has; None for
    any other dict.
    """
    values = thing.items.values()
    if not values or thing.is_partial or not all(_is_code(state, value) for value in values):
        return None
    return item_picked(machine, state, entries(thing), False, node)


def _is_code(state: State, value: Value) -> bool:
    return isinstance(value, Function) or isinstance(value, HeapRef) and isinstance(state.heap[value.id], Class)


def picked(machine: Machine, state: State, items: dict[str, Value], node: ast.AST) -> Value | None:
    """One of a few different things, each on a path of its own; None where there are too many."""
    candidates = {value: name for name, value in reversed(items.items())}  # the first name of each
    if not 0 < len(candidates) <= BOUNDS.picks or not isinstance(node, ast.expr):
        return None
    names = dict(reversed([(_called(state, value, name), value) for value, name in candidates.items()]))
    if len(names) < len(candidates):
        return None
    if len(names) == 1:
        return next(iter(names.values()))
    return machine.memoize(node, "pick", lambda key: _split(machine, state, names, node, key))


def _split(machine: Machine, state: State, names: dict[str, Value], node: ast.expr, key: object) -> Value:
    """Each candidate that an earlier pick by the same key leaves, on a path of its own; this path goes on with the
    first.
    """
    formula = symbolic(machine, node, state)
    truths = {name: state.path_condition.get(("picked", formula, name)) for name in names}
    left = [name for name in names if truths[name] is not False] or [*names]  # what it was picked of was others
    known = [name for name in left if truths[name]] or left[-1:] * (len(left) == 1)
    if known:
        return names[known[0]]
    paths, rest = list[State](), state
    for name, follower in zip(left, left[1:]):
        other = rest.fork()
        is_last = follower == left[-1]
        choice = Choice(
            ("picked", formula, name),
            node,
            fresh_id(),
            about=frozenset((("picked", formula),)),
            scope=scope_of(machine, state),
            picked=(name, follower) if is_last else (name,),
        )
        for path, taken in ((rest, True), (other, False)):
            path.path_condition[choice.formula] = taken
            path.guard = path.guard.choosing(choice, taken)
        paths.append(rest)
        rest = other
    paths.append(rest)
    if machine.observer is not None:
        machine.observer.decide(Picked(node, tuple(paths), tuple(left)))
    for path, name in list(zip(paths, left))[1:]:
        machine.memo.fork(path, key, names[name])
    return names[left[0]]


def _plain_item(values: Sequence[Value]) -> Value:
    """One of some numbers, or of other constants."""
    numbers = all(isinstance(each.value, (int, float)) for each in values if isinstance(each, Const))
    return values[0] if len(set(values)) == 1 else unknown_number() if numbers else Unknown("item", False)


def _are_plain(values: Sequence[Value]) -> bool:
    return bool(values) and all(isinstance(value, Const) and value.value is not None for value in values)


def _kind(state: State, value: Value) -> Hashable:
    """What tells things apart that do not stand for each other; None for what may be anything."""
    if isinstance(value, HeapRef):
        thing = state.heap[value.id]
        return (
            value if isinstance(thing, Class) else thing.kind if isinstance(thing, Instance) else type(thing).__name__
        )
    if isinstance(value, (Function, External)):
        return value
    return None if isinstance(value, Unknown) else type(value).__name__


def _called(state: State, value: Value, name: str) -> str:
    """What a message calls a candidate: a class or a function by its name."""
    thing = state.heap[value.id] if isinstance(value, HeapRef) else value
    if isinstance(thing, Class):
        return f"`{thing.name}`"
    if isinstance(thing, Function) and not isinstance(thing.node, ast.Lambda):
        return f"`{thing.node.name}`"
    return f"`{thing.name}`" if isinstance(thing, External) else name


def entries(thing: Mapping) -> dict[str, Value]:
    """The entries of a dict, by what a message calls them."""
    return {f"that of `{key!r}`": value for key, value in thing.items.items()}
