"""One network's loss fills another network's gradients, and its step uses them.

## What PyTorch does
A backward fills `.grad` of every leaf it reaches, also of those whose optimizer has no part in it. In a GAN that is the
gradient that makes the discriminator worse; in actor-critic methods the one that makes the critic overrate what the
actor does. The next step of that network uses the sum.

Gradients that one loss is meant to give to two networks, each stepped once, are fine; so are networks that are frozen,
or cleared before their own backward.

## Example
```py
gen, disc = nn.Linear(2, 2), nn.Linear(2, 1)
opt_gen = torch.optim.SGD(gen.parameters(), lr=0.1)
opt_disc = torch.optim.SGD(disc.parameters(), lr=0.0)
z, real = torch.ones(1, 2), torch.ones(1, 2)
for step in range(3):
    opt_gen.zero_grad()
    (-disc(gen(z))).sum().backward()
    opt_gen.step()
    (disc(gen(z).detach()) - disc(real)).sum().backward()
    opt_disc.step()  # warning: [gradients-leak-between-networks] "(-disc(gen(z))).sum().backward()"
    opt_disc.zero_grad()
    print(step)  # torch: silent the bias of disc gets the gradient -1 where 0 is right
```

## Use instead
```py
gen, disc = nn.Linear(2, 2), nn.Linear(2, 1)
opt_gen = torch.optim.SGD(gen.parameters(), lr=0.1)
opt_disc = torch.optim.SGD(disc.parameters(), lr=0.0)
z, real = torch.ones(1, 2), torch.ones(1, 2)
for step in range(3):
    opt_gen.zero_grad()
    (-disc(gen(z))).sum().backward()
    opt_gen.step()
    opt_disc.zero_grad()
    (disc(gen(z).detach()) - disc(real)).sum().backward()
    opt_disc.step()
assert disc.bias.grad.item() == 0  # torch: ok
```

## What is reported
Reports a `step()` that uses gradients which came through its network on the way to another one: the generator's
loss is differentiated through the discriminator and leaves gradients there, they are not cleared, and the
discriminator's own backward adds to them.

## Fix safety
Clearing right before the network's own backward drops only what another loss has left.
"""

from __future__ import annotations

from ...autograd.events.graph_walks import Event
from ...autograd.events.training_step import OptimizerStepped
from ...autograd.facts import Facts
from ...autograd.gradients.history import GradientHistory, Pass
from ...headline import headline
from ...severity import Severity
from ..support.cure import FixProposal, zero_grad
from ..support.finding import Finding, Rule, TraceStep
from ..support.story import code, tensor_names, verb


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, OptimizerStepped)
    if not event.leaked or any(past.doubt or past.stale for past, _ in event.past):
        return None
    leak, step = event.leaked[0]
    if event.premises - leak.premises:
        return None
    foreign = {run for run, _ in event.leaked}
    found = [(past, leaves) for past, leaves in event.past if foreign & set(past.passes)]
    own = _own_pass(found[0][0], foreign, leak)
    names = tensor_names(facts, [leaf for _, leaves in found for leaf in leaves])
    user, giver = code(event.point.node), code(leak.point.node)
    message = headline(
        f"{user} also uses the gradients that {giver} left in {names}",
        f"{user} also uses the gradients that {giver} left",
        f"{user} also uses gradients of another network's loss",
    )
    return Finding(
        point=event.point,
        severity=Severity.WARNING,
        message=message,
        links=(
            TraceStep(
                leak.point.node,
                f"This backward is meant for {code(step.node)}, and fills the gradients of {names} as well",
                leak.point,
                short=f"fills `.grad` of {names} as well",
            ),
            TraceStep(
                step.node,
                "This step uses those of the network that it was meant for",
                step,
                short="uses only its own `.grad`",
            ),
            TraceStep(
                own.point.node,
                f"This backward adds to what was left: {names} {'was' if verb(names) == 'is' else 'were'} not cleared",
                own.point,
                short="adds to `.grad`, not cleared",
            ),
        ),
        help="Clear the network's gradients right before its own backward.",
        cures=cures(event, own),
    )


def cures(event: OptimizerStepped, own: Pass) -> tuple[FixProposal, ...]:
    """Clear right before the network's ``own`` backward, where the step is in the same function."""
    if event.optimizer is None or own.point.calls != event.point.calls:
        return ()
    title = zero_grad(event.optimizer, "before the backward")
    return (FixProposal("zero_grad_before", title, (own.point.node, event.optimizer)),)


def _own_pass(past: GradientHistory, foreign: set[Pass], leak: Pass) -> Pass:
    """The backward of the network itself that added to what ``leak`` had left."""
    return next(run for run in past.passes if run not in foreign and run.stamp > leak.stamp)


RULE = Rule(
    "TL407",
    "gradients-leak-between-networks",
    "a step uses gradients that another network's loss has left",
    __doc__,
    (OptimizerStepped,),
    check,
    answerable=True,
)
