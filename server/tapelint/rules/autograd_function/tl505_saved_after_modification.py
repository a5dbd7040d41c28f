"""A Function saves an input and then writes it.

## What PyTorch does
It raises nothing: `save_for_backward` only notes the tensor; its version is taken when `forward` has returned.
`backward` is given the new values, and no version differs.

## Example
```py
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.mul_(x)  # warning: [saved-after-modification] "silently wrong"

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 2 * x * grad

w = torch.full((3,), 3.0, requires_grad=True)
Square.apply(w + 0).sum().backward()
assert w.grad[0] == 18  # torch: silent the gradient is 18 where 6 is right
```

## Use instead
```py
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.mul(x)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 2 * x * grad

w = torch.full((3,), 3.0, requires_grad=True)
Square.apply(w + 0).sum().backward()
assert w.grad[0] == 6  # torch: ok
```

## What is reported
Reports an input that the `forward` of a `torch.autograd.Function` gives to `ctx.save_for_backward` and writes in place
afterwards.

## Fix safety
Saving a copy gives backward the old values, and costs their memory. Writing out of place leaves the input as it was.
"""

from __future__ import annotations

import ast

from ...autograd.events.custom_function import SavedThenWritten
from ...autograd.events.graph_walks import Event
from ...autograd.facts import Facts
from ...headline import headline, titled
from ...severity import Severity
from ..support.cure import COPIED, FixProposal
from ..support.finding import Finding, Rule, TraceStep


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, SavedThenWritten)
    write = event.write.point
    message = headline(
        f"`{event.function}` saves `{event.argument}`, then writes it in forward: its gradient is silently wrong",
        f"`{event.argument}` is written after it is saved: backward is given the new values",
        "A saved input is written: backward is given the new values",
    )
    cures = [FixProposal("out_of_place", "Compute a new tensor instead of writing in place", (write.node,))]
    for argument in event.place.args:
        if isinstance(argument, ast.Name) and argument.id == event.argument:
            title = titled("Save a copy of {}", f"`{event.argument}`")
            cures.append(FixProposal("clone", title, (argument,), effect=COPIED))
    return Finding(
        point=write,
        severity=Severity.WARNING,
        message=message,
        links=(
            TraceStep(event.place, f"This saves `{event.argument}` itself, no copy", short="saved, no copy"),
            TraceStep(
                write.node,
                f"This writes `{event.argument}` before its version is taken, when forward returns",
                write,
                short="written before its version is taken",
            ),
        ),
        help="Write a new tensor, or save a clone (costs its memory).",
        cures=tuple(cures),
    )


RULE = Rule(
    "TL505",
    "saved-after-modification",
    "a Function saves an input and then writes it in forward",
    __doc__,
    (SavedThenWritten,),
    check,
)
