"""The leaves that backward passes reach and no optimizer holds, and those that an optimizer holds in their place."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from ..autograd import ProgramPoint
from ..autograd.gradients.history import NOTHING, Pass
from ..autograd.gradients.untrained_parameters import is_trained_by
from ..domain.state import State
from ..domain.values import Optimizer
from ..engine.machine import Machine
from ..source import cached_on_node, walk


def lost_leaves(machine: Machine, state: State, optimizers: Iterable[Optimizer], guessed: bool = False) -> set[int]:
    """The leaves that backward passes reach and that no optimizer holds; those that are ``guessed``, too."""
    held = {key for thing in optimizers for key in thing.params}
    return {
        key
        for key, past in state.history.items()
        if key not in held and is_untrained(machine, state, key, past.passes, guessed)
    }


def is_untrained(machine: Machine, state: State, key: int, passes: Sequence[Pass], guessed: bool = False) -> bool:
    """Whether ``passes`` have reached a leaf, and no code has used, read or changed what it got, or the leaf itself."""
    past, tensor = state.history[key], state.tensors[key]
    write, by_data = state.writes.get(tensor.version_counter), state.untracked_writes.get(tensor.storage)
    return (
        bool(passes)
        and key not in machine.facts.training.wanted_gradients
        and not (past.used or past.step or past.doubt or past.perhaps)
        and tensor.requires_grad is True
        and (guessed or tensor.assumption is None)
        and (write is None or write.stamp < passes[0].stamp)
        and not is_trained_by(by_data, passes[0].point)
        and all(use.step is not None for run in passes if (use := state.consumed_passes.get(run)) is not None)
    )


def without_twins(machine: Machine, state: State, held: Sequence[int], lost: set[int]) -> set[int]:
    """Those of the ``lost`` leaves in whose place an optimizer does not hold another one."""
    return {used for used in lost if next(twins(machine, state, held, used), None) is None}


def twins(machine: Machine, state: State, held: Sequence[int], used: int) -> Iterator[tuple[int, ProgramPoint]]:
    """Those leaves of an optimizer that ``used`` was made of or that were made of it, each with where that was."""
    if machine.query(_regroups, machine.tree):
        return
    replaced = machine.facts.replaced_by(used)
    for key in held:
        if state.history.get(key, NOTHING).fresh:
            continue
        if machine.facts.provenance_of(key).parameter_of == used:
            yield key, state.tensors[key].created_at
        elif key in replaced:
            yield key, state.tensors[used].created_at


@cached_on_node
def _regroups(tree: ast.AST) -> bool:
    """Whether the file gives an optimizer other tensors by hand: ``opt.param_groups[0]["params"] = [x]``."""
    return any(
        isinstance(inner, ast.Constant) and inner.value == "params"
        for node in walk(tree)
        if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, ast.Store)
        for inner in ast.walk(node)
    )
