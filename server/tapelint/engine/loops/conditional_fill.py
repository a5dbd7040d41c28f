"""Containers that a loop fills, of which it is not known what they hold after it.

Lists that it fills on a condition, and that are empty where this has never held:

    for kind, layer in layers:
        x = layer(x)
        if kind == "head":
            outputs.append(x)        # one of them will be

A loop may have more iterations than are followed, and the condition may hold in any of them: what such a list holds is
not known then. That it holds nothing is what hardly any program means.

And all that a loop fills of which fewer iterations were followed than there are: there is more in them.
"""

from __future__ import annotations

import ast

from ...domain.state import State
from ...domain.values import Frame, HeapRef, Instance, Mapping, Sequence, Value
from ...source import cached_on_node, walk

FILLING = frozenset(("append", "extend", "add"))


def leave(state: State, loop: ast.AST) -> None:
    """A loop ends on this path."""
    for place in _filled(loop):
        value = _at(state, place)
        if not isinstance(value, HeapRef) or not isinstance(thing := state.heap.get(value.id), Sequence):
            continue
        if thing.kind == "list" and not thing.items and not thing.is_partial:
            state.edit(value.id, Sequence).is_partial = True


def cut(state: State, loop: ast.AST) -> None:
    """A loop ends on this path of which not all iterations were followed."""
    for place, by_default in _grown(loop):
        value = _at(state, place)
        thing = state.heap.get(value.id) if isinstance(value, HeapRef) else None
        if not isinstance(value, HeapRef) or not isinstance(thing, (Sequence, Mapping)) or thing.kind not in PLAIN:
            continue
        if not by_default or isinstance(thing, Mapping) and thing.default is not None:
            state.edit(value.id, type(thing)).is_partial = True


PLAIN = ("list", "set", "dict")


@cached_on_node
def _grown(loop: ast.AST) -> tuple[tuple[ast.expr, bool], ...]:
    """What the loop adds to: it calls a method for that, or assigns to an item; and whether only what has a default
    grows by it, as `counts` by ``counts[key].append(1)``.
    """
    found: dict[str, tuple[ast.expr, bool]] = {}
    for node in walk(loop):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in FILLING:
            found.setdefault(ast.dump(node.func.value), (node.func.value, False))
        elif isinstance(node, ast.Subscript):
            is_read = isinstance(node.ctx, ast.Load)
            found.setdefault(f"{is_read} {ast.dump(node.value)}", (node.value, is_read))
    return tuple(found.values())


@cached_on_node
def _filled(loop: ast.AST) -> tuple[ast.expr, ...]:
    """What the loop appends to, on a condition."""
    tests = [node for node in walk(loop) if isinstance(node, (ast.If, ast.Match))]
    found: dict[str, ast.expr] = {}
    for test in tests:
        for node in walk(test):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in FILLING:
                found.setdefault(ast.dump(node.func.value), node.func.value)
    return tuple(found.values())


def _at(state: State, place: ast.expr) -> Value | None:
    """What a name means, or an attribute of one."""
    if isinstance(place, ast.Name):
        key = state.frame
        while key:
            frame = state.get(key, Frame)
            if place.id in frame.variables:
                return frame.variables[place.id]
            key = frame.parent
    elif isinstance(place, ast.Attribute):
        owner = _at(state, place.value)
        thing = state.heap.get(owner.id) if isinstance(owner, HeapRef) else None
        return thing.attributes.get(place.attr) if isinstance(thing, Instance) else None
    return None
