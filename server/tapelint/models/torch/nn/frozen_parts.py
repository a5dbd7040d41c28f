"""Frozen networks whose layers are not accessed: one parameter stands for all of theirs, and a part of them may be
trained.

    for p in backbone.parameters():            # all of them: none requires grad any more
        p.requires_grad = False
    for p in backbone.layer4.parameters():     # some of them do again, it is unknown which
        p.requires_grad = True

That such a network is frozen is believed as long as no part of it was accessed, on any path: of the names
that ``if "layer4" in name`` is asked about some have it, and no path of ours is the one of all the names. That it
requires grad is believed where any code has said so, since networks are trained.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ....autograd import Tensor, doubt
from ....domain import facets
from ....domain.state import State
from ....domain.values import Instance, TensorRef, Value
from ....engine.machine import Machine
from .module_registry import is_module_like, parameters_of


def note_access(machine: Machine, thing: Instance) -> None:
    """A submodule was accessed, so its parameters may be unfrozen separately."""
    hidden = thing.attributes.get(facets.UNSEEN_PARAMETERS)
    if isinstance(hidden, TensorRef):
        machine.facts.networks.partially_exposed.add(hidden.id)


def unknown_flag(machine: Machine, state: State) -> None:
    """``t.requires_grad = True`` of something unknown: a parameter of any of these networks."""
    for thing in state.heap.values():
        if isinstance(thing, Instance):
            note_access(machine, thing)


def note_handed(state: State, values: Iterable[Value]) -> None:
    """Unknown code was given networks, and may have set the flags of their parameters."""
    for value in values:
        if is_module_like(state, value):
            doubt(state, [key for _, key in parameters_of(state, value)])


def look(machine: Machine, state: State, keys: list[int]) -> None:
    """Parameters are used: what was frozen of a network is not known, if parts of it were accessed."""
    if not machine.facts.networks.partially_exposed.isdisjoint(keys):
        doubt(state, [key for key in keys if key in machine.facts.networks.partially_exposed])


def flag_of_some(machine: Machine, state: State, tensor: Tensor, wanted: object, node: ast.AST) -> object:
    """What ``requires_grad`` becomes of the parameter that stands for all, when ``node`` sets that of some."""
    if not tensor.stands_for_module or _of_all(state, node):
        return wanted
    machine.facts.networks.partially_exposed.add(tensor.id)
    return True if wanted is True or tensor.requires_grad is True else wanted and None


def _of_all(state: State, node: ast.AST) -> bool:
    """Whether ``node`` is run for each of ``net.parameters()``, whatever it is."""
    loop = state.iterations[-1].loop if state.iterations else None
    if isinstance(loop, ast.For):
        before = next((n for n, each in enumerate(loop.body) if any(node is inner for inner in ast.walk(each))), None)
        return before is not None and _is_all(loop.iter) and all(map(_is_plain, loop.body[: before + 1]))
    if isinstance(loop, ast.comprehension):  # [p.requires_grad_(False) for p in net.parameters()]
        own = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.value
        same = isinstance(own, ast.Name) and isinstance(loop.target, ast.Name) and own.id == loop.target.id
        return same and _is_all(loop.iter) and not loop.ifs
    return False


def _is_all(node: ast.expr) -> bool:
    """Whether a loop goes over all parameters of something: it names none (``recurse=False``) that it leaves out."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.args:
        return False
    return node.func.attr in ("parameters", "named_parameters") and all(k.arg == "prefix" for k in node.keywords)


def _is_plain(statement: ast.stmt) -> bool:
    return isinstance(statement, (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign))
