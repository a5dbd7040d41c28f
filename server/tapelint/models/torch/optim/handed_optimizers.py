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
only among what remains do the words of the names decide, those left out that all optimizers or all networks have.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from ....autograd import bump, fresh_id
from ....domain.state import State
from ....domain.values import HeapRef, Optimizer
from ....engine.machine import Machine

WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+\d*|\d+")
"""A word of a name: ``critic1``, ``Optim``, ``G``."""


def note_cleared(machine: Machine, state: State, optimizer: HeapRef) -> None:
    """``zero_grad``: what comes after it is what the next step is for."""
    if optimizer.id in machine.facts.handed_optimizers:
        state.edit(optimizer.id, Optimizer).cleared = fresh_id()


def write_networks(machine: Machine, state: State, optimizer: HeapRef, node: ast.AST) -> None:
    """A step writes the parameters of the networks that the optimizer is taken to hold."""
    facts = machine.facts
    argument = facts.handed_optimizers.get(optimizer.id)
    if argument is None or not facts.handed_leaves:
        return
    held = set(_held(machine, state, optimizer, argument))
    for leaf, network in facts.handed_leaves.items() if held else ():
        if network in held and leaf in state.grads:
            bump(
                state,
                state.tensors[leaf].version_counter,
                f"{argument}.step",
                node,
                tensor=leaf,
                by_optimizer=True,
                assumption=f"`{argument}` holds the parameters of `{network}`",
            )


def _held(machine: Machine, state: State, reference: HeapRef, argument: str) -> tuple[str, ...]:
    """The networks whose parameters an optimizer holds, by the names of the arguments that they came as."""
    others = {key: name for key, name in machine.facts.handed_optimizers.items() if key != reference.id}
    candidates = _candidates(machine, state, reference, others)
    if not others:
        return candidates
    networks = dict.fromkeys(machine.facts.handed_leaves.values())
    matching = Names([argument, *others.values()], networks)
    named = matching.best(argument, candidates)
    if named or len(candidates) != 1 or len(networks) <= len(others):
        return named
    return () if any(matching.best(other, candidates) for other in others.values()) else candidates


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
    for leaf, network in machine.facts.handed_leaves.items():
        past = state.history.get(leaf)
        if past is not None and leaf not in owned and any(run.stamp > since for run in past.passes):
            yield network


class Names:
    """The words that distinguish some optimizers and some networks from others of their kind."""

    def __init__(self, optimizers: Iterable[str], networks: Iterable[str]) -> None:
        self.optimizers, self.networks = _distinct(optimizers), _distinct(networks)

    def best(self, optimizer: str, networks: Iterable[str]) -> tuple[str, ...]:
        """Those of ``networks`` that share most words with an optimizer and have the fewest others, if they share any,
        and no other optimizer shares more with them.
        """
        ranked = {network: self._likeness(optimizer, network) for network in networks}
        top = max(ranked.values(), default=(0, 0))
        found = tuple(network for network, likeness in ranked.items() if likeness == top and top[0])
        rivals = [other for other in self.optimizers if other != optimizer]
        return tuple(n for n in found if all(self._likeness(other, n) < top for other in rivals))

    def _likeness(self, optimizer: str, network: str) -> tuple[int, int]:
        """How many words they share, and minus the number of those of the network that they do not."""
        own = self.networks[network]
        shared = sum(any(a.startswith(b) or b.startswith(a) for b in own) for a in self.optimizers[optimizer])
        return shared, shared - len(own)


def _distinct(names: Iterable[str]) -> dict[str, frozenset[str]]:
    """By name its words, without those that all of several names have."""
    words = {name: frozenset(word.lower() for word in WORD.findall(name)) for name in names}
    common = frozenset.intersection(*words.values()) if len(words) > 1 else frozenset()
    return {name: found - common for name, found in words.items()}
