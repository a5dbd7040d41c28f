"""Notebooks: cell after cell, as "Run All" does it; and then each cell that reached backward once more.

    cell 1    loss = net(x).sum()
    cell 2    loss.backward()         fine; but who runs this cell alone a second time walks a graph that is freed

Running a cell again is the loop that the user of a notebook makes by hand. What it would lead to is reported as such:
the plain run is over by then, so nothing of this is ever taken for an error of the program.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from ..autograd.events.graph_walks import CellRunAgain, Event, FreedGraphReached
from ..domain.state import State
from ..engine.machine import Machine
from ..engine.statistics import Entry
from ..frozen import frozen
from ..source import Cell, cell_at


@frozen
class Ran:
    """A cell that has reached backward, and how things stood after it."""

    cell: Cell
    body: list[ast.stmt]
    states: list[State]


def run_cells(machine: Machine, state: State, ran: list[Ran]) -> list[State]:
    """Run all cells; the ends of all paths. Added to ``ran`` is what to run again."""
    states = [state]
    for cell, body in _bodies(machine):
        before = machine.unit.stats.backwards
        states = machine.block(body, states)
        if machine.unit.stats.backwards > before:
            ran.append(
                Ran(cell, body, [s.fork() for s in states if s.completion is None][: machine.limits.rerun_paths])
            )
    return states


def _bodies(machine: Machine) -> Iterator[tuple[Cell, list[ast.stmt]]]:
    by_cell: dict[Cell, list[ast.stmt]] = {}
    for statement in machine.tree.body:
        cell = cell_at(machine.cells, statement.lineno)
        assert cell is not None
        by_cell.setdefault(cell, []).append(statement)
    yield from by_cell.items()


def run_again(machine: Machine, ran: list[Ran], enter: Callable[[Entry, Callable[[], list[State]]], object]) -> None:
    """Run each cell a second time, and publish where PyTorch would refuse that. ``enter`` keeps faults inside."""
    probe, machine.probe = machine.probe, None
    holes, machine.unit.stats = machine.unit.stats, replace(machine.unit.stats)
    end = machine.fuel_used + machine.limits.all_cell_reruns_fuel
    for again in ran:
        heard: list[Event] = []
        machine.fuel = min(machine.fuel_used + machine.limits.cell_rerun_fuel, end)
        with machine.facts.events.heard_by(heard.append):
            if machine.fuel_used < end:
                enter(Entry("cell", again.body[0]), partial(machine.block, again.body, again.states))
        reached = next((e for e in heard if isinstance(e, FreedGraphReached) and not e.because), None)
        if reached is not None:
            machine.facts.events.publish(_event(machine, again, reached))
    holes.faults = machine.unit.stats.faults
    machine.probe, machine.unit.stats = probe, holes


def _event(machine: Machine, again: Ran, reached: FreedGraphReached) -> CellRunAgain:
    """The event stands in the cell that is run, whichever function of another cell it happens in."""
    inside = {node for statement in again.body for node in ast.walk(statement)}
    way = (*reached.point.calls, reached.point.node)
    node = next((node for node in way if node in inside), reached.point.node)
    built = reached.shared.created_at
    first = next((n for n in (*built.calls, built.node) if hasattr(n, "lineno")), None)
    above = cell_at(machine.cells, first.lineno) if first is not None else None
    return CellRunAgain(
        point=replace(reached.point, node=node),
        cell=again.cell.number,
        built=above.number if above is not None else again.cell.number,
        reached=reached,
    )
