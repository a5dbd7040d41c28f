"""What earlier backward passes left alive, and who comes back to it.

    for x in data:
        h = cell(x, h)
        h.sum().backward(retain_graph=True)   # iteration 2 walks the graph of iteration 1 again

A graph that was retained, or that had saved nothing, may be walked again without any error: the passes add the same
gradients once more, or gradients of weights that have changed since.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Sequence

from ...frozen import frozen
from ..events.graph_walks import RetainedGraphReached, RetainedOutside, RetainedUnused, WalkedAgain
from ..facts import Facts, Training
from ..gradients.history import NOTHING, groups
from ..model.graph import BackwardPass, Leaf, Node, SavedTensor, Write
from ..model.graph_search import leaf_tensors, reachable
from ..model.program_point import Iteration, ProgramPoint, earlier_iteration, loop_around
from ..state import AutogradState


@frozen
class RetainedPass:
    """A backward pass with ``retain_graph=True``, and the nodes that kept what they had saved because of it.

    ``idle`` counts the passes of this statement, up to this one, that no later one has used. After the pass at ``past``
    there were as many as show that none is for a later iteration.
    """

    freed: BackwardPass
    nodes: frozenset[Node]
    idle: int = 0
    past: ProgramPoint | None = None


Path = Callable[[Node], tuple[Node, ...]]


def come_back(
    facts: Facts,
    state: AutogradState,
    node: Node,
    now: BackwardPass,
    path: Path,
    spoiled: tuple[Node, SavedTensor, Write] | None,
) -> None:
    """A pass has reached ``node``: tell if an earlier iteration's pass retained it."""
    past = state.retained.get(node)
    if (
        past is None
        or earlier_iteration(past.point, now.point) is None
        or earlier_iteration(node.created_at, now.point) is None
    ):
        return
    facts.training.walked_later.add(node.created_at.call_site)
    way = path(node)
    if now.root is not None and all(n.certain and not n.assumption for n in way):
        facts.events.publish(
            RetainedGraphReached(point=now.point, node=node, past=past, path=way, root=now.root, spoiled=spoiled)
        )


def finished(
    facts: Facts, state: AutogradState, ran: Sequence[Node], now: BackwardPass, retains: bool, records: bool, path: Path
) -> None:
    """A pass has run ``ran``, and ``records`` a graph of the gradients: tell what it walked again, and remember what
    it retained.
    """
    _again(facts, state, ran, now)
    _note_walked(facts.training, state, ran, now, records)
    # Of a pass to leaves that are not known it is not known what it ran: at most all there is.
    perhaps = ran or [item for item in reachable(now.begin) if isinstance(item, Node)]
    needed(facts, state, set(perhaps))
    if retains:
        old = [n for n in ran if n.saves_anything and n in state.retained]
        # Two earlier iterations: then the third walks both, the fourth three, and so on.
        if len({lap for n in old if (lap := earlier_iteration(n.created_at, now.point)) is not None}) > 1:
            come_back(facts, state, old[0], now, path, None)
        _outside(facts, state, ran, now, path)
        for item in ran:
            state.retained.setdefault(item, now)
        _retained(state, frozenset(n for n in perhaps if n.saves_anything), now)


def _note_walked(
    training: Training, state: AutogradState, ran: Sequence[Node], now: BackwardPass, records: bool
) -> None:
    """What was walked on some path, what again in another iteration, and what by a pass after which the loss does not
    go on.
    """
    sites = {n.created_at.call_site for n in ran}
    training.walked |= sites
    kept = ((n, state.retained[n].point.iterations) for n in ran if n in state.retained)
    training.walked_later.update(n.created_at.call_site for n, laps in kept if laps != now.point.iterations)
    if not records:
        training.walked_last |= sites


def needed(facts: Facts, state: AutogradState, nodes: Collection[Node]) -> None:
    """A pass has reached ``nodes``: what was retained of them was retained for that, on this path, and so on another
    one on which none does.
    """
    used = (statement for statement, walk in state.retaining.items() if not walk.nodes.isdisjoint(nodes))
    facts.training.retained_for_use.update(used)


def _outside(facts: Facts, state: AutogradState, ran: Sequence[Node], now: BackwardPass, path: Path) -> None:
    """Tell of a graph that was built before the loop, and retained for nothing but to be walked in every iteration: no
    optimizer was given what it leads to.
    """
    item = next((n for n in ran if n.saves_anything and n in state.retained and n.certain), None)
    around = _built_before(state.retained[item], item, now) if item is not None else None
    if item is None or around is None or now.root is None:
        return
    below, way = leaf_tensors([item]), path(item)
    if _is_for_nothing(facts, state, below, leaf_tensors(now.begin)) and all(
        n.certain and not n.assumption for n in way
    ):
        top = next(i for i, n in enumerate(way) if loop_around(now.point, n.created_at) == around)
        facts.events.publish(
            RetainedOutside(
                point=now.point,
                node=way[top],
                past=state.retained[item],
                path=way[: top + 1],
                root=now.root,
                leaves=tuple(sorted(below)),
            )
        )


