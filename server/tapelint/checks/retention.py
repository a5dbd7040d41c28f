"""Graphs that a loop collects: running totals, lists, states that are carried and never cut.

    for x, y in validation:
        total += criterion(net(x), y)    # every batch's activations stay alive

A loop that ends with the graphs of two or more of its iterations still held has collected them. Whether that was meant
is known only later: some code may walk them (``sum(losses).backward()``). So what was collected is remembered on the
path, and reported at its end if no backward has.

Into which iterations of a loop the graphs reach that are held, and what is alive of them.

Which of the things that were kept are one leak: they hold parts of the same graph.

    h = cell(x, h)        `h` holds the graph of all steps,
    y = head(h)           `y` all of that and more,
    outs.append(y)        and `outs` what `y` holds: one leak, reported of `outs`

What shares no node is a leak of its own.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Sequence
from dataclasses import replace

from ..autograd import LastStore, Node, RetainedGraphs, Stored
from ..autograd.events.graph_walks import GraphKeptAlive
from ..autograd.gradients.reference_cycles import left
from ..autograd.model.choices import ALWAYS
from ..autograd.model.graph_search import nodes_below, reachable
from ..autograd.passes.retained_graphs import forget
from ..because import NOTHING, RunBy, guess
from ..bounds import BOUNDS
from ..domain.completion import Return
from ..domain.state import State
from ..domain.traversal import tensors_in
from ..domain.values import NONE, Frame, TensorRef, Unknown, Value
from ..engine.lifecycle import CallReturned, LoopLeft, PathEnded
from ..engine.machine import Machine
from ..engine.syntax.syntactic_summary import syntactic_summary
from ..source import Loop, cached_on_node, walk
from .kept_values import backward_roots, takes_off, uses_of_name
from .loops_in_networks import is_in_network
from .reachable_tensors import held_tensors, holders_of_tensors, lists_of_containers, values_inside, variables_in_scope


def leaks(state: State, kept: Iterable[RetainedGraphs]) -> list[RetainedGraphs]:
    """One of each leak: what the program can change to end it, with the names of what else holds parts of it."""
    groups: list[tuple[set[Node], list[RetainedGraphs]]] = []
    for each in kept:
        nodes, members = _nodes(state, each), [each]
        apart: list[tuple[set[Node], list[RetainedGraphs]]] = []
        for group in groups:
            if nodes.isdisjoint(group[0]):
                apart.append(group)
            else:
                nodes, members = nodes | group[0], [*group[1], *members]
        groups = [*apart, (nodes, members)]
    return [_reported(members) for _, members in groups]


def _nodes(state: State, kept: RetainedGraphs) -> set[Node]:
    """What is held of the loop's own graph: not what was there before it."""
    below = nodes_below(state.grad_fns([kept.tensor]))
    run = kept.lap.run
    own = {node for node in below if any(lap.run == run for lap in node.created_at.iterations)}
    return own.union(kept.alive, kept.added)


def _reported(members: Sequence[RetainedGraphs]) -> RetainedGraphs:
    """The member to report: what is stored, unless a variable holds more than twice as much."""
    most = max(_weight(each) for each in members)
    head = max(members, key=lambda each: (_is_stored(each) and 2 * _weight(each) >= most, _weight(each)))
    names = dict.fromkeys(each.stored.target for each in sorted(members, key=_weight, reverse=True))
    others = tuple(name for name in names if name != head.stored.target)
    return replace(head, others=others, is_brief=all(each.is_brief for each in members))


def _weight(kept: RetainedGraphs) -> int:
    """What an iteration adds to it."""
    return len(kept.added) + kept.saved


def _is_stored(kept: RetainedGraphs) -> bool:
    """Whether it is a container or an attribute, not a variable that is given the next value."""
    stored = kept.stored
    if stored.collects or "." in stored.target:
        return True
    targets = stored.statement.targets if isinstance(stored.statement, ast.Assign) else ()
    return any(isinstance(target, ast.Attribute) for target in targets)


