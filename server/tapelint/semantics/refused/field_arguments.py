"""Arguments that a dataclass or a named tuple does not take: its fields say what Python writes into its constructor.

@dataclass
class Options:
    rate: float
    steps: int = 1

Options()              `rate` is missing
Options(0.1, 2, 3)     there is no third field

Only classes all of whose bases are such classes are judged, with no field that says itself how it is given.
"""

from __future__ import annotations

import ast

from ...domain.dataclass_fields import fields
from ...domain.mro import mro_of
from ...domain.state import State
from ...domain.values import Class, External, Frame, HeapRef, Value
from ...source import cached_on_node, walk
from .spelled import Given

KEEPING = frozenset("frozen eq order repr slots unsafe_hash".split())
"""Options of ``dataclass`` that leave the constructor as it is."""
MARKS = frozenset("ClassVar InitVar KW_ONLY".split())
"""Annotations of what is no field, or none that is given by its place."""
PLAIN_BASES = frozenset(map(External, ("builtins.object", "abc.ABC", "typing.Generic", "typing.NamedTuple")))


def refused_by_fields(state: State, kind: HeapRef, given: Given) -> str | None:
    """What is wrong with the arguments for a dataclass, as Python says it; None if they fit, or that is not known."""
    order = mro_of(state, kind)
    for base in order:
        if isinstance(base, HeapRef):
            if not _is_plain(state, state.get(base.id, Class)):
                return None
        elif base not in PLAIN_BASES:
            return None
    known = fields(state, order)
    names = [*known]
    if given.count > len(names):
        return f"takes {len(names)} positional arguments but {given.count} were given"
    if unexpected := min(given.names.difference(known), default=None):
        return f"got an unexpected keyword argument '{unexpected}'"
    if twice := next((name for name in names[: given.count] if name in given.names), None):
        return f"got multiple values for argument '{twice}'"
    needed = (name for name in names[given.count :] if known[name][0] is None and name not in given.names)
    missing = next(needed, None)
    return None if missing is None else f"missing a required argument: '{missing}'"


def _is_plain(state: State, kind: Class) -> bool:
    """Whether Python writes the constructor of a class from its fields alone."""
    if not kind.dataclass or kind.node.keywords or not {"__init__", "__new__"}.isdisjoint(kind.attributes):
        return False
    if External("typing.NamedTuple") not in kind.bases:
        decorator = kind.node.decorator_list[0] if len(kind.node.decorator_list) == 1 else None
        if isinstance(decorator, ast.Call):
            if decorator.args or any(word.arg not in KEEPING for word in decorator.keywords):
                return False
            decorator = decorator.func
        if decorator is None or _name_of(state, kind.scope, decorator) != External("dataclasses.dataclass"):
            return False
    elif kind.node.decorator_list:
        return False
    return _has_plain_fields(kind.node)


def _name_of(state: State, scope: int, node: ast.expr) -> Value | None:
    """What a decorator is, by the names of the module."""
    if isinstance(node, ast.Attribute):
        owner = _name_of(state, scope, node.value)
        return External(f"{owner.name}.{node.attr}") if isinstance(owner, External) else None
    module = state.get(scope, Frame).module
    return state.get(module, Frame).variables.get(node.id) if isinstance(node, ast.Name) else None


@cached_on_node
def _has_plain_fields(definition: ast.AST) -> bool:
    """Whether the body of a class says no more of its fields than their names, types and defaults."""
    assert isinstance(definition, ast.ClassDef), "only classes have fields"
    return all(_is_plain_statement(statement) for statement in definition.body)


def _is_plain_statement(statement: ast.stmt) -> bool:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Expr, ast.Pass)):
        return True
    if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
        return False
    nodes = [*walk(statement.annotation)]
    if any(isinstance(node, ast.Constant) and isinstance(node.value, str) for node in nodes):
        return False
    names = {getattr(node, "id", None) or getattr(node, "attr", None) for node in nodes}
    value = statement.value
    return MARKS.isdisjoint(names) and not (
        isinstance(value, ast.Call) and any(word.arg in ("init", "kw_only", None) for word in value.keywords)
    )
