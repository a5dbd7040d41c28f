"""Where the gradients of a leaf come from, and what became of them.

    loss.backward()    # w.grad holds one pass
    opt.step()         # which this step uses
    loss.backward()    # w.grad holds two passes: the first has been used already
    opt.zero_grad()    # both are gone, the second without having been used

``AutogradState.grads`` says which tensor ``.grad`` is; ``AutogradState.history`` holds a ``GradientHistory`` for each
leaf that a backward, a step or a clearing has ever concerned. Records are immutable, and leaves with the same past
share one, so that a pass over a large network makes a few records and not thousands.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from typing import TypeVar

from ...because import NOTHING as NO_REASON
from ...because import Because
from ...bounds import BOUNDS
from ...frozen import frozen
from ..model.graph import Leaf, Node
from ..model.graph_search import nodes_below
from ..model.program_point import ProgramPoint
from ..state import AutogradState, fresh_id


@frozen(eq=False)
class Pass:
    """One backward that added to gradients. ``begin`` is the graph it walked, ``leaves`` are those it reached.

    ``scale`` is the scaling of the loss, if a scaler of mixed precision had scaled it. ``premises`` are the assumed
    conditions, among those that decide what is cleared or stepped, under which the path had come there. ``stamp`` grows
    with time. ``create`` says that the gradients were recorded themselves.
    """

    point: ProgramPoint
    root: int
    begin: tuple[Node | Leaf, ...]
    leaves: tuple[int, ...]
    scale: ProgramPoint | None
    premises: frozenset[Hashable]
    because: Because
    stamp: int
    create: bool = False


@frozen
class Use:
    """What a backward computed was of use: to a step, or, without ``step``, to the program, which looked at it."""

    step: ProgramPoint | None
    stamp: int = 0


@frozen(eq=False)
class Clearing:
    """Gradients went that no step of this leaf had used: those of ``passes``. ``stamp`` grows with time."""

    point: ProgramPoint
    passes: tuple[Pass, ...]
    premises: frozenset[Hashable]
    stamp: int


@frozen
class Idle:
    """A step that looked for a gradient where there had never been one. ``cleared_by`` is the id of the optimizer that
    had cleared them before, so that no caller has left one.
    """

    point: ProgramPoint
    premises: frozenset[Hashable]
    cleared_by: int | None


@frozen(eq=False)
class Clip:
    """Gradients were clipped, by a hook in the backward itself or afterwards; ``scale`` is set where they were still
    multiplied by the scale of the loss.
    """

    point: ProgramPoint
    scale: ProgramPoint | None
    by_hook: bool = False


@frozen(eq=False)
class GradientHistory:
    """The past of one leaf's ``.grad``.

    ``passes`` are what it is the sum of; a step, the last at ``step``, has used the first ``used`` of them. ``clip`` is
    the last clipping of what it holds, perhaps on one of two joined paths only; ``scale`` is set while a scaled loss
    has contributed and no code divided by the scale. ``clearings`` are those since the last step that lost something,
    oldest first. ``idle`` is a step that found no gradient where there had never been one, and no other has followed.
    ``early`` is a clipping that found none. ``perhaps`` says that a step has used them only if some condition held,
    which is forgotten: two paths met that differed in nothing else. ``doubt`` is true where unknown code may have read,
    cleared or changed the gradient; it ``is_passing`` where that concerns only what it is the sum of now. ``because``
    is what is assumed of the optimizer that used or cleared it: that it holds this leaf.
    """

    passes: tuple[Pass, ...] = ()
    used: int = 0
    step: ProgramPoint | None = None
    clip: Clip | None = None
    scale: ProgramPoint | None = None
    clearings: tuple[Clearing, ...] = ()
    idle: Idle | None = None
    early: ProgramPoint | None = None
    perhaps: bool = False
    doubt: bool = False
    is_passing: bool = False
    because: Because = NO_REASON

    @property
    def fresh(self) -> tuple[Pass, ...]:
        """What no step has used yet."""
        return self.passes[self.used :]

    @property
    def stale(self) -> tuple[Pass, ...]:
        """What a step has used already."""
        return self.passes[: self.used]

    @property
    def last_step(self) -> ProgramPoint | None:
        """The last step, whether it has found a gradient or not."""
        return self.step or (self.idle.point if self.idle is not None else None)

    @property
    def never(self) -> bool:
        """Whether there has not been a gradient yet."""
        return not self.passes and self.step is None and not self.clearings


Group = tuple[GradientHistory, tuple[int, ...]]
"""Leaves that have the same past."""

NOTHING = GradientHistory()


def groups(state: AutogradState, leaves: Iterable[int]) -> tuple[Group, ...]:
    """The pasts of ``leaves``, each with those that share it; leaves without a past are left out."""
    found: dict[GradientHistory, list[int]] = {}
    for key in leaves:
        past = state.history.get(key)
        if past is not None:
            found.setdefault(past, []).append(key)
    return tuple((past, tuple(keys)) for past, keys in found.items())


def change(
    state: AutogradState, leaves: Iterable[int], how: Callable[[GradientHistory], GradientHistory], new: bool = True
) -> None:
    """Give each leaf the record that ``how`` makes of its own; with ``new`` also those that have none yet."""
    made: dict[GradientHistory, GradientHistory] = {}
    history = state.history
    for key in leaves:
        past = history.get(key)
        if past is None:
            if not new:
                continue
            past = NOTHING
        then = made.get(past)
        if then is None:
            then = made[past] = how(past)
        history[key] = then


def added(state: AutogradState, leaves: Iterable[int], run: Pass) -> None:
    """A backward added to the gradients of the leaves it reached. What an earlier call or test has left in doubt is
    not this.
    """

    def how(past: GradientHistory) -> GradientHistory:
        if past.is_passing:
            for each in past.passes:
                state.consumed_passes.setdefault(each, Use(None))
            return GradientHistory(passes=(run,), step=past.step, scale=run.scale, because=past.because)
        return replace(
            past,
            passes=(*past.passes, run)[-BOUNDS.passes :],
            used=max(past.used - (len(past.passes) >= BOUNDS.passes), 0),
            clip=None,
            scale=run.scale or past.scale,
        )

    change(state, leaves, how)


def assigned(state: AutogradState, leaf: int, run: Pass) -> None:
    """What a pass computed takes the place of a leaf's gradient."""
    change(state, [leaf], lambda g: replace(g, passes=(run,), used=0, clip=None, scale=None))


