"""Gradients are cleared before a step has used them.

## What PyTorch does
It raises nothing: a step skips parameters whose `.grad` is None. With `zero_grad()` between `backward()` and `step()`
the loss is computed, differentiated, and nothing is ever trained. With `zero_grad()` inside the loop over
micro-batches, gradient accumulation keeps the last one and forgets the others.

That nothing has gone backward since is only known where all code in between was read.

Gradients that any code has used may be cleared: by a step of any optimizer (the generator's backward fills the
discriminator's `.grad` as well), or by the program, which logs their norm or copies them.

## Example
```py
w = torch.ones(1, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for step in range(3):
    loss = (3 * w).sum()
    loss.backward()
    opt.zero_grad()  # warning: [gradients-zeroed-before-step] "before `opt.step()` has used them: `w` is not trained"
    opt.step()
assert w.item() == 1  # torch: silent three steps, and nothing was trained
```

## Use instead
```py
w = torch.ones(1, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for step in range(3):
    loss = (3 * w).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
assert w.item() < 1  # torch: ok
```

## What is reported
Reports a `zero_grad()` (or `p.grad = None`) that drops what a backward has just computed: the step after it has
nothing to use, or uses the gradients of the last backward only. And one of an optimizer that is never stepped, by
anything in a program or in a function that made it; where that is not even cleared, while another optimizer steps,
the place where it is made.

## Fix safety
Clearing before the first backward of a step, or after the step, drops nothing that is still needed.
"""

from __future__ import annotations

from ...autograd.events.graph_walks import Event
from ...autograd.events.training_step import OptimizerStepped, StepLeftOut
from ...autograd.facts import Facts
from ...autograd.gradients.history import Clearing, Pass
from ...autograd.model.program_point import Iteration, earlier_iteration
from ...headline import headline
from ...severity import Severity
from ..support.cure import FixProposal
from ..support.finding import Finding, Holds, Rule, TraceStep, undecided
from ..support.story import code, tensor_names, verb


def check(event: Event, facts: Facts) -> Finding | None:
    if isinstance(event, StepLeftOut):
        return left_out(event, facts)
    assert isinstance(event, OptimizerStepped)
    if not event.past or any(past.doubt for past, _ in event.past):
        return None
    if not any(past.passes for past, _ in event.past):
        return nothing_left(event, facts)
    return mostly_lost(event)


def left_out(event: StepLeftOut, facts: Facts) -> Finding:
    """There is no step at all."""
    clearing, run, names = event.clearing, event.run, tensor_names(facts, event.leaves)
    untrained = f"{names} {verb(names)} not trained"
    computes = f"{code(run.point.node)} computes gradients"
    links = [TraceStep(run.point.node, computes, run.point, short="fills `.grad`")]
    if clearing is None:
        message = headline(f"The optimizer that is made here never steps: {untrained}", "The optimizer never steps")
    else:
        clear = code(clearing.point.node)
        message = headline(
            f"{clear} clears what {code(run.point.node)} computed: the optimizer never steps, {untrained}",
            f"{clear} clears the gradients, the optimizer never steps: {untrained}",
            f"{clear} clears the gradients, and the optimizer never steps",
        )
        links.append(TraceStep(clearing.point.node, "This clears them", clearing.point, short="clears `.grad`, unused"))
    if event.built is not None and clearing is not None:
        links.insert(0, TraceStep(event.built, "The optimizer is made here, and never steps", short="never steps"))
    return Finding(
        at=event.built if clearing is None else None,
        point=event.point,
        severity=Severity.WARNING,
        message=message,
        links=tuple(links),
        help="Call `step()` of the optimizer after the backward, or let go of the optimizer.",
        because=run.because,
        holds=Holds.IF_NOTHING_MAKES_IT,
    )


