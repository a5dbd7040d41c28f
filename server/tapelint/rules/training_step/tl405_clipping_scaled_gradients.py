"""Gradients are clipped while they are multiplied by the scale of mixed precision.

## What PyTorch does
A `GradScaler` multiplies the loss, and with it every gradient, by 65,536 at first, so that small ones survive half
precision; `scaler.step` divides by it again. A limit of 1 applied in between is a limit of 1/65,536 on the real
gradient, and changes whenever the scale does.

## Example
```py
w = torch.ones(1, requires_grad=True)
opt = torch.optim.SGD([w], lr=1.0)
scaler = torch.amp.GradScaler("cpu")
loss = w.sum()
scaler.scale(loss).backward()
nn.utils.clip_grad_norm_([w], 1.0)  # warning: [clipping-scaled-gradients] "unscale_"
scaler.step(opt)
scaler.update()
assert w.item() > 0.999  # torch: silent a step of length 1 became one of length 1/65536
```

## Use instead
```py
w = torch.ones(1, requires_grad=True)
opt = torch.optim.SGD([w], lr=1.0)
scaler = torch.amp.GradScaler("cpu")
loss = w.sum()
scaler.scale(loss).backward()
scaler.unscale_(opt)
nn.utils.clip_grad_norm_([w], 1.0)
scaler.step(opt)
scaler.update()
assert abs(w.item()) < 0.001  # torch: ok
```

## What is reported
Reports `clip_grad_norm_`, `clip_grad_value_` and `p.grad.clamp_()` between `scaler.scale(loss).backward()` and
`scaler.step(opt)` without `scaler.unscale_(opt)` before, and hooks of parameters that clamp what they are given.

## Fix safety
`unscale_` divides the gradients once; `scaler.step` knows that, and does not divide again.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from ...autograd.events.graph_walks import Event
from ...autograd.events.training_step import OptimizerStepped, ScaledStep
from ...autograd.facts import Facts
from ...autograd.gradients.history import GradientHistory
from ...autograd.model.program_point import ProgramPoint
from ...because import Because
from ...headline import headline, titled
from ...severity import Severity
from ..support.cure import FixProposal
from ..support.finding import Finding, Rule, TraceStep
from ..support.story import code


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, OptimizerStepped | ScaledStep)
    past = next((past for past, _ in event.past if past.clip is not None and past.clip.scale is not None), None)
    if event.scaler is None or event.optimizer is None or past is None or _is_in_doubt(past):
        return None
    found = past.clip
    if found is None or found.scale is None:
        return None
    scale = found.scale
    clip = _supposing(found.point, scale.supposed)
    call = f"{ast.unparse(event.scaler)}.unscale_({ast.unparse(event.optimizer)})"
    advice = f"Call `{call}` before clipping: the scale is 65,536 at first, and the limit that much too small."
    doer = code(clip.node)
    texts = [
        f"{doer} clips gradients that are still scaled: call `{call}` before",
        f"{doer} clips gradients that are still scaled: unscale them before",
    ]
    if found.by_hook:
        texts = [f"{doer} clips scaled gradients: a hook runs before `{call}`"]
        advice = (
            f"Clip `.grad` after `{call}`, and not in a hook: that runs in the backward, before any scaler can divide."
        )
    message = headline(*texts, f"{doer} clips gradients that are still scaled")
    beside = (clip.calls, len(clip.iterations)) == (event.point.calls, len(event.point.iterations))
    return Finding(
        because=event.because or clip.supposed,
        point=clip,
        severity=Severity.WARNING,
        message=message,
        links=(
            TraceStep(
                scale.node, f"{code(scale.node)} multiplies the loss by the scale", scale, short="scales the loss"
            ),
            TraceStep(clip.node, "This clips its gradients", clip, short="clips `.grad`, still scaled"),
            TraceStep(event.point.node, "Only this divides them by the scale", event.point, short="unscales `.grad`"),
        ),
        help=advice,
        cures=(
            FixProposal(
                "unscale_before",
                titled("Call {} first", f"`{call}`", "`unscale_`"),
                (clip.node, event.scaler, event.optimizer),
            ),
        )
        if beside and not found.by_hook
        else (),
    )


def _supposing(point: ProgramPoint, supposed: Because) -> ProgramPoint:
    """The point, on a path that supposes something if it supposes nothing of its own."""
    return point if point.supposed or not supposed else replace(point, supposed=supposed)


def _is_in_doubt(past: GradientHistory) -> bool:
    """Whether the gradients that were clipped may be others by now."""
    return past.doubt or not past.fresh


RULE = Rule(
    "TL405",
    "clipping-scaled-gradients",
    "gradients are clipped while they are scaled",
    __doc__,
    (OptimizerStepped, ScaledStep),
    check,
)