def cleared(state: AutogradState, leaves: Iterable[int], point: ProgramPoint, premises: frozenset[Hashable]) -> None:
    """The gradients are gone, or zero."""
    made: dict[tuple[Pass, ...], Clearing] = {}
    stamp = fresh_id()

    def how(past: GradientHistory) -> GradientHistory:
        if not past.fresh:
            return GradientHistory(step=past.step, clearings=past.clearings, idle=past.idle, because=past.because)
        if past.doubt:  # they may have been used, or may have gone before
            return GradientHistory(step=past.step, clearings=past.clearings, because=past.because)
        clearing = made.setdefault(past.fresh, Clearing(point, past.fresh, premises, stamp))
        known = (*past.clearings, clearing)[-BOUNDS.passes :]
        return GradientHistory(step=past.step, clearings=known, because=past.because)

    change(state, leaves, how, new=False)


def stepped(
    state: AutogradState,
    leaves: Iterable[int],
    point: ProgramPoint,
    premises: frozenset[Hashable],
    cleared_by: int | None = None,
) -> None:
    """An optimizer used the gradients, if there were any; the scaler of mixed precision has unscaled them before."""
    before, use, idle = list(leaves), Use(point, fresh_id()), Idle(point, premises, cleared_by)
    in_vain = all(past.never and not past.doubt for past, _ in groups(state, before))

    def how(past: GradientHistory) -> GradientHistory:
        if past.never and not past.doubt:
            return GradientHistory(idle=past.idle or idle, because=past.because) if in_vain else past
        return replace(past, used=len(past.passes), step=point, scale=None, clearings=(), idle=None, early=None)

    for past, _ in groups(state, before):
        state.consumed_passes.update(dict.fromkeys(past.fresh, use))
    change(state, before, how, new=in_vain)


