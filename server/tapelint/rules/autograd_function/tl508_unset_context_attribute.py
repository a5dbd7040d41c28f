"""A Function reads an attribute of its context that no method sets.

## Why PyTorch fails
The context of a call begins with what PyTorch gives it, such as `saved_tensors` and `needs_input_grad`. Python raises
"'ScaleBackward' object has no attribute 'alpha'" for any other name, in the backward pass and far from the Function. An
attribute of the Function's class is no attribute of its context.

## Example
```py
class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, alpha):
        ctx.save_for_backward(x)
        return x * alpha

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.alpha, None  # error: [unset-context-attribute] "`alpha`"

w = torch.ones(3, requires_grad=True)
Scale.apply(w, 2.0).sum().backward()  # torch: raises "'ScaleBackward' object has no attribute 'alpha'"
```

## Use instead
```py
class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, alpha):
        ctx.alpha = alpha
        return x * alpha

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.alpha, None

w = torch.ones(3, requires_grad=True)
Scale.apply(w, 2.0).sum().backward()  # torch: ok
```

## What is reported
Reports `ctx.name` in a method of a `torch.autograd.Function` where neither `forward`, `setup_context` nor `backward`
sets that attribute and none of them gives the context to other code.

## Fix safety
Where forward has an argument of that name, it is kept. Otherwise there is no fix: what belongs there is not known.
"""

from __future__ import annotations

from ...autograd.events.custom_function import UnsetContextRead
from ...autograd.events.graph_walks import Event
from ...autograd.facts import Facts
from ...headline import headline, titled
from ..support.cure import FixProposal
from ..support.finding import Finding, Rule, TraceStep, severity_of
from ..support.story import code

ERROR = "Backward' object has no attribute"


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, UnsetContextRead)
    preparing = getattr(event.preparing, "name", "forward")
    message = headline(
        f"{code(event.place)} is read, but no method of `{event.function}` sets `{event.attribute}`",
        f"No method of `{event.function}` sets `{event.attribute}` on its context",
        f"No method sets `{event.attribute}` on the context",
    )
    title = titled(f"Set {{}} in `{preparing}`", f"`ctx.{event.attribute}`")
    return Finding(
        at=event.place,
        point=event.point,
        severity=severity_of(event),
        message=message,
        raises=f"'{event.function}{ERROR} '{event.attribute}'",
        links=(
            TraceStep(
                event.preparing,
                f"`{preparing}` does not set `{event.attribute}`",
                event.point,
                short=f"does not set `{event.attribute}`",
            ),
        ),
        help=f"Set {code(event.place)} in `{preparing}`; a tensor belongs in `ctx.save_for_backward`.",
        cures=(FixProposal("set_on_context", title, (event.preparing, event.place)),),
        no_fix=f"what `{event.attribute}` is to be cannot be seen",
    )


RULE = Rule(
    "TL508",
    "unset-context-attribute",
    "a Function reads an attribute of its context that is never set",
    __doc__,
    (UnsetContextRead,),
    check,
    raises=(ERROR,),
    answerable=True,
)
