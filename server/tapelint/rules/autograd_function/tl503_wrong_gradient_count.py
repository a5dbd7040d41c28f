"""A Function's backward takes or returns the wrong number of gradients.

## What it does
Reports a `backward` that returns another number of gradients than `forward` was given arguments, that returns a
gradient for an argument that is no tensor, or that takes another number of gradients than `forward` has outputs.

## Why PyTorch fails
`backward` is called with one gradient for each output, and must return one value for each argument,
None for those that need none. PyTorch raises "returned an incorrect number of gradients (expected 2, got 1)", or
"returned a gradient different than None at position 2, but the corresponding forward input was not a Variable". It
raises at the backward pass, far from the Function. Additional Nones at the end are allowed.

## Example
```py
class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.k = k
        return x * k

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.k  # error: [wrong-gradient-count] "2"

w = torch.ones(3, requires_grad=True)
Scale.apply(w, 2).sum().backward()  # torch: raises "returned an incorrect number of gradients"
```

## Use instead
```py
class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.k = k
        return x * k

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.k, None

w = torch.ones(3, requires_grad=True)
Scale.apply(w, 2).sum().backward()  # torch: ok
```

## Fix safety
None for an argument that is no tensor changes nothing. None for a tensor that needs a gradient gives it none: that fix
is unsafe and says so.
"""

from __future__ import annotations

import ast

from ...autograd.events.custom_function import GradientForNothing, GradientsMiscounted, OutputsMiscounted
from ...autograd.events.graph_walks import Event
from ...autograd.facts import Facts
from ..support.cure import FixProposal
from ..support.finding import Finding, Rule, TraceStep, severity_of
from ..support.story import headline


def counted(number: int, thing: str) -> str:
    return f"{number} {thing}" + "s" * (number != 1)


def check(event: Event, facts: Facts) -> Finding | None:
    cures: tuple[FixProposal, ...] = ()
    point = event.point
    if isinstance(event, GradientsMiscounted):
        place = event.place
        given, got = counted(event.expected, "argument"), counted(event.got, "gradient")
        message = headline(
            f"The backward of `{event.function}` returns {got}, and its forward was given {given}",
            f"The backward of a Function returns {got}, and its forward was given {given}",
        )
        raises = (
            f"function {event.function}Backward returned an incorrect number of gradients (expected {event.expected}, "
            f"got {event.got})"
        )
        if event.got < event.expected and event.needed is None:
            cures = (FixProposal("pad_gradients", "Return None for the other arguments", (place, event.definition)),)
        elif event.got < event.expected:
            title = f"Return None for the other arguments (no gradient for `{event.needed}`)"
            cures = (FixProposal("pad_gradients", title, (place, event.definition), "unsafe"),)
        help_text = "Return one value for each argument of forward, None where there is no gradient."
    elif isinstance(event, GradientForNothing):
        place = event.place
        message = headline(
            f"The backward of `{event.function}` returns a gradient for `{event.argument}`, which is no tensor",
            f"The backward returns a gradient for `{event.argument}`, which is no tensor",
        )
        raises = (
            f"function {event.function}Backward returned a gradient different than None at position {event.index + 1}, "
            f"but the corresponding forward input was not a Variable"
        )
        value = place.value if isinstance(place, ast.Return) else None
        if isinstance(value, ast.Tuple):
            cures = (FixProposal("none_gradient", f"Return None for `{event.argument}`", (value.elts[event.index],)),)
        help_text = "Return None for arguments that are no tensors."
    else:
        assert isinstance(event, OutputsMiscounted)
        place = event.definition
        outputs, accepted = counted(event.outputs, "output"), counted(event.accepted, "gradient")
        message = headline(
            f"The backward of `{event.function}` takes {accepted}, and its forward has {outputs}",
            f"The backward of a Function takes {accepted}, and its forward has {outputs}",
        )
        missing = event.accepted - event.outputs
        raises = (
            f"missing {counted(missing, 'required positional argument')}"
            if missing > 0
            else f"takes {counted(event.accepted + 1, 'positional argument')} but {event.outputs + 1} were given"
        )
        help_text = "Take one gradient for each output, also for those that are marked non-differentiable."
    return Finding(
        at=place,
        point=point,
        severity=severity_of(event),
        message=message,
        raises=raises,
        links=(TraceStep(point.node, f"This runs the backward of `{event.function}`", point),),
        help=help_text,
        cures=cures,
    )


RULE = Rule(
    "TL503",
    "wrong-gradient-count",
    "a Function's backward takes or returns the wrong number of gradients",
    __doc__,
    (GradientsMiscounted, GradientForNothing, OutputsMiscounted),
    check,
    raises=(
        "returned an incorrect number of gradients",
        "returned a gradient different than None at position",
    ),
)
