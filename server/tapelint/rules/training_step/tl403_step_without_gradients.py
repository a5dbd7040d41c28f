"""A step comes before there is a gradient to use.

## What PyTorch does
It raises nothing: a step skips parameters whose `.grad` is None. So the first step does nothing, every later one uses
the gradient of the iteration before, and the last gradient is never used; with a `zero_grad()` at the top of the
iteration every step finds nothing, and nothing is trained.

## Example
```py
w = torch.ones(1, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for step in range(3):
    opt.zero_grad()
    loss = (3 * w).sum()
    opt.step()  # warning: [step-without-gradients] "before"
    loss.backward()
assert w.item() == 1  # torch: silent three steps, and nothing was trained
```

## Use instead
```py
w = torch.ones(1, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for step in range(3):
    opt.zero_grad()
    loss = (3 * w).sum()
    loss.backward()
    opt.step()
assert w.item() < 1  # torch: ok
```

## What is reported
Reports an optimizer's `step()` that comes before the `backward()` of the same iteration: the first step finds
no gradient at all; or of a function without a caller, where that clears the gradients first. And one in a program, or a
function without a caller, that computes a loss and never goes backward through it. And one of an optimizer of which no
backward reaches anything: the network was made anew, loaded or copied after the optimizer was built; or was frozen for
the turn of another one, and never released. One that stands
before the loop is no mistake: schedulers want to see a step.

## Fix safety
The step is moved behind the backward of its iteration, past statements that do not depend on it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...autograd.events.graph_walks import Event
from ...autograd.events.training_step import NeverReached, StepMissed, StepWithoutBackward
from ...autograd.facts import Facts
from ...autograd.model.program_point import ProgramPoint
from ...because import guess
from ...headline import headline
from ...severity import Severity
from ..support.cure import FixProposal
from ..support.finding import Finding, Rule, Same, TraceStep
from ..support.story import code, freezer, tensor_names, variable

NO_CALLER = guess("no caller goes backward before")


def check(event: Event, facts: Facts) -> Finding | None:
    if isinstance(event, NeverReached):
        return unreached(event, facts) if event.cut is None else None
    if isinstance(event, StepWithoutBackward):
        return without_backward(event, facts)
    assert isinstance(event, StepMissed)
    step, now = event.step.point, event.point
    # Cleared before the step, the gradients of an earlier iteration are none that it uses.
    premises, is_cleared = event.step.premises | event.premises, event.step.cleared_by is not None
    if step.iterations != now.iterations or not facts.lead_to(premises, step, now, or_beside=is_cleared):
        return None
    if not step.iterations and not (event.is_last and step.calls == now.calls) or _is_of_another_method(step, now):
        return None
    names = tensor_names(facts, event.leaves)
    first, backward = code(step.node), code(now.node)
    message = headline(
        f"{first} comes before {backward} and finds no gradient of {names}",
        f"{first} comes before {backward} and finds no gradient",
        f"{first} comes before the backward and finds no gradient",
    )
    return Finding(
        point=step,
        since=step,
        severity=Severity.WARNING,
        message=message,
        links=(
            TraceStep(
                step.node,
                "This step finds no gradient: PyTorch skips what has none",
                step,
                short="finds no `.grad`, skips",
            ),
            TraceStep(
                now.node,
                "This backward is the first to compute one: the next step uses it, if it is not cleared before",
                now,
                short="fills `.grad` for the first time",
            ),
        ),
        help="Call `backward()` first and `step()` after it.",
        cures=(FixProposal("move_after", "Move the step after the backward", (step.node, now.node)),),
    )


def _is_of_another_method(step: ProgramPoint, now: ProgramPoint) -> bool:
    """Whether nothing but tapelint calls the one method before the other."""
    mine, yours = step.calls[:1], now.calls[:1]
    return mine != yours and any(isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)) for each in (*mine, *yours))


def unreached(event: NeverReached, facts: Facts) -> Finding:
    """There are backward passes, but none of them reaches what this optimizer holds."""
    names = tensor_names(facts, event.leaves)
    step, frozen = code(event.point.node), event.frozen
    if frozen is not None:
        by, done = freezer(frozen, event.point)
        return Finding(
            point=event.point,
            severity=Severity.WARNING,
            message=headline(
                f"{step} changes nothing: {done} has frozen {names}",
                f"{step} changes nothing: {done} has frozen its parameters",
                f"{step} changes nothing: its parameters are frozen",
            ),
            links=(TraceStep(by, f"This freezes {names}", frozen, short=f"freezes {names}"),),
            help="Let them require grad again (`requires_grad_(True)`) before their loss is computed.",
        )
    message = headline(
        f"{step} changes nothing: no backward has reached {names}, all that the optimizer holds",
        f"{step} changes nothing: no backward has reached {names}",
        f"{step} changes nothing: no backward has reached its parameters",
    )
    advice = "Give the optimizer the parameters that the loss depends on, or let the loss depend on these."
    return Finding(
        point=event.point,
        severity=Severity.WARNING,
        message=message,
        links=tuple(_unreached_story(event)),
        help=advice,
    )


def _unreached_story(event: NeverReached) -> Iterator[TraceStep]:
    """Where that was made which the optimizer holds, and what goes backward to other parameters."""
    made, reached = event.made, event.reached
    if made is not None and reached is not None:
        node = made.calls[0] if made.calls else made.node
        yield TraceStep(node, "The optimizer holds the parameters that are made here", short="makes what it holds")
        yield TraceStep(reached.node, "This backward reaches other parameters", reached, short="reaches others")
    yield TraceStep(event.point.node, "This step finds no gradient", event.point, short="finds no `.grad`, skips")


def without_backward(event: StepWithoutBackward, facts: Facts) -> Finding:
    """There is no backward at all."""
    names = tensor_names(facts, event.leaves)
    because = event.because & NO_CALLER if event.called else event.because
    step, loss, made = code(event.point.node), variable(facts, event.loss), event.loss.created_at
    message = headline(
        f"{step} changes nothing: no backward begins at {loss}, computed from {names}",
        f"{step} changes nothing: no backward begins at {loss}",
        f"{step} changes nothing: no backward begins at the loss",
    )
    return Finding(
        point=event.point,
        severity=Severity.WARNING,
        message=message,
        links=(
            TraceStep(
                made.node, "This records a graph, which is thrown away", made, short="records a graph, thrown away"
            ),
        ),
        help="Call `backward()` on the loss before the step.",
        because=because,
    )


RULE = Rule(
    "TL403",
    "step-without-gradients",
    "a step comes before there is a gradient to use",
    __doc__,
    (StepMissed, NeverReached, StepWithoutBackward),
    check,
    answerable=True,
    told_by={"TL320": Same.AT_ITS_PLACE},
)
