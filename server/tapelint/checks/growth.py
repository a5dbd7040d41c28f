"""What grows from call to call: graphs that an object collects, one for each call of a method.

    def step(self, x, y):
        loss = self.criterion(self.net(x), y)
        loss.backward()
        self.losses.append(loss)      # after three calls it holds three graphs

A holder (an attribute, a global, a cell, a default argument) grows if it leads to nodes of each call. It is published
if nothing can go backward through them: a pass has freed them in part, or the file reads the name only to show it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from ..autograd import Node, ProgramPoint, RetainedGraphs, Stored, StoreKind
from ..autograd.events.graph_walks import GraphKeptAlive
from ..autograd.model.program_point import Iteration
from ..because import NOTHING, guess
from ..domain.facets import BUFFER_NAMES
from ..domain.state import State
from ..domain.values import HeapRef, Instance, Value
from ..engine.machine import Machine
from ..models.torch.nn.module_registry import names
from ..ops import traits_of
from .held_graphs import Holder, holders, nodes_by_call
from .kept_values import called_on_self, emptied_by, goes_backward, takes_off, uses_of_name
from .retention import had_nodes, leaks, saved_tensors


def growing(state: State, roots: Sequence[tuple[str, Value]], run: int, calls: int) -> list[Holder]:
    """The holders that lead to a graph of each of the first ``calls`` calls of a run."""
    return [each for each in holders(state, roots) if len(nodes_by_call(state, each, run)) >= calls]


def publish(
    machine: Machine,
    state: State,
    grown: Iterable[Holder],
    receiver: HeapRef | None,
    lap: Iteration,
    freeing: bool,
    led: Callable[[], Mapping[str, str]],
) -> None:
    """Tell which holders have grown with each call up to ``lap``, if no code can go backward through what they hold.
    ``freeing`` says that the program, or the framework that calls the method, goes backward. ``led`` finds out which
    holders, by name, grow if an argument of the function requires grad, and which argument that is: without it, none
    of what is not certain to have a graph is published.
    """
    found = [(_kept(machine, state, holder, receiver, lap, freeing), holder.name) for holder in grown]
    kept = [each for each, _ in found if each is not None]
    holding = {each.tensor: name for each, name in found if each is not None}
    for each in leaks(state, kept):
        because = NOTHING
        if not any(node.certain for node in each.added):
            name = led().get(holding[each.tensor])
            if name is None:
                continue
            because = guess(f"`{name}` requires grad")
        machine.facts.events.publish(GraphKeptAlive(point=each.stored.point, because=because, collected=each))


def _kept(
    machine: Machine, state: State, holder: Holder, receiver: HeapRef | None, lap: Iteration, freeing: bool
) -> RetainedGraphs | None:
    """What a holder that has grown keeps; None if some code may go backward through it, or empties it at each call."""
    by_call = nodes_by_call(state, holder, lap.run)
    last = sorted(by_call.get(lap.number, ()), key=lambda node: node.id)
    stored = _stored(state, holder, lap)
    if stored is None or _is_wrapped(state, receiver, lap.loop):
        return None
    if not any(node.certain for node in last) and _is_helper(machine, lap.loop):
        return None
    if _is_buffer(state, receiver, holder):
        is_lost = _is_unwalked(machine, state.grad_fns(holder.tensors))
    else:
        is_lost = _is_lost(machine, state, holder, by_call, freeing)
    if not is_lost:
        return None
    until = machine.query(emptied_by, holder.key, machine.tree, lap.loop)
    if until is None or machine.query(takes_off, holder.name, lap.loop):
        return None
    alive = tuple(node for node in last if node.saved and node not in state.freed)
    return RetainedGraphs(stored[0], stored[1], lap, alive, tuple(last), saved_tensors(state, last), until)


def _is_lost(machine: Machine, state: State, holder: Holder, by_call: Mapping[int, set[Node]], freeing: bool) -> bool:
    """Whether no code goes backward through graphs that are known to be there: a pass has freed a part of them, or the
    file does nothing with the name but to show it.
    """
    if not all(any(node.certain for node in nodes) for nodes in by_call.values()):
        if not any(_is_computed(state, nodes) for nodes in by_call.values()) or goes_backward(machine.tree):
            return False
    elif freeing and any(n in state.freed and had_nodes(n) for nodes in by_call.values() for n in nodes):
        return True
    uses = machine.query(uses_of_name, holder.key, machine.tree)
    return uses.shown and not uses.taken and _is_unwalked(machine, state.grad_fns(holder.tensors))


def _is_computed(state: State, nodes: Iterable[Node]) -> bool:
    """Whether something is computed in a graph, not only moved to another place."""
    return any(
        "moves" not in traits_of(node.op) and not any(map(partial(_is_view, state), node.results)) for node in nodes
    )


def _is_view(state: State, tensor: int) -> bool:
    return tensor in state.tensors and state.tensors[tensor].base is not None


def _is_unwalked(machine: Machine, nodes: Iterable[Node]) -> bool:
    """Whether no pass has run the nodes, on any path."""
    return not any(node.created_at.call_site in machine.facts.training.walked for node in nodes)


def _stored(state: State, holder: Holder, lap: Iteration) -> tuple[int, Stored] | None:
    """The tensor that the last call has put into a holder, and how: by a statement, or by writing it in place."""
    kept = [
        each
        for each in state.last_stores.values()
        if each.tensor in holder.tensors and lap in each.stored.point.iterations
    ]
    if kept:
        best = max(kept, key=lambda each: _closeness(each.stored.target, holder.name))
        return best.tensor, best.stored
    for key in holder.tensors:
        top = state.tensors[key].grad_fn
        if top is not None and lap in top.created_at.iterations:
            point: ProgramPoint = top.created_at
            return key, Stored(point, holder.name, None, point.node, StoreKind.ASSIGNED)
    return None


def _closeness(target: str, holder: str) -> int:
    """How likely what is stored as ``target`` is in a holder: it is ``self.x`` itself, a part of it, some attribute."""
    return (target == holder) * 4 + target.startswith((f"{holder}[", f"{holder}.")) * 2 + ("." in target)


def _is_buffer(state: State, receiver: HeapRef | None, holder: Holder) -> bool:
    """Whether a holder is a registered buffer of the object."""
    thing = state.heap[receiver.id] if receiver is not None else None
    return isinstance(thing, Instance) and holder.key.removeprefix(".") in names(thing, BUFFER_NAMES)


def _is_wrapped(state: State, receiver: HeapRef | None, function: ast.AST) -> bool:
    """Whether the object has something of its own in place of its method ``function``, which may switch gradients off:
    ``self.update = self.quietly(self.update)``.
    """
    thing = state.heap[receiver.id] if receiver is not None else None
    return isinstance(thing, Instance) and getattr(function, "name", "") in thing.attributes


def _is_helper(machine: Machine, function: ast.AST) -> bool:
    """Whether other methods call a method on their object: these say what it is given."""
    trees = machine.trees
    return any(getattr(function, "name", "") in called_on_self(tree) for tree in trees)
