"""Interpolations of OmegaConf: a value that is that of another key.

model: {width: 8, dropout: ${train.dropout}}      the same value as ``train.dropout``
name: net-${model.width}                          a text with the value in it
out: ${.name}                                     a key beside this one

They are resolved when all files of a configuration are put together. What a resolver gives (``${oc.env:HOME}``) is not
known.
"""

from __future__ import annotations

import re

from ....domain.state import State
from ....domain.values import Const, HeapRef, Mapping, Sequence, Unknown, Value, something
from ....frozen import frozen
from .references import substituted

REFERENCE = re.compile(r"\$\{([^${}]*)\}")
MAX_STEPS = 20
"""Interpolations that lead to others."""


@frozen
class Interpolation:
    """The formula of a value that is not resolved yet."""

    text: str


def interpolation(text: str) -> Value:
    return Unknown(text, False, formula=Interpolation(text))


def interpolated(state: State, root: Value) -> Value:
    """A configuration whose values are all resolved."""
    _resolve(state, root, [root])
    return root


def _resolve(state: State, root: Value, chain: list[Value]) -> None:
    """Resolve what is in the last of ``chain``, the containers from the root on."""
    if not isinstance(own := chain[-1], HeapRef):
        return
    thing = state.heap[own.id]
    if isinstance(thing, Mapping):
        for key, item in [*thing.items.items()]:
            _resolve(state, root, [*chain, item])
            if _text(item) is not None:
                state.edit(own.id, Mapping).items[key] = _value(state, root, chain, item, MAX_STEPS)
    elif isinstance(thing, Sequence):
        for index, item in enumerate([*thing.items]):
            _resolve(state, root, [*chain, item])
            if _text(item) is not None:
                state.edit(own.id, Sequence).items[index] = _value(state, root, chain, item, MAX_STEPS)


def _text(value: Value) -> str | None:
    if isinstance(value, Unknown) and isinstance(value.formula, Interpolation):
        return value.formula.text
    return None


def _value(state: State, root: Value, chain: list[Value], value: Value, steps: int) -> Value:
    """What a value is that stands in the last of ``chain``."""
    text = _text(value)
    if text is None or not steps:
        return value if text is None else something("config", False)
    names = REFERENCE.findall(text)
    values = [_referred(state, root, chain, name.strip(), steps - 1) for name in names]
    if len(names) == 1 and REFERENCE.fullmatch(text):
        return values[0]
    whole = substituted(REFERENCE, text, values) if names else None
    return something(text, False) if whole is None or "${" in whole else Const(whole)


def _referred(state: State, root: Value, chain: list[Value], name: str, steps: int) -> Value:
    """The value of a key, which is relative if it begins with dots."""
    dots = len(name) - len(name.lstrip("."))
    if ":" in name or dots > len(chain):
        return something(name, False)
    around = chain[: len(chain) + 1 - dots] if dots else [root]
    for key in filter(None, name.lstrip(".").replace("[", ".").replace("]", "").split(".")):
        own, found = around[-1], None
        thing = state.heap[own.id] if isinstance(own, HeapRef) else None
        if isinstance(thing, Mapping):
            found = thing.items.get(key)
        elif isinstance(thing, Sequence) and key.isdigit() and int(key) < len(thing.items):
            found = thing.items[int(key)]
        if found is None:
            return something(name, False)
        around = [*around, _value(state, root, around, found, steps)]
    return around[-1]
