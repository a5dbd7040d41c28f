"""An evaluation loop records graphs that no backward walks.

## What it does
Hints at a loop that calls a network in evaluation mode (`eval()`) with gradients enabled, where no backward ever
walks what was recorded, and it is not kept.

## Why PyTorch fails
It does not: `model.eval()` changes dropout and batch norm, and has nothing to do with autograd.
Every operation still builds its node and keeps what a backward would need, until the iteration ends: activations of all
layers are in memory at once, where `torch.no_grad()` would let each go as soon as the next is computed.

Graphs that are kept beyond their iteration are more than a matter of cost; another rule is about those.

## Example
```py
model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
model.eval()
hits = 0
for x in torch.randn(4, 5, 3):
    out = model(x)  # hint: [graph-built-in-evaluation] "no_grad"
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

## Fix safety
The loop computes the same values. Nothing differentiates what it computes, as far as tapelint can see.
"""

from __future__ import annotations

from ...autograd.events.graph_walks import Event
from ...autograd.events.training_step import EvaluationRecorded
from ...autograd.facts import Facts
from ...severity import Severity
from ..support.cure import FixProposal
from ..support.finding import Finding, Rule, TraceStep
from ..support.story import assuming, code


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, EvaluationRecorded)
    call = code(event.point.node)
    message = (
        f"{call} records a graph of {event.nodes} operations in every iteration, and nobody walks it: `eval()` does "
        f"not switch autograd off, `torch.no_grad()` does.{assuming(event.assumption)}"
    )
    return Finding(
        point=event.point,
        severity=Severity.HINT,
        message=message,
        links=(TraceStep(event.loop, "the loop ends, and no backward has walked what it recorded"),),
        help="run the loop under torch.no_grad(): it saves the memory and the time of recording.",
        cures=(FixProposal("no_grad", "Run the loop under torch.no_grad()", (event.loop,)),),
    )


RULE = Rule(
    "TL406",
    "graph-built-in-evaluation",
    "an evaluation loop records graphs that nobody walks",
    __doc__,
    (EvaluationRecorded,),
    check,
)
