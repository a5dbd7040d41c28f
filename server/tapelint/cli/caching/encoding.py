"""Dataclasses to JSON and back. What comes from a file is data that anyone may have written: it is checked against the
types of the fields, and nothing in it is executed.

>>> plain(Span(1, 5, 1, 9))
[1, 5, 1, 9]
>>> restored(Span, [1, 5, 1, 9])
1:5-1:9
"""

from __future__ import annotations

import types
import typing
from collections import Counter
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Literal, Union

from ...source import Span as Span

Reader = Callable[[Any], Any]


def plain(value: Any) -> Any:
    """A value as JSON has it: a dataclass is the list of its fields."""
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, (str, int, float)) or value is None:
        return value
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, frozenset):
        return sorted(plain(each) for each in value)
    if isinstance(value, (tuple, list)):
        return [plain(each) for each in value]
    return [plain(getattr(value, field.name)) for field in fields(value)]


def restored(kind: Any, value: Any) -> Any:
    """The value of a type that JSON holds; raises ValueError where it cannot be one."""
    return _reader(kind)(value)


def digest(text: str) -> str:
    """What stands for a text: no other text has the same."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


@lru_cache(maxsize=128)
def _reader(kind: Any) -> Reader:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return lambda value: value
    if origin is Literal:
        return _checking(lambda value: value in arguments)
    if origin in (Union, types.UnionType):
        some = [_reader(each) for each in arguments if each is not types.NoneType]
        return _one_of(some, is_optional=len(some) < len(arguments))
    if origin is tuple and arguments[1:] != (...,):
        return _record(tuple, [_reader(each) for each in arguments])
    if origin in (tuple, list, frozenset):
        return _many(origin, _reader(arguments[0]))
    if origin in (dict, Counter):
        return _table(origin, _reader(arguments[-1] if origin is dict else int))
    if is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        made: Any = kind
        return _record(lambda values: made(*values), [_reader(hints[field.name]) for field in fields(kind)])
    if issubclass(kind, Enum):
        return lambda value: kind[_checked(value, isinstance(value, str) and value in kind.__members__)]
    return _checking(lambda value: type(value) is kind)


def _checked(value: Any, is_right: bool) -> Any:
    if not is_right:
        raise ValueError(value)
    return value


def _checking(is_right: Callable[[Any], bool]) -> Reader:
    return lambda value: _checked(value, is_right(value))


def _record(made: Callable[[Any], Any], readers: list[Reader]) -> Reader:
    def read(value: Any) -> Any:
        _checked(value, isinstance(value, list) and len(value) == len(readers))
        return made([read(each) for read, each in zip(readers, value, strict=True)])

    return read


def _many(made: Callable[[Any], Any], read: Reader) -> Reader:
    return lambda value: made([read(each) for each in _checked(value, isinstance(value, list))])


def _table(made: Callable[[Any], Any], read: Reader) -> Reader:
    return lambda value: made({key: read(each) for key, each in _checked(value, isinstance(value, dict)).items()})


def _one_of(readers: list[Reader], is_optional: bool) -> Reader:
    def read(value: Any) -> Any:
        if value is None and is_optional:
            return None
        for each in readers:
            try:
                return each(value)
            except ValueError:
                pass
        raise ValueError(value)

    return read
