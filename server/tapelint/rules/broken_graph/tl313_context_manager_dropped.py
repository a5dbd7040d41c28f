"""A context manager of PyTorch is evaluated and never entered.

## Why PyTorch fails
`with torch.no_grad:` asks the class itself to be entered, and Python raises TypeError, before 3.11 AttributeError. As a
decorator, `@torch.no_grad` needs no call.

The others raise nothing. A context manager acts between `__enter__` and `__exit__`. To make one is to do nothing:
`torch.no_grad()` as a statement changes no mode (`torch.set_grad_enabled(False)` does).

Python evaluates `a and b` to one value: `b`, if `a` is true, and every context manager is. So only the last one is
entered; with `or`, only the first. Under `with torch.no_grad() and other():` graphs are recorded as if `no_grad` were
not there.

## Example
```py
from contextlib import nullcontext
net = nn.Linear(3, 1)
with torch.no_grad() and nullcontext():  # warning: [context-manager-dropped] "`torch.no_grad()`"
    y = net(torch.randn(4, 3))
assert y.requires_grad  # torch: silent no_grad was never entered, so a graph is recorded
```

```py
net = nn.Linear(3, 1)
torch.no_grad()  # warning: [context-manager-dropped] "alone does nothing"
y = net(torch.randn(4, 3))
assert y.requires_grad  # torch: silent a graph is recorded
```

```py
net = nn.Linear(3, 1)
with torch.no_grad:  # error: [context-manager-dropped] "is a class" # torch: raises "context manager protocol"
    y = net(torch.randn(4, 3))
```

## Use instead
```py
from contextlib import nullcontext
net = nn.Linear(3, 1)
with torch.no_grad(), nullcontext():
    y = net(torch.randn(4, 3))
assert not y.requires_grad  # torch: ok
```

## What is reported
Reports `with torch.no_grad() and other():`, and the same with `or`, for the managers that set what autograd records:
`no_grad`, `enable_grad`, `inference_mode`, `autocast`, `saved_tensors_hooks`. A statement that is nothing but
`torch.no_grad()` is reported, too, and `with torch.no_grad:`, which lacks the call.

## Fix safety
With a comma all are entered, the first one first. What ran in the wrong modes runs in the right ones from then on, so
the fix is marked unsafe.
"""

from __future__ import annotations

import ast

from ...autograd.events.broken_graph import ManagerDropped, ManagerNotCalled
from ...autograd.events.graph_walks import Event
from ...autograd.facts import Facts
from ...headline import headline
from ...severity import Severity
from ..support.cure import FixProposal
from ..support.finding import Finding, Holds, Rule, TraceStep, severity_of
from ..support.story import code

ERROR = "object does not support the context manager protocol"


def check(event: Event, facts: Facts) -> Finding | None:
    if isinstance(event, ManagerNotCalled):
        return _not_called(event)
    assert isinstance(event, ManagerDropped)
    if event.operands is None:
        return _alone(event)
    return _passed_over(event, event.operands)


def _not_called(event: ManagerNotCalled) -> Finding:
    manager = code(event.manager)
    return Finding(
        point=event.point,
        severity=severity_of(event),
        message=headline(f"{manager} is a class and cannot be entered: the call is missing"),
        raises=ERROR,
        help="Write `()` behind it: only an object can be entered.",
        cures=(FixProposal("call_class", "Add `()` to call it", (event.manager,)),),
    )


def _alone(event: ManagerDropped) -> Finding:
    manager = code(event.dropped)
    return Finding(
        point=event.point,
        severity=Severity.WARNING,
        message=headline(
            f"{manager} alone does nothing: it is never entered",
            "This context manager is never entered: alone it does nothing",
        ),
        help="Enter it: `with` ... `:` around the code that it is for.",
        holds=Holds.WHEREVER_IT_RUNS,
    )


def _passed_over(event: ManagerDropped, operands: ast.BoolOp) -> Finding:
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
                "enter_all", "Write commas between them", (operands,), "unsafe", effect="All of them are then entered."
            ),
        ),
    )


RULE = Rule(
    "TL313",
    "context-manager-dropped",
    "a context manager is evaluated and never entered",
    __doc__,
    (ManagerDropped, ManagerNotCalled),
    check,
    raises=(ERROR,),
)
