"""Paths that are not followed to their end: Python itself raised and nothing caught that, or there were too many.

What keeps another path from being one of them is no choice that a finding depends on, as far as tapelint has seen. That
Python raises there is decided; what is beyond a path that was left out is not known, so it makes no error.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ...autograd.model.choices import ALWAYS, Conjunction, Guard, PathGuard, Subject, literals_of, selected
from ...bounds import BOUNDS
from ...domain.state import State


@dataclass(slots=True)
class AbandonedPaths:
    """The guards of the paths of one unit that ended beside others that went on."""

    # In order, each once.
    guards: dict[Conjunction, None] = field(default_factory=dict)
    # Those where Python raised, whole.
    raised: dict[Conjunction, None] = field(default_factory=dict)

    def raise_at(self, path: State, going: Iterable[State]) -> PathGuard:
        """A path ends, since Python raises there: what leads to it. What tells those that go on from it is on its way
        even where it is the usual side of a test, which its guard leaves out.
        """
        usual = frozenset(
            (choice, not taken)
            for choice, taken in literals_of(*(each.guard.whole for each in going))
            if path.path_condition.get(choice.formula) is (not taken)
        )
        followed, whole = (tuple(each | usual for each in guard) for guard in (path.guard.followed, path.guard.whole))
        _add(self.guards, followed)
        _add(self.raised, whole)
        return PathGuard(followed, whole)

    def select(self, going: Sequence[State], left_out: Sequence[State]) -> None:
        """What tells paths that go on from those that do not, since there are too many, is none of their choices."""
        self.leave_out(left_out)
        guards = selected((path.guard for path in going), (path.guard for path in left_out))
        for path, settled in zip(going, guards):
            path.guard = settled

    def leave_out(self, paths: Iterable[State]) -> None:
        """Paths are not followed any further, and nothing is known of what is beyond them."""
        for path in paths:
            way = path.guard.followed
            if all(choice.subject is Subject.FLAG for choice, _ in literals_of(way)):
                _add(self.guards, way)

    def merge_from(self, other: AbandonedPaths) -> None:
        """Take those of another unit, however many."""
        self.guards |= other.guards
        self.raised |= other.raised


def _add(known: dict[Conjunction, None], guard: Guard) -> None:
    """Add the guard of a path, unless it is reached whatever the tests give: that keeps no other path from it."""
    if len(known) < BOUNDS.abandoned and guard != ALWAYS:
        known.update(dict.fromkeys(guard))