def forget_used(state: AutogradState, leaves: Iterable[int]) -> None:
    """What any code has used of the gradients of leaves counts no more."""
    used = state.consumed_passes
    change(
        state,
        leaves,
        lambda g: replace(g, passes=tuple(run for run in g.fresh if run not in used), used=0) if g.passes else g,
    )


def clipped(state: AutogradState, leaves: Iterable[int], point: ProgramPoint, by_hook: bool = False) -> None:
    change(state, leaves, lambda g: replace(g, clip=Clip(point, g.scale, by_hook)), new=False)


def clipped_early(state: AutogradState, leaves: Iterable[int], point: ProgramPoint) -> None:
    """Gradients were to be clipped, and there was none yet."""
    early = list(leaves)
    if not any(past.passes or past.doubt for past, _ in groups(state, early)):
        change(state, early, lambda g: replace(g, early=point), new=False)


def has_clipped_early(state: AutogradState) -> bool:
    """Whether gradients were clipped before there were any, and no step has followed."""
    return any(past.early is not None for past in state.history.values())


def unscaled(state: AutogradState, leaves: Iterable[int]) -> None:
    change(state, leaves, lambda g: replace(g, scale=None), new=False)


def doubted(state: AutogradState, leaves: Iterable[int] | None = None, is_passing: bool = False) -> None:
    """Unknown code may have done anything to the gradients (of all leaves, if none are named)."""
    touched = list(state.history if leaves is None else leaves)

    def how(past: GradientHistory) -> GradientHistory:
        passing = is_passing and (past.is_passing or not past.doubt)
        return past if past.doubt and past.is_passing is passing else replace(past, doubt=True, is_passing=passing)

    change(state, touched, how, new=leaves is not None)


def assumed(state: AutogradState, leaves: Iterable[int], because: Because) -> None:
    """All that an optimizer does to the gradients of these leaves rests on ``because``."""
    change(state, leaves, lambda g: g if g.because == because else replace(g, because=because))


def looked_at(state: AutogradState, leaf: int | None) -> None:
    """The program reads a gradient, or (None) one we do not know: that is a use of the backward that made it."""
    pasts = [state.history.get(leaf)] if leaf is not None else dict.fromkeys(state.history.values())
    for past in pasts:
        if past is not None:
            for run in past.passes:
                state.consumed_passes.setdefault(run, Use(None))


def has_idle(state: AutogradState) -> bool:
    """Whether a step has looked for gradients of what requires grad where there had never been one."""
    return any(past.idle and past.never and state.tensors[key].requires_grad for key, past in state.history.items())


def wasted(state: AutogradState, run: Pass) -> bool:
    """Whether no code used what a backward computed, and no code can any more."""
    if run in state.consumed_passes:
        return False
    return not any(run in past.passes or past.doubt for past, _ in groups(state, run.leaves))


def leads_through(run: Pass, network: frozenset[int], other: frozenset[int]) -> bool:
    """Whether a pass went through operations that use leaves of ``network`` to reach leaves of ``other``: the network
    was only a passage. It was not if each of its leaves is also used where nothing of ``other`` lies below: that part
    of the pass is about the network itself.
    """
    found = nodes_below(item for item in run.begin if isinstance(item, Node))
    leading: set[Node] = set()
    passed, ended = set[int](), set[int]()
    for node in sorted(found, key=lambda node: node.id):  # what a node depends on is older than it is
        if any(i.tensor in other if isinstance(i, Leaf) else i in leading for i in node.inputs):
            leading.add(node)
        used = {i.tensor for i in node.inputs if isinstance(i, Leaf) and i.tensor in network}
        (passed if node in leading else ended).update(used)
    return not passed <= ended


