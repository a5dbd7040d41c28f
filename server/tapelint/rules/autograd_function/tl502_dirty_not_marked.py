"""A Function writes an input in place and does not say so.

## Why PyTorch fails
Autograd does not look into `forward`. An input that was written without `mark_dirty` has new values
and its old `grad_fn`: every later use of it computes a gradient as if the Function had not run. Nothing raises. Marked
dirty and not returned it raises "Some elements marked as dirty during the forward method were not returned as output".

## Example
```py
class Relu_(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x.clamp_(min=0)  # warning: [dirty-not-marked] "`x`"
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * (x > 0)

w = torch.tensor([-1.0, 1.0], requires_grad=True)
h = w + 0
y = Relu_.apply(h)
(y + h).sum().backward()  # torch: silent the gradient is [1, 2] where [0, 2] is right
```

## Use instead
```py
class Relu_(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x.clamp_(min=0)
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * (x > 0)

w = torch.tensor([-1.0, 1.0], requires_grad=True)
h = w + 0
y = Relu_.apply(h)
(y + h).sum().backward()  # torch: ok
```

## What is reported
Reports an in-place write to an input in the `forward` of a `torch.autograd.Function` without `ctx.mark_dirty`, where
the input is used again afterwards; and an input that is marked dirty but not returned.

## Fix safety
`mark_dirty` is right where the input is returned. Writing out of place leaves the input as it was; code that used the
new values through it no longer sees them.
"""

from __future__ import annotations

import ast

from ...autograd.events.custom_function import DirtyNotReturned, UnmarkedWriteUsed
from ...autograd.events.graph_walks import Event
from ...autograd.facts import Facts
from ...headline import headline, titled
from ...severity import Severity
from ..support.cure import FixProposal
from ..support.finding import Finding, Rule, TraceStep, severity_of
from ..support.story import code, tensor_name

ERROR = "Some elements marked as dirty during the forward method were not returned as output"


def check(event: Event, facts: Facts) -> Finding | None:
    if isinstance(event, DirtyNotReturned):
        name = tensor_name(facts, event.tensor) or _marked(event.place)
        return Finding(
            at=event.place,
            point=event.point,
            severity=severity_of(event),
            message=headline(
                f"`{event.function}` marks {name} dirty and does not return it",
                f"A Function marks {name} dirty and does not return it",
            ),
            raises=ERROR,
            links=(TraceStep(event.point.node, _outcome(event, name), event.point, short=f"returns without {name}"),),
            help=f"Return {name} from forward, or write a new tensor instead and mark nothing.",
            no_fix=f"whether forward is to return {name} or to leave it as it is cannot be seen",
        )
    assert isinstance(event, UnmarkedWriteUsed)
    write, applied = event.write.point, event.applied
    name = tensor_name(facts, event.tensor) or f"`{event.argument}`"
    message = headline(
        f"`{event.function}` writes `{event.argument}` without `ctx.mark_dirty`: {name} keeps its old `grad_fn`",
        f"`{event.function}` writes `{event.argument}` in place without `ctx.mark_dirty`",
        f"A Function writes `{event.argument}` in place without `ctx.mark_dirty`",
    )
    return Finding(
        point=write,
        severity=Severity.WARNING,
        message=message,
        links=(
            TraceStep(
                applied.node, f"This applies `{event.function}` to {name}", applied, short=f"applies `{event.function}`"
            ),
            TraceStep(
                write.node,
                f"This writes `{event.argument}` in place, and autograd does not see it",
                write,
                short="written, unseen by autograd",
            ),
            TraceStep(
                event.point.node,
                f"This uses {name}: its values are new, and its `grad_fn` is the old one",
                event.point,
                short="new values, old `grad_fn`",
            ),
        ),
        help="Call `ctx.mark_dirty(...)` on what you write and return, or write a new tensor.",
        cures=(
            FixProposal(
                "mark_dirty",
                titled("Call {}", f"`ctx.mark_dirty({event.argument})`", "`ctx.mark_dirty`"),
                (write.node,),
            ),
            FixProposal("out_of_place", "Compute a new tensor instead of writing in place", (write.node,)),
        ),
    )


def _marked(place: ast.AST) -> str:
    """What a call marks, as it says it."""
    match place:
        case ast.Call(args=[ast.Name() as given]):
            return code(given)
    return "an input"


def _outcome(event: DirtyNotReturned, name: str) -> str:
    return f"This runs the forward of `{event.function}`: it returns, and {name} is not among its outputs"


RULE = Rule(
    "TL502",
    "dirty-not-marked",
    "a Function writes an input in place and does not mark it dirty",
    __doc__,
    (UnmarkedWriteUsed, DirtyNotReturned),
    check,
    raises=(ERROR,),
    answerable=True,
)
