"""The backward pass: which nodes run, what raises, what is freed.

    loss.backward()   # runs every node between loss and the leaves, then frees what they saved
    loss.backward()   # raises at the first node that had saved something

Nodes run from the youngest to the oldest, as in PyTorch, so the first one that cannot run is the one PyTorch names.

What the steps between two backwards through one graph wrote of it: looked up where the later one raises.

What nodes have saved and some code wrote since.

y = x.exp()        # the node keeps y, version 0
y.add_(1)          # spoiled: y has version 1
y.data.add_(1)     # altered: the same memory, and no version tells
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from ...because import NOTHING, Because, guess
from ...ops.traits import traits_of
from ...source import written
from ..events.graph_walks import (
    MODIFIED,
    SECOND_TIME,
    BackwardRan,
    BackwardWithoutGraph,
    FreedGraphReached,
    LaterUpdate,
    SavedTensorAltered,
    SavedTensorModified,
)
from ..facts import Facts
from ..gradients.history import doubted
from ..gradients.ledger import book, planned
from ..gradients.reference_cycles import closed
from ..gradients.withheld import withhold
from ..model.cuts import BY_HAND, Cut
from ..model.graph import BackwardPass, BackwardResult, Leaf, Node, NodeVisit, SavedTensor, Tensor, Write
from ..model.graph_search import leaf_tensors, nodes_below
from ..model.guesses import guess_below, is_unproven, keeping, prove_networks, unseen_above
from ..model.program_point import ProgramPoint
from ..model.views import edge_of, resolve_view
from ..model.writes import TorchRaises, is_guarded, settled, stepped
from ..state import AutogradState
from .double_backward import DoubleBackward
from .node_hooks import PendingHooks
from .node_hooks import retain as retain_grad
from .retained_graphs import come_back, finished, needed

NO_GRAPH = "element 0 of tensors does not require grad and does not have a grad_fn"


def backward(
    facts: Facts,
    state: AutogradState,
    roots: Sequence[int],
    node: ast.AST,
    retain: bool | None = False,
    create: bool | None = False,
    inputs: Sequence[int] | None = None,
    accumulate: bool = True,
    because: Because = NOTHING,
    inner: bool = False,
) -> list[int]:
    """Run backward from ``roots``; with ``inputs`` only towards them. The leaves that were reached.

    ``retain`` None means unknown: then nothing is known to be freed. ``because`` says on what it rests that there is a
    backward at all; ``inner`` that it runs as part of another one. Raises Refused where PyTorch raises.
    """
    begin = _begin(facts, state, roots, node, because)
    prove_networks(facts.networks.proven_networks, state, begin)
    order, parents, leaves = _planned_walk(facts, state, begin, inputs, accumulate)
    now = BackwardPass(state.point(node), roots[0] if roots else None, tuple(begin))
    check = Check(facts, state, now, parents, order, because)
    sweep = Sweep(check, leaves, PendingHooks(facts, state, order, node, create), accumulate)
    run = planned(facts, state, roots, node, begin, order, leaves, because, create)
    early = any(hook.kind == "accumulated" for hook in state.hooks.values())  # a hook may use the gradients at once
    if accumulate and early:
        book(facts, state, run, run.leaves)
    sweep.run(retain, inputs is not None)
    ran = tuple(sweep.done)
    finished(facts, state, ran, now, retain is True and create is False, create is True, check.path)
    state.changes += 1
    sweep.finish()
    if accumulate and inputs:
        _retain_inputs(state, inputs, parents, node)
    reached = sweep.reached(leaves)
    facts.training.reached_at[node] = facts.training.reached_at.get(node, frozenset()).union(reached)
    if accumulate and not inner and not early:
        book(facts, state, run, reached)
    if create and accumulate:
        closed(facts, state, ran, reached, now.point)
    if not inner:
        facts.events.publish(
            BackwardRan(
                point=state.point(node),
                root=-1 if now.root is None else now.root,
                ran=ran,
                reached=tuple(reached),
                frees=retain is False,
                retains=retain is True,
                accumulates=accumulate,
                halted=check.halted,
                withheld=withhold(facts, state, ran, now, inputs, accumulate),
            )
        )
    return reached


def _planned_walk(
    facts: Facts, state: AutogradState, begin: Sequence[Node | Leaf], inputs: Sequence[int] | None, accumulate: bool
) -> tuple[list[Node], dict[Node, Node | None], list[Leaf]]:
    """What a pass runs, youngest first, the node each was first reached from, and the leaves that get a gradient."""
    order, parents, leaves = _walk(begin)
    facts.running.nodes_visited += len(order)
    if inputs is not None:
        order, leaves = _towards(state, order, leaves, inputs, accumulate)
    if accumulate:
        leaves = [item for item in leaves if state.tensors[item.tensor].requires_grad is not False]  # frozen since
    return order, parents, leaves


def _retain_inputs(
    state: AutogradState, inputs: Iterable[int], parents: dict[Node, Node | None], node: ast.AST
) -> None:
    """``inputs=`` that are no leaves get a ``.grad`` too, as if they retained it."""
    for key in inputs:
        if resolve_view(state, key).grad_fn in parents:
            retain_grad(state, key, node)


def _begin(
    facts: Facts, state: AutogradState, roots: Sequence[int], node: ast.AST, because: Because
) -> list[Node | Leaf]:
    """Where the pass begins. A root without a graph is refused; one that may have one is passed over."""
    begin: list[Node | Leaf] = []
    for key in roots:
        tensor = resolve_view(state, key)
        edge = edge_of(tensor)
        if tensor.requires_grad is False or tensor.requires_grad and edge is None:
            cut = facts.provenance_of(key).cut
            reason = _rests_on(tensor, cut)
            if reason is None:
                continue
            because = because or reason
            frozen = facts.provenance_of(key).frozen
            facts.events.publish(
                BackwardWithoutGraph(
                    point=state.point(node),
                    because=because,
                    root=key,
                    cut=cut,
                    frozen=frozen,
                    is_frozen_only=cut is None or frozen in facts.training.reached_at.get(node, ()),
                )
            )
            raise TorchRaises(NO_GRAPH)
        if tensor.requires_grad and edge is not None:
            begin.append(edge)
    return begin


def _rests_on(tensor: Tensor, cut: Cut | None) -> Because | None:
    """What it rests on that a root has no graph; None where unknown code may keep one: that it keeps none is nothing to
    build upon.
    """
    name = tensor.assumption or (cut.through if cut is not None else None)
    if name is None:
        return NOTHING
    if cut is not None and cut.is_by_mode:
        return guess(f"`{name}` does not enable gradients itself")
    if cut is not None and cut.reason in BY_HAND:
        return guess(f"`{name}` does not have parameters of its own")
    return None


def _complete(order: Sequence[Node], leaves: Sequence[Leaf]) -> dict[Node | None, list[Leaf]]:
    """The leaves by the node after which nothing more is added to their gradient (None: they are roots)."""
    last: dict[Leaf, Node | None] = dict.fromkeys(leaves)
    for item in order:
        for child in item.inputs:
            if isinstance(child, Leaf) and child in last:
                last[child] = item
    found: dict[Node | None, list[Leaf]] = {}
    for child, user in last.items():
        found.setdefault(user, []).append(child)
    return found


class Check:
    """What a node asks when it needs its saved tensors: whether they are still there, and unwritten.

    What PyTorch raises is published and raised. ``halted`` is set where only an assumption says so: then the pass ends
    there and the program goes on.
    """

    def __init__(
        self,
        facts: Facts,
        state: AutogradState,
        now: BackwardPass,
        parents: dict[Node, Node | None],
        order: list[Node],
        because: Because,
    ) -> None:
        self.facts, self.state, self.now = facts, state, now
        self.parents, self.order, self.because = parents, order, because
        self.halted = False

    def __call__(self, item: Node) -> bool:
        state = self.state
        freed = state.freed.get(item) if item.saves_anything else None
        spoiled = None if item in state.freed else spoiled_at(state, item)
        if not freed and spoiled is None:
            return True
        if is_unproven(self.facts.networks.proven_networks, state, (item,)):
            return True
        self.halted = True
        path = self.path(item)
        if not all(n.certain for n in path):
            return False
        because = self.reason(path, spoiled) or guess_below(state, (item,)) or keeping(unseen_above(item, path[0]))
        if freed:
            self._freed(item, path, freed, because)
        elif spoiled is not None:
            self._modified(item, path, spoiled, because)
        if not because:
            raise TorchRaises(SECOND_TIME if freed else MODIFIED)
        needed(self.facts, state, (item,))
        return False

    def _freed(self, item: Node, path: tuple[Node, ...], freed: BackwardPass, because: Because) -> None:
        state, now, root = self.state, self.now, self.now.root
        assert root is not None
        shared = next(n for n in path if state.freed.get(n, now) is not now)
        self.facts.events.publish(
            FreedGraphReached(
                point=now.point,
                because=because,
                node=item,
                freed=freed,
                path=path,
                root=root,
                shared=shared,
                spoiled=first_spoiled(state, self.order),
                first_use=_user(state, freed.root, shared),
                stepped=stepped(state, freed.point, now.point),
                update=later_update(self.facts, state, _top(state, freed.root), path[:1], freed.root or 0),
            )
        )

    def _modified(
        self, item: Node, path: tuple[Node, ...], spoiled: tuple[SavedTensor, Write], because: Because
    ) -> None:
        state, now, root = self.state, self.now, self.now.root
        assert root is not None
        saved, write = spoiled
        come_back(self.facts, state, item, now, self.path, (item, saved, write))
        self.facts.events.publish(
            SavedTensorModified(
                point=now.point,
                because=because,
                node=item,
                saved=saved,
                write=write,
                path=path,
                root=root,
                retained=state.retained.get(item),
                settled=settled(state, path, write),
                guarded=is_guarded(state, saved.tensor),
                update=later_update(self.facts, state, (), path[:1], item.id) if write.by_optimizer else None,
            )
        )

    def path(self, node: Node) -> tuple[Node, ...]:
        """From the root to ``node``."""
        path: list[Node] = []
        step: Node | None = node
        while step is not None:
            path.append(step)
            step = self.parents[step]
        return tuple(reversed(path))

    def is_certain(self, node: Node) -> bool:
        """Whether the pass certainly reaches ``node``."""
        return all(n.certain for n in self.path(node))

    def users(self, node: Node) -> set[int]:
        """The tensors by which the pass came to ``node``: what the nodes after it were given, and the root itself."""
        found = {key for item in self.order if node in item.inputs for key in item.operand_ids}
        return found if self.now.root is None else {*found, self.now.root}

    def reason(self, path: tuple[Node, ...], spoiled: tuple[SavedTensor, Write] | None = None) -> Because:
        """What has to be assumed for the pass to come along ``path``, and for a write to have ``spoiled`` its end: also
        what that write supposed and this path no longer does.
        """
        if spoiled is not None:
            write = spoiled[1]
            if why := write.because or write.point.supposed.without(self.state.supposed):
                return self.because or why
        callee = next((n.assumption for n in path if n.assumption), None)
        return self.because or keeping(callee)


class Sweep:
    """The nodes of a pass run, one after the other, and each leaf when the last gradient for it has arrived.

    ``done`` are the nodes that ran, ``defined`` the nodes and leaves that were given a gradient, ``beyond`` the leaves
    that a node's own backward reached by passes of its own.
    """

    def __init__(self, check: Check, leaves: Sequence[Leaf], waiting: PendingHooks, accumulate: bool) -> None:
        self.check, self.waiting, self.accumulate = check, waiting, accumulate
        self.complete = _complete(check.order, leaves)
        self.defined: set[Node | Leaf] = set(check.now.begin)
        self.done: dict[Node, None] = {}
        self.beyond: dict[int, None] = {}

    def run(self, retain: bool | None, towards: bool) -> None:
        """Run every node until one halts the pass. ``towards`` is whether it was asked for certain gradients only."""
        check, state, defined = self.check, self.check.state, self.defined
        self._arrive(self.complete.pop(None, ()))
        for item in check.order:
            self.waiting.arrived(item)
            gradients: BackwardResult | None = None
            if item.custom_backward is None:
                if not check(item):
                    break
            elif check.is_certain(item):
                gradients = self._own_backward(item, towards)
                if check.halted:
                    break
                self.beyond.update(dict.fromkeys(gradients.reached))
            self.done[item] = None
            self._tell_altered(item)
            if item in defined:
                defined.update(item.inputs if gradients is None else gradients.edges)
            if retain is False and item not in state.freed:
                state.freed[item] = check.now
            self._arrive(self.complete.pop(item, ()))

    def finish(self) -> None:
        """The leaves whose last node did not run, because the pass was halted or asked for something else."""
        for left in self.complete.values():
            self._arrive(left)
        if self.check.halted and self.accumulate:  # PyTorch may have raised before it came to them
            doubted(self.check.state, [leaf.tensor for left in self.complete.values() for leaf in left])
        if self.check.facts.memory.hidden_uses:
            self._tell_hidden()

    def _tell_hidden(self) -> None:
        """Publish which of the nodes that ran were used after a write that the graph does not know."""
        facts = self.check.facts
        for item in self.done:
            if (used := facts.memory.hidden_uses.get(item)) is not None:
                with facts.events.assuming(self.check.reason(self.check.path(item))):
                    facts.events.publish(used)

    def reached(self, leaves: Iterable[Leaf]) -> list[int]:
        """Those of ``leaves`` that got a gradient, and those beyond."""
        found = [item.tensor for item in leaves if self.check.halted or item in self.defined]
        return [*dict.fromkeys([*found, *self.beyond])]

    def _arrive(self, leaves: Iterable[Leaf]) -> None:
        for item in leaves:
            if self.check.halted or item in self.defined:
                self.waiting.arrived(item)
                if self.accumulate:
                    self.waiting.accumulate(item)

    def _tell_altered(self, item: Node) -> None:
        """Publish which saved tensors of a node were written behind the back of their version counter."""
        check = self.check
        if not item.certain or item.assumption is not None:
            return
        for saved, write in altered(check.state, item):
            assert check.now.root is not None
            check.facts.events.publish(
                SavedTensorAltered(point=check.now.point, node=item, saved=saved, write=write, root=check.now.root)
            )

    def _own_backward(self, item: Node, towards: bool) -> BackwardResult:
        """Run the backward that the program defines for a node. What happens there rests on what the path rests on."""
        assert item.custom_backward is not None
        check, facts, waiting = self.check, self.check.facts, self.waiting
        visit = NodeVisit(
            item, waiting.node, waiting.create, partial(check, item), partial(check.users, item), towards, check.order
        )
        with facts.events.assuming(check.reason(check.path(item))):
            found = facts.training.gradients[item] = item.custom_backward(check.state, visit)
        return found


def second_order(
    facts: Facts, state: AutogradState, begin: Iterable[Node | Leaf], key: int, starts: Iterable[Node | Leaf] = ()
) -> DoubleBackward | None:
    """What a gradient with respect to ``key``, made with ``create_graph``, depends on; None where none reaches it."""
    order, _, leaves = _walk(begin)
    facts.running.nodes_visited += 4 * len(order)
    target = resolve_view(state, key).grad_fn or Leaf(key)
    if target not in leaves and target not in order:
        return None
    order, _ = _towards(state, order, leaves, [key])
    return DoubleBackward(facts, state, order, target, starts)


def recorded(facts: Facts, state: AutogradState, key: int) -> bool:
    """Whether ``.grad`` of a leaf has a graph for certain: a pass with ``create_graph`` added to it what has one."""
    past = state.history.get(key)
    if past is None or past.doubt or key not in state.grads:
        return False
    passes = [run for run in past.passes if run.create and not run.because]
    found = (second_order(facts, state, run.begin, key) for run in passes)
    return any(made is not None and made.edges and not made.unknown for made in found)


def unused(facts: Facts, state: AutogradState, roots: Sequence[int], keys: Iterable[int]) -> set[int]:
    """Those of some tensors to which no path leads from ``roots``, for certain: they have no gradient."""
    tensors = [resolve_view(state, root) for root in roots]
    if any(tensor.requires_grad is None for tensor in tensors):
        return set()
    order, _, leaves = _walk([edge for tensor in tensors if (edge := edge_of(tensor)) is not None])
    facts.running.nodes_visited += len(order)
    if any(item.assumption or not item.is_complete for item in order):
        return set()
    reached: set[Node | Leaf | None] = {*order, *leaves}
    latest = _latest_unknown(state, leaves)
    known = (key for key in keys if key > latest and state.tensors[key].requires_grad is not None)
    return {key for key in known if edge_of(resolve_view(state, key)) not in reached}


def _latest_unknown(state: AutogradState, leaves: Iterable[Leaf]) -> int:
    """The last made of those leaves that may have a graph, for unknown code may have computed them; -1 if none may.
    Such a graph may lead to what was there before.
    """
    return max((leaf.tensor for leaf in leaves if state.tensors[leaf.tensor].requires_grad is None), default=-1)


def _walk(begin: Iterable[Node | Leaf]) -> tuple[list[Node], dict[Node, Node | None], list[Leaf]]:
    """Every node reachable from ``begin``, youngest first, the node each was first reached from, and the leaves."""
    parents: dict[Node, Node | None] = {}
    leaves: dict[Leaf, None] = {}
    frontier: list[tuple[Node | Leaf, Node | None]] = [(item, None) for item in begin]
    while frontier:
        following: list[tuple[Node | Leaf, Node | None]] = []
        for item, parent in frontier:
            if isinstance(item, Leaf):
                leaves[item] = None
            elif item not in parents:
                parents[item] = parent
                following += [(child, item) for child in item.inputs]
        frontier = following
    return sorted(parents, key=lambda n: -n.id), parents, list(leaves)


def _towards(
    state: AutogradState, order: list[Node], leaves: list[Leaf], inputs: Sequence[int], accumulate: bool = False
) -> tuple[list[Node], list[Leaf]]:
    """Only what must run to reach ``inputs``. A non-leaf input is captured before its own node runs; where gradients
    accumulate that node runs nevertheless.
    """
    wanted_leaves = {Leaf(key) for key in inputs if state.tensors[key].grad_fn is None}
    captured = {fn for key in inputs if (fn := resolve_view(state, key).grad_fn) is not None}
    needed: set[Node | Leaf] = set(wanted_leaves)
    running: list[Node] = []
    for item in reversed(order):  # oldest first, so inputs are decided before the nodes that use them
        if any(child in needed or child in captured for child in item.inputs):
            needed.add(item)
            running.append(item)
        elif accumulate and item in captured:
            running.append(item)
    running.reverse()
    return running, [item for item in leaves if item in wanted_leaves]


def _user(state: AutogradState, root: int | None, shared: Node) -> Node | None:
    """The node through which a backward from ``root`` reaches ``shared``."""
    begin = _top(state, root)
    parents = _walk(begin)[1] if begin else {}
    return parents.get(shared)


def _top(state: AutogradState, root: int | None) -> list[Node]:
    """The node that a backward from ``root`` begins at."""
    begin = state.tensors[root].grad_fn if root is not None else None
    return [begin] if begin is not None else []


def later_update(
    facts: Facts, state: AutogradState, first: Iterable[Node], now: Iterable[Node], since: int
) -> LaterUpdate | None:
    """What was stepped on since the id ``since``, of what the ``first`` backward and the one ``now`` lead to."""
    now = tuple(now)
    written = {key: write for key in leaf_tensors((*first, *now)) if (write := _step(state, key, since)) is not None}
    if not written:
        return None
    if written.keys() & leaf_tensors(now):
        spared = _spared(now, written.keys())
    else:
        spared = tuple(node for node in now if leaf_tensors([node]))
    last = max(written.values(), key=lambda write: write[0])
    return LaterUpdate(
        last[1],
        frozenset(written),
        frozenset(facts.training.stepped_with.get(last[1].call_site, ())),
        spared,
    )


def _step(state: AutogradState, key: int, since: int) -> tuple[int, ProgramPoint] | None:
    """When an optimizer has written a leaf after ``since``."""
    tensor = state.tensors.get(key)
    write = state.writes.get(tensor.version_counter) if tensor is not None else None
    return (write.stamp, write.point) if write is not None and write.by_optimizer and write.stamp > since else None


def _spared(roots: tuple[Node, ...], written: Iterable[int]) -> tuple[Node, ...]:
    """The frontier of what leads to no leaf of ``written``, in the order in which it was made."""
    changed = set(written)
    leads: set[Node] = set()
    stale: set[Node] = set()
    nodes = sorted(nodes_below(roots), key=lambda node: node.id)
    for node in nodes:  # what a node depends on is older
        for item in node.inputs:
            if isinstance(item, Leaf):
                leads.add(node)
                if item.tensor in changed:
                    stale.add(node)
            elif item in leads:
                leads.add(node)
                if item in stale:
                    stale.add(node)
    border = {item for node in nodes if node in stale for item in node.inputs if isinstance(item, Node)}
    return tuple(node for node in nodes if node in border and node in leads and node not in stale)


def spoiled_at(state: AutogradState, node: Node) -> tuple[SavedTensor, Write] | None:
    for saved in node.saved:
        write = state.writes.get(saved.version_counter)
        if write is not None and write.version != saved.version:
            culprit = write.since(saved.version)
            if culprit is not None:
                return saved, culprit
    return None


def altered(state: AutogradState, node: Node) -> Iterator[tuple[SavedTensor, Write]]:
    """What was saved and then written through memory that it shares with another version counter.

    Several writes may well put the old values back; one place in a loop, not called anew, goes on from what it wrote,
    unless that is where the second time changes nothing.
    """
    for saved in node.saved:
        tensor = state.tensors.get(saved.tensor)
        if tensor is None:
            continue
        since = _since(state.untracked_writes.get(tensor.storage), node.id, saved.version_counter)
        if tensor.storage != saved.version_counter:
            since += _since(state.writes.get(tensor.storage), node.id, saved.version_counter)
        if not since or len({(write.point.node, write.point.calls) for write in since}) != 1:
            continue
        last = state.writes.get(tensor.storage)
        if not repeats(since[-1], last.stamp if last is not None else 0):
            yield saved, since[-1]


def repeats(write: Write, counted: int) -> bool:
    """Whether ``write`` only does again what the one before it did: in the same words, given the same, and no code has
    written there in between (``counted`` is the stamp of the last write that was counted).
    """
    before = write.before
    return (
        before is not None
        and "settles" in traits_of(write.op)
        and (write.op != "mul_" or len(write.given) > 0)
        and (write.op, write.given) == (before.op, before.given)
        and written(write.point.node) == written(before.point.node)
        and counted < before.stamp
    )


def _since(write: Write | None, stamp: int, counter: int) -> list[Write]:
    """The writes after ``stamp`` that ``counter`` has not counted."""
    found: list[Write] = []
    while write is not None and write.stamp > stamp:
        if write.tensor != counter:
            found.append(write)
        write = write.before
    return found


def first_spoiled(state: AutogradState, order: Sequence[Node]) -> tuple[Node, SavedTensor, Write] | None:
    """What a retained graph would run into."""
    for node in order:
        found = spoiled_at(state, node)
        if found is not None:
            return node, *found
    return None
