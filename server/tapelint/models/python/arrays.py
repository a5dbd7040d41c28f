"""NumPy: it wants plain memory, and a tensor that autograd tracks refuses to give its own.

y.numpy(), np.array(y), np.mean([a, b])    raise where a tensor among the arguments requires grad
float(y), y.item(), y.tolist()             are fine
"""

from __future__ import annotations

import ast
import math
from typing import Literal

from ...autograd import Cut, CutReason, Leaf, Node, Provenance, resolve_view
from ...autograd.events.broken_graph import GraphCopiedOut
from ...autograd.model.graph_search import nodes_below
from ...autograd.model.guesses import keeping, shown_by_pass
from ...autograd.state import AutogradState
from ...because import NOTHING, Because, guess
from ...domain.completion import ProgramRaised
from ...domain.induction import is_number
from ...domain.state import State
from ...domain.traversal import listed
from ...domain.values import FALSE, Const, External, Origin, TensorRef, Unknown, Value
from ...engine.lost_history import computed, cut_of
from ...engine.machine import Machine
from ...engine.paths.constant_contents import FINITE
from ..torch.autograd.backward_calls import nth_argument
from ..torch.registry import FUNCTIONS, TENSOR_METHODS, Call, function, method
from . import array_memory

REFUSED = "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
ARRAYS = (
    "array asarray asanyarray ascontiguousarray exp log log10 log2 sqrt abs absolute argmax "
    "argmin round float32 float64 int64 append tanh sin cos square power maximum minimum clip where dot concatenate "
    "stack vstack hstack column_stack mean sum max min std var median average percentile quantile amax amin nanmean "
    "prod"
).split()
"""Functions of NumPy (https://numpy.org/doc/stable/reference/routines.html) that return arrays and numbers."""
ASKING = (
    "all amax amin any argwhere array_split concat concatenate double dsplit flip float64 hsplit imag isreal lexsort "
    "max mean min ndim nonzero prod real shape size split squeeze std sum var vsplit"
).split()
"""These ask a tensor for its own method, its number or its sizes; a list of tensors they convert."""
PLAIN = (
    "LinAlgError array_equal array_equiv base_repr bmat diag_indices_from format_float_positional "
    "format_float_scientific isscalar iterable matrix_rank printoptions real_if_close str_ tri tril_indices "
    "tril_indices_from triu_indices triu_indices_from"
).split()
"""These take tensors as they are, or as single numbers."""
CONVERTING = (
    "numpy numpy.linalg numpy.fft scipy.fft scipy.linalg scipy.ndimage scipy.signal scipy.spatial.distance "
    "scipy.special sklearn.metrics matplotlib.pyplot"
).split()
"""The modules whose other functions all convert what they are given to arrays first. A single number some print."""


def held_in(
    state: State, value: Value, depth: int = 3, trail: tuple[str | int, ...] = ()
) -> list[tuple[int, tuple[str | int, ...]]]:
    """The tensors that require grad for certain in nested lists, or as a pass has shown, with the indices that lead to
    them.
    """
    if isinstance(value, TensorRef):
        tensor = resolve_view(state, value.id)
        is_known = not tensor.assumption or shown_by_pass(state, tensor) is not None
        return [(value.id, trail)] if tensor.requires_grad and is_known else []
    items = listed(state, value) if depth else None
    return [hit for i, item in enumerate(items or ()) for hit in held_in(state, item, depth - 1, (*trail, i))]


def reason(state: State) -> Because:
    """A function that nothing in the file calls may be called with gradients switched off, unless it went backward."""
    entry = state.calls[0] if state.calls else None
    if isinstance(entry, (ast.FunctionDef, ast.AsyncFunctionDef)) and not state.freed:
        return guess(f"gradients are enabled where `{entry.name}` is called")
    return NOTHING


def assumed_giver(state: State, key: int) -> Node | None:
    """What is assumed to have given a tensor its graph; None where a leaf gives it one without any assumption."""
    seen: set[Node] = set()
    giver, frontier = None, [resolve_view(state, key).grad_fn]
    while frontier:
        item = frontier.pop()
        if item is None or item in seen:
            continue
        seen.add(item)
        if item.assumption is not None:
            giver = giver or item
            continue
        for below in item.inputs:
            if isinstance(below, Node):
                frontier.append(below)
            elif (leaf := state.tensors[below.tensor]).requires_grad and leaf.assumption is None:
                return None
    return giver


def recorded_by(state: AutogradState, key: int) -> Node | None:
    """The node that gave the tensor, or the one that it is a view of, its graph: the oldest one that returned it; None
    of a leaf.
    """
    tensor = state.tensors[key]
    whole = tensor.id if tensor.base is None else tensor.base
    latest = resolve_view(state, whole).grad_fn
    if latest is None:
        return None
    return min((n for n in nodes_below([latest]) if whole in n.results), key=lambda n: n.id, default=latest)


