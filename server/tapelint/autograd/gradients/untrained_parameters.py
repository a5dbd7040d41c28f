"""Parameters that an optimizer holds and no backward ever reaches.

h = encoder(x).data          # the graph ends here
decoder(h).sum().backward()
opt.step()                   # encoder's parameters are skipped, in every iteration
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence

from ...because import NOTHING, Because
from ..events.training_step import NeverReached
from ..facts import Facts
from ..model.cuts import Cut, CutReason
from ..model.graph import Leaf, Node, Write
from ..model.graph_search import leaf_tensors, reachable
from ..model.program_point import ProgramPoint, earlier_iteration, loop_around
from ..state import AutogradState
from .history import Group, Pass, groups
from .ledger import perhaps_reached

NUMBERS_READ = frozenset((CutReason.ITEM, CutReason.READ, CutReason.NUMBER))
"""Cuts that are made to look at a value, mostly: the graph goes on elsewhere."""


def due(facts: Facts, state: AutogradState, past: Sequence[Group], now: ProgramPoint) -> bool:
    """Whether an optimizer that steps has stepped in an earlier iteration, on a path without doubts: true in one
    iteration for each step of the program, on all paths.
    """
    if facts.training.searched.get(now.node, now.iterations) != now.iterations:
        return False
    before = [step for g, _ in past if (step := g.last_step) is not None]
    if not any(earlier_iteration(step, now) for step in before) or facts.is_in_doubt(state):
        return False
    facts.training.searched[now.node] = now.iterations
    return True


def look(
    facts: Facts,
    state: AutogradState,
    keys: Sequence[int],
    now: ProgramPoint,
    optimizer: ast.expr | None,
    chosen: Callable[[], frozenset[int]],
    is_alone: bool = False,
) -> None:
    """Tell which leaves of an optimizer no backward has reached, in the iterations before this one. Of what is used
    without gradients only those count that were ``chosen`` to be trained: the others are not trained on purpose.

    Where a pass went through the graph of something unknown, it may have reached what that was given. A path that
    ``is_alone`` does not show what others reach.
    """
    if (when := _left_frozen(facts, state, keys, now)) is not None:
        facts.events.publish(NeverReached(point=now, optimizer=optimizer, leaves=tuple(keys), cut=None, frozen=when))
    missed = _missed(facts, state, keys, now)
    if not missed:
        return
    if not any(_is_of_loss(facts, run) for run in _passes(state)):
        return  # there is no loss, or it was computed of nothing on this path: `torch.zeros(1, requires_grad=True)`
    found = _cut(facts, state, frozenset(missed), now, chosen())
    if found is not None:
        if found[1]:
            facts.events.publish(NeverReached(point=now, optimizer=optimizer, leaves=found[1], cut=found[0]))
    elif _has_others(facts, state, missed):
        return  # which is reported by itself
    elif is_alone or state.supposed or _is_reached(facts, missed):
        return  # a mode or a warm-up: other parameters have their turn
    elif len(missed) == len(keys) and (reached := _last_walk(facts, state)) is not None:
        facts.events.publish(
            NeverReached(
                point=facts.going_on(now),
                because=_guessed(state),
                optimizer=optimizer,
                leaves=tuple(missed),
                cut=None,
                made=state.tensors[missed[0]].created_at,
                reached=reached.point,
            )
        )


def _left_frozen(facts: Facts, state: AutogradState, keys: Sequence[int], now: ProgramPoint) -> ProgramPoint | None:
    """Where all leaves of an optimizer were frozen in the first iteration, after this step has used their gradients.
    None where the program makes some of them require grad again, for there are turns then.
    """
    training, frozen = facts.training, [key for key in keys if state.tensors[key].requires_grad is False]
    last = training.frozen_at.get(frozen[-1]) if frozen else None
    if last is None or len(frozen) < len(keys) or not training.unfrozen_at.keys().isdisjoint(keys):
        return None
    steps = {past.step.call_site if past.step is not None else None for past, _ in groups(state, keys)}
    lap = earlier_iteration(last, now)
    is_alike = steps == {now.call_site} and last.guard == now.guard
    return last if lap is not None and lap.number == 1 and is_alike else None


def _missed(facts: Facts, state: AutogradState, keys: Sequence[int], now: ProgramPoint) -> list[int]:
    """The leaves that no pass has reached; none where one may have without our seeing it, through what code that was
    not read has made of them, or in another method.
    """
    unseen = perhaps_reached(state)
    missed = [key for key in keys if key not in unseen and _never(state, key, now)]
    elsewhere = facts.training.shown | facts.training.trained_by_others
    if not elsewhere.isdisjoint(missed):
        return []
    if _guessed(state) is NOTHING:
        return missed
    return missed if leaf_tensors(state.grad_fns(state.escaped)).isdisjoint(missed) else []


def _guessed(state: AutogradState) -> Because:
    """What some pass rests on: it went through the graph of something unknown."""
    return next((run.because for run in _passes(state) if run.because), NOTHING)


def _passes(state: AutogradState) -> Iterator[Pass]:
    """What went backward, and has left gradients."""
    return (run for past in state.history.values() for run in past.passes)


def _is_of_loss(facts: Facts, run: Pass) -> bool:
    """Whether a pass began at what was computed, be it that its graph was cut."""
    origins = facts.provenance_of(run.root)
    return any(isinstance(each, Node) for each in run.begin) or (origins.cut or origins.rewrapped) is not None


def _last_walk(facts: Facts, state: AutogradState) -> Pass | None:
    """What has gone backward last; a root that is a leaf since its graph was cut is reported by itself."""
    known = (run for past in state.history.values() for run in past.passes if not past.doubt)
    walks = [
        run
        for run in known
        if any(isinstance(each, Node) for each in run.begin) or facts.provenance_of(run.root).cut is None
    ]
    return max(walks, key=lambda run: run.stamp, default=None)


def _has_others(facts: Facts, state: AutogradState, missed: Sequence[int]) -> bool:
    """Whether what leaves were made of, or what has taken their name, is trained in their place."""
    if any(facts.provenance_of(key).parameter_of in state.history for key in missed):
        return True
    return any(past.passes and not facts.replaced_by(key).isdisjoint(missed) for key, past in state.history.items())


def _is_reached(facts: Facts, missed: Sequence[int]) -> bool:
    """Whether a backward has reached some of the leaves on another path."""
    return any(not reached.isdisjoint(missed) for reached in facts.training.reached_at.values())


def _never(state: AutogradState, key: int, now: ProgramPoint) -> bool:
    """Whether there never was a gradient, and nothing but the optimizer is known to train the leaf."""
    tensor, past = state.tensors[key], state.history.get(key)
    return (
        is_trainable(state, key)
        and key not in state.grads
        and not is_trained_by(state.writes.get(tensor.version_counter), now)
        and not is_trained_by(state.untracked_writes.get(tensor.storage), now)
        and (past is None or past.never and not past.doubt)
    )


def is_trainable(state: AutogradState, key: int) -> bool:
    """Whether a leaf is known, and is not frozen."""
    tensor = state.tensors[key]
    return tensor.requires_grad is True and tensor.assumption is None


def is_trained_by(write: Write | None, now: ProgramPoint) -> bool:
    """Whether a write may be training by hand: what came before the loop that runs ``now`` only sets a leaf up."""
    return write is not None and (not now.iterations or loop_around(now, write.point) is None)


def _cut(
    facts: Facts, state: AutogradState, missed: frozenset[int], now: ProgramPoint, chosen: frozenset[int]
) -> tuple[Cut, tuple[int, ...]] | None:
    """The first place on this path where the graph of some of ``missed`` was cut, and those of them that are cut in
    this iteration, too: what is cut in an earlier one of a loop alone may be used in that alone.
    """
    first, found, again = None, frozenset[int](), set[int]()
    for cut in _cuts(facts, state):
        is_past = (lap := earlier_iteration(cut.point, now)) is not None and not lap.is_call
        if cut.reason in NUMBERS_READ or first is not None and (is_past or found <= again):
            continue
        leaves = chosen.intersection(cut.leaves) if cut.is_by_mode else cut.leaves
        below = missed.intersection(leaves if cut.source is None else _leaves(cut.source) or ())
        if first is None and below:
            first, found = cut, below
        again |= set() if is_past else below
    return None if first is None else (first, tuple(sorted(found & again)))


def _cuts(facts: Facts, state: AutogradState) -> Iterable[Cut]:
    """The cuts on this path. Those of a graph come last whose result no pass has used, and are left out if what was not
    walked has: an index that was computed beside it is not what the loss goes through. Those of a mode, in which a
    checkpoint runs, too, come after all.
    """
    used = _operands({*state.freed, *state.retained})
    beside = (
        _operands({t.grad_fn for t in state.tensors.values() if t.grad_fn is not None}) - used if used else set[int]()
    )
    keys: dict[Cut, set[int]] = {}
    for key, cut in facts.cuts():
        if key in state.tensors:
            keys.setdefault(cut, set()).add(key)
    is_unused = {cut: cut.source is not None and used.isdisjoint(of) for cut, of in keys.items()}
    left = [cut for cut, of in keys.items() if not is_unused[cut] or beside.isdisjoint(of)]
    return sorted(left, key=lambda cut: (cut.is_by_mode, is_unused[cut]))


def _operands(nodes: Iterable[Node]) -> set[int]:
    return {key for node in nodes for key in node.operand_ids}


def _leaves(node: Node) -> set[int] | None:
    """The leaves below ``node``; None where an assumption leads to them."""
    found: set[int] = set()
    for item in reachable([node]):
        if isinstance(item, Leaf):
            found.add(item.tensor)
        elif item.assumption is not None or not item.certain:
            return None
    return found
