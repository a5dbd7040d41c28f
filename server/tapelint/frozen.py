"""Immutable records: small dataclasses of which there are hundreds, and of which an analysis makes tens of thousands.

    @frozen
    class Leaf:
        tensor: int

``dataclasses`` writes each method of a frozen dataclass as text and compiles it: half a millisecond a class, a third of
what it takes to check a small file. And its objects set each of their fields through ``object.__setattr__``, which
takes three times as long as an assignment does: a tenth of an analysis. So only ``__init__`` is compiled here, and that
for the first object, since of most records there is none while a small file is checked; the other methods are closures
over the fields. What forbids to change a record is a type checker and, where tapelint is tested
(``TAPELINT_FROZEN``), Python.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from functools import partial
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: object) -> Any:
        return lambda function: function


FORBID = bool(os.environ.get("TAPELINT_FROZEN"))


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(kind: Any = None, *, eq: bool = True, kw_only: bool = False) -> Any:
    """A dataclass with slots whose objects are not changed, are equal if their fields are, and have a hash.
    Without ``eq`` identity is equality.
    """
    if kind is None:
        return partial(frozen, eq=eq, kw_only=kw_only)
    own = vars(kind)
    made: Any = dataclass(init=False, slots=True, eq=False, frozen=FORBID, kw_only=kw_only, repr=False)(kind)
    made.__init__ = _first_init(made)
    if eq:
        compared = [each.name for each in fields(made) if each.compare]
        if "__eq__" not in own:
            made.__eq__ = _equality(_values(compared))
        if "__hash__" not in own:
            made.__hash__ = _hash(compared)
    if "__repr__" not in own:
        made.__repr__ = _repr
    return made


def _first_init(made: Any) -> Callable[..., None]:
    """An ``__init__`` that puts a compiled one in its place."""

    def __init__(self: Any, *values: Any, **named: Any) -> None:
        made.__init__ = _init(made)
        made.__init__(self, *values, **named)

    return __init__


def _init(made: Any) -> Callable[..., None]:
    """The ``__init__`` that ``dataclasses`` would write."""
    scope: dict[str, Any] = {"_missing": MISSING, "_set": object.__setattr__}
    positional, keywords, body = ["self"], ["*"], []
    for number, each in enumerate(fields(made)):
        name, usual, default = each.name, f"_{number}", ""
        value = name
        if each.default_factory is not MISSING:
            scope[usual], default = each.default_factory, "=_missing"
            value = f"{usual}() if {name} is _missing else {name}" if each.init else f"{usual}()"
        elif each.default is not MISSING:
            scope[usual], default = each.default, f"={usual}"
            value = name if each.init else usual
        if each.init:
            (keywords if each.kw_only else positional).append(name + default)
        if each.init or default:
            body.append(f"_set(self, {name!r}, {value})" if FORBID else f"self.{name} = {value}")
    if hasattr(made, "__post_init__"):
        body.append("self.__post_init__()")
    head = ", ".join(positional + (keywords if keywords[1:] else []))
    exec(f"def __init__({head}):\n " + "\n ".join(body or ["pass"]), scope)  # as dataclasses does, of our own names
    made_init: Callable[..., None] = scope["__init__"]
    return made_init


def _values(names: list[str]) -> Callable[[Any], tuple[object, ...]]:
    """What reads the fields of these names, as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    if not names:
        return lambda record: ()
    get = attrgetter(*names)
    return lambda record: (get(record),)


def _equality(values: Callable[[Any], tuple[object, ...]]) -> Callable[[Any, Any], bool]:
    def __eq__(self: Any, other: Any) -> bool:
        if self is other:
            return True
        if other.__class__ is not self.__class__:
            return NotImplemented
        return values(self) == values(other)

    return __eq__


def _hash(names: list[str]) -> Callable[[Any], int]:
    if len(names) == 1:  # one call less, where most are: constants, names of libraries, objects
        get = attrgetter(*names)
        return lambda self: hash((get(self),))
    values = _values(names)
    return lambda self: hash(values(self))


@recursive_repr()
def _repr(record: Any) -> str:
    """What a dataclass says of itself."""
    values = (f"{each.name}={getattr(record, each.name)!r}" for each in fields(record) if each.repr)
    return f"{type(record).__qualname__}({', '.join(values)})"