def _is_network(giver: Node) -> bool:
    """Whether what is assumed to keep a graph has parameters; a part of what it gave is from it as well."""
    made = (each for each in nodes_below([giver]) if each.assumption == giver.assumption)
    return any(isinstance(below, Leaf) for each in made for below in each.inputs)


def refuse(
    machine: Machine,
    state: State,
    held: list[tuple[int, tuple[str | int, ...]]],
    call: Call,
    how: Literal["numpy", "deepcopy"],
    source: ast.expr | None,
    method: bool = False,
) -> None:
    """Publish that a graph was to be copied out; raise where that is certain. What would rest on two assumptions is
    not said, nor that ``deepcopy`` meets a graph in what unknown code gives: it copies lists and dicts as well. What
    NumPy is given of code that is no network (``reward = env.step(action)``) is a number more often than not.
    """
    because = reason(state) if how == "numpy" else NOTHING
    givers = [giver for key, _ in held if (giver := assumed_giver(state, key)) is not None]
    if len(givers) == len(held):
        shown = shown_by_pass(state, resolve_view(state, held[0][0]))
        if because or how == "deepcopy" or shown is None and not _is_network(givers[0]):
            return
        because = keeping(givers[0].assumption) if shown is None else shown
    machine.facts.events.publish(
        GraphCopiedOut(
            point=state.point(call.node),
            because=because,
            held=tuple(held),
            how=how,
            source=source,
            method=method,
            recorded=recorded_by(state, held[0][0]),
        )
    )
    if not because:
        raise ProgramRaised(
            "RuntimeError", REFUSED if how == "numpy" else "graph leaves support the deepcopy protocol", True
        )


@method(TENSOR_METHODS, "numpy", "__array__")
def tensor_numpy(machine: Machine, state: State, receiver: TensorRef, call: Call) -> Value:
    held = held_in(state, receiver)
    if held and state.grad_mode is True and call.kwargs.get("force", FALSE) == FALSE and not call.args:
        func = call.node.func if isinstance(call.node, ast.Call) else None
        refuse(machine, state, held, call, "numpy", func.value if isinstance(func, ast.Attribute) else None, True)
    value, tensor = Unknown("item", False), resolve_view(state, receiver.id)
    if tensor.requires_grad or machine.facts.provenance_of(tensor.id).cut is not None:
        machine.facts.record_provenance(value.tensor_id, Provenance(cut=Cut(state.point(call.node), CutReason.NUMPY)))
    if not call.kwargs:
        array_memory.shares(machine, state, value, receiver.id)
    return value


def refuse_conversion(machine: Machine, state: State, call: Call) -> None:
    """A function that makes arrays of its arguments was given a tensor that requires grad, or a list of such."""
    module, _, name = call.name.rpartition(".")
    if module not in CONVERTING or name in PLAIN or state.grad_mode is not True:
        return
    for place, given in enumerate(call.args[:2] or [call.get(0, "object")]):
        if isinstance(given, TensorRef):
            is_number = resolve_view(state, given.id).sizes in ((), None)
            if name in ASKING or module == "matplotlib.pyplot" and is_number:
                continue
        if held := held_in(state, given):
            refuse(machine, state, held, call, "numpy", nth_argument(call, place, "object"))


def array_function(machine: Machine, state: State, call: Call) -> Value:
    refuse_conversion(machine, state, call)
    value = computed(machine, Origin.ANY, *call.args)
    if machine.facts.memory.arrays:
        array_memory.written_by_call(machine, state, External(call.name), call.args, call.kwargs, call.node)
    lost = cut_of(machine, value)
    if lost is not None and lost.reason is not CutReason.NUMPY:
        machine.facts.record_provenance(value.tensor_id, Provenance(cut=Cut(state.point(call.node), CutReason.NUMPY)))
    return value


for _name in ARRAYS:
    FUNCTIONS["numpy." + _name] = array_function


@function(*(f"{module}.{name}" for module in ("math", "numpy") for name in FINITE))
def asks_if_finite(machine: Machine, state: State, call: Call) -> Value:
    """Of a number: what is computed is taken for finite. A whole number is, or Python refuses it as too large."""
    value, name = call.get(0, "x"), call.name.rpartition(".")[2]
    if isinstance(value, Const) and isinstance(value.value, float):
        return Const(getattr(math, name)(value.value))
    is_read = isinstance(value, Unknown) and machine.facts.provenance_of(value.tensor_id).number_in is not None
    if call.name.startswith("numpy.") and not is_read and not is_number(value):
        return array_function(machine, state, call)
    return Const(FINITE[name])


@function("numpy.isscalar")
def isscalar(machine: Machine, state: State, call: Call) -> Value:
    """A tensor is none, of whatever size."""
    return FALSE if isinstance(call.get(0, "element"), TensorRef) else Unknown("isscalar", False)
