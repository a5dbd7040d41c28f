"""A loop detaches its state in every iteration, and only the last iteration is trained.

## What PyTorch does
It raises nothing. A detached tensor has no `grad_fn`, so the graph of an iteration ends where the iteration began.
Backpropagation through time is then one step long: the inputs before the last one change the loss, but the parameters
learn nothing from that. And each iteration pays for a graph that no backward uses.

## Example
```py
cell, out = nn.GRUCell(4, 8), nn.Linear(8, 1)
sequence = torch.randn(5, 2, 4, requires_grad=True)
h = torch.zeros(2, 8)
for x in sequence:
    h = cell(x, h.detach())  # warning: [recurrence-cut] "only the last iteration"
out(h).pow(2).mean().backward()
assert [bool(x.any()) for x in sequence.grad] == [False] * 4 + [True]  # torch: silent four steps get no gradient
```

## Use instead
Let the gradient flow through the whole sequence:
```py
cell, out = nn.GRUCell(4, 8), nn.Linear(8, 1)
sequence = torch.randn(5, 2, 4, requires_grad=True)
h = torch.zeros(2, 8)
for x in sequence:
    h = cell(x, h)
out(h).pow(2).mean().backward()
assert all(bool(x.any()) for x in sequence.grad)  # torch: ok
```

A state that an earlier part of the sequence has left is detached once, before the loop.

If only the last step is to be trained, the others need no graph:
```py
cell, out = nn.GRUCell(4, 8), nn.Linear(8, 1)
sequence = torch.randn(5, 2, 4)
h = torch.zeros(2, 8)
with torch.no_grad():
    for x in sequence[:-1]:
        h = cell(x, h)
h = cell(sequence[-1], h)
out(h).pow(2).mean().backward()  # torch: ok
```

## What is reported
Reports `.detach()` or `.data` in a loop over time steps, where each iteration begins with what the same code has
computed in the one before, and a backward after the loop walks the result: of the loop it reaches the last iteration.
What the others have computed for the parameters is not held by anything and no backward walks it. A loop in which
another loop goes through a part of the sequence is not reported, nor one whose iterations are kept, in a list or a sum.

## Fix safety
Without `.detach()` gradients flow through all iterations, and the graphs of all of them stay in memory until the
backward. The fix is unsafe: the state may have been cut on purpose.
"""

from __future__ import annotations

from ...autograd.events.broken_graph import RecurrenceCut
from ...autograd.events.graph_walks import Event
from ...autograd.facts import Facts
from ...severity import Severity
from ..support.cure import FixProposal
from ..support.finding import Finding, Holds, Rule, TraceStep
from ..support.story import code


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, RecurrenceCut)
    cut, source = event.cut, event.cut.source
    assert source is not None
    title, effect = f"Remove `{cut.name}` to keep the graph", "The backward then goes through all iterations."
    return Finding(
        point=event.point,
        severity=Severity.WARNING,
        message=f"{code(event.point.node)} cuts the graph between iterations: the loss trains only the last",
        links=(
            TraceStep(
                source.created_at.node,
                "This is computed, with a graph",
                source.created_at,
                short="computed, with a graph",
            ),
            TraceStep(
                event.point.node,
                "This takes the values, and the graph is lost",
                event.point,
                short="takes the values, no graph",
            ),
            TraceStep(
                event.walk.node,
                "This backward reaches only the last iteration",
                event.walk,
                short="reaches only the last iteration",
            ),
        ),
        help="Detach the state where a sequence begins, not in each of its steps.",
        cures=(FixProposal("remove_call", title, (event.point.node,), "unsafe", effect=effect),),
        holds=Holds.IF_NO_PATH_GOES_BACKWARD,
    )


RULE = Rule(
    "TL314",
    "recurrence-cut",
    "a loop detaches its state in every iteration, and only the last one is trained",
    __doc__,
    (RecurrenceCut,),
    check,
    answerable=True,
)
