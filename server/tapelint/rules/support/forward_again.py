"""The cure of a graph that a step has made out of date: the second loss gets a forward of its own, after the step.

score = D(fake.detach())    # the first backward leaves alone what the step does not update
d_loss(score).backward()
opt_d.step()
score = D(fake)             # again, with the new weights
g_loss(score).backward()
"""

from __future__ import annotations

import ast

from ...autograd.events.graph_walks import FreedGraphReached, LaterUpdate, SavedTensorModified
from ...autograd.facts import Facts
from ...autograd.model.graph import BackwardPass, Node
from ...autograd.model.program_point import shared_calls
from ...headline import cure_title
from .cure import FixProposal
from .story import code
from .walked_twice import readers


def computing_again(event: FreedGraphReached | SavedTensorModified, facts: Facts) -> list[FixProposal]:
    """Compute what is out of date again after the step; the first backward then needs no ``retain_graph=True``."""
    update = event.update
    shared = event.shared if isinstance(event, FreedGraphReached) else event.settled
    if update is None or shared is not None and update.finishes(event.path[0], shared):
        return []  # what is shared has had its update: the later loss is not for it
    first = event.freed if isinstance(event, FreedGraphReached) else event.retained
    depth = shared_calls(event.point.calls, update.point.calls)
    owners = [owner(node, depth) for node in event.path]
    anchor = update.point.calls[depth] if len(update.point.calls) > depth else update.point.node
    again_after = f"Compute {code(owners[-1])} again after the step"
    title = cure_title(again_after, "Compute it again after the step")
    dropped = _dropped(first)
    again = FixProposal("compute_again", title, (anchor, *owners), also=dropped)
    names = _spared_readers(event.path[-1], update, facts, depth)
    if not names:
        return [again]
    name = code(names[0])
    cut = cure_title(
        f"{again_after}, {name} detached", f"Compute it again after the step, {name} detached", f"{title}, detached"
    )
    effect = f"That backward then gives {name} no gradient."
    detach = FixProposal("detach", "", tuple(names))
    return [again, FixProposal("compute_again", cut, again.targets, "unsafe", (detach, *dropped), effect)]


def owner(node: Node, depth: int) -> ast.AST:
    """The syntax that made a node, in the function that ``depth`` calls led to."""
    calls = node.created_at.calls
    return calls[depth] if len(calls) > depth else node.created_at.node


def _dropped(first: BackwardPass | None) -> tuple[FixProposal, ...]:
    """The earlier backward frees its graph, where `retain_graph` says to keep it."""
    call = first.point.node if first is not None else None
    if not isinstance(call, ast.Call) or all(keyword.arg != "retain_graph" for keyword in call.keywords):
        return ()
    return (FixProposal("drop_retain_graph", "", (call,)),)


def _spared_readers(node: Node, update: LaterUpdate, facts: Facts, depth: int) -> list[ast.expr]:
    """Where the statement that made ``node`` reads what the step has spared."""
    found: dict[ast.expr, None] = {}
    seen, todo = {node}, [node]
    while todo:
        user = todo.pop()
        for item in user.inputs:
            if not isinstance(item, Node) or item in seen:
                continue
            seen.add(item)
            if item not in update.spared:
                todo.append(item)
                continue
            for key in item.results:
                for stored in facts.origins.stored.get(key, ()):
                    found |= dict.fromkeys(readers(owner(user, depth), stored.target))
    return [*found]
