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
from dataclasses import dataclass
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
    make = dataclass(slots=True, eq=eq, unsafe_hash=eq and not FORBID, frozen=FORBID, kw_only=kw_only)
    return make if kind is None else make(kind)
