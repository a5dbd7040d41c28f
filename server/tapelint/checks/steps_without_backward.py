"""Steps of an optimizer in a program, or in a function without a caller, in which nothing goes backward, or only when
it is too late.

    def fit_batch(self, x):
        loss = self.net(x).pow(2).mean()
        self.opt.step()                  # no gradient: nothing is trained
        self.opt.zero_grad()
        return loss.detach()

That a backward is missing is known where a graph of all that the optimizer holds was recorded for nothing: when the
path ends no code can walk it any more. Code that was not read has not seen it. A pass to an input that records a
graph, for a differential equation or a penalty, is no such backward: the loss comes after it.
"""

from __future__ import annotations

from ..autograd import Leaf, Node
from ..autograd.events.training_step import StepMissed, StepWithoutBackward
from ..autograd.gradients import history
from ..autograd.gradients.history import Idle
from ..autograd.model.graph_search import leaf_tensors, nodes_below
from ..autograd.model.guesses import keeping
from ..because import all_hold
from ..domain.state import State
from ..engine.lifecycle import PathEnded
from ..engine.machine import Machine
from .reachable_tensors import held_tensors


def on_path_ended(machine: Machine, event: PathEnded) -> None:
    """Publish the steps that found nothing to use, if a loss was computed for them and thrown away, or went backward
    too late.
    """
    if event.result is not None:
        _publish_early(machine, event.state)
    state, idle = event.state, _idle(machine, event.state)
    if not idle or state.hooks:
        return
    outer = held_tensors(state, *event.reachable)
    if outer is None:
        return
    alive = nodes_below(state.grad_fns(outer | state.escaped))
    for step, keys in idle.items():
        lost = _lost(machine, state, keys, alive)
        if lost is not None:
            premise = next((n.assumption for n in nodes_below([lost]) if n.assumption), None)
            machine.facts.events.publish(
                StepWithoutBackward(
                    point=step.point,
                    because=keeping(premise) & all_hold(state.history[key].because for key in keys),
                    leaves=tuple(sorted(keys)),
                    loss=lost,
                    called=event.result is not None,
                )
            )


def _publish_early(machine: Machine, state: State) -> None:
    """Publish the steps of a function without a caller that came before the backward, where that was the end of it: no
    other code was given the optimizer, or has looked at the gradients.
    """
    given = machine.facts.objects.open_objects
    for past, leaves in history.groups(state, sorted(state.history)):
        step, unused = past.idle, [run for run in past.fresh if run not in state.consumed_passes]
        cleared_by = None if step is None else step.cleared_by
        if step is not None and cleared_by is not None and cleared_by not in given and unused and not past.doubt:
            machine.facts.events.publish(
                StepMissed(
                    point=unused[0].point,
                    because=unused[0].because & past.because,
                    step=step,
                    leaves=leaves,
                    premises=machine.facts.relevant_assumptions(state),
                    is_last=True,
                )
            )


def _idle(machine: Machine, state: State) -> dict[Idle, set[int]]:
    """The steps that found nothing, each with all that it looked at; none where any gradient may have been computed."""
    found: dict[Idle, set[int]] = {}
    stand_ins = set(machine.facts.networks.stand_ins.values())
    for key, past in state.history.items():
        if past.doubt or not past.never:
            return {}
        if past.idle is not None and key not in stand_ins:
            found.setdefault(past.idle, set()).add(key)
    return {idle: keys for idle, keys in found.items() if machine.facts.lead_to(idle.premises, idle.point)}


def _lost(machine: Machine, state: State, keys: set[int], alive: set[Node]) -> Node | None:
    """The end of a graph of all ``keys`` that no pass has walked, if none of the graphs that lead to them is
    ``alive``.
    """
    found: Node | None = None
    for tensor in list(state.tensors.values()):
        node = tensor.grad_fn
        if node is None or not node.certain or _is_made_of_leaves(node) or not keys & (below := leaf_tensors([node])):
            continue
        if node in alive or node in state.freed or node.created_at.call_site in machine.facts.training.walked_last:
            return None
        if keys <= below and (found is None or node.id > found.id):
            found = node
    return found


def _is_made_of_leaves(node: Node) -> bool:
    """Whether code that is not known was given parameters alone: it has made an optimizer rather than a loss."""
    return node.assumption is not None and all(isinstance(each, Leaf) for each in node.inputs)
