"""A graph is built before a loop and walked in every iteration.

## Why PyTorch fails
The value was computed once, so there is one graph. The first backward frees what it saved; the
second iteration walks it again and raises "Trying to backward through the graph a second time".

## Example
```py
w = torch.randn(4, requires_grad=True)
feature = torch.tanh(w)
for step in range(3):
    loss = (feature * step).sum()
    loss.backward()  # error: [graph-built-outside-loop] "feature" # torch: raises "second time"
```

## Use instead
Compute it inside the loop, so that every iteration has its own graph:
```py
w = torch.randn(4, requires_grad=True)
for step in range(3):
    feature = torch.tanh(w)
    loss = (feature * step).sum()
    loss.backward()  # torch: ok
```
If no gradient is wanted for it, compute it under `torch.no_grad()`.

## What is reported
Reports a `backward()` in a loop that reaches a graph built outside the loop: the first iteration
frees it, the second raises.

## Fix safety
Moving the computation gives the gradients one expects. `torch.no_grad()` and `detach()` give none to
what computed the value and are marked unsafe. So is `retain_graph=True` where an optimizer steps in the loop: it runs,
and trains on values from before the step.
"""

from __future__ import annotations

import ast

from ...autograd.events.graph_walks import Event, FreedGraphReached
from ...autograd.facts import Facts
from ...autograd.model.program_point import earlier_iteration, loop_around
from ...headline import headline, titled
from ...source import Loop
from ..support.cure import FixProposal
from ..support.finding import Finding, Rule, severity_of
from ..support.story import carried, code, keeper
from ..support.walked_twice import (
    ERROR,
    before,
    carrier,
    detach,
    into_loop,
    origin,
    refused,
    retain_cure,
    story,
    uses_of,
)


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, FreedGraphReached)
    if origin(event) != "outside":
        return None
    lap = earlier_iteration(event.freed.point, event.point)
    shared = carrier(event)
    loop = loop_around(event.point, shared.created_at)
    assert lap is not None and loop is not None
    kept = carried(facts, shared, event.point)
    where, inside = _place(loop.loop)
    message = headline(
        f"{kept} is computed once, {where}, but {code(event.freed.point.node)} frees its graph",
        f"{kept} is computed once, {where}, but each backward frees its graph",
        f"{kept} is computed once, but each backward frees its graph",
        "What is computed once loses its graph in the first backward",
    )
    stored = keeper(facts, shared, event.point)
    cures: list[FixProposal] = []
    if stored is not None and isinstance(loop.loop, Loop):
        cures.append(
            FixProposal(
                "move_into_loop",
                into_loop(kept),
                (stored.statement, loop.loop),
                effect="It is then computed in every iteration.",
            )
        )
    elif stored is not None:
        title = titled("Move {} into the function", kept)
        targets, effect = (stored.statement, event.freed.point.node), "It is then computed in every call."
        cures.append(FixProposal("move_into_function", title, targets, effect=effect))
    advice = f"Compute {kept} {inside}, or under `torch.no_grad()` if it needs no gradient."
    young = before(event, shared)
    for reader in uses_of(young.created_at.node, stored):
        title = detach(kept, "where it is used")
        cures.append(FixProposal("detach", title, (reader,), "unsafe", effect="It gets no gradient there."))
    if stored is not None and isinstance(loop.loop, Loop):
        title = titled("Compute {} under `torch.no_grad()`", kept)
        cures.append(FixProposal("no_grad", title, (stored.statement,), "unsafe", effect="It gets no gradient."))
    return Finding(
        point=event.point,
        severity=severity_of(event),
        message=message,
        raises=ERROR,
        short="walks the graph again",
        links=story(event, facts),
        help=f"{advice} {_keeping(event, facts, isinstance(loop.loop, Loop))}".rstrip(),
        no_fix=f"no one statement computes it that could stand {inside}",
        cures=(*cures, *retain_cure(event, grows=False)),
    )


def _place(loop: ast.AST) -> tuple[str, str]:
    """Where the graph is built, and where it should be: a function may be the body of a loop, too."""
    match loop:
        case ast.FunctionDef(name) | ast.AsyncFunctionDef(name):
            return f"outside `{name}`", f"inside `{name}`"
        case ast.Call():
            return "outside the closure", "inside the closure"
    return "before the loop", "inside the loop"


def _keeping(event: FreedGraphReached, facts: Facts, is_seen: bool) -> str:
    """What `retain_graph=True` does here, where it is right, or would only change the error; of what is called again
    it is not seen what comes between.
    """
    if event.spoiled is not None or event.stepped or event.update is not None:
        return refused(event, facts)
    if not is_seen:
        return "`retain_graph=True` would keep what it was then, whatever is trained since."
    return "`retain_graph=True` is right, too: no step comes between the backwards."


RULE = Rule(
    "TL103",
    "graph-built-outside-loop",
    "a graph built before a loop is walked in every iteration",
    __doc__,
    (FreedGraphReached,),
    check,
    raises=(ERROR,),
    answerable=True,
)
