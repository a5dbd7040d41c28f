"""Methods of text that is known: what they return is known, too.

for name, p in model.named_parameters():
    (plain if name.endswith("bias") else decayed).append(p)     # of each parameter it is known where it goes
"""

from __future__ import annotations

from typing import Any

from ...bounds import BOUNDS
from ...domain.state import State
from ...domain.values import Const, HeapRef, Sequence, Tuple, Unknown, Value
from ..torch.known_shape import items_in
from ..torch.registry import Call

LARGE = frozenset(("encode", "expandtabs", "format", "format_map", "maketrans", "translate"))
"""Methods of text that give no text, or may give one that is much longer."""
PURE = frozenset(name for name in dir(str) if not name.startswith("_")) - LARGE


def method_of_text(state: State, text: str, call: Call) -> Value | None:
    """What a method of ``text`` returns; None where that depends on more than what is known."""
    args = [_plain(state, value) for value in call.args]
    if call.name not in PURE or call.kwargs or None in args or len(text) > BOUNDS.text:
        return None
    if any(isinstance(given, int) and abs(given) > BOUNDS.text for given in args):
        return None
    try:
        found = getattr(text, call.name)(*args)
    except (TypeError, ValueError):
        return None
    return _value(state, found)


def _plain(state: State, value: Value) -> Any:
    """Text, a number, or several of them; None where it is anything else."""
    if isinstance(value, Const):
        return value.value if isinstance(value.value, (str, int)) else None
    items = items_in(state, value)
    if items is None or not all(isinstance(item, Const) for item in items):
        return None
    return tuple(item.value for item in items if isinstance(item, Const))


def _value(state: State, found: Any) -> Value:
    if isinstance(found, list):
        return HeapRef(state.new(Sequence("list", [Const(part) for part in found])))
    if isinstance(found, tuple):
        return Tuple(tuple(Const(part) for part in found))
    return Unknown("text", False) if isinstance(found, str) and len(found) > BOUNDS.text else Const(found)
