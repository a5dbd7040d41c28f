"""Fixtures that a function asks for while it runs: ``request.getfixturevalue("net")``.

They are made before it runs, as if they were parameters, where the name is a text, a value that ``parametrize`` gives
it, or ``request.param``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...domain.values import Const, Function, Value
from ...source import walk


def requested_names(function: Function, values: dict[str, Value], param: Value | None = None) -> list[str]:
    """The names of the fixtures that a function asks for by name, which runs with these ``values`` of its parameters
    and this ``request.param``.
    """
    found: list[str] = []
    for written in _asked(function.node):
        value: object = None
        match written:
            case ast.Constant():
                value = written.value
            case ast.Name():
                value = _plain(values.get(written.id))
            case ast.Attribute(ast.Name("request"), "param"):
                value = _plain(param)
        if isinstance(value, str) and value not in found:
            found.append(value)
    return found


def _plain(value: Value | None) -> object:
    return value.value if isinstance(value, Const) else None


def _asked(function: ast.AST) -> Iterator[ast.expr]:
    """The arguments of the calls in the text of a function."""
    for node in walk(function):
        match node:
            case ast.Call(ast.Attribute(ast.Name("request"), "getfixturevalue"), [written]):
                yield written
            case ast.Call(ast.Attribute(ast.Name("request"), "getfixturevalue"), [], [ast.keyword("argname", written)]):
                yield written