def _built_before(past: BackwardPass, item: Node, now: BackwardPass) -> Iteration | None:
    """The running iteration of a loop that had not begun when ``item`` was made, and of which ``past`` is an earlier
    one.
    """
    lap, around = earlier_iteration(past.point, now.point), loop_around(now.point, item.created_at)
    return around if lap is not None and around is not None and around.run == lap.run else None


def _is_for_nothing(facts: Facts, state: AutogradState, below: set[int], reached: set[int]) -> bool:
    """Whether no code uses the gradients of leaves, as far as it is known, and steps use those of others."""
    stepped = (past.step is not None for past, _ in groups(state, reached - below))
    return bool(below) and any(stepped) and all(_is_unused(facts, state, key) for key in below)


def _is_unused(facts: Facts, state: AutogradState, key: int) -> bool:
    tensor, gradient = state.tensors[key], state.history.get(key, NOTHING)
    if key in facts.training.optimized or key in facts.training.wanted_gradients or tensor.assumption is not None:
        return False
    return tensor.requires_grad is True and gradient.step is None and not gradient.doubt


def _retained(state: AutogradState, kept: frozenset[Node], now: BackwardPass) -> None:
    """Count how often a statement has retained without a later use; twice is reported, once may be for an iteration to
    come.
    """
    last = state.retaining.get(now.point.node)
    idle, past = 0, None
    if last is not None and (lap := earlier_iteration(last.freed.point, now.point)) is not None:
        idle = last.idle + 1
        past = last.freed.point if kept and idle >= (1 if isinstance(lap.loop, ast.FunctionDef) else 2) else None
    nodes = kept | (last.nodes if last else frozenset())
    state.retaining[now.point.node] = RetainedPass(now, nodes, idle, past)


def forget(facts: Facts, state: AutogradState, held: Collection[Node]) -> None:
    """A function returns, or the path ends, and ``held`` is what can still be reached: what else was retained is gone
    with its names, and nothing has used it.
    """
    for statement, walk in list(state.retaining.items()):
        if walk.nodes.isdisjoint(held):
            del state.retaining[statement]
            if walk.past is not None and statement not in facts.training.retained_for_use:
                facts.events.publish(RetainedUnused(point=walk.freed.point, past=walk.past))


def _again(facts: Facts, state: AutogradState, ran: Sequence[Node], now: BackwardPass) -> None:
    """Find the uppermost nodes of an earlier iteration's graph among ``ran`` and tell what comes of walking them."""
    past = {n: walk for n in ran if (walk := _earlier(state, n, now)) is not None}
    if not past:
        return
    fresh = [n for n in ran if n not in past]
    below = {child for n in fresh for child in n.inputs}
    for item in ran:
        if item not in past or item not in below or not item.certain:
            continue
        found = _walked_again(state, item, past[item], fresh, now)
        if found is not None:
            facts.events.publish(found)
            return


def _walked_again(
    state: AutogradState, item: Node, walk: BackwardPass, fresh: Sequence[Node], now: BackwardPass
) -> WalkedAgain | None:
    """What comes of walking a node that ``walk`` has walked before: the whole loss goes backward once more, or one of
    the nodes that are ``fresh`` differentiates by values from before a write.
    """
    retained = item in state.retained
    if retained and earlier_iteration(item.created_at, now.point) is not None:
        return None  # carried on, and kept alive on purpose: come_back tells that
    whole = item in walk.begin and item not in now.begin
    reader = next((n for n in fresh if n.saved and any(each == item for each in reachable([n]))), None)
    leaf, write = next(_written(state, item), (-1, None))
    if not (whole and not retained or write is not None and reader is not None):
        return None
    root = now.root if now.root is not None else -1
    return WalkedAgain(
        point=now.point, node=item, past=walk, root=root, whole=whole, stale=write, leaf=leaf, reader=reader
    )


def _earlier(state: AutogradState, node: Node, now: BackwardPass) -> BackwardPass | None:
    """The pass of an earlier iteration that has walked ``node``."""
    walk = state.freed.get(node)
    if walk is None or walk is now:
        walk = state.retained.get(node)
    return walk if walk is not None and earlier_iteration(walk.point, now.point) is not None else None


def _written(state: AutogradState, node: Node) -> Iterator[tuple[int, Write]]:
    """The leaves below ``node`` that were written since it was made, if it holds values of its own: a view follows its
    leaf.
    """
    memories = {state.tensors[key].storage for key in node.results if key in state.tensors}
    for item in (each for each in reachable([node]) if isinstance(each, Node)):
        for child in item.inputs:
            if isinstance(child, Leaf) and (record := state.tensors.get(child.tensor)) is not None:
                write = state.writes.get(record.version_counter)
                if record.storage not in memories and write is not None and write.certain and write.stamp > node.id:
                    yield child.tensor, write
