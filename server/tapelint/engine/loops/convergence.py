"""Convergence: whether an iteration would only repeat one before.

    for images, labels in loader:
        loss = criterion(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()            # the second iteration ends as it began: there is nothing to learn from a third

If every path that begins an iteration is equivalent to one that began the iteration before, it does what that one did,
which has been reported. The same holds for a loop that is run again in another epoch, if it begins like a stable
iteration of its last run. More is compared than at a join (``domain.equivalence``): values without a graph are of the
same kind, gradients have had as many passes and steps, and no induction value differs that was observed
(``domain.induction``).
"""

from __future__ import annotations

import ast
from collections import abc
from collections.abc import Hashable
from typing import Any

from ...autograd.gradients.history import GradientHistory
from ...bounds import BOUNDS
from ...domain.equivalence import MISSING, Bisimulation, Partly
from ...domain.facets import is_facet
from ...domain.induction import InductionValue, Observations, raw_value
from ...domain.join import havoc
from ...domain.reachability import JoinPoint, LocalJoinPoint
from ...domain.state import State
from ...domain.traversal import entries
from ...domain.values import (
    BuiltinMethod,
    Const,
    Due,
    Frame,
    HeapObject,
    HeapRef,
    Instance,
    Mapping,
    MissingGrad,
    Origin,
    Sequence,
    TensorRef,
    Tuple,
    Unknown,
    Value,
    unknown_number,
)
from ...frozen import frozen
from ..machine import Machine

Live = frozenset[str] | None

DISTINGUISHED = frozenset((Origin.BATCH, Origin.LOADER))
"""Where an unknown value comes from, if that makes a difference."""


class IterationProbe:
    """One iteration of a loop that is watched for a repeating state."""

    def __init__(self, machine: Machine, heads: abc.Sequence[State] = ()) -> None:
        self.machine = machine
        # The paths that began it; empty where a comparison would cost more than another iteration.
        self.heads = heads
        # The fuel that was used when it began.
        self.begun = machine.fuel_used

    def next(self, going: list[State], has_rest: int) -> IterationProbe:
        """The iteration that begins as ``going``; with ``has_rest`` it may turn out to be the last that is needed. The
        first never is: it takes two to carry something.
        """
        is_worth = has_rest and self.machine.fuel_used - self.begun >= BOUNDS.cheap_iteration
        return IterationProbe(self.machine, [path.fork() for path in going] if is_worth else ())

    def ended(self, going: list[State], item: Value, live: abc.Callable[[list[State]], Live]) -> StableIteration | None:
        """The round that it was, given ``item``, if all paths that are ``going`` to begin another iteration are alike
        to those that began this one; ``live`` says what names matter.
        """
        machine = self.machine
        if not self.heads or not going:
            return None
        touched = frozenset(what for what, when in machine.unit.iteration_facts.accessed.items() if when >= self.begun)
        found = StableIteration(self.heads, item, [node for node, _ in machine.context.call_stack], touched)
        return found if found.pairs(machine, going, live(going)) is not None else None