def nothing_left(event: OptimizerStepped, facts: Facts) -> Finding | None:
    """Everything the step would have used is gone."""
    if not all(past.clearings for past, _ in event.past):
        return None
    clearing = event.past[0][0].clearings[-1]
    run = clearing.passes[-1]
    if event.unread > min(past.clearings[-1].stamp for past, _ in event.past):
        return None  # code that was not read may have gone backward since
    if (
        facts.clearing_beside(event.premises - run.premises, event.point)
        or earlier_iteration(run.point, clearing.point) is not None
    ):
        return None
    names = tensor_names(facts, [leaf for _, leaves in event.past for leaf in leaves])
    clear, step, untrained = code(clearing.point.node), code(event.point.node), f"{names} {verb(names)} not trained"
    message = headline(
        f"{clear} clears what {code(run.point.node)} computed: {step} has nothing to use, {untrained}",
        f"{clear} clears the gradients before {step} has used them: {untrained}",
        f"{clear} clears the gradients before the step: {untrained}",
        f"{clear} clears the gradients before the step, which finds none",
    )
    cures = (
        FixProposal("move_before", "Clear the gradients before the backward", (clearing.point.node, run.point.node)),
        FixProposal("move_after", "Clear the gradients after the step", (clearing.point.node, event.point.node)),
    )
    return finding(event, clearing, run, message, f"This step finds no gradients: {untrained}", cures)


def mostly_lost(event: OptimizerStepped) -> Finding | None:
    """The step uses what came last; what was computed before is lost, in a loop that does so again and again."""
    for clearing, run in event.lost:
        if clearing.premises - run.premises or not run.point.iterations or not clearing.point.iterations:
            continue
        if run.point.iterations[0].run != clearing.point.iterations[0].run:
            continue
        lap = earlier_iteration(run.point, clearing.point)
        message = lost(event, clearing, run, lap)
        zero, cures = clearing.point.node, []
        if lap is None:
            cures.append(
                FixProposal("move_before", "Clear the gradients before the first backward", (zero, run.point.node))
            )
        else:
            outside = all(now.run != lap.run for now in event.point.iterations)
            if outside:
                cures.append(
                    FixProposal("relocate_before", "Clear the gradients once, before the loop", (zero, lap.loop))
                )
            title = "Clear the gradients after the step that used them"
            cures.append(FixProposal("relocate_after", title, (zero, event.point.node)))
        return finding(
            event, clearing, run, message, "This step uses only the gradients of the last backward", tuple(cures)
        )
    return None


def lost(event: OptimizerStepped, clearing: Clearing, run: Pass, lap: Iteration | None) -> str:
    """What ``run`` computed, in an earlier iteration of ``lap`` if there is one, is cleared before a step."""
    clear, step = code(clearing.point.node), code(event.point.node)
    which = [f"of {code(run.point.node)}"]
    if lap is not None:
        which = [f"of an earlier {'call' if lap.is_call else 'iteration'}"]
    return headline(
        *(f"{clear} clears the gradients {each}: {step} uses only those of the last backward" for each in which),
        *(f"{clear} clears the gradients {each} before any step has used them" for each in which),
        f"{clear} clears gradients that no step has used",
    )


def finding(
    event: OptimizerStepped, clearing: Clearing, run: Pass, message: str, outcome: str, cures: tuple[FixProposal, ...]
) -> Finding:
    links = (
        TraceStep(run.point.node, f"{code(run.point.node)} computes gradients", run.point, short="fills `.grad`"),
        TraceStep(
            clearing.point.node,
            "This clears them before anything has used them",
            clearing.point,
            short="clears `.grad`, unused",
        ),
        TraceStep(event.point.node, outcome, event.point, short="steps without it"),
    )
    return Finding(
        point=clearing.point,
        since=undecided(event.premises, run.point),
        severity=Severity.WARNING,
        message=message,
        links=links,
        help="Clear the gradients before the first backward of a step, or after the step.",
        cures=cures,
        because=event.because or run.because,
    )


RULE = Rule(
    "TL402",
    "gradients-zeroed-before-step",
    "gradients are cleared before a step has used them",
    __doc__,
    (OptimizerStepped, StepLeftOut),
    check,
    answerable=True,
)
