"""``x[i]`` where ``x`` is a tensor: read and set.

Which part of a tensor a slice is (``autograd.model.windows``).
"""

from __future__ import annotations

import ast
from dataclasses import replace

from ..autograd import Tensor, leaf, resolve_view
from ..autograd.facts import Facts, Window
from ..domain.opaque_values import as_data, part_of
from ..domain.state import State
from ..domain.values import NONE, Const, HeapRef, Origin, Slice, TensorRef, Tuple, Unknown, Value
from ..engine.machine import Machine
from ..engine.paths import constant_contents
from ..models.torch import dispatch
from ..models.torch.autograd.changed_objects import part_changed
from ..models.torch.known_shape import indexed


def basic(index: Value) -> bool | None:
    """Whether an index makes a view (numbers, slices, None, ...), gathers (tensors, lists), or None where that is not
    known.
    """
    parts = index.items if isinstance(index, Tuple) else (index,)
    unknown = False
    for part in parts:
        match part:
            case TensorRef() | HeapRef() | Const(bool()):
                return False
            case Const() | Slice() | Unknown(origin=Origin.NUMBER):
                pass
            case _:  # an attribute of what is not known may be a method, a number or a list
                unknown = True
    return None if unknown else True


def entire(index: Value) -> bool:
    """Whether an index leaves nothing out: ``x[:] = v`` and ``x[...] = v`` write x itself, not a view of it."""
    parts = index.items if isinstance(index, Tuple) else (index,)
    return all(part in (Slice(NONE, NONE, NONE), Const(...)) for part in parts)


def load(machine: Machine, state: State, owner: TensorRef, index: Value, node: ast.AST) -> Value:
    if resolve_view(state, owner.id).assumption:  # a pair of indices only a tensor takes: a view of it
        return owner if isinstance(index, Tuple) else part_of(machine.facts, state, owner.id, node)
    kind = basic(index)
    parts = [p for p in (index.items if isinstance(index, Tuple) else (index,)) if isinstance(p, TensorRef)]
    if kind is False:
        result = dispatch.run(machine, state, "getitem.index", [owner, parts[0] if parts else Const(0)], {}, node)
    elif kind is None:
        return TensorRef(_doubtful(machine, state, owner, node))
    else:
        result = dispatch.run(machine, state, "getitem.basic", [owner, Const(0)], {}, node)
        if isinstance(result, TensorRef):
            part = state.tensors[result.id]
            state.tensors[result.id] = replace(part, sizes=indexed(state.tensors[owner.id].sizes, index))
            remember(machine.facts, state.tensors[owner.id], index, result.id)
    return result if result is not None else Unknown("item")


def _doubtful(machine: Machine, state: State, owner: TensorRef, node: ast.AST) -> int:
    """``x[i]`` where i may be a number or a mask: it depends on x and shares nothing with it for certain. Which part
    of x it is, and how large, is unknown.
    """
    value = dispatch.apply(machine, state, dispatch.CLONE, [owner], {}, node)
    assert isinstance(value, TensorRef)
    machine.facts.origins.provenance[value.id] = replace(machine.facts.provenance_of(value.id), clone_of=None)
    state.tensors[value.id] = replace(state.tensors[value.id], sizes=None)
    return value.id


def store(machine: Machine, state: State, owner: TensorRef, index: Value, value: Value, node: ast.AST) -> None:
    if resolve_view(state, owner.id).assumption:
        if not _is_of_tensors(state, index):
            part_changed(machine, state, owner.id)
        return
    if basic(index) is False:
        parts = [p for p in (index.items if isinstance(index, Tuple) else (index,)) if isinstance(p, TensorRef)]
        dispatch.run(
            machine,
            state,
            "index_put_",
            [owner, Tuple(tuple(parts)), _as_tensor(machine, state, value, node)],
            {},
            node,
        )
    elif entire(index):
        dispatch.run(machine, state, "copy_", [owner, _as_tensor(machine, state, value, node)], {}, node)
    else:
        # ``x[i] = v`` is ``x[i].copy_(v)``: a write through a view.
        part = dispatch.run(machine, state, "getitem.basic", [owner, Const(0)], {}, node)
        if part is not None:
            if isinstance(part, TensorRef):
                remember(machine.facts, state.tensors[owner.id], index, part.id)
            dispatch.run(machine, state, "copy_", [part, _as_tensor(machine, state, value, node)], {}, node)


