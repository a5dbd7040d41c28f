"""Gradients are clipped while they are multiplied by the scale of mixed precision.

## What it does
Reports `clip_grad_norm_` and `clip_grad_value_` between `scaler.scale(loss).backward()` and `scaler.step(opt)`
without `scaler.unscale_(opt)` before.

## Why PyTorch fails
It does not: a `GradScaler` multiplies the loss, and with it every gradient, by 65,536 at
first, so that small ones survive half precision; `scaler.step` divides by it again. A limit of 1 applied in between is
a limit of 1/65,536 on the real gradient, and changes whenever the scale does.

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

## Fix safety
`unscale_` divides the gradients once; `scaler.step` knows that, and does not divide again.
"""

from __future__ import annotations

import ast

from ...autograd.events.graph_walks import Event
from ...autograd.events.training_step import OptimizerStepped
from ...autograd.facts import Facts
from ...severity import Severity
from ..support.cure import FixProposal
from ..support.finding import Finding, Rule, TraceStep
from ..support.story import assuming, code, prefix


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, OptimizerStepped)
    if event.scaler is None or event.optimizer is None:
        return None
    past = next((past for past, _ in event.past if past.clip is not None and past.clip.scale is not None), None)
    if past is None or past.clip is None or past.clip.scale is None or past.doubt or not past.fresh:
        return None
    if event.premises - past.fresh[0].premises:
        return None
    clip, scale = past.clip.point, past.clip.scale
    call = f"{ast.unparse(event.scaler)}.unscale_({ast.unparse(event.optimizer)})"
    message = (
        f"{code(clip.node)} clips gradients that are still multiplied by the scale of {code(scale.node)} (65,536 at "
        f"first): the limit is that much too small, and nothing raises. `{call}` must come before."
        f"{assuming(event.assumption)}"
    )
    same_function = clip.calls == event.point.calls
    return Finding(
        point=clip,
        severity=Severity.WARNING,
        message=message,
        links=(
            TraceStep(scale.node, f"{prefix(scale)}the loss is scaled here"),
            TraceStep(clip.node, f"{prefix(clip)}its gradients are clipped here"),
            TraceStep(event.point.node, f"{prefix(event.point)}they are divided by the scale only here"),
        ),
        help=f"call `{call}` before clipping.",
        cures=(FixProposal("unscale_before", f"Unscale first: {call}", (clip.node, event.scaler, event.optimizer)),)
        if same_function
        else (),
    )


RULE = Rule(
    "TL405",
    "clipping-scaled-gradients",
    "gradients are clipped while they are scaled",
    __doc__,
    (OptimizerStepped,),
    check,
)
