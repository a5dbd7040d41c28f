"""A step uses gradients that an earlier step has used already.

## What it does
Reports an optimizer's `step()` whose gradients still hold those of an earlier step: a backward has added to
them, and they were not cleared in between.

## Why PyTorch fails
It does not: `backward()` adds to `.grad`, as gradient accumulation wants it. Without
`zero_grad()` between one step and the next backward each step repeats all earlier ones: the second uses the first
gradient again, the third both. The program runs, and trains with a gradient that is wrong from the second step on.

Clearing may stand before the backward or after the step, may be `model.zero_grad()` or `p.grad = None`, may happen in
a helper, or every few iterations together with the step: all of that is fine. A step may also be made by hand:
`w -= 0.1 * w.grad`.

## Example
```py
w = torch.zeros(1, requires_grad=True)
opt = torch.optim.SGD([w], lr=1.0)
for step in range(3):
    loss = (3 * w).sum()
    loss.backward()
    opt.step()  # warning: [gradients-never-zeroed] "iteration 1"
assert w.grad.item() == 9  # torch: silent the gradient of the third step is 9 where 3 is right
```

## Use instead
```py
w = torch.zeros(1, requires_grad=True)
opt = torch.optim.SGD([w], lr=1.0)
for step in range(3):
    loss = (3 * w).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
assert w.grad.item() == 3  # torch: ok
```

## Fix safety
Clearing after the step, or right before the only backward of a step, drops nothing that a step has not used.
"""

from __future__ import annotations

import ast

from ...autograd.events.graph_walks import Event
from ...autograd.events.training_step import OptimizerStepped
from ...autograd.facts import Facts
from ...autograd.gradients.history import GradientHistory, Pass
from ...autograd.model.program_point import earlier_iteration
from ...severity import Severity
from ..support.cure import FixProposal
from ..support.finding import Finding, Rule, TraceStep
from ..support.story import code, headline, iteration, tensor_names


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, OptimizerStepped)
    if any(past.doubt for past, _ in event.past):
        return None
    found = [(past, leaves) for past, leaves in event.past if past.stale and past.fresh]
    if not found or facts.clearing(event.premises) - found[0][0].stale[0].premises:
        return None
    past = found[0][0]
    assert past.step is not None
    old, new = past.stale[0], past.fresh[0]
    names = tensor_names(facts, [leaf for _, leaves in found for leaf in leaves])
    links = (
        TraceStep(old.point.node, "This backward fills `.grad`", old.point),
        TraceStep(past.step.node, "This step uses it", past.step),
        TraceStep(new.point.node, f"This backward adds to `.grad` of {names}, which was not cleared", new.point),
    )
    cure = (
        f"Call `{ast.unparse(event.optimizer)}.zero_grad()` before the backward, or after the step."
        if event.optimizer is not None
        else "Clear the gradient once it is used: `w.grad = None`, or `w.grad.zero_()`."
    )
    return Finding(
        point=event.point,
        severity=Severity.WARNING,
        message=message(event, old, names),
        links=links,
        help=cure,
        cures=tuple(cures(event, past)),
    )


def message(event: OptimizerStepped, old: Pass, names: str) -> str:
    """The gradients of the backward ``old`` were used before, and another one added to them."""
    lap = earlier_iteration(old.point, event.point)
    step = code(event.point.node)
    which = [code(old.point.node)]
    if lap is not None:
        called = isinstance(lap.loop, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Call))
        which = [f"call {lap.number}"] if called else [iteration(old.point, lap), f"iteration {lap.number}"]
    return headline(
        *(f"{step} uses the gradients of {each} again: `.grad` of {names} was not cleared" for each in which),
        *(f"{step} uses the gradients of {each} again: they were not cleared" for each in which),
        f"{step} uses old gradients again: they were not cleared",
    )


def cures(event: OptimizerStepped, past: GradientHistory) -> list[FixProposal]:
    """Before the backward, where it is the only one of its iteration and beside the step; in any case after it."""
    if event.optimizer is None:
        return []
    name = ast.unparse(event.optimizer)
    recent = [run.point for run in past.fresh if earlier_iteration(run.point, event.point) is None]
    new = (recent or [past.fresh[0].point])[0]
    within = (
        bool(event.point.iterations) and event.point.iterations[-1].loop is event.point.node
    )  # a step that calls a closure
    found = []
    if len(recent or past.fresh) == 1 and (
        within or new.calls == event.point.calls and new.iterations == event.point.iterations
    ):
        title = f"Clear the gradients before the backward: {name}.zero_grad()"
        found.append(FixProposal("zero_grad_before", title, (new.node, event.optimizer)))
    if not within:
        title = f"Clear the gradients after the step: {name}.zero_grad()"
        found.append(FixProposal("zero_grad_after", title, (event.point.node, event.optimizer)))
    return found


RULE = Rule(
    "TL401",
    "gradients-never-zeroed",
    "a step uses gradients that an earlier step has used already",
    __doc__,
    (OptimizerStepped,),
    check,
)
