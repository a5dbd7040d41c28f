"""The top level of an imported module: it is executed, and what stops it early leaves its definitions to be made."""

from __future__ import annotations

import ast

from ..domain.completion import ProgramRaised
from ..domain.state import State
from ..domain.values import Frame, Value
from ..engine.machine import Cancelled, Machine, OutOfFuel
from ..engine.module_system import LoadedModule
from ..engine.statistics import Entry

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
