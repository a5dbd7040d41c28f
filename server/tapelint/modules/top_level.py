"""The top level of an imported module: it is executed, and what stops it early leaves its definitions to be made.

Which names the top level of a file binds, by its text.

import os                    `os` is bound whatever happens
if flag:
    limit = 3                `limit` may be bound
globals()["x"] = 1           any name may be
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..domain.completion import ProgramRaised
from ..domain.state import State
from ..domain.values import Frame, Value
from ..engine.machine import Cancelled, Machine, OutOfFuel
from ..engine.module_system import LoadedModule
from ..engine.statistics import Entry
from ..source import cached_on_node, walk

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


def top_level(machine: Machine, state: State, loaded: LoadedModule, limit: int) -> list[State]:
    """The states that the top level ends in. For definitions it is given up to ``limit`` steps more."""
    frame, body, entry = state.frame, loaded.source.tree.body, Entry("module", path=loaded.path)
    try:
        ends = machine.block(body, [state])
        finished = [end for end in ends if end.completion is None]
        if finished:
            return finished
        state = ends[0]
    except Cancelled:
        raise
    except OutOfFuel:
        loaded.step.is_truncated = True
        machine.unit.stats.failed += 1
    except ProgramRaised:
        machine.unit.stats.failed += 1
    except Exception as error:
        machine.fail(entry, error)
    state.frame = frame
    made = {statement for statement in body if getattr(statement, "name", None) in loaded.names}
    define_rest(machine, state, [each for each in body if each not in made], entry, limit // 4, limit)
    return [state]


def define_rest(
    machine: Machine, state: State, body: list[ast.stmt], entry: Entry, each: int, limit: int | None = None
) -> None:
    """Make the definitions and imports that the code in ``body``, which has stopped early, has not come to: with so
    much fuel ``each``, and up to ``limit`` for all.
    """
    frame, end = state.frame, None if limit is None else machine.fuel_used + limit
    state.calls, state.iterations, state.completion = (), (), None
    state.grad_mode, state.inference = True, False
    for statement in body:
        if not isinstance(statement, DEFINITIONS) or _is_bound(statement, state.get(frame, Frame).variables):
            continue
        fuel = machine.fuel_used + each
        machine.fuel = fuel if end is None else min(fuel, end)
        try:
            machine.statement(statement, state)
        except Cancelled:
            raise
        except (OutOfFuel, ProgramRaised):
            pass
        except Exception as error:
            machine.fail(entry, error)
        state.frame, state.completion = frame, None


def _is_bound(statement: ast.stmt, variables: dict[str, Value]) -> bool:
    """Whether a definition or an import has bound its names already."""
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        names = [alias.asname or alias.name.partition(".")[0] for alias in statement.names]
        return all(name in variables for name in names)
    return getattr(statement, "name", None) in variables


BINDING = frozenset("globals locals vars setattr exec eval import_module __import__ __getattr__ __dict__".split())
"""Names whose mention makes it possible that a file binds names that are not spelled in it: Python's
(https://docs.python.org/3/library/functions.html), ``importlib.import_module``, and the ``__getattr__`` of a module.
"""


@cached_on_node
def surely_bound(tree: ast.AST) -> frozenset[str]:
    """The names that are bound by statements of the top level itself, and not deleted again."""
    bound = {name for statement in getattr(tree, "body", ()) for name in _bound(statement)}
    names = (each for each in walk(tree) if isinstance(each, ast.Name))
    return frozenset(bound - {each.id for each in names if isinstance(each.ctx, ast.Del)})


def _bound(statement: ast.AST) -> Iterator[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Import(names=names):
            yield from ((each.asname or each.name).partition(".")[0] for each in names)
        case ast.ImportFrom(names=names):
            yield from (each.asname or each.name for each in names)
        case ast.Assign(targets=targets):
            yield from (each.id for each in targets if isinstance(each, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
            yield name


@cached_on_node
def may_bind_more(tree: ast.AST) -> bool:
    """Whether a file may bind names that are not spelled in it."""
    for node in walk(tree):
        if isinstance(node, ast.ImportFrom) and any(each.name == "*" for each in node.names):
            return True
        if isinstance(node, ast.Attribute) and node.attr == "modules" and getattr(node.value, "id", "") == "sys":
            return True
        mentioned = getattr(node, "id", getattr(node, "attr", getattr(node, "name", None)))
        if isinstance(mentioned, str) and mentioned in BINDING:
            return True
    return False
