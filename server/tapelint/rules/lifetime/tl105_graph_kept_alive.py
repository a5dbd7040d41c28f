"""A loop collects graphs that no backward walks.

## What it does
Reports a running total, a list, a dict, an attribute or a carried state that holds the graphs of several iterations at
the end of a loop, where no backward ever walks them.

## Why PyTorch fails
It does not raise: it runs out of memory, later. A tensor that requires grad holds its graph, and the
graph holds every activation that the operations saved. `total += loss` in a validation loop keeps all batches alive.
After a backward the saved tensors are freed, and only the bare nodes of the graph remain: that is a hint, not a
warning.

## Example
```py
net = nn.Linear(4, 1)
total = 0.0
for step in range(3):
    total += net(torch.randn(8, 4)).pow(2).mean()  # information: [graph-kept-alive] "total"
print(total)  # torch: silent the activations of all iterations are in memory
```

## Use instead
```py
net = nn.Linear(4, 1)
total = 0.0
with torch.no_grad():
    for step in range(3):
        total += net(torch.randn(8, 4)).pow(2).mean()
print(total)  # torch: ok
```
Or keep the number only: `total += loss.item()`, `losses.append(loss.detach())`.

## Fix safety
No backward walks the graph, so cutting it changes no gradient.
"""

from __future__ import annotations

import ast

from ...autograd.events.graph_walks import Event, GraphKeptAlive
from ...autograd.facts import Facts
from ...severity import Severity
from ..support.cure import FixProposal
from ..support.finding import Finding, Rule, TraceStep
from ..support.story import counted, op_name, prefix


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, GraphKeptAlive)
    collected = event.collected
    stored = collected.stored
    name = f"`{stored.target}`"
    loop = counted(collected.lap)
    links: tuple[TraceStep, ...] = ()
    if collected.alive:
        last = max(collected.alive, key=lambda node: node.id)
        message = (
            f"{name} holds the graph of every {loop}, and no backward walks it: what {op_name(last)} and the others "
            f"saved stays in memory, more with each {loop}."
        )
        links = (
            TraceStep(
                last.created_at.node, f"{prefix(last.created_at)}{op_name(last)} saved what a backward would need"
            ),
        )
    else:
        message = f"{name} holds the graph of every {loop}: no saved tensors any more, but its bare nodes."
    value = stored.statement.value if isinstance(stored.statement, ast.AugAssign) else stored.value
    cures = (FixProposal("detach", f"Keep the value only: detach what {name} is given", (value,)),) if value else ()
    return Finding(
        at=stored.statement,
        point=event.point,
        severity=Severity.INFORMATION if collected.alive else Severity.HINT,
        message=message,
        links=links,
        help="keep the number (`.item()`, `.detach()`), or compute it under torch.no_grad().",
        cures=cures,
    )


RULE = Rule(
    "TL105",
    "graph-kept-alive",
    "a loop collects graphs that nobody walks",
    __doc__,
    (GraphKeptAlive,),
    check,
)
