"""An evaluation loop records graphs that no backward walks.

## What PyTorch does
It goes on recording. `model.eval()` changes dropout and batch norm, and has nothing to do with autograd. Every
operation still builds its node and keeps what a backward would need, until the iteration ends: activations of all
layers are in memory at once, where `torch.no_grad()` would let each go as soon as the next is computed.

Graphs that are kept beyond their iteration are more than a matter of cost; another rule is about those.

## Example
```py
model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
model.eval()
hits = 0
for x in torch.randn(4, 5, 3):
    out = model(x)  # information: [graph-built-in-evaluation] "no_grad"
    hits += (out.argmax(1) == 0).sum().item()
out = None
print(hits)  # torch: ok
```

## Use instead
```py
model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
model.eval()
hits = 0
with torch.no_grad():
    for x in torch.randn(4, 5, 3):
        out = model(x)
        hits += (out.argmax(1) == 0).sum().item()
print(hits)  # torch: ok
```

## What is reported
Reports a loop or a comprehension that calls a network in evaluation mode (`eval()`) with gradients enabled, where no
backward ever walks what was recorded, and it is not kept: what comes out is only measured. That an object whose code is
not known is a network, such as an argument, is assumed. A `while` gets a hint.

In a script in which no code goes backward no `eval()` is needed to see that: a loop over data that runs a network
there records for nothing.

## Fix safety
The loop computes the same values. Nothing differentiates what it computes, as far as tapelint can see.
"""

from __future__ import annotations

import ast

from ...autograd.events.graph_walks import Event
from ...autograd.events.training_step import EvaluationRecorded
from ...autograd.facts import Facts
from ...headline import headline
from ...severity import Severity
from ..support.cure import FixProposal
from ..support.finding import Finding, Rule, Same, TraceStep
from ..support.story import code


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, EvaluationRecorded)
    call = code(event.point.node)
    graph = (
        f"a graph of {event.nodes} operation{'s' * (event.nodes > 1)}"
        if event.nodes
        else f"the whole graph of `{event.network}`"
    )
    why = "`eval()` does not switch autograd off" if event.in_evaluation else "no code of this script goes backward"
    message = headline(
        f"{call} records {graph}, which no backward uses: `torch.no_grad()` is missing",
        f"{call} records a graph that no backward uses: `torch.no_grad()` is missing",
        f"{call} records a graph that no backward uses",
    )
    is_loader = isinstance(event.loop, (ast.For, ast.AsyncFor, ast.comprehension))
    statement = event.loop if isinstance(event.loop, ast.stmt) else event.point.node
    return Finding(
        point=event.point,
        severity=Severity.INFORMATION if is_loader else Severity.HINT,
        message=message,
        links=(
            TraceStep(
                statement,
                f"This loop ends, and no backward has used what it recorded: {why}",
                short="the loop ends, no backward",
            ),
        ),
        help="Run the loop under `torch.no_grad()`: that saves the memory and the time of recording.",
        cures=(FixProposal("no_grad", "Run the loop under `torch.no_grad()`", (event.loop,)),)
        if isinstance(event.loop, ast.stmt)
        else (),
        loop=event.loop,
    )


RULE = Rule(
    "TL406",
    "graph-built-in-evaluation",
    "an evaluation loop records graphs that no backward uses",
    __doc__,
    (EvaluationRecorded,),
    check,
    answerable=True,
    told_by={"TL105": Same.IN_ITS_STORY},
)
