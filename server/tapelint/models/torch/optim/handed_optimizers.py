"""Which networks an optimizer updates that comes as an argument, as they do.

    class Learner:
        def __init__(self, actor, critic, actor_optim, critic_optim): ...

        def learn(self, batch):
            self.critic_optim.zero_grad()
            critic_loss.backward()       walks through `critic`
            self.critic_optim.step()     so `critic_optim` holds its parameters
            self.actor_optim.zero_grad()
            actor_loss.backward()        through `critic` and `actor`, and `critic` has its optimizer:
            self.actor_optim.step()      `actor_optim` holds those of `actor`

An optimizer is there to apply what was computed since its gradients were cleared: it holds parameters of networks that
got gradients since then. The only one holds all of them. Of several each leaves the others what they hold for certain;
where that leaves several networks, nothing is known of them.

    loss.backward()
    actor_optim.zero_grad()              whichever networks it holds: what was computed is cleared,
    actor_optim.step()                   and this finds nothing

For that one leaf stands for all that such an optimizer holds (``stand_ins``), and is reached by every backward. So it
is for the only optimizer of a program, where that is made here or by code that is not known, and what it holds or what
goes backward is not known.

    optimizer = library.build(net)       made by code that is not known: it holds leaves of `net`, if no other does
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from .... import autograd
from ....autograd import Leaf, Node, bump, fresh_id
from ....autograd.gradients import history
from ....autograd.gradients.ledger import book, planned
from ....autograd.model.graph_search import leaf_tensors, nodes_below
from ....because import NOTHING, Because, guess
from ....domain.reachability import reachable_graph
from ....domain.state import State
from ....domain.values import HeapRef, Instance, Optimizer, Value
from ....engine.machine import Machine
from ....engine.open_objects import is_older, leads_to
from ....engine.syntax.asked import GRADIENTS
from ....source import cached_on_node, walk
from ..nn.module_registry import is_module_like, parameters_of


def note_handed(machine: Machine, state: State, name: str, value: Value, node: ast.AST) -> None:
    """Remember which network, or which optimizer without known parameters, came as the argument ``name``."""
    thing, networks = state.heap[value.id] if isinstance(value, HeapRef) else None, machine.facts.networks
    if isinstance(value, HeapRef) and isinstance(thing, Optimizer) and not thing.params:
        networks.handed_optimizers[value.id] = name
        stand_in(machine, state, value, name, node)
    elif is_module_like(state, value):
        networks.handed_leaves.update((leaf, name) for _, leaf in parameters_of(state, value))


def stand_in(machine: Machine, state: State, optimizer: HeapRef, name: str, node: ast.AST) -> None:
    """One leaf stands for all that an optimizer holds of which nothing is known but its ``name``."""
    machine.facts.networks.stand_ins[optimizer.id] = standing_leaf(state, name, node)


def standing_leaf(state: State, name: str, node: ast.AST) -> int:
    """A leaf that stands for parameters which are not known."""
    return autograd.leaf(state, node, True, parameter=True, assumption=name, is_guessed=True)


def unknown_optimizer(machine: Machine, state: State, name: str, given: frozenset[int], node: ast.AST) -> HeapRef:
    """An optimizer made by code which is not known and was ``given`` these leaves: nothing but the order of its calls
    is known of it.
    """
    made = HeapRef(state.new(Optimizer(name, [], True)))
    stand_in(machine, state, made, name, node)
    machine.facts.networks.made_for[made.id] = given
    return made


def is_of_unknown_code(machine: Machine, optimizer: HeapRef) -> bool:
    """Whether code that is not read has made an optimizer: it came as an argument, or from a call that is not known."""
    networks = machine.facts.networks
    return optimizer.id in networks.handed_optimizers or optimizer.id in networks.made_for


def assumed_parameters(machine: Machine, state: State, optimizer: HeapRef, is_step: bool) -> list[int]:
    """What is taken to be held by an optimizer of which that is not known, as far as it has been trained so far; for a
    step all of it, where nothing has been. What it does to gradients rests on that.
    """
    leaves = {leaf: why for leaf, why in _supposed(machine, state, optimizer).items() if leaf in state.tensors}
    trained = {leaf: why for leaf, why in leaves.items() if leaf in state.history}
    held = leaves if is_step and not trained else trained
    for because in dict.fromkeys(held.values()):
        history.assumed(state, [leaf for leaf, why in held.items() if why == because], because)
    return [*held]


def _supposed(machine: Machine, state: State, optimizer: HeapRef) -> dict[int, Because]:
    """The leaves that an optimizer is taken to hold, each with the guess: what the code was given that has made it, if
    no other optimizer may hold some of that, but for one that this code was given as well, for all of it. If there is
    no other, one that came as an argument holds the parameters of all networks that did, and one that was made of
    nothing known those of all networks of unread code that are trained.
    """
    networks, others = machine.facts.networks, _others(machine, state, optimizer)
    if given := networks.made_for.get(optimizer.id):
        shown = machine.facts.objects.open_objects
        held = [_held_by(machine, state, key) for key in others if key not in shown or given != _params(state, key)]
        is_alone = all(each and given.isdisjoint(each) for each in held)
        return dict.fromkeys(sorted(given) if is_alone else (), _is_for_all(state, optimizer))
    argument = networks.handed_optimizers.get(optimizer.id)
    if any(others):
        return {}
    if argument is None:
        trained = _trained_unknown(machine, state) if optimizer.id in networks.made_for else ()
        return dict.fromkeys(trained, _is_for_all(state, optimizer))
    return {leaf: _holds(argument, network) for leaf, network in networks.handed_leaves.items()}


def _trained_unknown(machine: Machine, state: State) -> list[int]:
    """What stands for the parameters of networks that code which is not read has made, and passes have reached."""
    guessed = set(machine.facts.networks.stand_ins.values())
    reached = (state.tensors.get(key) for key in sorted(state.history.keys() - guessed))
    return [each.id for each in reached if each is not None and each.parameter and each.assumption is not None]


def reach_stand_ins(machine: Machine, state: State, roots: Sequence[int], node: ast.AST, is_known: bool) -> None:
    """A backward may reach whatever an optimizer holds, where one of both is not known: what it begins at, which
    ``is_known`` otherwise, or what the optimizer holds.
    """
    _reach_scaled(machine, state, roots, node)
    networks = machine.facts.networks
    known = [(by, key) for by, key in networks.stand_ins.items() if by in state.heap]
    wide = [key for by, key in known if not (is_known and _held_by(machine, state, by))]
    if leaves := [key for key in wide if key in state.tensors]:
        run = planned(machine.facts, state, roots, node, (), (), [*map(Leaf, leaves)], NOTHING, False)
        book(machine.facts, state, replace(run, scale=None), leaves)


def _reach_scaled(machine: Machine, state: State, roots: Sequence[int], node: ast.AST) -> None:
    """A backward from a scaled loss of which nothing is known reaches the leaf that stands for what it does."""
    scaled = machine.facts.training.scaled_roots
    leaves = [scaled[root] for root in roots if scaled.get(root) in state.tensors]
    reached = [state.tensors[key] for key in leaf_tensors(state.grad_fns(roots))] if leaves else []
    if leaves and not any(each.parameter for each in reached):
        run = planned(machine.facts, state, roots, node, (), (), [*map(Leaf, leaves)], NOTHING, False)
        book(machine.facts, state, run, leaves)


def order_only(machine: Machine, state: State, optimizer: HeapRef, is_step: bool, held: Sequence[int]) -> list[int]:
    """The leaf that stands for what an optimizer holds, where nothing is known but the order of what is done with it:
    it came as an argument or was made of nothing known, or is the only one, and no pass is known to have reached what
    it is known to have ``held``. What a step has used counts no more, unless no other code has the optimizer, and none
    clears gradients. A step that finds nothing shows nothing where code that was not read may have gone backward since
    the gradients were cleared.
    """
    networks, thing = machine.facts.networks, state.get(optimizer.id, Optimizer)
    key = networks.stand_ins.get(optimizer.id)
    if key is None or key not in state.tensors:
        return []
    if any(past.passes or past.clearings for past, _ in history.groups(state, held)):
        return []
    is_handed = optimizer.id in networks.handed_optimizers or networks.made_for.get(optimizer.id) == frozenset()
    if held if is_handed else any(_others(machine, state, optimizer)):
        return []
    history.assumed(state, [key], _is_for_all(state, optimizer))
    if _is_shown(machine, state, optimizer) or any(machine.query(_clears, tree) for tree in machine.trees):
        history.forget_used(state, [key])
    return [] if is_step and state.history[key].never and thing.cleared <= state.unread else [key]


def _is_shown(machine: Machine, state: State, optimizer: HeapRef) -> bool:
    """Whether code that is not read has an optimizer: by itself, or as an attribute of an object that it has."""
    shown = machine.facts.objects.open_objects
    things = (state.heap.get(key) for key in shown)
    return (
        optimizer.id in shown
        or is_of_unknown_code(machine, optimizer)
        or any(optimizer in thing.attributes.values() for thing in things if isinstance(thing, Instance))
    )


@cached_on_node
def _clears(tree: ast.AST) -> bool:
    """Whether some code of a file may clear gradients."""
    return any(
        isinstance(node, ast.Attribute) and (node.attr == "zero_grad" or node.attr in GRADIENTS) for node in walk(tree)
    )


def _params(state: State, key: int) -> frozenset[int]:
    """The leaves that an optimizer is known to hold."""
    return frozenset(state.get(key, Optimizer).params)


def _held_by(machine: Machine, state: State, key: int) -> Collection[int]:
    """The leaves that an optimizer holds, or that the code was given which has made it."""
    return state.get(key, Optimizer).params or machine.facts.networks.made_for.get(key, ())


def _holds(optimizer: str, network: str) -> Because:
    """The guess that an optimizer that came as an argument is for a network that did."""
    return guess(f"`{optimizer}` holds the parameters of `{network}`")


def _is_for_all(state: State, optimizer: HeapRef) -> Because:
    """The guess that an optimizer is for what is there."""
    return guess(f"`{state.get(optimizer.id, Optimizer).name}` holds what this code trains")


def _others(machine: Machine, state: State, optimizer: HeapRef) -> Iterator[int]:
    """The other optimizers that the running code has: one that was there before counts where it leads to that."""
    others = (key for key, thing in state.heap.items() if isinstance(thing, Optimizer) and key != optimizer.id)
    return (key for key in others if not is_older(machine, key) or leads_to(state, {state.frame}, key))


def unknown_may_hold(machine: Machine, state: State, method: str) -> None:
    """``step`` or ``zero_grad`` of what is not known: it may be another optimizer of the same networks."""
    networks = machine.facts.networks
    leaves = networks.handed_leaves.keys() & state.history.keys()
    if method == "zero_grad":
        history.doubted(state, leaves)
    for leaf in leaves if networks.handed_optimizers else ():
        history.looked_at(state, leaf)


def note_cleared(machine: Machine, state: State, optimizer: HeapRef) -> None:
    """``zero_grad``: what comes after it is what the next step is for."""
    if optimizer.id in machine.facts.networks.stand_ins:
        state.edit(optimizer.id, Optimizer).cleared = fresh_id()


def write_networks(machine: Machine, state: State, optimizer: HeapRef, node: ast.AST) -> None:
    """A step writes the parameters of the networks that the optimizer is taken to hold."""
    networks = machine.facts.networks
    if (name := networks.handed_optimizers.get(optimizer.id)) is not None:
        held = _held(machine, state, optimizer) if networks.handed_leaves else ()
        written = {leaf: _holds(name, network) for leaf, network in networks.handed_leaves.items() if network in held}
    else:
        name, written = state.get(optimizer.id, Optimizer).name, _supposed(machine, state, optimizer)
    leaves = {leaf: because for leaf, because in written.items() if leaf in state.grads}
    waiting = reachable_graph(state) - state.freed.keys() if leaves else set()
    for leaf, because in leaves.items():
        if not _is_for_a_part(state, leaf, optimizer, waiting):
            counter = state.tensors[leaf].version_counter
            bump(state, counter, f"{name}.step", node, tensor=leaf, by_optimizer=True, because=because)


def _is_for_a_part(state: State, leaf: int, optimizer: HeapRef, waiting: Iterable[Node]) -> bool:
    """Whether the graph that is still ``waiting`` to be walked uses a network by another call than what went backward
    for a step: ``model(x)`` beside ``model.loss(x)``. The optimizer may hold what only one of them uses.
    """
    cleared = state.get(optimizer.id, Optimizer).cleared
    begun = {each for run in state.history[leaf].passes if run.stamp > cleared for each in run.begin}
    walked = nodes_below(each for each in begun if isinstance(each, Node))
    calls, later = ({node.assumption for node in each if Leaf(leaf) in node.inputs} for each in (walked, waiting))
    return not later <= calls


def _held(machine: Machine, state: State, reference: HeapRef) -> tuple[str, ...]:
    """The networks whose parameters an optimizer holds, by the arguments that they came as."""
    others = {key: name for key, name in machine.facts.networks.handed_optimizers.items() if key != reference.id}
    candidates = _candidates(machine, state, reference, others)
    networks = {*machine.facts.networks.handed_leaves.values()}
    return candidates if not others or len(candidates) == 1 and len(networks) > len(others) else ()


def _candidates(machine: Machine, state: State, reference: HeapRef, others: Iterable[int]) -> tuple[str, ...]:
    """The networks that an optimizer may hold by what was walked before its steps so far, without those that ``others``
    hold for certain.
    """
    optimizer = state.get(reference.id, Optimizer)
    reached = tuple(dict.fromkeys(_reached(machine, state, optimizer.cleared)))
    again = tuple(name for name in optimizer.candidates or reached if name in reached)
    taken = {name for key in others for name in _certain(state, key)}
    candidates = tuple(name for name in again or reached if name not in taken)
    if candidates != optimizer.candidates:
        state.edit(reference.id, Optimizer).candidates = candidates
    return candidates


def _certain(state: State, key: int) -> tuple[str, ...]:
    """The network of another optimizer that nothing else could be meant for."""
    thing = state.heap.get(key)
    candidates = thing.candidates if isinstance(thing, Optimizer) else None
    return candidates if candidates is not None and len(candidates) == 1 else ()


def _reached(machine: Machine, state: State, since: int) -> Iterator[str]:
    """The networks that got gradients after ``since`` and belong to no optimizer that is known."""
    owned = {key for thing in state.heap.values() if isinstance(thing, Optimizer) for key in thing.params}
    for leaf, network in machine.facts.networks.handed_leaves.items():
        past = state.history.get(leaf)
        if past is not None and leaf not in owned and any(run.stamp > since for run in past.passes):
            yield network
