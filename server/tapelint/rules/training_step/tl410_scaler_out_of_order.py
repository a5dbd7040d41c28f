"""A scaler of mixed precision is used twice for one optimizer, or updated before it was used.

## Why PyTorch fails
A `GradScaler` keeps a state for each optimizer: ready, unscaled, stepped. Dividing the gradients twice by the scale
would make them far too small, so each state is left only by `update()`. With several optimizers there is one
`update()`, after the steps of all. It looks at what `unscale_` or `step` have found in the gradients, and raises where
there is nothing.

## Example
```py
w = torch.ones(1, requires_grad=True)
opt = torch.optim.SGD([w], lr=1.0)
scaler = torch.amp.GradScaler("cpu")
for step in range(3):
    opt.zero_grad()
    scaler.scale(w.sum()).backward()
    scaler.step(opt)  # error: [scaler-out-of-order] "update" # torch: raises "step() has already been called"
```

## Use instead
```py
w = torch.ones(1, requires_grad=True)
opt = torch.optim.SGD([w], lr=1.0)
scaler = torch.amp.GradScaler("cpu")
for step in range(3):
    opt.zero_grad()
    scaler.scale(w.sum()).backward()
    scaler.step(opt)
    scaler.update()  # torch: ok
```

## What is reported
Reports `scaler.unscale_(opt)` and `scaler.step(opt)` that come a second time before `scaler.update()`, `unscale_` after
`step`, and an `update()` before which the scaler has neither unscaled nor stepped. A scaler that is not enabled does
nothing, and so refuses nothing. One that comes as an argument is taken to be enabled, and the finding says so.

## Fix safety
There is no fix: where the `update()` belongs, or which of two calls is one too many, tapelint does not know.
"""

from __future__ import annotations

import ast

from ...autograd.events.graph_walks import Event
from ...autograd.events.training_step import ScalerMisused
from ...autograd.facts import Facts
from ...headline import headline
from ..support.finding import Finding, Rule, TraceStep, severity_of
from ..support.story import code


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, ScalerMisused)
    call, scaler = code(event.point.node), "scaler" if event.scaler is None else ast.unparse(event.scaler)
    if event.done is None:
        message = headline(
            f"{call} finds nothing that `{scaler}` has stepped or unscaled",
            f"{call} comes before the scaler has stepped",
        )
        return Finding(
            point=event.point,
            severity=severity_of(event),
            message=message,
            raises=event.error,
            help=f"Step with `{scaler}.step(optimizer)`, not with the optimizer itself, and update once after it.",
            no_fix="it is not known which step it belongs to",
        )
    done = "stepped with this optimizer" if event.done == "step" else "unscaled the gradients of this optimizer"
    message = headline(
        f"{call}: `{scaler}` has {done} already, and no `{scaler}.update()` came since",
        f"{call}: the scaler has {done} already, without `update()` since",
        f"{call}: the scaler must be updated before, by `update()`",
    )
    links = (TraceStep(event.before.node, f"This has {done}", event.before),) if event.before is not None else ()
    return Finding(
        point=event.point,
        severity=severity_of(event),
        message=message,
        raises=event.error,
        links=links,
        help=f"Call `unscale_` and `step` once for each optimizer, and then `{scaler}.update()`.",
        no_fix="it is not known where the update belongs",
    )


RULE = Rule(
    "TL410",
    "scaler-out-of-order",
    "a scaler is used twice for one optimizer, or updated before it was used",
    __doc__,
    (ScalerMisused,),
    check,
    raises=(
        "has already been called",
        "unscale_() is being called after step().",
        "No inf checks were recorded prior to update.",
    ),
)
