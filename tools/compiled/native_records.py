"""What ``dataclasses`` knows of a record, for the records of a compiled package: they are native classes, of which
``records.py`` has written the methods out. This file is put into the compiled package.
"""

from __future__ import annotations

import dataclasses
from copy import copy
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, TypeVar

T = TypeVar("T")
# A type checker, to which records are plain classes here, must not ask for dataclasses.
KW_ONLY: Any = dataclasses.KW_ONLY
asdict: Any = dataclasses.asdict
field: Any = dataclasses.field
fields: Any = dataclasses.fields
dataclass: Any = dataclasses.dataclass


if TYPE_CHECKING:

    def replace(record: T, /, **changes: Any) -> T: ...
else:
    replace = dataclasses.replace


@dataclasses.dataclass
class _Pattern:
    """Has one field, of which the fields of records are copies."""

    field: object


_FIELD: Any = fields(_Pattern)[0]


def as_record(kind: Any, names: str, not_given: str, not_shown: str) -> None:
    """Let ``replace``, ``fields`` and ``repr`` take objects of ``kind`` for a dataclass with these fields: all, those
    that its constructor does not take, and those that ``repr`` leaves out.
    """
    known = {}
    for name in names.split():
        known[name] = one = copy(_FIELD)
        one.name, one.init, one.repr = name, name not in not_given.split(), name not in not_shown.split()
        assert one.default is dataclasses.MISSING
    kind.__dataclass_fields__ = known
    if "__repr__" not in vars(kind):
        kind.__repr__ = _repr
    if kind.__eq__ is not object.__eq__ and kind.__hash__ is object.__hash__:
        kind.__hash__ = None


@recursive_repr()
def _repr(record: Any) -> str:
    values = (f"{each.name}={getattr(record, each.name)!r}" for each in fields(record) if each.repr)
    return f"{type(record).__qualname__}({', '.join(values)})"
