"""A Function's forward asks whether a tensor that it computed requires grad.

## Why PyTorch fails
`forward` runs without grad: what it computes does not require grad, whatever the arguments do. Only an argument itself,
or a view of it, says that it requires grad. So nothing is saved, and `backward`, which runs all the same, raises "not
enough values to unpack" or finds no attribute. With `contiguous()` it depends on the memory of the argument: the code
works until a transposed tensor comes.

## Example
```py
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.contiguous()
        if x.requires_grad:  # warning: [requires-grad-in-forward] "makes a copy"
            ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 2 * x * grad

w = torch.ones(3, 4, requires_grad=True)
Square.apply(w.t()).sum().backward()  # torch: raises "not enough values to unpack (expected 1, got 0)"
```

## Use instead
`ctx.needs_input_grad` has one answer for each argument of `forward`.
```py
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.contiguous()
        if ctx.needs_input_grad[0]:
            ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 2 * x * grad

w = torch.ones(3, 4, requires_grad=True)
Square.apply(w.t()).sum().backward()  # torch: ok
```

## What is reported
Reports `if y.requires_grad:` in the `forward` of a `torch.autograd.Function` where `y` was computed in that `forward`
(`x = x.contiguous()` included, where that makes a copy) and the condition decides what `backward` finds on the context.

## Fix safety
There is no fix: which argument is meant is not certain.
"""

from __future__ import annotations

from ...autograd.events.custom_function import ComputedAskedForGrad
from ...autograd.events.graph_walks import Event
from ...autograd.facts import Facts
from ...headline import headline
from ...severity import Severity
from ..support.finding import Finding, Rule, TraceStep
from ..support.story import code


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, ComputedAskedForGrad)
    name = code(event.place.value)
    message = headline(
        f"{code(event.place)} is always False: {name} is computed in the forward of a Function, without grad",
        f"{code(event.place)} is always False in the forward of a Function",
    )
    return Finding(
        at=event.place,
        point=event.point,
        severity=Severity.WARNING,
        message=message,
        links=(
            TraceStep(
                event.computed,
                f"This computes {name}, without grad: backward does not find what the condition keeps for it",
                event.point,
                short="computed without grad",
            ),
        ),
        help="Ask `ctx.needs_input_grad[...]` instead, which has one answer for each argument.",
    )


RULE = Rule(
    "TL510",
    "requires-grad-in-forward",
    "a Function's forward asks whether what it computed requires grad",
    __doc__,
    (ComputedAskedForGrad,),
    check,
    raises=("values to unpack (expected",),
)
