"""A graph of an earlier iteration is walked again, and nothing raises.

## What PyTorch does
It walks the old graph again and raises nothing: only operations that saved something refuse a second pass. `+`, `sum`,
`stack`, `cat` and views saved nothing. A running total adds the gradients of all earlier iterations once more in every
iteration; a value that was computed once from the parameters does not follow their updates, so the loss never changes.

## Example
```py
w = torch.ones(1, requires_grad=True)
total = torch.zeros(1)
for step in range(3):
    total = total + w
    total.backward()  # warning: [stale-graph-never-updates] "total"
assert w.grad.item() == 6.0  # torch: silent it should be 3
```

## Use instead
```py
w = torch.ones(1, requires_grad=True)
total = 0.0
for step in range(3):
    w.backward()
    total += w.item()
assert w.grad.item() == 3.0  # torch: ok
```
What is computed from parameters belongs into the loop:
```py
params = [torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)]
optimizer = torch.optim.SGD(params, lr=0.1)
for step in range(3):
    weights = torch.stack(params)
    loss = (weights - 3).pow(2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()  # torch: ok
```

## What is reported
Reports a `backward()` that walks what an earlier iteration's backward has walked, where the operations in between had
saved nothing and so PyTorch does not notice: a running total, or a value computed from the parameters
before the loop.

## Fix safety
What is moved into the loop is computed in every iteration, from the parameters as they are then. For a running total
there is no fix: whether the sum or its newest term is to be differentiated is for you to say.
"""

from __future__ import annotations

from ...autograd.events.graph_walks import Event, WalkedAgain
from ...autograd.facts import Facts
from ...autograd.model.program_point import earlier_iteration
from ...headline import headline
from ...severity import Severity
from ..support.cure import FixProposal
from ..support.finding import Finding, Rule, Same, TraceStep
from ..support.story import code, keeper, tensor_name, variable, writer
from ..support.walked_twice import into_loop, previous

UNKNOWN = "if what is not known of that graph saved something"


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, WalkedAgain)
    past = earlier_iteration(event.past.point, event.point)
    assert past is not None
    now = next(lap for lap in event.point.iterations if lap.run == past.run)
    stored = keeper(facts, event.node, event.point)
    name = f"`{stored.target}`" if stored is not None else variable(facts, event.node)
    built = event.node.created_at.node
    cures: tuple[FixProposal, ...] = ()
    if event.stale is not None and event.reader is not None:
        leaf = tensor_name(facts, event.leaf) or "a parameter"
        message = headline(
            f"{name} is used with its old values: {writer(event.stale)} has changed {leaf} since",
            f"{name} is used with its old values: a step has changed its weights since",
            "A value is used that was computed from weights which a step has changed since",
        )
        links = (
            TraceStep(built, f"{name} is computed here", event.node.created_at, short="computed"),
            TraceStep(event.stale.point.node, f"This changes {leaf}", event.stale.point, short=f"changes {leaf}"),
        )
        advice = f"Compute {name} again in every iteration: its gradient is that of old weights."
        if stored is not None and earlier_iteration(event.node.created_at, event.point) is None:
            cures = (FixProposal("move_into_loop", into_loop(name), (stored.statement, now.loop)),)
    else:
        message = headline(
            f"{code(event.point.node)} adds the gradients of {previous(past, now)} once more, through {name}",
            f"This backward adds the gradients of {previous(past, now)} once more, through {name}",
            f"This backward adds the gradients of {previous(past, now)} once more",
        )
        links = (
            TraceStep(built, f"{name} is computed here", event.node.created_at, short="computed"),
            TraceStep(
                event.past.point.node,
                "This backward uses its graph first",
                event.past.point,
                short="walks its graph first",
            ),
        )
        advice = f"Call backward on the new term only, and keep the value of {name} without its graph (`.detach()`). "
        known = "nothing, since these operations saved nothing"
        advice += f"PyTorch raises {known if event.node.assumption is None else UNKNOWN}."
    return Finding(
        point=event.point,
        severity=Severity.WARNING,
        message=message,
        links=links,
        help=advice,
        cures=cures,
    )


RULE = Rule(
    "TL107",
    "stale-graph-never-updates",
    "a graph of an earlier iteration is walked again and adds old gradients, or gradients of old weights",
    __doc__,
    (WalkedAgain,),
    check,
    answerable=True,
    told_by=dict.fromkeys(("TL101", "TL102", "TL103"), Same.AT_ITS_PLACE),
)
