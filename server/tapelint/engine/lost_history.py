"""Numbers and arrays that were computed from tensors with a graph: they have no history, and what lost it is kept.

total += loss.item()           a number from numbers
np.abs(out.detach().numpy())   an array from an array
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace

from ..autograd import Cut, CutReason, Provenance, resolve_view
from ..autograd.model.cuts import BY_HAND
from ..autograd.model.recording import REWRAPPED
from ..domain.state import State
from ..domain.values import BuiltinMethod, HeapRef, Origin, Sequence, TensorRef, Tuple, Unknown, Value
from .machine import Machine

ITEM = frozenset((CutReason.ITEM, CutReason.NUMBER))


def computed(machine: Machine, origin: Origin, *sources: Value) -> Unknown:
    """A number or an array that was computed from ``sources``."""
    value = Unknown(requires_grad=False, origin=origin)
    if machine.facts.origins.provenance and (lost := lost_by(machine, sources)) is not None:
        machine.facts.record_provenance(value.tensor_id, Provenance(cut=lost))
    return value


def taken(machine: Machine, state: State, source: Value, node: ast.AST) -> Unknown:
    """``float(loss)``: the number in a tensor, or a number from a number."""
    value = computed(machine, Origin.NUMBER, source)
    if isinstance(source, TensorRef):
        tensor = resolve_view(state, source.id)
        if tensor.requires_grad or machine.facts.provenance_of(value.tensor_id).cut is not None:
            lost = Cut(state.point(node), CutReason.NUMBER, source=tensor.grad_fn)
            machine.facts.record_provenance(value.tensor_id, Provenance(cut=lost))
    return value


def cut_of(machine: Machine, value: Value) -> Cut | None:
    """Where a tensor, or a number or an array computed from one, lost its graph."""
    if isinstance(value, TensorRef):
        return machine.facts.provenance_of(value.id).cut
    return machine.facts.provenance_of(value.tensor_id).cut if isinstance(value, Unknown) else None


def lost_by(machine: Machine, sources: Iterable[Value]) -> Cut | None:
    """Where the history of ``sources`` was lost: by ``NUMBER`` in one place, by ``NUMBERS`` in several."""
    cuts = [cut for source in sources if (cut := cut_of(machine, source)) is not None]
    if not cuts or cuts[0].reason is CutReason.NUMPY:
        return cuts[0] if cuts else None
    first, places = cuts[0], {cut.point.node for cut in cuts}
    if len(places) == 1 and all(cut.reason in ITEM | BY_HAND for cut in cuts):
        return first if first.reason in BY_HAND else replace(first, reason=CutReason.NUMBER, operation="")
    return replace(first, reason=CutReason.NUMBERS, operation="", source=None)


def added(machine: Machine, total: TensorRef, term: Value) -> None:
    """A number was added to a tensor: ``total`` does not know what the number was computed from."""
    cut = cut_of(machine, term) if isinstance(term, Unknown) else None
    known = machine.facts.provenance_of(total.id)
    if cut is not None and cut.reason in ITEM | BY_HAND and cut.source is not None:
        machine.facts.origins.provenance[total.id] = known.or_else(Provenance(detached_term=cut))


def weighed(machine: Machine, product: Value, term: Value, factor: Value) -> None:
    """A term that has lost its graph was multiplied by something unknown that the object was made with: that is a
    weight, through which nothing leads to what the term was computed from.
    """
    while isinstance(factor, BuiltinMethod):
        factor = factor.receiver
    if not isinstance(product, TensorRef) or not isinstance(term, TensorRef) or not isinstance(factor, Unknown):
        return
    known = machine.facts.provenance_of(term.id)
    if factor.tensor_id in machine.facts.objects.made_with and (cut := known.detached_term or known.cut) is not None:
        if cut.reason in REWRAPPED:
            machine.facts.record_provenance(product.id, Provenance(detached_term=cut))


def in_list(machine: Machine, state: State, source: Value) -> Cut | None:
    """Where the history of the numbers in a list was lost."""
    thing = state.heap[source.id] if isinstance(source, HeapRef) else source
    if not isinstance(thing, (Sequence, Tuple)) or any(isinstance(item, TensorRef) for item in thing.items):
        return None
    lost = lost_by(machine, thing.items)
    known = lost is None or all(isinstance(item, Unknown) and cut_of(machine, item) is not None for item in thing.items)
    return lost if known or lost is None else replace(lost, reason=CutReason.NUMBERS, operation="")
