"""A Function's backward takes or returns the wrong number of gradients.

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

## What is reported
Reports a `backward` that returns another number of gradients than `forward` was given arguments, or nothing at all,
that returns a gradient for an argument that is no tensor, or that takes another number of gradients than `forward` has
outputs.

## Fix safety
None for an argument that is no tensor changes nothing. None for a tensor that needs a gradient gives it none: that fix
is unsafe and says so.
"""

from __future__ import annotations

import ast

from ...autograd.events.custom_function import FunctionEvent, GradientForNothing, GradientsMiscounted, OutputsMiscounted
from ...autograd.events.graph_walks import Event
from ...autograd.facts import Facts
from ...headline import headline, number_of, titled
from ..support.cure import FixProposal
from ..support.finding import Finding, Rule, TraceStep, severity_of


def check(event: Event, facts: Facts) -> Finding | None:
    if isinstance(event, GradientsMiscounted):
        return too_few_or_many(event)
    if isinstance(event, GradientForNothing):
        return for_no_tensor(event)
    assert isinstance(event, OutputsMiscounted)
    return outputs_miscounted(event)


def too_few_or_many(event: GradientsMiscounted) -> Finding:
    """backward returns another number of gradients than forward has arguments."""
    value = event.place.value if isinstance(event.place, ast.Return) else None
    is_list, is_nothing = isinstance(value, ast.List), value is None
    given = number_of(event.expected, "argument")
    got = "a list, which is one value" if is_list else "nothing" if is_nothing else number_of(event.got, "gradient")
    owners = (f"`{event.function}`", "a Function")
    cures: tuple[FixProposal, ...] = ()
    can_be_padded = not is_list and not is_nothing and event.got < event.expected
    if can_be_padded and event.needed is None:
        title = "Return `None` for the other arguments"
        cures = (FixProposal("pad_gradients", title, (event.place, event.definition)),)
    elif can_be_padded:
        title, effect = "Return `None` for the other arguments", f"There is then no gradient for `{event.needed}`."
        cures = (FixProposal("pad_gradients", title, (event.place, event.definition), "unsafe", effect=effect),)
    each = "for the one argument" if event.expected == 1 else f"one for each of the {event.expected} arguments"
    return Finding(
        at=event.place,
        point=event.point,
        severity=severity_of(event),
        message=headline(
            *(f"The backward of {whose} returns {got}, and its forward was given {given}" for whose in owners),
        ),
        raises=f"function {event.function}Backward returned an incorrect number of gradients (expected "
        f"{event.expected}, got {event.got})",
        links=(runs_backward(event, f"which must return {number_of(event.expected, 'value')}, {each} of forward"),),
        help="Return a tuple: to PyTorch a list is one value."
        if is_list
        else "Return one value for each argument of forward, None where there is no gradient.",
        no_fix="whether the list is meant as a tuple of gradients cannot be seen"
        if is_list
        else "which of the gradients belongs to which argument cannot be seen",
        cures=cures,
    )


def for_no_tensor(event: GradientForNothing) -> Finding:
    """backward returns a gradient for an argument that is no tensor."""
    value = event.place.value if isinstance(event.place, ast.Return) else None
    cures: tuple[FixProposal, ...] = ()
    if isinstance(value, ast.Tuple):
        title = titled("Return `None` for {}", f"`{event.argument}`")
        cures = (FixProposal("none_gradient", title, (value.elts[event.index],)),)
    return Finding(
        at=event.place,
        point=event.point,
        severity=severity_of(event),
        message=headline(
            f"The backward of `{event.function}` returns a gradient for `{event.argument}`, which is no tensor",
            f"The backward returns a gradient for `{event.argument}`, which is no tensor",
            "The backward returns a gradient for an argument that is no tensor",
        ),
        raises=f"function {event.function}Backward returned a gradient different than None at position "
        f"{event.index + 1}, but the corresponding forward input was not a Variable",
        links=(runs_backward(event, f"whose value {event.index + 1} is the gradient of `{event.argument}`"),),
        help=f"Return None for `{event.argument}`: only tensors have gradients.",
        no_fix="the gradients are not spelled out where they are returned",
        cures=cures,
    )


def outputs_miscounted(event: OutputsMiscounted) -> Finding:
    """backward takes another number of gradients than forward has outputs."""
    outputs, accepted = number_of(event.outputs, "output"), number_of(event.accepted, "gradient")
    missing = event.accepted - event.outputs
    return Finding(
        at=event.definition,
        point=event.point,
        severity=severity_of(event),
        message=headline(
            f"The backward of `{event.function}` takes {accepted}, and its forward has {outputs}",
            f"The backward of a Function takes {accepted}, and its forward has {outputs}",
        ),
        raises=f"missing {number_of(missing, 'required positional argument')}"
        if missing > 0
        else f"takes {number_of(event.accepted + 1, 'positional argument')} but {event.outputs + 1} were given",
        links=(runs_backward(event, f"and gives it {number_of(event.outputs, 'gradient')}, one for each output"),),
        help="Take one gradient for each output, also for those that are marked non-differentiable.",
        no_fix="what backward computes would have to change with its arguments",
    )


def runs_backward(event: FunctionEvent, how: str) -> TraceStep:
    return TraceStep(
        event.point.node, f"This runs the backward of `{event.function}`, {how}", event.point, short="runs its backward"
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
    answerable=True,
)
