"""Writes: what counts them, what does not, and which ones autograd refuses.

y.add_(1)        # counted: code that saved y will notice
y.data.add_(1)   # the same memory, another counter: autograd does not notice
w.add_(1)        # refused, where w is a leaf that requires grad

Tensors made under ``torch.inference_mode()``: they have no version counter, so autograd keeps away from them.

with torch.inference_mode(): x = torch.ones(3)
w * x      # refused: w's gradient needs x, and no code could tell whether it is written meanwhile
x += 1     # refused
w + x      # fine: nothing is saved

Parts of a tensor that overlap in memory, one of which is written with the other.

x[1:] = x[:-1]         # refused: in a contiguous x both parts are without gaps, which PyTorch compares
x[:, 1:] = x[:, :-1]   # not noticed: entries are overwritten before they are read
x[:, :-1] = x[:, 1:]   # right, as each entry is read before it is overwritten
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from math import prod

from ...because import NOTHING, Because
from ...frozen import frozen
from ...ops.traits import traits_of
from ..events.broken_graph import InferenceTensorUsed
from ..events.graph_walks import LeafWritten, OverlapCopied, OverlapRefused, ViewRefused
from ..facts import Facts, Window
from ..state import AutogradState, fresh_id
from .func_levels import is_captured, is_input
from .graph import Node, Tensor, Write
from .graph_search import leaf_tensors
from .guesses import guess_below
from .program_point import ProgramPoint, earlier_iteration
from .views import resolve_view

PROTECTED = {
    "multi": "Output of a function that returns multiple views is being modified inplace.",
    "function": "This view was created inside a custom Function and is being modified inplace.",
    "no_grad": "A view was created in no_grad mode and is being modified inplace with grad mode enabled.",
    "inference": "A view was created in inference mode and is being modified inplace in normal mode.",
}
"""Views that may not be written with grad mode on, nor used after their base was written: neither could be recorded."""
CAPTURED = "attempted to call in-place operation that would mutate a captured Tensor"


class TorchRaises(Exception):
    """PyTorch raises here; ``known`` is true where a rule reports the reason."""


def bump(
    state: AutogradState,
    counter: int,
    op: str,
    node: ast.AST,
    certain: bool = True,
    tensor: int = -1,
    given: tuple[tuple[int, int], ...] = (),
    by_optimizer: bool = False,
    because: Because = NOTHING,
) -> None:
    """A write: the version of ``counter`` goes up, and who did it is remembered.

    What ``.data`` gives has a counter of its own: a write to it also changes the memory ``untracked_writes`` of its
    counter.
    """
    before = state.writes.get(counter)
    version = before.version + 1 if before else 1
    state.writes[counter] = Write(
        version, op, state.point(node), certain, before, tensor, fresh_id(), given, by_optimizer, because
    )
    state.changes += 1
    owner = state.tensors.get(counter)
    if owner is not None and owner.storage != counter:
        record_untracked_write(state, owner.storage, op, node, counter, given, by_optimizer)


def record_untracked_write(
    state: AutogradState,
    memory: int,
    op: str,
    node: ast.AST,
    tensor: int,
    given: tuple[tuple[int, int], ...] = (),
    by_optimizer: bool = False,
) -> None:
    """A write to ``memory`` that its own version counter does not show."""
    before = state.untracked_writes.get(memory)
    version = before.version + 1 if before else 1
    state.untracked_writes[memory] = Write(
        version, op, state.point(node), True, before, tensor, fresh_id(), given, by_optimizer
    )


def stepped(state: AutogradState, past: ProgramPoint, now: ProgramPoint) -> bool:
    """Whether an optimizer has stepped in the loop of which ``past`` is an earlier iteration."""
    lap = earlier_iteration(past, now)
    return lap is not None and any(
        write.by_optimizer and any(each.run == lap.run for each in write.point.iterations)
        for write in state.writes.values()
    )


def settled(state: AutogradState, path: Sequence[Node], write: Write) -> Node | None:
    """The first node of ``path`` that is older than ``write``, if every leaf below it was written at that moment."""
    entry = next((node for node in path if node.id < write.stamp), None)
    for tensor in leaf_tensors([entry]) if entry is not None else ():
        last = state.writes.get(state.tensors[tensor].version_counter)
        if last is None or last.point != write.point:
            return None
    return entry


def overlapping(state: AutogradState, tensor: Tensor) -> bool:
    """Whether it has more elements than its memory (``v.expand(4, 4)``): few ops accept it."""
    whole = state.tensors.get(tensor.storage)
    if whole is None or not isinstance(tensor.sizes, tuple) or not isinstance(whole.sizes, tuple):
        return False
    if None in tensor.sizes or None in whole.sizes:
        return False
    return prod(tensor.sizes) > prod(whole.sizes)  # type: ignore[arg-type]


"""Ops that write a tensor of more elements than its memory. ``v[:] = t`` is a ``copy_``, which is refused."""


def check_write(
    facts: Facts,
    state: AutogradState,
    tensor: Tensor,
    op: str,
    node: ast.AST,
    needs: bool | None,
    given: bool = False,
    wanted: bool = False,
) -> None:
    """Raise Refused where autograd forbids the write: leaves that require grad, their views, outputs of ``split`` and
    friends. ``given`` is whether what is written has a graph, ``wanted`` whether any of it requires grad.
    """
    if facts.running.levels and is_captured(facts, tensor):
        raise TorchRaises(CAPTURED)
    if state.grad_mode is not True:
        return
    if tensor.view in PROTECTED and tensor.base is not None and needs:
        edges = () if tensor.grad_fn is None else (tensor.grad_fn,)
        facts.events.publish(
            ViewRefused(
                point=state.point(node),
                because=tensor.because or guess_below(state, edges),
                tensor=tensor.id,
                op=op,
                kind=tensor.view,
                made=protected_at(facts, tensor),
                part=_part(facts, tensor),
                written=None,
            )
        )
        raise TorchRaises(PROTECTED[tensor.view])
    base = resolve_view(state, tensor.base) if tensor.base is not None else None
    _check_leaf_write(facts, state, tensor, base, op, node, given, wanted)
    if base is not None:
        _check_base_write(facts, state, tensor, base, op, node, given, wanted)


def protected_at(facts: Facts, view: Tensor) -> ProgramPoint:
    """Where a protected view got its protection: a view of it has its own, and is protected for that reason."""
    return facts.provenance_of(view.id).protected_at or view.created_at


def _part(facts: Facts, view: Tensor) -> ProgramPoint | None:
    return view.created_at if facts.provenance_of(view.id).protected_at is not None else None


def _check_leaf_write(
    facts: Facts,
    state: AutogradState,
    tensor: Tensor,
    base: Tensor | None,
    op: str,
    node: ast.AST,
    given: bool,
    wanted: bool,
) -> None:
    """Raise Refused where what is written is itself a leaf that requires grad, or an input of ``torch.func``."""
    # A view of plain data that got a history since, through the data or another view, is a leaf until it is used.
    stale = base is not None and base.grad_fn is not None and state.tensors[tensor.id].grad_fn is None
    is_level_input = bool(facts.running.levels) and is_input(facts, tensor.id if base is None else base.id)
    is_leaf = tensor.grad_fn is None and base is None or stale and tensor.view == "view"
    if is_level_input or tensor.requires_grad and is_leaf:
        facts.events.publish(
            LeafWritten(
                point=state.point(node),
                because=tensor.because,
                tensor=tensor.id,
                op=op,
                view=is_level_input and base is not None,
                parameter=tensor.parameter,
                given=given,
                wanted=wanted,
            )
        )
        raise TorchRaises("a leaf Variable that requires grad is being used in an in-place operation.")


def _check_base_write(
    facts: Facts, state: AutogradState, tensor: Tensor, base: Tensor, op: str, node: ast.AST, given: bool, wanted: bool
) -> None:
    """Raise Refused where a view of a leaf is written."""
    if base.requires_grad and base.grad_fn is None:
        facts.events.publish(
            LeafWritten(
                point=state.point(node),
                because=base.because,
                tensor=base.id,
                op=op,
                view=True,
                parameter=base.parameter,
                given=given,
                wanted=wanted,
            )
        )
        raise TorchRaises("a view of a leaf Variable that requires grad is being used in an in-place operation.")
    if base.grad_fn is None and tensor.requires_grad:
        if tensor.grad_fn is None:
            facts.events.publish(
                LeafWritten(point=state.point(node), because=tensor.because, tensor=tensor.id, op=op, view=True)
            )
        raise TorchRaises("a view of a leaf Variable that requires grad is being used in an in-place operation.")


def check_read(facts: Facts, state: AutogradState, key: int, node: ast.AST) -> None:
    """Raise Refused where an op, with grad mode on, is given a protected view whose base was written since."""
    tensor = state.tensors[key]
    write = state.writes.get(tensor.version_counter) if tensor.view in PROTECTED and tensor.base is not None else None
    culprit = write.since(tensor.view_version) if write is not None else None
    if culprit is None or tensor.base is None or not resolve_view(state, tensor.base).requires_grad:
        return
    because = tensor.because or state.tensors[tensor.base].because
    facts.events.publish(
        ViewRefused(
            point=state.point(node),
            because=because,
            tensor=key,
            op="",
            kind=tensor.view,
            made=protected_at(facts, tensor),
            part=_part(facts, tensor),
            written=culprit,
        )
    )
    raise TorchRaises("its base or another view of its base has been modified inplace")


def is_guarded(state: AutogradState, key: int) -> bool:
    """Whether it is a view of what requires grad that will not tell its history when its base was written: one of
    several that were made at once, or what a custom Function returned.
    """
    tensor = state.tensors.get(key)
    if tensor is None or tensor.view not in ("multi", "function") or tensor.base is None:
        return False
    return resolve_view(state, tensor.base).requires_grad is True


def refuse_saved(facts: Facts, state: AutogradState, saved: Iterable[Tensor], op: str, node: ast.AST) -> None:
    """Raise Refused where an op would save an inference tensor for backward. At a level of its own a tensor is wrapped
    before it is saved; whether it is saved outside too is not known yet.
    """
    for tensor in saved:
        if tensor.inference and not facts.running.levels:
            point, made = state.point(node), tensor.created_at
            facts.events.publish(InferenceTensorUsed(point=point, tensor=tensor.id, how="saved", op=op, made=made))
            raise TorchRaises("Inference tensors cannot be saved for backward.")


def check_inference_write(facts: Facts, state: AutogradState, tensor: Tensor, op: str, node: ast.AST) -> None:
    """Raise Refused where an inference tensor is written outside inference mode. What ``detach()`` and ``.data`` make
    of it there is none in this one respect.
    """
    detached = tensor.base is None and tensor.storage != tensor.id and tensor.view != "inference"
    if tensor.inference and not state.inference and not detached:
        facts.events.publish(
            InferenceTensorUsed(point=state.point(node), tensor=tensor.id, how="written", op=op, made=tensor.created_at)
        )
        raise TorchRaises("Inplace update to inference tensor outside InferenceMode is not allowed.")


REFUSAL = (
    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
    "location. Please clone() the tensor before performing the operation."
)


@frozen
class Shift:
    """How far one part lies behind another that it overlaps, and whether the size of the dimension shows that."""

    by: int
    is_certain: bool


def check_overlap(
    facts: Facts, state: AutogradState, target: int, given: Iterable[tuple[str, Tensor]], op: str, node: ast.AST
) -> None:
    """Publish that a part of a tensor is written with another one that it overlaps. Raise TorchRaises where that is
    refused for certain.
    """
    into = facts.memory.windows.get(target)
    if into is None or "pointwise" not in traits_of(op):
        return
    for _, tensor in given:
        source = facts.memory.windows.get(tensor.id) if tensor.id != target else None
        shift = _shift(into, source) if source is not None else None
        if shift is None:
            continue
        if into.is_gapless is False:
            if shift.by > 0:
                facts.events.publish(OverlapCopied(point=state.point(node), read=tensor.created_at, whole=into.whole))
            return
        is_certain = shift.is_certain and into.is_gapless is True
        facts.events.publish(
            OverlapRefused(point=state.point(node), read=tensor.created_at, whole=into.whole, is_certain=is_certain)
        )
        if is_certain:
            raise TorchRaises(REFUSAL)


def _shift(into: Window, source: Window) -> Shift | None:
    """How far ``into`` lies behind ``source``; None if they are parts of different tensors, the same part, or parts
    that need not overlap.
    """
    if (into.whole, into.dim, into.numbers) != (source.whole, source.dim, source.numbers):
        return None
    if into.size is not None:
        begin, end, _ = slice(into.start, into.stop).indices(into.size)
        first, last, _ = slice(source.start, source.stop).indices(into.size)
        overlap = end - begin == last - first and max(begin, first) < min(end, last)
        return Shift(begin - first, True) if overlap and begin != first else None
    by = (into.start or 0) - (source.start or 0)
    is_next = {(into.start or 0), (source.start or 0)} == {0, 1} and -1 in (into.stop, source.stop)
    return Shift(by, False) if is_next and None in (into.stop, source.stop) else None