class IterationSpans:
    """For each node made in a run of a loop: the iterations its graph reaches into, and what is alive of it."""

    def __init__(self, state: State, run: int) -> None:
        self.state, self.run = state, run
        self.known: dict[Node, frozenset[int]] = {}

    def iterations(self, node: Node) -> frozenset[int]:
        """The iterations whose nodes are held alive, with saved tensors or without."""
        for item in sorted(self._fresh(node), key=lambda n: n.id):
            found = {lap.number for lap in item.created_at.iterations if lap.run == self.run}
            for child in item.inputs:
                if isinstance(child, Node):
                    found |= self.known.get(child, frozenset())
            self.known[item] = frozenset(found)
        return self.known.get(node, frozenset())

    def alive(self, nodes: Iterable[Node]) -> tuple[Node, ...]:
        """The nodes of this run below others that still hold a saved tensor, if they are of several iterations: those
        of one are no more after a hundred than after the first.
        """
        found = [n for n in nodes_below(nodes) if n.saved and n not in self.state.freed and self._inside(n)]
        return tuple(found) if self._spread(found) else ()

    def freed(self, nodes: Iterable[Node]) -> bool:
        """Whether backward passes of several iterations have freed what lies below: bare nodes are left of it."""
        return self._spread(n for n in nodes_below(nodes) if n in self.state.freed and self._inside(n) and had_nodes(n))

    def _spread(self, nodes: Iterable[Node]) -> bool:
        """Whether they are of more than one iteration."""
        return len({lap.number for n in nodes for lap in n.created_at.iterations if lap.run == self.run}) > 1

    def carried(self, node: Node) -> bool:
        """Whether the operation that made it worked on what it had made in an earlier iteration."""
        place = node.created_at.call_site
        return any(n is not node and n.created_at.call_site == place and self._inside(n) for n in nodes_below([node]))

    def _inside(self, node: Node) -> bool:
        return any(lap.run == self.run for lap in node.created_at.iterations)

    def _fresh(self, node: Node) -> set[Node]:
        return {item for item in reachable([node], self._is_fresh) if isinstance(item, Node)}

    def _is_fresh(self, node: Node) -> bool:
        return node not in self.known and self._inside(node)


def had_nodes(node: Node) -> bool:
    """Whether a node keeps something alive that a pass has freed: its own, or the graph for which it stands."""
    return node.saves_anything or not node.is_complete


MEASURED = guess("no caller goes backward through the result of an evaluation")


def on_loop_left(machine: Machine, event: LoopLeft) -> None:
    """Remember what variables and containers hold of more than one iteration.

    A loop in the ``forward`` of a module, or in what it calls, goes through layers or time steps: its graph belongs
    together, and to the caller.
    """
    state, run = event.state, event.run
    frame = state.get(state.frame, Frame)
    if is_in_network(machine, state, frame, run):
        return
    kept = [each for each in state.last_stores.values() if any(lap.run == run for lap in each.stored.point.iterations)]
    if not kept:
        return
    spans = IterationSpans(state, run)
    is_short = _is_short(machine, state, frame, event)
    holders: dict[int, list[int]] | None = None
    for each in kept:
        if not _may_collect(machine, state, spans, each) or _is_passed_on(machine, state, each, kept):
            continue
        holders = holders if holders is not None else holders_of_tensors(state)
        if each.tensor in holders:
            is_brief = is_short and _is_local(state, frame, each.stored)
            _collect(state, spans, each, {each.tensor, *holders[each.tensor]}, is_brief)
            if each.stored.collects and each.stored.statement not in state.retained_after_loop:
                _collect_freed(state, spans, each, is_brief)


def _may_collect(machine: Machine, state: State, spans: IterationSpans, kept: LastStore) -> bool:
    """Whether a tensor that an iteration has stored may hold the graphs of earlier ones."""
    tensor = state.tensors[kept.tensor]
    node = tensor.grad_fn if tensor.requires_grad else None
    if node is None or any(_walks_itself(machine, below) for below in nodes_below([node])):
        return False
    loop = next(lap.loop for lap in kept.stored.point.iterations if lap.run == spans.run)
    if kept.stored.collects:
        return not machine.query(takes_off, kept.stored.target, loop)
    is_carried = len(spans.iterations(node)) > 1 and spans.carried(node)
    return is_carried and kept.stored.target not in machine.query(backward_roots, loop)


def _walks_itself(machine: Machine, node: Node) -> bool:
    """Whether a node stands for a call of unknown code, and a method of that name in the file goes backward itself
    (``forward``, which trains and returns its loss): what it returns may have been walked.
    """
    call = node.created_at.node
    if node.assumption is None or not isinstance(call, ast.Call):
        return False
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    return not {name, "forward"}.isdisjoint(_going_backward(machine.tree))


