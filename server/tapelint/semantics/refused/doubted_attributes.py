"""Attributes that only some of the joined paths have set, read where a handler waits for the AttributeError.

try:
    self.cache          which path this is decides: both are followed, as after `hasattr(self, "cache")`
except AttributeError:
    ...
else:
    ...
"""

from __future__ import annotations

import ast

from ...domain import facets
from ...domain.completion import ProgramRaised
from ...domain.mro import lookup_in_mro
from ...domain.state import State
from ...domain.values import HeapRef, Instance, Value
from ...engine.machine import Machine
from ...engine.paths.conditions import symbolic
from ...engine.paths.parting import Branch, fork
from ...source import cached_on_node, walk
from .absent_attributes import lacks


def find_out(machine: Machine, state: State, owner: Value, node: ast.Attribute) -> None:
    """Follow the path on which ``owner`` lacks the attribute as well, if it may, and the code is ready for that."""
    awaiting = machine.context.awaiting
    if not awaiting or node not in machine.query(_inside, awaiting[-1]):
        return

    def split(key: object) -> None:
        if not isinstance(owner, HeapRef):
            return
        if not _is_doubted(state, owner, node.attr):
            if lacks(machine, state, owner, node.attr):
                raise ProgramRaised("AttributeError", f"object has no attribute '{node.attr}'")
            return
        asked = machine.query(_question, node)
        other = fork(machine, Branch(asked, ()), state, symbolic(machine, asked, state), False)
        state.edit(owner.id, Instance).attributes.pop(facets.doubted(node.attr))
        lacking = other.edit(owner.id, Instance).attributes
        del lacking[facets.doubted(node.attr)], lacking[node.attr]
        machine.memo.fork(other, key, ProgramRaised("AttributeError", f"object has no attribute '{node.attr}'"))

    machine.memoize(node, "there", split)


def _is_doubted(state: State, owner: HeapRef, name: str) -> bool:
    """Whether an object may have an attribute of its own, and its class has none of that name."""
    thing = state.heap[owner.id]
    if not isinstance(thing, Instance) or facets.doubted(name) not in thing.attributes or name not in thing.attributes:
        return False
    return lookup_in_mro(state, thing.kind, name) is None


@cached_on_node
def _inside(statement: ast.Try) -> frozenset[ast.AST]:
    """What is evaluated in the body of a ``try``."""
    return frozenset(node for each in statement.body for node in walk(each))


@cached_on_node
def _question(node: ast.Attribute) -> ast.Call:
    """The call of ``hasattr`` that asks for an attribute."""
    asked = ast.Call(ast.Name("hasattr", ast.Load()), [node.value, ast.Constant(node.attr)], [])
    for part_of_it in (asked, asked.func, asked.args[1]):
        ast.copy_location(part_of_it, node)
    return asked
