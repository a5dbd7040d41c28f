"""`retain_graph=True` keeps a graph that the next iterations walk again, or that nothing walks.

## Why PyTorch fails
`retain_graph=True` is what PyTorch's error "Trying to backward through the graph a second time"
suggests. Where a tensor carries the graph of one iteration into the next, it only hides the cause: every backward
walks all earlier iterations again, and time and memory grow with each of them. Once an optimizer has stepped on a
weight that the old graph saved, the error becomes "one of the variables needed for gradient computation has been
modified by an inplace operation". Where nothing walks the graph again, it keeps the saved tensors through the next
forward.

## Example
```py
cell = nn.GRUCell(3, 8)
h = torch.zeros(4, 8)
for step in range(3):
    h = cell(torch.randn(4, 3), h)
    h.sum().backward(retain_graph=True)  # information: [retain-graph-in-loop] "h"
print(h.grad_fn)  # torch: silent each backward walks all earlier iterations
```

```py
policy, old_policy = nn.Linear(4, 2), nn.Linear(4, 2)
opt = torch.optim.SGD(policy.parameters(), lr=0.1)
x = torch.randn(8, 4)
old = old_policy(x).log_softmax(-1)
for epoch in range(3):
    ratio = (policy(x).log_softmax(-1) - old).exp()
    opt.zero_grad()
    ratio.mean().backward(retain_graph=True)  # information: [retain-graph-in-loop] "`old`"
    opt.step()
print(old_policy.weight.grad)  # torch: silent gradients that nothing uses
```

## Use instead
```py
cell = nn.GRUCell(3, 8)
h = torch.zeros(4, 8)
for step in range(3):
    h = cell(torch.randn(4, 3), h.detach())
    h.sum().backward()  # torch: ok
```
What is data for the loss is computed without a graph:
```py
policy, old_policy = nn.Linear(4, 2), nn.Linear(4, 2)
opt = torch.optim.SGD(policy.parameters(), lr=0.1)
x = torch.randn(8, 4)
with torch.no_grad():
    old = old_policy(x).log_softmax(-1)
for epoch in range(3):
    ratio = (policy(x).log_softmax(-1) - old).exp()
    opt.zero_grad()
    ratio.mean().backward()
    opt.step()
assert old_policy.weight.grad is None  # torch: ok
```
`retain_graph=True` is right for several backwards through one graph in one iteration, except for the last of them:
```py
w = torch.ones(3, requires_grad=True)
for step in range(3):
    y = w.exp()
    y.sum().backward(retain_graph=True)
    (y * 2).sum().backward()  # torch: ok
```

## What is reported
Reports a `backward(retain_graph=True)` in a loop whose graph is walked again by the next iterations (it grows and
grows), or not at all. Also reports one that is needed only because a part of the graph was built before the loop and
leads to nothing that is trained: old log-probabilities, features of a frozen network, targets.

## Fix safety
Detaching cuts the gradient through the past, so that fix is unsafe. Taking out a `retain_graph=True` that is not needed
changes no gradient.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from ...autograd.events.graph_walks import (
    Event,
    FreedGraphReached,
    RetainedGraphReached,
    RetainedOutside,
    RetainedUnused,
)
from ...autograd.facts import Facts
from ...autograd.model.program_point import earlier_iteration
from ...headline import headline
from ...severity import Severity
from ..support.cure import FixProposal
from ..support.finding import Finding, Rule, TraceStep
from ..support.modified_saved import ERROR
from ..support.story import carried, keeper, tensor_name, tensor_names, writer
from ..support.walked_twice import UNNAMED, before, carrier, detach, detaching, story, uses_of


def check(event: Event, facts: Facts) -> Finding | None:
    if isinstance(event, RetainedUnused | RetainedOutside):
        if _is_asked_for(event):
            return None
        return unused(event) if isinstance(event, RetainedUnused) else outside(event, facts)
    assert isinstance(event, RetainedGraphReached)
    return reached(event, facts)


def _is_asked_for(event: RetainedUnused | RetainedOutside) -> bool:
    """Whether the graph is kept because a switch is set that may as well be left: its user knows what that costs."""
    call = event.point.node
    given = [*call.args, *(each.value for each in call.keywords)] if isinstance(call, ast.Call) else []
    chosen = {choice.test for each in event.point.guard.followed for choice, _ in each}
    return bool(event.supposed) or not chosen.isdisjoint(given)


def outside(event: RetainedOutside, facts: Facts) -> Finding:
    """Built before the loop, walked in every iteration, for gradients that no optimizer uses."""
    bare = FreedGraphReached(
        point=event.point,
        node=event.node,
        freed=event.past,
        path=event.path,
        root=event.root,
        shared=event.node,
        spoiled=None,
        first_use=None,
    )
    name, leaves = carried(facts, event.node, event.point), tensor_names(facts, event.leaves)
    message = headline(
        f"Each backward also computes gradients of {leaves} through {name}, which no optimizer uses",
        f"Each backward also computes gradients through {name}, which no optimizer uses",
        "`retain_graph=True` is needed only for gradients that no optimizer uses",
    )
    without = FixProposal("drop_retain_graph", "", (event.point.node,))
    stored, young = keeper(facts, event.node, event.point), before(bare, event.node)
    cures: list[FixProposal] = []
    if stored is not None and stored.value is not None:
        cures.append(_detaching(detach(name, "where it is kept"), stored.value, without))
    for reader in uses_of(young.created_at.node, stored):
        cures.append(_detaching(detach(name, "where it is used"), reader, without))
    return Finding(
        point=event.point,
        severity=Severity.INFORMATION,
        message=message,
        links=story(bare, facts, "This backward retains it", "retains the graph"),
        help=f"Detach {name}, or compute it under `torch.no_grad()`: then `retain_graph=True` is not needed.",
        cures=tuple(cures),
    )


def _detaching(title: str, value: ast.expr, also: FixProposal) -> FixProposal:
    return FixProposal("detach", title, (value,), "unsafe", (also,), "It gets no gradient.")


def unused(event: RetainedUnused) -> Finding:
    """No later pass walked the graph."""
    message = "`retain_graph=True` keeps a graph in memory that no backward uses again"
    return Finding(
        point=event.point,
        severity=Severity.INFORMATION,
        message=message,
        links=(
            TraceStep(
                event.point.node,
                "The next backward here goes over another graph",
                event.point,
                short="walks another graph next time",
            ),
        ),
        help="Leave `retain_graph=True` out; it is needed only if the same graph is walked again.",
        cures=(FixProposal("drop_retain_graph", "Remove `retain_graph=True`", (event.point.node,)),),
    )


def reached(event: RetainedGraphReached, facts: Facts) -> Finding | None:
    """The next iteration came back: reported as the error it would be without ``retain_graph=True``."""
    shared = next(n for n in event.path if earlier_iteration(n.created_at, event.point) is not None)
    bare = FreedGraphReached(
        point=event.point,
        node=event.node,
        freed=event.past,
        path=event.path,
        root=event.root,
        shared=shared,
        spoiled=event.spoiled,
        first_use=None,
    )
    name = carried(facts, carrier(bare), event.point)
    links = story(bare, facts, "This backward retains it", "retains the graph")
    grows = "Time and memory grow with each iteration." if event.spoiled is None else ""
    if event.spoiled is None:
        effect = "so each backward repeats the earlier ones"
    else:
        _, saved, write = event.spoiled
        changed = tensor_name(facts, saved.tensor) or "a tensor"
        effect = f"but {writer(write)} has changed {changed}"
        wrote = TraceStep(
            write.point.node,
            f"This writes {changed}, which was saved",
            write.point,
            short=f"written, version {write.version}",
        )
        at = next((i for i, link in enumerate(links) if link.node is event.past.point.node), len(links) - 1)
        links = (*links[: at + 1], wrote, *links[at + 1 :])
    without = FixProposal("drop_retain_graph", "", (event.past.point.node,))
    message = headline(
        f"`retain_graph=True` keeps the earlier graphs of {name} alive, {effect}",
        f"`retain_graph=True` keeps old graphs of {name}, {effect}",
        f"`retain_graph=True` keeps old graphs of {name}, but a step has changed what they saved"
        if event.spoiled is not None
        else f"`retain_graph=True` keeps old graphs, {effect}",
        "`retain_graph=True` keeps the graphs of earlier iterations alive",
    )
    return Finding(
        at=event.past.point.node,
        point=event.point,
        severity=Severity.INFORMATION if event.spoiled is None else Severity.ERROR,
        message=message,
        raises=ERROR if event.spoiled is not None else None,
        links=links,
        help=f"Detach {name} between the iterations: then `retain_graph=True` is not needed. {grows}".rstrip(),
        no_fix=UNNAMED,
        cures=tuple(replace(cure, also=(without,)) for cure in detaching(bare, facts)),
    )


RULE = Rule(
    "TL104",
    "retain-graph-in-loop",
    "retain_graph=True keeps a graph that the next iterations walk again, or no backward",
    __doc__,
    (RetainedGraphReached, RetainedOutside, RetainedUnused),
    check,
    raises=(ERROR,),
    answerable=True,
)
