"""A step uses gradients that an earlier step has used already.

## What PyTorch does
`backward()` adds to `.grad`, as gradient accumulation wants it. Without `zero_grad()` between one step and the next
backward each step repeats all earlier ones: the second uses the first gradient again, the third both. The program runs,
and trains with a gradient that is wrong from the second step on.

Clearing may stand before the backward or after the step, may be `model.zero_grad()` or `p.grad = None`, may happen in
a helper, or every few iterations together with the step: all of that is fine. A step may also be made by hand:
`w -= 0.1 * w.grad`.

A `GradScaler` divides the old part once more, so that it hardly counts. But an infinity stays in it: after one overflow
no step is made any more.

## Example
```py
w = torch.zeros(1, requires_grad=True)
opt = torch.optim.SGD([w], lr=1.0)
for step in range(3):
    loss = (3 * w).sum()
    loss.backward()
    opt.step()  # warning: [gradients-never-zeroed] "previous iteration"
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

## What is reported
Reports an optimizer's `step()` whose gradients still hold those of an earlier step: a backward has added to
them, and they were not cleared in between.

## Fix safety
Clearing after the step, or right before the only backward of a step, drops nothing that a step has not used.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...autograd.events.graph_walks import Event
from ...autograd.events.training_step import OptimizerStepped
from ...autograd.facts import Facts
from ...autograd.gradients.history import GradientHistory, Pass
from ...autograd.model.program_point import Iteration, earlier_iteration
from ...headline import headline
from ...severity import Severity
from ..support.cure import FixProposal, zero_grad
from ..support.finding import Finding, Rule, TraceStep, undecided
from ..support.story import code, loop_name, tensor_name, tensor_names


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, OptimizerStepped)
    if any(past.doubt for past, _ in event.past):
        return None
    found = [(past, leaves) for past, leaves in event.past if past.stale and past.fresh]
    if not found or _may_have_been_cleared(event, found[0][0], facts):
        return None
    past = found[0][0]
    assert past.step is not None
    old, new = past.stale[0], past.fresh[0]
    names = tensor_names(facts, [leaf for _, leaves in found for leaf in leaves])
    is_partial = event.optimizer is not None and len(found) < len(event.past)
    links = (
        TraceStep(old.point.node, "This backward fills `.grad`", old.point, short="fills `.grad`"),
        TraceStep(past.step.node, "This step uses it", past.step, short="uses `.grad`"),
        TraceStep(
            new.point.node,
            f"This backward adds to `.grad` of {names}, which was not cleared",
            new.point,
            short="adds to `.grad`, not cleared",
        ),
    )
    return Finding(
        point=event.point,
        since=undecided(event.premises, old.point),
        severity=Severity.WARNING,
        message=message(event, old, names, is_partial),
        links=links,
        help=advice(event, [leaf for _, leaves in found for leaf in leaves], facts),
        cures=tuple(cures(event, past)),
        repeated=(past.step.node, event.point.node),
    )


def _may_have_been_cleared(event: OptimizerStepped, past: GradientHistory, facts: Facts) -> bool:
    """Whether it was assumed since the first step that nothing is cleared. A test around the second step that is made
    after its backward decides only whether there is a second step.
    """
    since = event.premises - past.stale[0].premises
    early = since & past.fresh[0].premises
    return bool(facts.clearing(early) or facts.clearing_beside(since - early, event.point))


def message(event: OptimizerStepped, old: Pass, names: str, is_partial: bool) -> str:
    """The gradients of the backward ``old`` were used before, and another one added to them. It ``is_partial`` where
    others were cleared.
    """
    lap = earlier_iteration(old.point, event.point)
    node = event.point.node
    step = code(node) if isinstance(node, (ast.Call, ast.stmt)) else f"The update of {code(node)}"
    missing = f"`.grad` of {names} was not cleared" if event.optimizer is None else "`zero_grad()` is missing"
    which = [code(old.point.node)] if lap is None else [*previous(event, lap)]
    if lap is not None and isinstance(lap.loop, ast.Call):
        which, missing = [], f"{missing} in the closure"
    if is_partial:
        return headline(
            f"{step} uses old gradients of {names} again: they were not cleared",
            f"{step} uses old gradients of {names} again",
            f"{step} uses old gradients again: not all of them were cleared",
        )
    return headline(
        *(f"{step} uses the gradients of {each} again: {missing}" for each in which),
        f"{step} uses old gradients again: {missing}",
        f"{step} uses old gradients again: they were not cleared",
    )


def previous(event: OptimizerStepped, past: Iteration) -> Iterator[str]:
    """``the previous iteration``, ``the previous `fit()` ``; of an outer loop it is an earlier one."""
    now = next(each for each in event.point.iterations if each.run == past.run)
    is_last = now.number - past.number == 1
    if isinstance(past.loop, (ast.FunctionDef, ast.AsyncFunctionDef)):
        if past.loop.name != "step":  # as the optimizer's own is called
            yield f"{'the previous' if is_last else 'an earlier'} `{past.loop.name}()`"
        yield f"{'the previous' if is_last else 'an earlier'} call"
    elif is_last and now is event.point.iterations[-1]:
        yield "the previous iteration"
    else:
        yield f"an earlier iteration of {loop_name(past)}"
        yield "an earlier iteration"


SCALED = (
    "The scaler divides the old part once more, so that it hardly counts; but an infinity stays in it: after one "
    "overflow no step is made any more."
)
"""Measured with PyTorch 2.13 (`tl401_gradients_never_zeroed.md`)."""


def advice(event: OptimizerStepped, leaves: list[int], facts: Facts) -> str:
    """Where to clear the gradients, and how."""
    if event.optimizer is not None:
        clear = f"Call `{ast.unparse(event.optimizer)}.zero_grad()` before the backward, or after the step."
        return clear if event.scaler is None else f"{clear} {SCALED}"
    name = tensor_name(facts, leaves[0]) if len(leaves) == 1 else None
    if name is None or not name.startswith("`"):
        return "Clear the gradients once they are used: set each `.grad` to None, or call `zero_grad()` on the module."
    return f"Clear the gradient once it is used: `{name.strip('`')}.grad = None`."


def cures(event: OptimizerStepped, past: GradientHistory) -> list[FixProposal]:
    """After the earlier step, if that is another one: what it has used is cleared where it was used. Before the
    backward, where it is the only one of its iteration and beside the step. In any case after the step.
    """
    if event.optimizer is None or past.step is None:
        return []
    recent = [run.point for run in past.fresh if earlier_iteration(run.point, event.point) is None]
    new = (recent or [past.fresh[0].point])[0]
    within = (
        bool(event.point.iterations) and event.point.iterations[-1].loop is event.point.node
    )  # a step that calls a closure
    found = []
    if past.step.call_site != event.point.call_site:
        title = zero_grad(event.optimizer, "after the earlier step")
        found.append(FixProposal("zero_grad_after", title, (past.step.node, event.optimizer)))
    if len(recent or past.fresh) == 1 and (
        within or new.calls == event.point.calls and new.iterations == event.point.iterations
    ):
        title = zero_grad(event.optimizer, "before the backward")
        step = () if within else (event.point.node,)
        found.append(FixProposal("zero_grad_before", title, (new.node, event.optimizer, *step)))
    if not within:
        title = zero_grad(event.optimizer, "after the step")
        found.append(FixProposal("zero_grad_after", title, (event.point.node, event.optimizer)))
    return found


RULE = Rule(
    "TL401",
    "gradients-never-zeroed",
    "a step uses gradients that an earlier step has used already",
    __doc__,
    (OptimizerStepped,),
    check,
    answerable=True,
)