@cached_on_node
def _going_backward(tree: ast.AST) -> frozenset[str]:
    """The names of the functions that call ``backward``."""
    functions = (node for node in walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
    return frozenset(each.name for each in functions if syntactic_summary(each).backward)


def _is_passed_on(machine: Machine, state: State, kept: LastStore, others: list[LastStore]) -> bool:
    """Whether a call has put a tensor into a container of its own, which is gone, and then into another."""
    if not kept.stored.collects or kept.stored.point.calls == state.calls:
        return False
    order = [stored.statement for stored in machine.facts.origins.stored.get(kept.tensor, ())]
    later = order[order.index(kept.stored.statement) + 1 :] if kept.stored.statement in order else []
    stored_later = [each for each in others if each.tensor == kept.tensor and each.stored.statement in later]
    return any(each.stored.collects for each in stored_later)


def _is_short(machine: Machine, state: State, frame: Frame, event: LoopLeft) -> bool:
    """Whether a loop has few iterations: so many are known of what its function has made, or a test counts them, which
    has a batch and no more. What a function is given may be a data set the next time.
    """
    loop = next(lap.loop for lap in state.iterations if lap.run == event.run)
    if not isinstance(loop, ast.For):
        return False
    if event.count is None:
        return _counts(loop.iter) and _is_test(machine, state)
    called = {call.func for call in walk(loop.iter) if isinstance(call, ast.Call)}
    read = {name.id for name in walk(loop.iter) if isinstance(name, ast.Name) and name not in called}
    return event.count <= BOUNDS.short_loop and read <= frame.variables.keys() - _parameters(frame)


def _parameters(frame: Frame) -> set[str]:
    """The names of what the function that runs is given."""
    given = walk(frame.function.node.args) if frame.function is not None else ()
    return {parameter.arg for parameter in given if isinstance(parameter, ast.arg)}


def _is_test(machine: Machine, state: State) -> bool:
    """Whether the code that runs stands in a file of tests."""
    return machine.imports is not None and machine.tests.is_test_file(machine.imports.here(state).path)


def _counts(iterable: ast.expr) -> bool:
    """Whether a loop goes over numbers: ``range(n)``."""
    return isinstance(iterable, ast.Call) and isinstance(iterable.func, ast.Name) and iterable.func.id == "range"


def _is_local(state: State, frame: Frame, stored: Stored) -> bool:
    """Whether what was stored is a local variable of the function that runs, or a container that it has made."""
    if frame.function is None or stored.point.calls != state.calls or stored.target in frame.shared:
        return False
    return stored.target in frame.variables and not (stored.collects and stored.target in _parameters(frame))


def _collect(state: State, spans: IterationSpans, kept: LastStore, held: set[int], is_brief: bool) -> None:
    """Remember that the tensors that are ``held`` together keep the graphs of several iterations, if they do.
    ``is_brief`` says that this loop is short, and the variable local; a longer one inside of it counts as well.
    """
    nodes = state.grad_fns(held)
    iterations = {lap for fn in nodes for lap in spans.iterations(fn)}
    alive = spans.alive(nodes)
    known = state.retained_after_loop.get(kept.stored.statement)
    if _shows_more(known, kept):
        return
    if len(iterations) > 1 and (alive or spans.freed(nodes)):
        lap = next(lap for lap in kept.stored.point.iterations if lap.run == spans.run)
        added = tuple(n for n in nodes_below(nodes) if lap in n.created_at.iterations)
        state.retained_after_loop[kept.stored.statement] = RetainedGraphs(
            kept.tensor,
            kept.stored,
            lap,
            alive,
            added,
            saved_tensors(state, added) if alive else 0,
            is_brief=is_brief and (known is None or known.is_brief),
        )


def _shows_more(known: RetainedGraphs | None, kept: LastStore) -> bool:
    """Whether an earlier run of a loop shows what is kept, and needs nothing that was chosen since."""
    return known is not None and not _needs(known.stored) and _needs(kept.stored)


def _needs(stored: Stored) -> bool:
    """Whether something was chosen or supposed on the way to where it was stored."""
    return bool(stored.point.supposed) or stored.point.guard.followed != ALWAYS


def _collect_freed(state: State, spans: IterationSpans, kept: LastStore, is_brief: bool) -> None:
    """The same for a tensor in a container that was put into a list (``outs.append({"loss": loss})``), if backward
    passes have freed all that the list holds: what is alive may be taken out again, on a way that is not followed.
    What unknown code was given it may have emptied. No edit of what was stored detaches what lies in it.
    """
    kept = replace(kept, stored=replace(kept.stored, value=None))
    for items in lists_of_containers(state):
        parts = [set(tensors_in(state, item, 2)) for item in items]
        held = set[int]().union(*parts)
        if kept.tensor in held - state.escaped and not spans.alive(state.grad_fns(held)):
            _collect(state, spans, kept, held, is_brief)


def saved_tensors(state: State, nodes: Iterable[Node]) -> int:
    """How many tensors some nodes still keep that stay in memory for no other reason: leaves do anyway."""
    kept = {each.tensor for node in nodes if node not in state.freed for each in node.saved}
    found = [state.tensors[key] for key in kept if key in state.tensors]
    return sum(tensor.grad_fn is not None or tensor.requires_grad is not True for tensor in found)


def on_path_ended(machine: Machine, event: PathEnded) -> None:
    """Publish what was collected, was never walked, and is held by nothing that the caller can reach, or may: what
    passes have freed he cannot walk.

    Walked on any path: a loop has more iterations than are followed, and a later one may be the one with a backward.
    """
    state, collected = event.state, event.state.retained_after_loop
    forget(machine.facts, state, ())
    state.retained_after_loop = {}  # the next call of the function begins anew: what this one returned is the caller's
    if not collected:
        return
    outer = held_tensors(state, *event.reachable)
    if outer is None:
        return
    known = outer | state.escaped
    theirs = nodes_below(state.grad_fns(known))
    lasting = _lasting(state, collected.values(), event.result)
    lost = [each for each in lasting if not _is_used(machine, state, each, theirs)]
    measured = [] if machine.unit.run_by is RunBy.TESTS else _measured(machine, state, event, lasting, lost)
    statements = {each.stored.statement for each in measured}
    for each in leaks(state, [*_not_returned(machine, lost, event.result, len(state.calls) + 1), *measured]):
        top = state.tensors[each.tensor].grad_fn
        because = MEASURED if each.stored.statement in statements else NOTHING
        stays = top in theirs or each.is_brief and _is_named(state, each)
        leak = replace(each, is_brief=each.is_brief and not stays)
        machine.facts.events.publish(GraphKeptAlive(point=each.stored.point, because=because, collected=leak))


def _lasting(state: State, collected: Iterable[RetainedGraphs], result: Value | None) -> list[RetainedGraphs]:
    """What is more than the graph of one iteration around, and was not perhaps computed for the ``result``."""
    is_vague = result is not None and _is_vague(state, result)
    return [each for each in collected if not (_ends_with_iteration(each) or each.alive and is_vague)]


def _measured(
    machine: Machine,
    state: State,
    event: PathEnded,
    lasting: Iterable[RetainedGraphs],
    lost: Container[RetainedGraphs],
) -> list[RetainedGraphs]:
    """The totals of evaluations that a function returns, and nothing else holds: measures of a network. The items of a
    list may be what a caller asks for, unless each is moved off the device: a backward would do that in turn.
    """
    used = [each for each in lasting if each.evaluates and each not in lost]
    used = [each for each in used if not each.stored.collects or _is_moved_to_host(each)]
    held = held_tensors(state, *(value for value in event.reachable if value is not event.result)) if used else None
    if held is None:
        return []
    elsewhere = nodes_below(state.grad_fns(held | state.escaped))
    return [each for each in used if not _is_used(machine, state, each, elsewhere)]


def _is_moved_to_host(collected: RetainedGraphs) -> bool:
    """``outs.append(net(x).cpu())``"""
    value, loop = collected.stored.value, collected.lap.loop
    made = [] if value is None else [value]
    if isinstance(value, ast.Name):
        stores = (each for each in walk(loop) if isinstance(each, ast.Assign))
        made += [each.value for each in stores if any(getattr(t, "id", "") == value.id for t in each.targets)]
    return any(isinstance(node, ast.Attribute) and node.attr == "cpu" for part in made for node in walk(part))


def _is_named(state: State, collected: RetainedGraphs) -> bool:
    """Whether the scope in which a path has ended holds it."""
    held = held_tensors(state, *variables_in_scope(state))
    below = nodes_below(state.grad_fns(held or ()))
    return held is None or state.tensors[collected.tensor].grad_fn in below


def _is_used(machine: Machine, state: State, collected: RetainedGraphs, theirs: set[Node]) -> bool:
    """Whether graphs were collected for a backward: some pass walked them, or the caller, who holds ``theirs``, may.
    What passes have freed cannot be walked again; what each iteration retains is walked, unless a later one does so.
    """
    top, training = state.tensors[collected.tensor].grad_fn, machine.facts.training
    sites = {node: node.created_at.call_site for node in collected.alive}
    walked = training.walked - {site for node, site in sites.items() if node in state.retained} | training.walked_later
    if any(node in theirs or top in theirs or site in walked for node, site in sites.items()):
        return True
    walk = state.freed.get(top) or state.retained.get(top) if top is not None else None
    return walk is not None and all(lap.run != collected.lap.run for lap in walk.point.iterations)


def _not_returned(
    machine: Machine, collected: Iterable[RetainedGraphs], result: Value | None, depth: int
) -> list[RetainedGraphs]:
    """What was collected without what other paths return, where this one returns None."""
    return [each for each in collected if result != NONE or not _is_returned(machine, each, depth)]


def _is_returned(machine: Machine, collected: RetainedGraphs, depth: int) -> bool:
    """Whether the function that ran, inside of at most ``depth`` calls, returns what a variable of its collects, by its
    text: on another path than this one (``if len(parts) == 0: return None``), whose caller may go backward.
    """
    stored = collected.stored
    if not stored.collects or len(stored.point.calls) > depth:
        return False
    return any(
        uses_of_name(stored.target, each).taken
        for function in walk(machine.tree)
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) and stored.statement in walk(function)
        for each in walk(function)
        if isinstance(each, ast.Return)
    )


