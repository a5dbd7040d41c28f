"""Immutable records: small dataclasses of which an analysis makes tens of thousands.

    @frozen
    class Leaf:
        tensor: int

A frozen dataclass sets each of its fields through ``object.__setattr__``, which takes three times as long as an
assignment does: a tenth of an analysis. So what forbids to change a record is a type checker and, where tapelint is
tested (``TAPELINT_FROZEN``), Python.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from functools import partial
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: object) -> Any:
        return lambda function: function


FORBID = bool(os.environ.get("TAPELINT_FROZEN"))


@dataclass_transform(frozen_default=True)
def frozen(kind: Any = None, *, eq: bool = True, kw_only: bool = False) -> Any:
    """A dataclass with slots whose objects are not changed; without ``eq`` identity is equality, and the class is made
    in half the time.
    """
    if kind is None:
        return partial(frozen, eq=eq, kw_only=kw_only)
    has_own = "__repr__" in vars(kind)
    made: Any = dataclass(slots=True, eq=eq, unsafe_hash=eq and not FORBID, frozen=FORBID, kw_only=kw_only, repr=False)(
        kind
    )
    if not has_own:
        made.__repr__ = _repr
    return made


@recursive_repr()
def _repr(record: Any) -> str:
    """What a dataclass says of itself. Few are asked, and to compile a function for each takes time at the start."""
    values = (f"{each.name}={getattr(record, each.name)!r}" for each in fields(record) if each.repr)
    return f"{type(record).__qualname__}({', '.join(values)})"
