"""Which paths go on where there are too many.

Some do, evenly, so that no branch is preferred for standing first. If all of these took one side of a test, nothing
would be seen of the other side; so a path of each side is among them, as far as there is room. One of those that run
what follows, or return something (``continue`` does neither), and need the least of the data is among them, too: what
the others show may need more than programs usually do.

    TT TF FT FF      of four paths two go on: not TT and FT, but TT and FF
"""

from __future__ import annotations

from collections.abc import Sequence

from ...autograd.model.choices import EITHER, Literal, chosen_by_selection, literals_of
from ...domain.completion import Return
from ...domain.state import State
from ...domain.values import NONE


def going_on(paths: Sequence[State], most: int) -> list[State]:
    """So many of ``paths``, in their order."""
    going = _with_the_usual(_evenly(paths, most), paths)
    left_out = [path for path in paths if path not in going]
    if not chosen_by_selection((p.guard.whole for p in going), (p.guard.whole for p in left_out)):
        return going
    both = _on_both_sides(paths, most)
    more = _evenly([path for path in paths if path not in both], most - len(both))
    return _with_the_usual([path for path in paths if path in both or path in more], paths)


def _with_the_usual(going: list[State], paths: Sequence[State]) -> list[State]:
    """``going``, with one of the ``paths`` that need the least in place of the one that needs the most."""
    needs = {path: _needs(path) for path in paths}
    usual = min(paths, key=lambda path: needs[path])
    if not going or any(needs[path] == needs[usual] for path in going):
        return going
    unusual = max(going, key=lambda path: needs[path])
    return [path for path in paths if path is usual or path in going and path is not unusual]


def _needs(path: State) -> tuple[bool, int]:
    """Whether a path leaves out the statements that follow with nothing to show for it, and how many choices about the
    values of data, or about whether something is empty or None, it needs.
    """
    whole = path.guard.whole
    needed = frozenset(each for each in literals_of(whole) if each[0].subject not in EITHER or _is_absent(each))
    gives = isinstance(path.completion, Return) and path.completion.value != NONE
    leaves = path.completion is not None and not gives
    return leaves, min((len(each & needed) for each in whole), default=0) if needed else 0


def _is_absent(literal: Literal) -> bool:
    """Whether it says that something unknown is None."""
    choice, taken = literal
    return taken and isinstance(choice.formula, tuple) and choice.formula[0] == "Is" and choice.formula[2] == NONE


def _evenly(paths: Sequence[State], most: int) -> list[State]:
    return [paths[index * len(paths) // most] for index in range(most)]


def _on_both_sides(paths: Sequence[State], most: int) -> list[State]:
    """Few paths that have together taken all sides of tests that any of ``paths`` has taken, if so many are enough."""
    flags = {path: _flags(path) for path in paths}
    chosen, seen = list[State](), set[Literal]()
    while len(chosen) < most:
        best = max(paths, key=lambda path: len(flags[path] - seen))
        if not flags[best] - seen:
            break
        chosen.append(best)
        seen |= flags[best]
    return chosen


def _flags(path: State) -> set[Literal]:
    return {literal for literal in literals_of(path.guard.whole) if literal[0].subject in EITHER}
