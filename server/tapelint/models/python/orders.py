"""In which order the items of a list are after it was sorted, or something was put in at an unknown place.

sorted([3, 1, 2])                    [1, 2, 3]
sorted(losses, key=by_size)          the same losses; by what they are sorted is not asked
sorted([3, 1, 2], key=by_size)       three numbers, it is not known which of them stands where
"""

from __future__ import annotations

from collections.abc import Mapping

from ...domain.completion import ProgramRaised
from ...domain.values import FALSE, NONE, Const, Unknown, Value, unknown_number


def in_order(items: list[Value], is_partial: bool, options: Mapping[str, Value]) -> list[Value]:
    """The items as ``sorted`` orders them with ``key`` and ``reverse`` among ``options``: known where all of them are
    plain values. Raises TypeError in the program where some cannot be compared.
    """
    reverse = options.get("reverse", FALSE)
    known = [item.value for item in items if isinstance(item, Const)]
    is_known = len(known) == len(items) and not is_partial and isinstance(reverse, Const)
    if not is_known or options.get("key", NONE) != NONE:
        return in_unknown_order(items)
    try:
        places = sorted(range(len(known)), key=known.__getitem__, reverse=reverse == Const(True))
    except TypeError:
        raise ProgramRaised("TypeError") from None
    return [items[place] for place in places]


def in_unknown_order(items: list[Value]) -> list[Value]:
    """The items where it is not known which of them stands where: of plain values that differ none is known. Others,
    such as tensors, differ only in what is done with them, and stay.
    """
    plain = [item.value for item in items if isinstance(item, Const)]
    if len(plain) < len(items) or all(value == plain[0] for value in plain):
        return items
    if all(isinstance(value, (int, float)) for value in plain):
        return [unknown_number() for _ in items]
    return [Unknown("item", False) for _ in items]