def _is_of_tensors(state: State, index: Value) -> bool:
    """Whether an index is one that tensors take and containers do not."""
    return isinstance(index, Tuple) or isinstance(index, TensorRef) and not state.tensors[index.id].assumption


def _as_tensor(machine: Machine, state: State, value: Value, node: ast.AST) -> Value:
    """PyTorch makes a tensor of a plain number before it writes it."""
    value = as_data(state, value)
    if isinstance(value, TensorRef):
        return value
    made = leaf(state, node, value.requires_grad if isinstance(value, Unknown) else False)
    constant_contents.made(machine, state, made, value)
    return TensorRef(made)


WHOLE = Slice(NONE, NONE, NONE)


def remember(facts: Facts, whole: Tensor, index: Value, part: int) -> None:
    """``part`` is what ``index`` cuts out of ``whole``."""
    window = _window(facts, whole, index)
    if window is not None:
        facts.memory.windows[part] = window


def _window(facts: Facts, whole: Tensor, index: Value) -> Window | None:
    """The part of ``whole`` that ``index`` cuts out by one slice with plain bounds; None for any other index."""
    placed = _placed(whole.rank, list(index.items) if isinstance(index, Tuple) else [index])
    if placed is None:
        return None
    cuts = [(dim, part) for dim, part in placed if isinstance(part, Slice) and part != WHOLE]
    bounds = _bounds(cuts[0][1]) if len(cuts) == 1 else None
    if bounds is None:
        return None
    dim = cuts[0][0]
    numbers = tuple((at, part.value) for at, part in placed if isinstance(part, Const) and isinstance(part.value, int))
    size = whole.sizes[dim] if isinstance(whole.sizes, tuple) else None
    return Window(whole.id, dim, size, *bounds, numbers, _is_gapless(facts, whole, dim, dict(numbers)))


def _bounds(cut: Slice) -> tuple[int | None, int | None] | None:
    """Where a slice begins and ends; None if that is unknown, or it leaves out some in between."""
    start, stop, step = (each.value if isinstance(each, Const) else "?" for each in (cut.start, cut.stop, cut.step))
    if isinstance(start, int | None) and isinstance(stop, int | None) and step in (None, 1):
        return start, stop
    return None


def _placed(rank: int | None, parts: list[Value]) -> list[tuple[int, Value]] | None:
    """The parts of an index, each with its dimension; None if one of them is unknown, or more than an index takes."""
    if any(part != Const(...) and not isinstance(part, Slice) and not _is_number(part) for part in parts):
        return None
    if parts.count(Const(...)) > 1 or rank is not None and len(parts) - parts.count(Const(...)) > rank:
        return None
    if Const(...) not in parts:
        return [*enumerate(parts)]
    place = parts.index(Const(...))
    right = 0 if rank is None else rank
    before, after = parts[:place], parts[place + 1 :]
    return [*enumerate(before), *((right - len(after) + at, part) for at, part in enumerate(after))]


def _is_number(part: Value) -> bool:
    return isinstance(part, Const) and isinstance(part.value, int) and not isinstance(part.value, bool)


def _is_gapless(facts: Facts, whole: Tensor, dim: int, numbers: dict[int, int]) -> bool | None:
    """Whether the entries of a part lie without gaps: all that stands before the cut dimension is one number each, or
    has one entry, and nothing behind it is a number.
    """
    sizes = whole.sizes if isinstance(whole.sizes, tuple) else None
    if dim < 0 or any(at > dim for at in numbers):
        return False
    if any(at not in numbers and (sizes is None or sizes[at] != 1) for at in range(dim)):
        return False
    return True if whole.base is None and (whole.rank == 1 or whole.id in facts.memory.contiguous) else None
