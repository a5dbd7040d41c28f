"""Whether an iteration would only repeat the one before.

    for images, labels in loader:
        loss = criterion(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()            # the second iteration ends as it began: there is nothing to learn from a third

If every path that begins an iteration is alike to one that began the iteration before, it does what that one did, and
has been told. Alike is what paths are that meet (``merge``), and more: what they hold besides graphs is of the same
kind, gradients have had as many passes and steps, and no number differs that anybody has looked at (``counted``).
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from ..tape import State
from ..tape.gradients import Gradient
from .counted import Counted, is_seen
from .held import Meeting, entries
from .machine import LOOKS, Machine
from .merge import MISSING, Pair
from .values import Const, Mapping, Ref, Sequence, TensorRef, Tuple, Unknown, Value

WORTH = 24
"""Steps of an iteration below which it costs less to run another one than to compare."""
DEPTH = 4
"""How deep containers of plain values are compared."""


class Iteration:
    """One iteration of a loop: what paths it began as, if it is worth to know, and how far the machine was then."""

    def __init__(self, m: Machine, heads: list[State] | tuple[()] = ()) -> None:
        self.m, self.heads, self.begun = m, heads, m.steps

    def next(self, going: list[State], has_rest: bool) -> Iteration:
        """The iteration that begins as ``going``; with ``has_rest`` it may turn out to be the last that is needed. The
        first never is: it takes two to carry something.
        """
        is_worth = has_rest and self.m.steps - self.begun >= WORTH
        return Iteration(self.m, [path.fork() for path in going] if is_worth else ())

    def repeats(self, going: list[State], live: Callable[[list[State]], frozenset[str] | None]) -> bool:
        """Whether all paths that are ``going`` to begin another iteration are alike to those that began this one;
        ``live`` says what names matter.
        """
        if not going or not self.heads:
            return False
        meeting = Meeting(live(going), self.m.running, self.m.settled)
        found = all(any(_alike(self.m, state, head, meeting) for head in self.heads) for state in going)
        self.m.steps += meeting.work // LOOKS
        return found


def _alike(m: Machine, state: State, head: State, meeting: Meeting) -> bool:
    if (
        state.cycles
        or state.retaining  # it is told when it has happened often enough
        or state.grad_mode != head.grad_mode
        or state.packing != head.packing
        or state.frame != head.frame
        or [hook.made for hook in state.hooks.values()] != [hook.made for hook in head.hooks.values()]
        or any(state.choices.get(key) is not taken for key, taken in head.choices.items())  # assumed then, open now
    ):
        return False
    pair = Pair(state, head, m.tape.saved, meeting)
    if not pair.agrees([]) or not all(_same_plain(pair, key, name) for key, name, _ in pair.plain):
        return False
    return _same_gradients(state, head)


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


def _digest(past: Gradient) -> tuple[object, ...]:
    """What is told of a gradient depends on no more than this: a rule asks for passes, not for how many there are."""
    return (
        bool(past.stale),
        min(len(past.fresh), 2),
        past.step is None,
        past.clip is None,
        past.scale is None,
        bool(past.clearings),
        past.idle is None,
        past.perhaps,
        past.doubt,
    )


def _same_plain(pair: Pair, key: int, name: Any) -> bool:
    """Whether values that no graph depends on are of the same kind."""
    mine, yours = pair.state.heap[key], pair.other.heap[key]
    if name is None:
        return _contents(pair, mine, yours, DEPTH) or _longer(pair, key, mine, yours)
    return _plain(pair, entries(mine).get(name, MISSING), entries(yours).get(name, MISSING), DEPTH)


def _plain(pair: Pair, mine: Value, yours: Value, depth: int) -> bool:
    if mine is yours:
        return True
    if isinstance(mine, Counted) and isinstance(yours, Counted):
        return not mine.is_seen and not yours.is_seen
    if type(mine) is not type(yours) or not depth:
        return False
    if isinstance(mine, Unknown) and isinstance(yours, Unknown):
        return mine.why == yours.why and mine.grad is yours.grad
    if isinstance(mine, TensorRef) and isinstance(yours, TensorRef):
        left, right = pair.state.tensors[mine.id], pair.other.tensors[yours.id]
        return left.requires_grad is right.requires_grad and left.sizes == right.sizes and left.kind == right.kind
    if isinstance(mine, Tuple) and isinstance(yours, Tuple):
        same = len(mine.items) == len(yours.items)
        return same and all(_plain(pair, one, two, depth - 1) for one, two in zip(mine.items, yours.items))
    if isinstance(mine, Ref) and isinstance(yours, Ref):
        return _contents(pair, pair.state.heap[mine.id], pair.other.heap[yours.id], depth)
    return not isinstance(mine, Counted) and mine == yours


def _contents(pair: Pair, mine: Any, yours: Any, depth: int) -> bool:
    if isinstance(mine, Sequence) and isinstance(yours, Sequence):
        same = len(mine.items) == len(yours.items) and mine.kind == yours.kind and mine.open == yours.open
        return same and all(_plain(pair, one, two, depth - 1) for one, two in zip(mine.items, yours.items))
    if isinstance(mine, Mapping) and isinstance(yours, Mapping):
        same = mine.items.keys() == yours.items.keys() and mine.open == yours.open
        return same and all(_plain(pair, one, yours.items[name], depth - 1) for name, one in mine.items.items())
    return False


def _longer(pair: Pair, key: int, mine: Any, yours: Any) -> bool:
    """Whether a list has only got more of what it held, and nobody has asked what it holds."""
    if not isinstance(mine, Sequence) or not isinstance(yours, Sequence) or is_seen(key):
        return False
    if mine.kind != yours.kind or mine.open != yours.open or not 0 < len(yours.items) <= len(mine.items):
        return False
    alike = [*yours.items, *[yours.items[-1]] * (len(mine.items) - len(yours.items))]
    return all(_plain(pair, one, two, DEPTH) for one, two in zip(mine.items, alike))


def alike(items: list[Value], index: int) -> int:
    """How many items after the one at ``index`` make an iteration do what that one does."""
    count = 0
    while index + count + 1 < len(items) and _like(items[index], items[index + count + 1]):
        count += 1
    return count


def _like(mine: Value, yours: Value) -> bool:
    """Whether an iteration that was given ``mine`` did what it would do with ``yours``."""
    if isinstance(mine, Counted):
        return not mine.is_seen
    if isinstance(mine, Unknown):
        return isinstance(yours, Unknown) and mine.why == yours.why and mine.grad is yours.grad
    if isinstance(mine, Tuple) and isinstance(yours, Tuple):
        return len(mine.items) == len(yours.items) and all(map(_like, mine.items, yours.items))
    return type(mine) is type(yours) is Const and mine == yours


def uncounted(state: State, target: ast.AST) -> None:
    """A loop has ended before its time: how often it has run is not known."""
    frame = state.heap[state.frame]
    for node in ast.walk(target):
        if isinstance(node, ast.Name) and isinstance(frame.variables.get(node.id), Counted):
            state.edit(state.frame).variables[node.id] = Unknown("index", False)