def met(state: AutogradState, other: AutogradState) -> None:
    """Two paths become one: ``other`` keeps what both agree on."""
    mine, yours = state.history, other.history
    joined: dict[tuple[GradientHistory, GradientHistory], GradientHistory] = {}
    for key in (mine.keys() | yours.keys()) & other.tensors.keys():  # a leaf that only the other path has made is gone
        left, right = mine.get(key, NOTHING), yours.get(key, NOTHING)
        if left is right:
            continue
        both = joined.get((left, right))
        if both is None:
            both = joined[left, right] = _agreed(left, right)
        yours[key] = both
    for loop in [key for key in other.evaluation_graphs if key not in state.evaluation_graphs]:
        del other.evaluation_graphs[loop]
    if state.consumed_passes.keys() - other.consumed_passes.keys():
        other.consumed_passes = {**state.consumed_passes, **other.consumed_passes}
    other.unread = max(state.unread, other.unread)
    for key, kept in state.withheld.items():
        other.withheld[key] = other.withheld.get(key, frozenset()) | kept


def _used_by_one(left: GradientHistory, right: GradientHistory) -> bool:
    """Whether a step has used the gradient on one of two paths only."""
    return bool(left.used) is not bool(right.used)


def _is_one_round_ahead(left: GradientHistory, right: GradientHistory) -> bool:
    """Whether one of two paths has gone backward and stepped, and the other has not before what both do now: it left
    an iteration out.
    """
    ahead, behind = (left, right) if left.used else (right, left)
    has_begun = behind.step is not None or behind.idle is not None or bool(behind.clearings)
    fresh = [tuple(run.point for run in each.fresh) for each in (left, right)]
    return not (left.doubt or right.doubt or has_begun) and fresh[0] == fresh[1]


def _contradict(left: GradientHistory, right: GradientHistory) -> bool:
    """Whether one path has used or cleared gradients that the other path still holds."""
    return (
        _used_by_one(left, right)
        or bool(left.fresh) is not bool(right.fresh)
        or bool(left.clearings) is not bool(right.clearings)
    )


T = TypeVar("T")


def _both(left: T | None, right: T | None) -> T | None:
    """What is known of one path, if it is known of the other, too."""
    return right if left else None


def _is_in_doubt(left: GradientHistory, right: GradientHistory) -> bool:
    """Whether a gradient is in doubt on one of two paths, or they went backward to it in different places."""
    walked = {tuple(run.point for run in each.passes) for each in (left, right) if each.fresh}
    return left.doubt or right.doubt or len(walked) == 2


def _agreed(left: GradientHistory, right: GradientHistory) -> GradientHistory:
    """What holds of a leaf's gradient whichever of two joined paths was taken."""
    # Where one path has used or cleared what the other still holds, a test decided it that is forgotten now.
    doubt = _is_in_doubt(left, right)
    if _used_by_one(left, right) and (left.passes == right.passes and not doubt or _is_one_round_ahead(left, right)):
        return replace(left if left.used else right, perhaps=True, clip=None, scale=None, clearings=())
    passing = all(each.is_passing or not each.doubt for each in (left, right))
    if _contradict(left, right):
        return replace(right, doubt=True, is_passing=passing)
    shared = tuple(each for each in right.clearings if each in left.clearings)
    return replace(
        right,
        clip=right.clip or left.clip,  # its point has the choices that lead to it
        scale=_both(left.scale, right.scale),
        clearings=right.clearings if len(left.clearings) == len(right.clearings) else shared,
        idle=_both(left.idle, right.idle),
        early=_both(left.early, right.early),
        perhaps=left.perhaps or right.perhaps,
        doubt=doubt,
        is_passing=doubt and passing,
        because=left.because & right.because,
    )
