"""A Function keeps a tensor as an attribute of its context.

## What PyTorch does
It raises nothing: it checks versions only of what was given to `save_for_backward`. A tensor on `ctx` that is written
in place between forward and backward gives a wrong gradient in silence. And an output holds its `grad_fn`, which is
`ctx`: a cycle that reference counting cannot free.

## Example
```py
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x  # warning: [tensor-kept-on-ctx] "silently wrong"
        return x * x

    @staticmethod
    def backward(ctx, grad):
        return 2 * ctx.x * grad

w = torch.ones(3, requires_grad=True)
h = w + 0
loss = Square.apply(h).sum()
h.zero_()
loss.backward()  # torch: silent the gradient is 0 where 2 is right
```

## Use instead
With `save_for_backward` PyTorch notices the write. Then remove it, or save a copy:
```py
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 2 * x * grad

w = torch.ones(3, requires_grad=True)
h = w + 0
loss = Square.apply(h).sum()
loss.backward()  # torch: ok
```

## What is reported
Reports an input or an output that the `forward` of a `torch.autograd.Function` stores on `ctx` (`ctx.x = x`) where
`ctx.save_for_backward(x)` is meant. A warning where the tensor is written before `backward` reads it; information where
it is an output, whose memory then lives until the garbage collector comes by; otherwise a hint. What `forward`
computed for itself may be kept that way.

## Fix safety
Keeping a copy costs its memory. `save_for_backward` gives backward the same values, and frees them after it.
"""

from __future__ import annotations

import ast

from ...autograd.events.custom_function import KeptTensorAltered, TensorKeptOnContext
from ...autograd.events.graph_walks import Event
from ...autograd.facts import Facts
from ...headline import headline
from ...severity import Severity
from ..support.cure import COPIED, FixProposal
from ..support.finding import Finding, Rule, TraceStep
from ..support.story import code, writer


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, (KeptTensorAltered, TensorKeptOnContext))
    place = event.place
    attributes = (part for target in place.targets for part in ast.walk(target) if isinstance(part, ast.Attribute))
    kept = code(next(part for part in attributes if part.attr == event.attribute))
    alone = isinstance(place.targets[0], ast.Attribute)
    save = FixProposal("save_for_backward", "Save it with `ctx.save_for_backward`", (place,))
    links: tuple[TraceStep, ...] = ()
    cures = (save,) if alone else ()
    severity: Severity
    if isinstance(event, KeptTensorAltered):
        write = event.write.point
        message = headline(
            f"{kept} is changed by {writer(event.write)}: the gradient of `{event.function}` is silently wrong",
            f"{kept} is written before backward: `{event.function}` computes its gradient from the new values",
            f"{kept} is written before backward: the gradient is computed from the new values",
            "A tensor kept on `ctx` is written before backward: the gradient is computed from the new values",
        )
        links = (
            TraceStep(
                place,
                f"This keeps the tensor as {kept}, and autograd saves no version of it",
                short="kept, no version saved",
            ),
            TraceStep(write.node, "This writes it in place", write, short="written in place"),
            TraceStep(
                event.point.node,
                "This backward reads it and checks no version",
                event.point,
                short="read, no version checked",
            ),
        )
        copied = FixProposal("clone", "Keep a copy instead of the tensor itself", (place.value,), effect=COPIED)
        cures = (copied, *cures) if alone else ()
        severity = Severity.WARNING
    else:
        if event.role == "output":
            severity = Severity.INFORMATION
            message = headline(
                f"{kept} keeps an output of `{event.function}`: a cycle that only the garbage collector frees",
                f"{kept} keeps an output: a cycle that only the garbage collector frees",
                "An output is kept on `ctx`: a cycle that only the garbage collector frees",
            )
        else:
            severity = Severity.HINT
            message = headline(
                f"{kept} bypasses autograd's checks: if it is written later, the gradient is silently wrong",
                f"{kept} bypasses autograd's checks of saved tensors",
            )
    return Finding(
        at=place,
        point=event.point,
        severity=severity,
        message=message,
        links=links,
        help="Give inputs and outputs to `ctx.save_for_backward(...)`, and read them from `ctx.saved_tensors`.",
        cures=cures,
    )


RULE = Rule(
    "TL501",
    "tensor-kept-on-ctx",
    "a Function keeps an input or output as an attribute of ctx",
    __doc__,
    (TensorKeptOnContext, KeptTensorAltered),
    check,
)
