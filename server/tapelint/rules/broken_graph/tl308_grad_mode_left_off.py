"""Gradients are switched off and stay off.

## Why PyTorch fails
Called as a function, `set_grad_enabled` acts until it is called again: it outlives the function that called it,
also where that returns early or raises. Whatever is computed afterwards has no graph, and the next backward raises
"element 0 of tensors does not require grad and does not have a grad_fn", far from the call. A context manager or a
decorator puts back what was.

## Example
```py
def validate(model, x):
    torch.set_grad_enabled(False)  # error: [grad-mode-left-off] "stay off"
    score = model(x).mean().item()
    return score

model = nn.Linear(3, 1)
for epoch in range(2):
    model(torch.randn(4, 3)).mean().backward()  # torch: raises "does not require grad"
    validate(model, torch.randn(4, 3))
```

## Use instead
```py
@torch.no_grad()
def validate(model, x):
    score = model(x).mean().item()
    return score

model = nn.Linear(3, 1)
for epoch in range(2):
    model(torch.randn(4, 3)).mean().backward()
    validate(model, torch.randn(4, 3))  # torch: ok
```

## What is reported
Reports `torch.set_grad_enabled(False)` called as a statement, where a later `backward()` finds no graph because
nothing had switched gradients on again. Of functions that nothing calls it is assumed that callers repeat a round of
training after them.

## Fix safety
The rest of the function runs without gradients, as before; what follows its call runs with them.
"""

from __future__ import annotations

from ...autograd.events.graph_walks import BackwardWithoutGraph, Event
from ...autograd.facts import Facts
from ...headline import headline
from ..support.cure import FixProposal
from ..support.finding import Finding, Rule, TraceStep, severity_of
from ..support.story import code

ERROR = "element 0 of tensors does not require grad and does not have a grad_fn"


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, BackwardWithoutGraph)
    if event.cut is None or event.cut.grad_mode_set_at is None:
        return None
    cut, switch = event.cut.point, event.cut.grad_mode_set_at
    links = (
        TraceStep(switch.node, f"{code(switch.node)} switches gradients off", switch, short="switches gradients off"),
        TraceStep(cut.node, "This is computed without a graph", cut, short="computed without a graph"),
        TraceStep(event.point.node, f"{code(event.point.node)} has no graph", event.point, short="no graph"),
    )
    return Finding(
        point=switch,
        severity=severity_of(event),
        message=headline(
            f"{code(switch.node)} switches gradients off, and they stay off: {code(event.point.node)} has no graph",
            f"{code(switch.node)} switches gradients off, and they stay off: the backward has no graph",
            "This switches gradients off, and they stay off: the backward has no graph",
        ),
        raises=ERROR,
        links=links,
        help="Use `with torch.no_grad():` or the decorator `@torch.no_grad()`, which put back what was.",
        cures=(FixProposal("no_grad_below", "Run the rest of the function under `torch.no_grad()`", (switch.node,)),),
    )


RULE = Rule(
    "TL308",
    "grad-mode-left-off",
    "gradients are switched off and stay off",
    __doc__,
    (BackwardWithoutGraph,),
    check,
    raises=(ERROR,),
    answerable=True,
)
