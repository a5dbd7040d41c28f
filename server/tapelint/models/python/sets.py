"""Sets: each member is there once. Members differ by their hash, so tensors and layers by their identity.

The ``items`` of a set are the members that it has for certain. Where a member may be equal to another one, or may have
been removed, the set is partial: how many it has is not known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import MappingProxyType

from ...domain.completion import ProgramRaised
from ...domain.state import State
from ...domain.values import NONE, Const, HeapRef, Sequence, SequenceKind, TensorRef, Tuple, Value
from ...engine.evaluation import Items
from ...engine.machine import Machine
from ...engine.open_objects import changed, is_complete
from ...engine.paths.truth import all_of, any_of
from ..torch.registry import SET_METHODS, Call, method
from .classes.comparisons import equal, identical
from .containers import append

SETS = ("set", "frozenset")
LIKE_SETS = (*SETS, "iterator")
"""What ``keys()`` returns can be united, too."""


def collected(state: State, kind: SequenceKind, values: Iterable[Value], more: bool) -> Sequence:
    """A container of some items; in a set, and among what is counted, each of them once."""
    is_unique = kind in SETS or kind == "Counter"
    found = Sequence(kind, [] if is_unique else list(values), more)
    for value in values if is_unique else ():
        _put(state, found, value)
    return found


def is_member(state: State, value: Value, members: Sequence) -> bool | None:
    """Whether a set has a member; None where that is not known."""
    may_have_others = None if members.is_partial else False
    return any_of([may_have_others, *(_same(state, value, each) for each in members.items)])


def _same(state: State, one: Value, two: Value) -> bool | None:
    """Whether two values are one member."""
    match one, two:
        case Const(value=left), Const(value=right):
            return bool(left == right)
        case Tuple(items=left), Tuple(items=right):
            is_as_long = len(left) == len(right)
            return all_of([is_as_long, *(_same(state, *pair) for pair in zip(left, right))])
        case TensorRef(id=left), TensorRef(id=right) if left != right:
            return None if any(state.tensors[each].assumption for each in (left, right)) else False
        case (TensorRef(), Const()) | (Const(), TensorRef()):
            return False
    return True if identical(state, one, two) else equal(state, one, two)


def _put(state: State, members: Sequence, value: Value) -> bool:
    """Add a member, unless it is there; whether it was added."""
    known = is_member(state, value, members)
    if known:
        return False
    members.items.append(value)
    members.is_partial = members.is_partial or known is None
    return True


def united(state: State, one: Sequence, two: Sequence) -> Sequence:
    """What is in one of two sets."""
    return collected(state, one.kind, [*one.items, *two.items], one.is_partial or two.is_partial)


def reduced(state: State, one: Sequence, two: Sequence) -> Sequence:
    """What is in the first set only."""
    return _chosen(state, one, two, False)


def common(state: State, one: Sequence, two: Sequence) -> Sequence:
    """What is in both sets."""
    return _chosen(state, one, two, True)


def _chosen(state: State, one: Sequence, two: Sequence, wanted: bool) -> Sequence:
    verdicts = [is_member(state, each, two) for each in one.items]
    chosen = [each for each, verdict in zip(one.items, verdicts) if verdict is wanted]
    return Sequence(one.kind, chosen, one.is_partial or None in verdicts)


Combination = Callable[[State, Sequence, Sequence], Sequence]
BY_OPERATOR: MappingProxyType[str, Combination] = MappingProxyType({"BitOr": united, "Sub": reduced, "BitAnd": common})
BY_METHOD: MappingProxyType[str, Combination] = MappingProxyType(
    {"union": united, "difference": reduced, "intersection": common}
)


def combined(state: State, operator: str, left: Value, right: Value) -> Sequence | None:
    """``left | right`` and the like; None where these are no sets."""
    match left, right:
        case HeapRef(id=one), HeapRef(id=two) if operator in BY_OPERATOR:
            first, second = state.heap[one], state.heap[two]
            if isinstance(first, Sequence) and isinstance(second, Sequence):
                if first.kind in LIKE_SETS and second.kind in LIKE_SETS:
                    kind: SequenceKind = "frozenset" if first.kind == "frozenset" else "set"
                    return BY_OPERATOR[operator](state, collected(state, kind, first.items, first.is_partial), second)
    return None


@method(SET_METHODS, *BY_METHOD)
def combination(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    return HeapRef(state.new(_combined(machine, state, receiver, call, BY_METHOD[call.name])))


@method(SET_METHODS, "update", *(f"{name}_update" for name in BY_METHOD if name != "union"))
def combined_in_place(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    combine = BY_METHOD["union" if call.name == "update" else call.name.removesuffix("_update")]
    replace_members(machine, state, receiver, _combined(machine, state, receiver, call, combine))
    return NONE


def replace_members(machine: Machine, state: State, members: HeapRef, by: Sequence) -> None:
    """Let a set have the members of another one."""
    changed(machine, state, members.id)
    thing = state.edit(members.id, Sequence)
    thing.items, thing.is_partial = by.items, by.is_partial


def _combined(machine: Machine, state: State, receiver: HeapRef, call: Call, combine: Combination) -> Sequence:
    found = state.get(receiver.id, Sequence).copy()
    for other in call.args:
        found = combine(state, found, _members(state, machine.iterate(state, other, call.node)))
    return found


def _members(state: State, items: Items) -> Sequence:
    return collected(state, "set", items.values, not items.exact)


@method(SET_METHODS, "add")
def add(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    known = is_member(state, call.args[0], state.get(receiver.id, Sequence))
    if known:
        return NONE
    if known is None:
        state.edit(receiver.id, Sequence).is_partial = True
    return append(machine, state, receiver, call)


@method(SET_METHODS, "remove", "discard")
def remove(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    thing, removed = state.get(receiver.id, Sequence), Sequence("set", [call.args[0]])
    is_absent = is_member(state, call.args[0], thing) is False
    if call.name == "remove" and is_absent and is_complete(machine, state, receiver.id, not thing.items):
        raise ProgramRaised("KeyError")
    replace_members(machine, state, receiver, reduced(state, thing, removed))
    return NONE
