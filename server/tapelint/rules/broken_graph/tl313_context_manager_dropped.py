"""A context manager of PyTorch is evaluated and never entered.

## What it does
Reports `with torch.no_grad() and other():`, and the same with `or`, for the managers that set what autograd records:
`no_grad`, `enable_grad`, `inference_mode`, `autocast`, `saved_tensors_hooks`.

## What PyTorch does
It never enters the first one. Python evaluates `a and b` to one value: `b`, if `a` is true, and every context manager
is. So only the last one is entered; with `or`, only the first. Under `with torch.no_grad() and other():` graphs are
recorded as if `no_grad` were not there.

## Example
```py
from contextlib import nullcontext
net = nn.Linear(3, 1)
with torch.no_grad() and nullcontext():  # warning: [context-manager-dropped] "`torch.no_grad()`"
    y = net(torch.randn(4, 3))
assert y.requires_grad  # torch: silent no_grad was never entered, so a graph is recorded
```

## Use instead
```py
from contextlib import nullcontext
net = nn.Linear(3, 1)
with torch.no_grad(), nullcontext():
    y = net(torch.randn(4, 3))
assert not y.requires_grad  # torch: ok
```

## Fix safety
With a comma all are entered, the first one first. What ran in the wrong modes runs in the right ones from then on, so
the fix is marked unsafe.
"""

from __future__ import annotations

import ast

from ...autograd.events.broken_graph import ManagerDropped
from ...autograd.events.graph_walks import Event
from ...autograd.facts import Facts
from ...headline import headline
from ...severity import Severity
from ..support.cure import FixProposal
from ..support.finding import Finding, Holds, Rule, TraceStep
from ..support.story import code


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, ManagerDropped)
    operands = event.operands
    word = "and" if isinstance(operands.op, ast.And) else "or"
    other = operands.values[-1] if word == "and" else operands.values[0]
    lost, entered = code(event.dropped), code(other)
    return Finding(
        point=event.point,
        severity=Severity.WARNING,
        message=headline(
            f"{lost} is never entered: `{word}` gives only {entered}",
            f"{lost} is never entered: `{word}` gives the other operand",
        ),
        links=(TraceStep(other, f"The block enters this alone: `{word}` gives one operand", short="entered alone"),),
        help="Write a comma between the context managers: then all are entered.",
        holds=Holds.WHEREVER_IT_RUNS,
        cures=(
            FixProposal(
                "enter_all", "Enter all: a comma between them (what is entered now changes)", (operands,), "unsafe"
            ),
        ),
    )


RULE = Rule(
    "TL313",
    "context-manager-dropped",
    "a context manager is evaluated and never entered",
    __doc__,
    (ManagerDropped,),
    check,
)
