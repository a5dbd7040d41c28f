"""One run of a call: what was there before it, and what is there after.

    loss.backward()     before: w.grad is None     after: w.grad holds one pass

What a call does is the difference. A state changes as its path goes on, so what may be asked later is copied.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any, TypeVar

from .. import ops
from ..autograd import BackwardPass, Hook, Node, ProgramPoint, Tensor, Write, resolve_view
from ..autograd.gradients.history import NOTHING, GradientHistory, Pass, Use
from ..autograd.gradients.reference_cycles import Cycle
from ..domain import facets
from ..domain.mro import mro_of
from ..domain.state import State
from ..domain.traversal import tensors_in
from ..domain.values import BoundMethod, BuiltinMethod, External, HeapRef, Instance, Optimizer, TensorRef, Value
from ..frozen import frozen
from ..models.torch.nn.module_registry import is_module_like, members, parameters_of
from ..models.torch.nn.modules import is_open

TOGETHER = (facets.UNSEEN_PARAMETERS, facets.ALL_PARAMETERS)
"""Where a module keeps one tensor that stands for several parameters."""

K = TypeVar("K")
V = TypeVar("V")


@frozen
class Snapshot:
    """A state as it was. ``owned`` are the tensors of what the call is a method of: the tensor itself, the parameters
    of an optimizer or of a module; ``is_partial`` tells that there may be more. ``heard`` counts the events up to then.
    ``is_whole`` says of a module that each of its parameters is known by itself; None where the call is of no module.
    """

    owned: Mapping[int, Tensor]
    is_partial: bool
    fused: bool
    grads: Mapping[int, int]
    history: Mapping[int, GradientHistory]
    spent: Mapping[Pass, Use]
    freed: Mapping[Node, BackwardPass]
    hooks: Mapping[int, Hook]
    cycles: Mapping[int, Cycle]
    grad_mode: bool | None
    heard: int
    is_whole: bool | None = None

    def past(self, leaf: int) -> GradientHistory:
        return self.history.get(leaf, NOTHING)


@frozen
class CallRun:
    """A call was made, once: ``callee`` with ``given`` (the tensors in each argument), and returned ``value``, with the
    tensors ``results``. ``writes`` are what it wrote in place itself.
    """

    point: ProgramPoint
    callee: Value
    given: Mapping[ast.AST, tuple[int, ...]]
    before: Snapshot
    after: Snapshot
    value: Value
    results: tuple[Tensor, ...]
    writes: tuple[Write, ...]

    def argument(self, index: int, name: str) -> tuple[int, ...]:
        """The tensors in one argument, as far as they are known."""
        node = self.point.node
        assert isinstance(node, ast.Call)
        spelled = [k.value for k in node.keywords if k.arg == name] or node.args[index : index + 1]
        return self.given.get(spelled[0], ()) if spelled else ()


class Copies:
    """Copies of what changes seldom: where it is what it was when it was copied last, it is not copied again."""

    def __init__(self) -> None:
        self._last: dict[str, Mapping[Any, Any]] = {}

    def copy(self, name: str, now: Mapping[K, V]) -> Mapping[K, V]:
        """``now`` as it is; ``name`` says which of the maps of a state it is."""
        last = self._last.get(name)
        if last is None or len(last) != len(now) or any(last.get(key) is not value for key, value in now.items()):
            last = self._last[name] = dict(now)
        return last


def snapshot(state: State, callee: Value, heard: int, copies: Copies) -> Snapshot:
    keys, more, fused = _owned(state, callee)
    return Snapshot(
        {key: resolve_view(state, key) for key in keys},
        more,
        fused,
        copies.copy("grads", state.grads),
        copies.copy("history", state.history),
        copies.copy("consumed_passes", state.consumed_passes),
        copies.copy("freed", state.freed),
        copies.copy("hooks", state.hooks),
        copies.copy("cycles", state.cycles),
        state.grad_mode,
        heard,
        _is_whole(state, callee),
    )


def _is_whole(state: State, callee: Value) -> bool | None:
    owner = callee.receiver if isinstance(callee, (BuiltinMethod, BoundMethod)) else None
    if owner is None or isinstance(owner, TensorRef) or not is_module_like(state, owner):
        return None
    known = parameters_of(state, owner)
    below = [value for _, value in members(state, owner) if isinstance(value, HeapRef)]
    if is_open(state, owner) or any(_has_more(state, value) for value in (owner, *below)):
        return False
    return not any(state.tensors[key].stands_for_module or name.endswith(TOGETHER) for name, key in known)


def _has_more(state: State, module: Value) -> bool:
    """Whether a module may have another number of parameters than are seen: what its constructor was asked for, or what
    they are computed from, decides.
    """
    thing = state.heap[module.id] if isinstance(module, HeapRef) else None
    if not isinstance(thing, Instance):
        return False
    names = (owner.name for owner in mro_of(state, thing.kind) if isinstance(owner, External))
    rows = (ops.layer(name.rpartition(".")[2]) for name in names if name.startswith("torch.nn."))
    return facets.PARAMETRIZED in thing.attributes or any(
        parameter.endswith("??") for row in rows if row is not None for parameter in row.params
    )


def _owned(state: State, callee: Value) -> tuple[list[int], bool, bool]:
    if not isinstance(callee, (BuiltinMethod, BoundMethod)):
        return [], False, False
    owner = callee.receiver
    if isinstance(owner, TensorRef):
        return [owner.id], False, False
    thing = state.heap[owner.id] if isinstance(owner, HeapRef) else None
    if isinstance(thing, Optimizer):
        return list(thing.params), thing.is_partial, thing.fused
    if is_module_like(state, owner):
        return [key for _, key in parameters_of(state, owner)], is_open(state, owner), False
    return [], False, False


def call_run(
    state: State,
    point: ProgramPoint,
    callee: Value,
    given: Mapping[ast.AST, tuple[int, ...]],
    before: Snapshot,
    value: Value,
    heard: int,
    copies: Copies,
) -> CallRun:
    results = tuple(resolve_view(state, key) for key in tensors_in(state, value))
    depth = len(point.iterations)  # LBFGS counts laps of its own inside
    booked = tuple(
        w
        for w in state.writes.values()
        if w.point.node is point.node
        and w.point.calls == point.calls
        and w.point.iterations[:depth] == point.iterations
    )
    return CallRun(point, callee, dict(given), before, snapshot(state, callee, heard, copies), value, results, booked)