@frozen
class StableIteration:
    """An iteration that ended as it had begun."""

    # The paths that began it.
    heads: abc.Sequence[State]
    # The item that it was given.
    item: Value
    # The functions that were running.
    running: list[ast.AST]
    # Attributes of objects, and names of other scopes, that it read or set: heap id and name.
    touched: frozenset[tuple[int, str]]
    # Whether a path has left the loop in it.
    is_left: bool = False

    def covers(self, machine: Machine, going: list[State], items: list[Value], live: Live, binds: Live) -> bool:
        """Whether a loop that paths are ``going`` to begin once more, for ``items``, has nothing new to tell. If so,
        they have forgotten what plain values it would have changed, where it would have run for the first time: then it
        is known what it ``binds``.
        """
        if not all(_like(self.item, item) for item in items) or self.running != [
            node for node, _ in machine.context.call_stack
        ]:
            return False
        found = self.pairs(machine, going, live)
        if binds is not None:
            for pair in found or ():
                havoc(pair, pair.state, [change for change in pair.plain if self._changes(pair, *change, binds)])
        return found is not None

    def pairs(self, machine: Machine, going: list[State], live: Live) -> list[Bisimulation] | None:
        """All paths, each beside one that began this iteration and that it is alike to; None if one has no such."""
        # Hooks, and code that a generator yields to, reach what the running scope does not.
        is_alone = not machine.context.consumers and not any(path.hooks for path in going)
        meeting = (LocalJoinPoint if is_alone else JoinPoint)(live, machine.context.call_stack, machine.frozen_contents)
        found: list[Bisimulation] = []
        for state in going:
            pair = next((pair for head in self.heads if (pair := self._pair(machine, state, head, meeting))), None)
            if pair is None:
                break
            found.append(pair)
        machine.fuel_used += meeting.work // machine.limits.comparisons_per_fuel
        return found if len(found) == len(going) else None

    def _pair(self, machine: Machine, state: State, head: State, meeting: JoinPoint) -> Bisimulation | None:
        assumption = head.path_condition.items()
        if not _begins_like(state, head) or any(
            state.path_condition.get(key) is not taken and not _is_past(key, head, meeting) for key, taken in assumption
        ):
            return None
        pair = Bisimulation(state, head, machine.facts, meeting)
        here = state.frame, head.frame
        if here[0] != here[1] and not pair.things(state.heap[here[0]], head.heap[here[1]], here):
            return None
        is_alike = (
            pair.is_equivalent([])
            and all(self._same_plain(machine.observations, pair, mine, yours, name) for mine, yours, name in pair.plain)
            and _same_gradients(state, head)
        )
        return pair if is_alike else None

    def _same_plain(self, observations: Observations, pair: Bisimulation, left: int, right: int, name: Any) -> bool:
        """Whether values that no graph depends on are of the same kind, or were of no use to any code."""
        mine, yours = pair.state.heap[left], pair.other.heap[right]
        if name is Partly.EXTENT:
            return _holds_more(mine) <= _holds_more(yours)
        if name is None or name is Partly.ITEMS:
            if not observations.has(left, right) or _contents(pair, mine, yours, BOUNDS.compared_depth):
                return True
            return not observations.has(left) and _longer(pair, mine, yours)
        own = (
            isinstance(mine, Instance) and isinstance(mine.kind, HeapRef) and not is_facet(name) and name != "training"
        )
        if own or isinstance(mine, Frame) and left != pair.state.frame:
            if self.touched.isdisjoint(((left, name), (right, name))):
                return True
        return _plain(pair, entries(mine).get(name, MISSING), entries(yours).get(name, MISSING), BOUNDS.compared_depth)

    def _changes(self, pair: Bisimulation, left: int, right: int, name: Any, binds: frozenset[str]) -> bool:
        """Whether such an iteration may have changed a plain value."""
        if left == pair.state.frame:
            return name in binds
        is_known = isinstance(pair.state.heap[left], (Frame, Instance))
        return not is_known or not self.touched.isdisjoint(((left, name), (right, name)))


def _is_past(key: Hashable, head: State, meeting: JoinPoint) -> bool:
    """Whether no code asks again for what was assumed at ``head``: it was said of the number of an iteration, or of
    something that no code holds.
    """
    if isinstance(key, InductionValue):
        return True
    if isinstance(key, BuiltinMethod):
        return _is_past(key.receiver, head, meeting)
    if isinstance(key, tuple) and not (key and isinstance(key[0], int)):
        return any(_is_past(part, head, meeting) for part in key)
    tensor = key.tensor_id if isinstance(key, Unknown) else key[0] if isinstance(key, tuple) else None  # its contents
    return tensor is not None and meeting.live is not None and tensor not in meeting.reachable(head).tensors


def _begins_like(state: State, head: State) -> bool:
    """Whether an iteration that begins on ``state`` runs in the modes, and under the hooks, of one that began on
    ``head``, and no graph grows from one to the next.
    """
    return (
        not state.cycles
        and not state.retaining  # it is reported when it has happened often enough
        and state.grad_mode == head.grad_mode
        and state.evaluated == head.evaluated
        and state.saved_tensor_override == head.saved_tensor_override
        and [hook.made for hook in state.hooks.values()] == [hook.made for hook in head.hooks.values()]
    )


def _same_gradients(state: State, head: State) -> bool:
    """Whether gradients have had the same done to them; leaves that were made since, what some leaf had before."""
    known = {_digest(past) for past in dict.fromkeys(head.history.values())}
    for key, past in state.history.items():
        before = head.history.get(key)
        if before is None and key not in head.tensors:
            if _digest(past) not in known:
                return False
        elif past is not before and (before is None or _digest(past) != _digest(before)):
            return False
    return True


def _digest(past: GradientHistory) -> tuple[object, ...]:
    """What is reported of a gradient depends on no more than this: a rule asks for passes, not for how many there
    are.
    """
    return (
        bool(past.stale),
        min(len(past.fresh), 1 if past.doubt else 2),
        past.step is None,
        past.clip is None,
        past.scale is None,
        bool(past.clearings),
        past.idle is None,
        past.perhaps,
        past.doubt,
        past.is_passing,
    )


