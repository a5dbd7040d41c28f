"""Gradients are clipped after the step that uses them.

## What PyTorch does
It raises nothing: clipping changes `.grad` in place, and the step has read it by then. The update was made with the
full gradient; what is clipped is cleared before the next one. Training runs unclipped, and explodes where clipping was
to prevent it. Only `clip_grad_value_` raises, "Expected !nested_tensorlist[0].empty() to be true", and only where no
parameter has a gradient.

Clipping to infinity only measures the norm: that may come at any time.

## Example
```py
w = torch.ones(1, requires_grad=True)
opt = torch.optim.SGD([w], lr=1.0)
loss = (100 * w).sum()
loss.backward()
opt.step()
nn.utils.clip_grad_norm_([w], 1.0)  # warning: [clipping-after-step] "opt.step()"
assert w.item() == -99  # torch: silent the step of length 100 was not clipped to 1
```

## Use instead
```py
w = torch.ones(1, requires_grad=True)
opt = torch.optim.SGD([w], lr=1.0)
loss = (100 * w).sum()
loss.backward()
nn.utils.clip_grad_norm_([w], 1.0)
opt.step()
assert abs(w.item()) < 0.001  # torch: ok
```

## What is reported
Reports `clip_grad_norm_` and `clip_grad_value_` on gradients that a step has used already, and before the backward that
computes what the step uses. Under a test of its own after the step the norm may be what is wanted, unless it is
dropped.

## Fix safety
The call is moved before the step, past statements that do not depend on it; not out of a test.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...autograd.events.graph_walks import Event
from ...autograd.events.training_step import GradientsClipped, OptimizerStepped
from ...autograd.facts import Facts
from ...autograd.gradients.history import GradientHistory, Group
from ...autograd.model.program_point import ProgramPoint
from ...headline import headline
from ...severity import Severity
from ..support.cure import FixProposal
from ..support.finding import Finding, Rule, TraceStep, undecided
from ..support.story import code, tensor_names


def check(event: Event, facts: Facts) -> Finding | None:
    if isinstance(event, OptimizerStepped):
        return too_early(event, facts)
    assert isinstance(event, GradientsClipped)
    clipped = [(past, leaves) for past, leaves in event.past if past.passes or past.doubt]
    step = clipped[0][0].step if clipped else None
    if step is None or event.only_measures or not all(_is_used_up(past) for past, _ in clipped):
        return None
    is_beside = (event.point.guard, event.point.supposed) == (step.guard, step.supposed)
    if not is_beside and event.is_read:
        return None  # what is done under a test of its own after the step may be there to measure
    return _too_late(event, step, clipped, is_beside, facts)


def _too_late(
    event: GradientsClipped, step: ProgramPoint, clipped: Sequence[Group], is_beside: bool, facts: Facts
) -> Finding:
    """The ``step`` has used what is ``clipped``; only a clip that ``is_beside`` it can be moved by itself."""
    clip, filled = event.point.node, clipped[0][0].stale[-1].point
    names = tensor_names(facts, [leaf for _, leaves in clipped for leaf in leaves])
    message = headline(
        f"{code(clip)} clips gradients that {code(step.node)} has used already",
        f"{code(clip)} clips gradients that were used already",
    )
    return Finding(
        point=event.point,
        since=undecided(event.premises, filled),
        severity=Severity.WARNING,
        message=message,
        links=(
            TraceStep(filled.node, "This backward computes the gradients", filled, short="fills `.grad`"),
            TraceStep(
                step.node, f"This step uses the gradients of {names}, unclipped", step, short="uses `.grad`, unclipped"
            ),
            TraceStep(clip, "This clips", event.point, short="clips `.grad`"),
        ),
        help="Clip between `backward()` and `step()`.",
        cures=(FixProposal("move_before", "Clip before the step", (clip, step.node)),) if is_beside else (),
    )


def too_early(event: OptimizerStepped, facts: Facts) -> Finding | None:
    """In the iteration of the step gradients were to be clipped before there were any."""
    found = [(past, leaves) for past, leaves in event.past if past.early is not None and past.fresh]
    if not found or any(past.doubt or past.clip is not None for past, _ in found):
        return None
    past, clip = found[0][0], found[0][0].early
    run = past.fresh[0]
    if clip is None or not (_is_beside(clip, event.point) and _is_beside(clip, run.point)):
        return None
    names = tensor_names(facts, [leaf for _, leaves in found for leaf in leaves])
    message = headline(
        f"{code(clip.node)} comes before {code(run.point.node)}: there is nothing to clip yet",
        f"{code(clip.node)} comes before the backward: nothing to clip yet",
    )
    return Finding(
        point=clip,
        since=undecided(event.premises, clip),
        severity=Severity.WARNING,
        message=message,
        links=(
            TraceStep(clip.node, "This clips", clip, short="clips `.grad`"),
            TraceStep(run.point.node, "This backward computes the gradients", run.point, short="fills `.grad`"),
            TraceStep(
                event.point.node,
                f"This step uses the gradients of {names}, unclipped",
                event.point,
                short="uses `.grad`, unclipped",
            ),
        ),
        help="Clip between `backward()` and `step()`.",
        cures=(FixProposal("move_after", "Clip after the backward", (clip.node, run.point.node)),),
    )


def _is_beside(clip: ProgramPoint, point: ProgramPoint) -> bool:
    """Whether something is done in the iteration and the call that clips, by what that calls, too."""
    calls, iterations = point.calls[: len(clip.calls)], point.iterations[: len(clip.iterations)]
    return (calls, iterations) == (clip.calls, clip.iterations)


def _is_used_up(past: GradientHistory) -> bool:
    """Whether a step has used all of a gradient, unclipped."""
    return not (past.doubt or past.perhaps or past.fresh) and past.clip is None


RULE = Rule(
    "TL404",
    "clipping-after-step",
    "gradients are clipped after the step that uses them",
    __doc__,
    (GradientsClipped, OptimizerStepped),
    check,
)
