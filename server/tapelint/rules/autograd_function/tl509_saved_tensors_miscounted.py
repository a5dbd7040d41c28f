"""A Function's backward takes another number of saved tensors than forward saved.

## Why PyTorch fails
`saved_tensors` is a tuple of what the last call of `save_for_backward` was given, so a second call replaces the first.
Python raises "not enough values to unpack (expected 2, got 1)" or "too many values to unpack" in the backward pass.

## Example
```py
class Mul(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x)
        return x * w

    @staticmethod
    def backward(ctx, grad):
        x, w = ctx.saved_tensors  # error: [saved-tensors-miscounted] "1 tensor"
        return grad * w, grad * x

w = torch.ones(3, requires_grad=True)
Mul.apply(w, w).sum().backward()  # torch: raises "not enough values to unpack (expected 2, got 1)"
```

## Use instead
```py
class Mul(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x * w

    @staticmethod
    def backward(ctx, grad):
        x, w = ctx.saved_tensors
        return grad * w, grad * x

w = torch.ones(3, requires_grad=True)
Mul.apply(w, w).sum().backward()  # torch: ok
```

## What is reported
Reports `a, b = ctx.saved_tensors` where `forward` saved another number of tensors, on every path: a call of
`save_for_backward` with as many arguments as there are names is taken for the one that is meant.

## Fix safety
Saved are the variables of forward that have the names which backward unpacks; or backward unpacks the others, too, by
the names that forward has for them. Where the names differ there is no fix: which tensors are meant is not known.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...autograd.events.custom_function import SavedMiscounted
from ...autograd.events.graph_walks import Event
from ...autograd.facts import Facts
from ...headline import headline, number_of
from ..support.cure import FixProposal
from ..support.finding import Finding, Rule, TraceStep, severity_of
from ..support.story import code


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, SavedMiscounted)
    saved = number_of(event.saved, "tensor")
    wanted = number_of(event.wanted, "saved tensor")
    message = headline(
        f"The backward of `{event.function}` unpacks {wanted}, and its forward saved {saved}",
        f"This backward unpacks {wanted}, and its forward saved {saved}",
    )
    steps = [
        TraceStep(call, f"{code(call)} {does}", short="saves for backward")
        for call, does in zip(event.saving, _effects(event, saved))
    ]
    advice = "Save in one call of `ctx.save_for_backward` all that backward unpacks, in the same order."
    if len(event.saving) > 1:
        advice = "Save all in one call of `ctx.save_for_backward`: a second call replaces what the first has saved."
    return Finding(
        at=event.place,
        point=event.point,
        severity=severity_of(event),
        message=message,
        raises=f"not enough values to unpack (expected {event.wanted}, got {event.saved})"
        if event.saved < event.wanted
        else "too many values to unpack",
        links=(
            *steps,
            TraceStep(event.point.node, f"This backward unpacks {wanted}", event.point, short=f"unpacks {wanted}"),
        ),
        help=advice,
        cures=tuple(_cures(event)),
        no_fix="which tensors backward is to have cannot be seen",
    )


def _cures(event: SavedMiscounted) -> Iterator[FixProposal]:
    """Save what is unpacked, by its names, or unpack what is saved."""
    if not event.saving:
        return
    call = event.saving[-1]
    if event.saved < event.wanted:
        yield FixProposal("save_unpacked", "Save what backward unpacks", (call, event.place))
    else:
        yield FixProposal("unpack_saved", "Unpack all that is saved", (event.place, call))


def _effects(event: SavedMiscounted, saved: str) -> list[str]:
    """What each of the calls that save does: a later one replaces what an earlier one has saved."""
    if len(event.saving) < 2:
        return [f"saves {saved}"]
    return [*["is replaced by the next call"] * (len(event.saving) - 1), f"replaces what was saved before: {saved}"]


RULE = Rule(
    "TL509",
    "saved-tensors-miscounted",
    "a Function's backward takes another number of saved tensors than forward saved",
    __doc__,
    (SavedMiscounted,),
    check,
    raises=("values to unpack (expected",),
)
