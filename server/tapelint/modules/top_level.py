"""The top level of an imported module: it is executed, and what stops it early leaves its definitions to be made."""

from __future__ import annotations

import ast

from ..domain.completion import ProgramRaised
from ..domain.state import State
from ..domain.values import Frame
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
    state.frame, state.calls, state.iterations, state.completion = frame, (), (), None
    state.grad_mode, state.inference = True, False
    known, end = loaded.names, machine.fuel_used + limit
    for statement in body:
        if not isinstance(statement, DEFINITIONS):
            continue
        name = getattr(statement, "name", None)
        if name in known or name in state.get(frame, Frame).variables:
            continue
        machine.fuel = min(machine.fuel_used + limit // 4, end)
        try:
            machine.statement(statement, state)
        except Cancelled:
            raise
        except (OutOfFuel, ProgramRaised):
            pass
        except Exception as error:
            machine.fail(entry, error)
        state.frame, state.completion = frame, None
    return [state]
