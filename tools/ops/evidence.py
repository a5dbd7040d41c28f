"""From what several samples of one overload showed to its row: only what every one of them agrees on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from tapelint.ops.schema import Op, Saved, View

if TYPE_CHECKING:
    from tools.ops.probe import Observation

T = TypeVar("T")
Subsets = frozenset[frozenset[str]]


class Nothing:
    """Nothing is saved, for whatever gradient."""


NOTHING = Nothing()
Guard = frozenset[str] | None | Nothing


# With one of these the result is 0-dimensional for some arguments only.
_SHAPING = frozenset({"dim", "dims", "axis", "keepdim", "n", "size", "shape", "sections"})


def row(stub: Op, seen: Sequence[Observation]) -> Op:
    """The row that holds for all these samples of the overload. The stub has its name and what its schema says."""
    flows = frozenset[str]().union(*(observation.flows for observation in seen))
    view = _view([observation.view for observation in seen])
    return replace(
        stub,
        flows=flows,
        saves=tuple(_saves(seen)),
        writes=tuple(sorted(frozenset.intersection(*(observation.writes for observation in seen)))),
        # The schema says that a view may be returned: what no sample showed may still happen for another layout.
        view="maybe" if stub.view == "maybe" and view == "same" else view,
        scalar=may_be_scalar(stub) and is_scalar((o.dim, 0 if o.scalar else 1) for o in seen),
        outputs=-1 if stub.outputs == -1 else _common([observation.outputs for observation in seen], -1),
        constant=_constant([observation.constant for observation in seen if observation.flows]),
        grad_fn=_common([observation.grad_fn for observation in seen], ""),
        source="probe",
    )


def _common(values: Sequence[T], otherwise: T) -> T:
    return values[0] if len(set(values)) == 1 else otherwise


def _constant(constants: Sequence[frozenset[int]]) -> frozenset[int]:
    return frozenset.intersection(*constants) if constants else frozenset()


def may_be_scalar(op: Op) -> bool:
    return not any(param.name in _SHAPING or (param.name, param.kind) == ("reduction", "int") for param in op.params)


def is_scalar(dims: Iterable[tuple[int, int]]) -> bool:
    """From dimensions of inputs and results: always 0, also where the input has several?"""
    pairs = list(dims)
    return all(result == 0 for _, result in pairs) and any(given > 1 for given, _ in pairs)


def _view(views: Sequence[View]) -> View:
    return views[0] if len(set(views)) == 1 else "maybe" if any(views) else ""


def _saves(seen: Sequence[Observation]) -> Iterable[Saved]:
    differentiable = [observation for observation in seen if observation.flows]
    kept = list(_visibly_saved(differentiable))
    yield from kept
    guards = (_weakest([(o, _hidden(kept, o, widest)) for o in differentiable]) for widest in (True, False))
    guard = next((g for g in guards if g is not None), None)
    if guard is not None:
        yield Saved("~", guard)


def _visibly_saved(seen: Sequence[Observation]) -> Iterable[Saved]:
    """What is saved and can be written from outside."""
    for what in dict.fromkeys(what for observation in seen for what in observation.saved):
        relevant = [o for o in seen if what.startswith("result") or what in o.given]
        guard = _weakest([(o, _guard(where, o) if (where := o.saved.get(what)) else NOTHING) for o in relevant])
        if guard is not None:
            yield Saved(what, guard)


def _hidden(kept: Sequence[Saved], observation: Observation, widest: bool) -> Guard:
    """For whose gradient is something saved that is none of ``kept``?

    Where ``kept`` answers for some sets of inputs, several guards are right: the widest has all of these, the other
    none. A normalisation keeps something for its weight; whether also for its input does not matter, since it keeps
    that itself then. A sample without weight decides for the narrow one.
    """
    unusable = observation.subsets - observation.reusable
    hidden = frozenset(s for s in unusable if not any(_applies(saved, s, observation) for saved in kept))
    return _guard(hidden, observation, unusable - hidden, widest) if hidden else NOTHING


def _applies(saved: Saved, subset: frozenset[str], observation: Observation) -> bool:
    given = saved.what.startswith("result") or saved.what in observation.given
    return given and bool(not saved.gradient_of or saved.gradient_of & subset)


def _guard(
    where: Subsets, observation: Observation, indifferent: Subsets = frozenset(), widest: bool = True
) -> frozenset[str] | None:
    """For whose gradient is something saved, if it is saved for just these sets of inputs? None: no single answer.

    ``indifferent`` are sets for which it does not matter, because something else is saved then.
    """
    if observation.subsets - (indifferent if widest else frozenset()) == where:
        return frozenset()
    singles = frozenset(name for subset in where if len(subset) == 1 for name in subset)
    needed = {subset for subset in observation.subsets if subset & singles}
    # One input may stand in the way of what another asks for: attention with a mask to be trained takes another path.
    return singles if singles and needed <= where | indifferent else None


def _weakest(found: Sequence[tuple[Observation, Guard]]) -> frozenset[str] | None:
    """A guard that is right for every sample: the inputs for whose gradient each of them saves it.

    A sample that saves nothing, because it has none of these inputs (a layer without weight), is no objection.
    """
    flows = frozenset[str]().union(*(observation.flows for observation, _ in found))
    guards = [guard for _, guard in found if not isinstance(guard, Nothing)]
    if None in guards or not guards:
        return None
    common = frozenset.intersection(*[guard or flows for guard in guards if guard is not None])
    if any(isinstance(guard, Nothing) and common & observation.flows for observation, guard in found):
        return None
    if common == flows:
        return frozenset()
    return common or None
