"""A loss reaches a Function only through an output whose gradient its backward ignores.

## What PyTorch does
It raises nothing: an output that is not marked as non-differentiable requires grad, so the backward runs, and what the
Function was given gets zeros as its gradient. Had
`ctx.mark_non_differentiable` been called, the same backward would raise "element 0 of tensors does not require grad and
does not have a grad_fn". Integer and boolean outputs need no mark.

## Example
```py
class Quantise(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x, x.round()

    @staticmethod
    def backward(ctx, grad, grad_rounded):
        return 2 * grad

w = torch.ones(3, requires_grad=True)
double, rounded = Quantise.apply(w)
rounded.sum().backward()  # warning: [non-differentiable-not-marked] "rounded"
assert w.grad.sum() == 0  # torch: silent the pass gives zeros
```

## Use instead
Mark what is constant, and compute the loss from what is not:
```py
class Quantise(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        rounded = x.round()
        ctx.mark_non_differentiable(rounded)
        return 2 * x, rounded

    @staticmethod
    def backward(ctx, grad, grad_rounded):
        return 2 * grad

w = torch.ones(3, requires_grad=True)
double, rounded = Quantise.apply(w)
double.sum().backward()  # torch: ok
```

## What is reported
Reports a backward pass that reaches a `torch.autograd.Function` with several outputs only through outputs whose
gradients `backward` never reads, and which are not marked non-differentiable.

## Fix safety
There is no fix: which output the loss should use is yours to say.
"""

from __future__ import annotations

from ...autograd.events.custom_function import OnlyIgnoredOutputs
from ...autograd.events.graph_walks import Event
from ...autograd.facts import Facts
from ...headline import headline
from ...severity import Severity
from ..support.finding import Finding, Rule, TraceStep
from ..support.story import code, tensor_name


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, OnlyIgnoredOutputs)
    name = tensor_name(facts, event.output) or "an output"
    message = headline(
        f"{code(event.point.node)} trains nothing: the backward of `{event.function}` ignores the gradient of {name}",
        f"The backward of `{event.function}` ignores the gradient of {name}: nothing is trained",
        f"Only {name} leads to the loss, and a backward ignores its gradient",
    )
    return Finding(
        point=event.point,
        severity=Severity.WARNING,
        message=message,
        links=(
            TraceStep(
                event.definition,
                f"This backward does not read `{event.parameter}`: the gradients behind it are zeros",
                event.point,
                short=f"does not read `{event.parameter}`",
            ),
        ),
        help="Compute the loss from another output, use the gradient in backward, or mark it non-differentiable.",
    )


RULE = Rule(
    "TL506",
    "non-differentiable-not-marked",
    "a loss depends only on outputs whose gradients a Function ignores",
    __doc__,
    (OnlyIgnoredOutputs,),
    check,
    answerable=True,
)
