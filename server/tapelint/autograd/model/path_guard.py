"""The guard of a path among the paths that are followed, and among all there are.

Where there are too many paths, some are left out (``engine.machine``). If all that go on have taken one side of a
test, what they find does not need that side as far as tapelint has looked, but nothing is known of the other one:

    if a: ...        both ways of nine such tests are 512 paths, of which 8 go on
    if b: ...
    loss.backward()  a hazard on all of the 8 is reported; only if the others have it too, or cannot be, is it an error
"""

from __future__ import annotations

from collections.abc import Iterable

from ...frozen import frozen
from .choices import ALWAYS, Choice, Guard, choosing, chosen_by_selection, either, without


@frozen
class PathGuard:
    """Which choices lead to a path."""

    # Without those that only tell it from paths that were left out.
    followed: Guard = ALWAYS
    # With them. The same object where no path was left out.
    whole: Guard = ALWAYS

    def choosing(self, choice: Choice, taken: bool) -> PathGuard:
        """The guard after the path has made a choice."""
        followed = choosing(self.followed, choice, taken)
        return PathGuard(followed, followed if self._is_one() else choosing(self.whole, choice, taken))

    def either(self, other: PathGuard) -> PathGuard:
        """The guard of two paths that are joined."""
        if self == other:
            return self
        followed = either(self.followed, other.followed)
        is_one = self._is_one() and other._is_one()
        return PathGuard(followed, followed if is_one else either(self.whole, other.whole))

    def _is_one(self) -> bool:
        return self.whole is self.followed


UNGUARDED = PathGuard()


def selected(kept: Iterable[PathGuard], left_out: Iterable[PathGuard]) -> list[PathGuard]:
    """The guards of paths that go on where others are left out, since there are too many."""
    kept = [*kept]
    settled = chosen_by_selection((each.followed for each in kept), (each.followed for each in left_out))
    return [PathGuard(without(each.followed, settled), each.whole) for each in kept]
