"""The ledger of gradients: what each backward is about to add, and its booking once it has.

Backward passes that code which is not read may have run.

lib.accumulate(loss)      # goes backward, or only looks at the number
opt.step()                # so there may be gradients

Unknown code that was given a graph may go backward through it, and so reach the leaves below. Not where a graph has
been freed since: the pass that did so would have raised if another one had come before it.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ...because import NOTHING, UNSEEN, Because, guess
from ..events.training_step import StepMissed
from ..facts import Facts
from ..model.graph import Leaf, Node
from ..model.graph_search import reachable
from ..state import AutogradState, fresh_id
from .history import Idle, Pass, added, clipped, groups, looked_at


def planned(
    facts: Facts,
    state: AutogradState,
    roots: Sequence[int],
    node: ast.AST,
    begin: Sequence[Node | Leaf],
    order: Sequence[Node],
    leaves: Sequence[Leaf],
    because: Because,
    create: bool | None,
) -> Pass:
    """What a backward from ``roots`` is to the gradients it is about to make."""
    unseen_source = next((n.assumption for n in order if n.assumption), None)
    return Pass(
        state.point(node),
        roots[0] if roots else -1,
        tuple(begin),
        tuple(item.tensor for item in leaves),
        next((point for key in roots if (point := facts.provenance_of(key).scaled)), None),
        facts.relevant_assumptions(state),
        because
        or facts.events.because
        or (guess(f"`{unseen_source}` keeps a graph{UNSEEN}") if unseen_source else NOTHING),
        fresh_id(),
        create is True,
    )


def book(facts: Facts, state: AutogradState, run: Pass, leaves: Sequence[int]) -> None:
    """Remember which backward a gradient comes from, and tell if a step had looked for it without success."""
    idle: dict[Idle, list[int]] = {}
    because = run.because
    for past, looked_for in groups(state, leaves):
        if past.idle is not None and past.never and not past.doubt:
            idle.setdefault(past.idle, []).extend(looked_for)
            because = because & past.because
    unseen = perhaps_reached(state) if idle else set()
    added(state, leaves, run)
    if state.hooks:  # what they see of the gradients is a use
        looked_at(state, None)
        for hook in state.hooks.values():
            if hook.kind == "tensor" and isinstance(hook.target, Leaf) and hook.made in facts.training.clipping_hooks:
                clipped(state, [hook.target.tensor], facts.training.clipping_hooks[hook.made], by_hook=True)
    for step, keys in idle.items():
        if not (missed := tuple(key for key in keys if key not in unseen)):
            continue
        facts.events.publish(
            StepMissed(point=run.point, because=because, step=step, leaves=missed, premises=run.premises)
        )


def perhaps_reached(state: AutogradState) -> set[int]:
    """The leaves to which unknown code may have gone backward."""
    if not state.escaped:
        return set()
    alive = reachable(state.grad_fns(state.escaped), lambda node: node not in state.freed)
    return {item.tensor for item in alive if isinstance(item, Leaf)}