def _is_vague(state: State, result: Value) -> bool:
    """Whether what a function returns may hold graphs of which nothing is known."""
    seen: set[int] = set()
    frontier = [result]
    while frontier:
        item = frontier.pop()
        if isinstance(item, Unknown) and item.requires_grad is not False:
            return True
        if isinstance(item, TensorRef) and state.tensors[item.id].requires_grad is None:
            return True
        frontier += values_inside(state, item, seen)
    return False


def on_call_returned(machine: Machine, event: CallReturned) -> None:
    """Of a call made in a loop: what it leaves in memory that no code can reach any more."""
    state, call = event.state, event.call
    if state.retained_after_loop and isinstance(state.completion, Return):
        _hand_over(machine, state, (*state.calls, call), state.completion.value)
    if not state.iterations or not (state.cycles or state.retaining):
        return
    made = replace(state.point(call), calls=(*state.calls, call))
    known = held_tensors(
        state, *variables_in_scope(state), *([state.completion.value] if isinstance(state.completion, Return) else ())
    )
    if known is None:
        return
    left(machine.facts, state, made, known)
    if state.retaining:
        forget(machine.facts, state, nodes_below(state.grad_fns(known)))


def _hand_over(machine: Machine, state: State, calls: tuple[ast.AST, ...], result: Value) -> None:
    """Forget what was collected in a call for its result: one graph through all iterations, which is what the function
    computes. So is all that a test calls: it looks at the results and drops them.
    """
    held = held_tensors(state, result)
    if held is None:
        return
    if result == NONE:
        state.retained_after_loop = {
            statement: each
            for statement, each in state.retained_after_loop.items()
            if each.stored.point.calls[: len(calls)] != calls or not _is_returned(machine, each, len(calls))
        }
    theirs = nodes_below(state.grad_fns(held))
    for statement, each in [*state.retained_after_loop.items()]:
        is_inside = each.stored.point.calls[: len(calls)] == calls
        if is_inside and state.tensors[each.tensor].grad_fn in theirs:
            if machine.unit.run_by is RunBy.TESTS or _is_one_graph(each):
                del state.retained_after_loop[statement]


def _ends_with_iteration(collected: RetainedGraphs) -> bool:
    """Whether it is one graph in each iteration of a loop, which holds that of the last one at most: where the loop
    collects them, too, that is known of the loop.
    """
    laps = (lap for lap in collected.stored.point.iterations if isinstance(lap.loop, Loop))
    outermost = next(laps, None)
    return outermost is not None and outermost.run != collected.lap.run and _is_one_graph(collected)


def _is_one_graph(collected: RetainedGraphs) -> bool:
    """Whether what saved a tensor in an iteration works on what the same code has computed in an earlier one (a
    recurrence), or is a derivative of what was there before the loop: its parts are one derivative. The terms of
    another sum, or of a list, do not: each of them has a graph of its own. Nor does the mean of what a sum has reached,
    or what is multiplied by a number.
    """
    run, number = collected.lap.run, collected.lap.number
    for node in collected.added:
        for below in nodes_below([node]) if node.saved or not node.is_complete or node.assumption else ():
            numbers = [lap.number for lap in below.created_at.iterations if lap.run == run]
            if any(each != number for each in numbers) and below.created_at.call_site == node.created_at.call_site:
                return True
            if node.op == "gradient" and below.saves_anything and not numbers:
                return True
    return False