def _plain(pair: Bisimulation, mine: Value, yours: Value, depth: int) -> bool:
    if mine is yours:
        return True
    if isinstance(mine, (Const, Unknown)) and isinstance(yours, InductionValue):
        return mine == yours or not yours.is_observed and not (isinstance(mine, InductionValue) and mine.is_observed)
    if isinstance(mine, Const) and isinstance(yours, Unknown):
        return type(raw_value(mine)) in (int, float)  # an iteration that knows no number does what it does with any
    if type(mine) is not type(yours) or not depth:
        return False
    if isinstance(mine, Tuple) and isinstance(yours, Tuple):
        return _all_plain(pair, mine.items, yours.items, depth - 1)
    if isinstance(mine, HeapRef) and isinstance(yours, HeapRef):
        return _contents(pair, pair.state.heap[mine.id], pair.other.heap[yours.id], depth)
    return _same_facts(pair, mine, yours)


def _same_facts(pair: Bisimulation, mine: Value, yours: Value) -> bool:
    """Whether the same is known of two values of one kind that hold no others."""
    if isinstance(mine, Unknown) and isinstance(yours, Unknown):
        return mine.requires_grad is yours.requires_grad and (
            mine.origin is yours.origin or DISTINGUISHED.isdisjoint((mine.origin, yours.origin))
        )
    if isinstance(mine, TensorRef) and isinstance(yours, TensorRef):
        left, right = pair.state.tensors[mine.id], pair.other.tensors[yours.id]
        known = right.sizes in (None, left.sizes) and right.kind in (None, left.kind)
        return left.requires_grad is right.requires_grad and known
    return not isinstance(mine, InductionValue) and mine == yours


def _all_plain(pair: Bisimulation, mine: abc.Sequence[Value], yours: abc.Sequence[Value], depth: int) -> bool:
    return len(mine) == len(yours) and all(_plain(pair, one, two, depth) for one, two in zip(mine, yours))


def _contents(pair: Bisimulation, mine: Any, yours: Any, depth: int) -> bool:
    if isinstance(mine, Sequence) and isinstance(yours, Sequence):
        same = mine.kind == yours.kind and mine.is_partial == yours.is_partial
        return same and _all_plain(pair, mine.items, yours.items, depth - 1)
    if isinstance(mine, Mapping) and isinstance(yours, Mapping):
        same = mine.items.keys() == yours.items.keys() and mine.is_partial == yours.is_partial
        return same and all(_plain(pair, one, yours.items[name], depth - 1) for name, one in mine.items.items())
    return False


def _holds_more(thing: HeapObject) -> bool:
    return isinstance(thing, (Sequence, Mapping, Instance)) and thing.is_partial


def _longer(pair: Bisimulation, mine: Any, yours: Any) -> bool:
    """Whether a list has only got more of what it held."""
    if not isinstance(mine, Sequence) or not isinstance(yours, Sequence):
        return False
    if mine.kind != yours.kind or mine.is_partial != yours.is_partial or not 0 < len(yours.items) <= len(mine.items):
        return False
    alike = [*yours.items, *[yours.items[-1]] * (len(mine.items) - len(yours.items))]
    return all(_plain(pair, one, two, BOUNDS.compared_depth) for one, two in zip(mine.items, alike))


def alike(items: list[Value], index: int) -> int:
    """How many items after the one at ``index`` make an iteration do what that one does."""
    count = 0
    while index + count + 1 < len(items) and _like(items[index], items[index + count + 1]):
        count += 1
    return count


def _like(mine: Value, yours: Value) -> bool:
    """Whether an iteration that was given ``mine`` did what it would do with ``yours``."""
    if isinstance(mine, InductionValue):
        return not mine.is_observed
    if isinstance(mine, Unknown):
        if isinstance(yours, InductionValue):
            return mine.origin is Origin.NUMBER  # any number
        return isinstance(yours, Unknown) and _known_of(mine) == _known_of(yours)
    if isinstance(mine, Tuple) and isinstance(yours, Tuple):
        return len(mine.items) == len(yours.items) and all(map(_like, mine.items, yours.items))
    if isinstance(mine, Due) and isinstance(yours, Due):
        return mine.receiver == yours.receiver and _like_index(mine.index, yours.index)
    return type(mine) in EXACT and type(yours) in EXACT and mine == yours


EXACT = (Const, MissingGrad)
"""Constants that do not depend on the number of an iteration."""


def _known_of(value: Unknown) -> tuple[Origin, str, bool | None]:
    return value.origin, value.note, value.requires_grad


def _like_index(mine: Const | None, yours: Const | None) -> bool:
    """Whether two items are due alike: of ``__next__``, or of ``__getitem__`` for numbers that no test separates."""
    return mine is yours or mine is not None and yours is not None and _like(mine, yours)


def uncounted(state: State, target: ast.AST) -> None:
    """A loop has ended before its time: how often it has run is not known."""
    frame = state.get(state.frame, Frame)
    for node in ast.walk(target):
        if isinstance(node, ast.Name) and isinstance(frame.variables.get(node.id), InductionValue):
            state.edit(state.frame, Frame).variables[node.id] = unknown_number()
