"""A Function saves something that is no tensor.

## Why PyTorch fails
`save_for_backward` takes tensors and None. What it was given is looked at when `forward` has returned, and only if the
result requires grad: then PyTorch raises "save_for_backward can only save variables, but argument 1 is of type float".
So a test on plain data passes, and training does not.

## Example
```py
class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, alpha):
        ctx.save_for_backward(x, alpha)  # error: [plain-value-saved] "float"
        return x * alpha

    @staticmethod
    def backward(ctx, grad):
        x, alpha = ctx.saved_tensors
        return grad * alpha, None

w = torch.ones(3, requires_grad=True)
Scale.apply(w, 2.0).sum().backward()  # torch: raises "save_for_backward can only save variables"
```

## Use instead
What is no tensor is an attribute of the context; a list of tensors is unpacked, `ctx.save_for_backward(*tensors)`.
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
Reports `ctx.save_for_backward(...)` with a number, a text, a list or a tuple among what it saves.

## Fix safety
Tensors are taken out of their list. The last argument, if it is a variable, becomes an attribute of `ctx`, and backward
reads it there. Otherwise there is no fix: backward has to read the value from where it is kept.
"""

from __future__ import annotations

import ast

from ...autograd.events.custom_function import PlainValueSaved
from ...autograd.events.graph_walks import Event
from ...autograd.facts import Facts
from ...headline import headline
from ..support.cure import FixProposal
from ..support.finding import Finding, Rule, TraceStep, severity_of
from ..support.story import code

ERROR = "save_for_backward can only save variables, but argument"


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, PlainValueSaved)
    value = code(event.place.args[event.index])
    kind = f"of type {event.type_name}" if event.type_name != "number" else "a number of Python"
    message = headline(
        f"`{event.function}` saves {value}, which is {kind}: `save_for_backward` takes tensors and None",
        f"{value} is {kind}: `save_for_backward` takes tensors and None",
    )
    return Finding(
        at=event.place,
        point=event.point,
        severity=severity_of(event),
        message=message,
        raises=f"{ERROR} {event.index} is of type {event.type_name if event.type_name != 'number' else ''}".rstrip(),
        links=(TraceStep(event.point.node, _step(event), event.point, short="checks what was saved"),),
        help=_advice(event, value),
        cures=(_cure(event, value),),
        no_fix="what backward unpacks from `ctx.saved_tensors` would have to change with it",
    )


def _cure(event: PlainValueSaved, value: str) -> FixProposal:
    """Take tensors out of their list; keep what holds none beside what is saved."""
    given = event.place.args[event.index]
    if event.holds_tensors:
        return FixProposal("save_each", f"Save each tensor of {value} by itself", (given,))
    return FixProposal("keep_on_context", f"Keep {value} as an attribute of `ctx`", (given,))


def _step(event: PlainValueSaved) -> str:
    return f"This runs the forward of `{event.function}`: when it has returned, PyTorch looks at what was saved"


def _advice(event: PlainValueSaved, value: str) -> str:
    """Tensors in a list are saved one by one; what holds none is kept beside what is saved."""
    if event.holds_tensors:
        given = event.place.args[event.index]
        if isinstance(given, (ast.List, ast.Tuple)):
            return f"Save each tensor by itself: {value} without the brackets."
        return f"Unpack it in the call, `*{value.strip('`')}`: each tensor is then saved by itself."
    return f"Keep {value} as an attribute of `ctx`, and read it there in backward."


RULE = Rule(
    "TL507",
    "plain-value-saved",
    "a Function saves what is no tensor",
    __doc__,
    (PlainValueSaved,),
    check,
    raises=(ERROR,),
)
