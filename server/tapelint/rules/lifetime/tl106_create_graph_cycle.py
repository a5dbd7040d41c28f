"""A gradient with a graph holds its own leaf, and is not cleared.

## What PyTorch does
It runs, and warns. With `create_graph=True` the gradient has a graph of its own, which leads back to the leaf: leaf,
`.grad`, its graph, leaf. Python's collector does not see such a cycle, so all of it, with every saved tensor, stays in
memory until `.grad` is cleared, even when the leaf is no longer reachable. The warning comes once in a process.

## Example
```py
def fit(net, target):
    z = torch.zeros(1, 6, requires_grad=True)
    for step in range(2):
        z.grad = None
        loss = (net(z) - target).pow(2).mean()
        loss.backward(create_graph=True)  # information: [create-graph-cycle] "z"
    return z.detach()

net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3)).requires_grad_(False)
for target in torch.rand(4, 1, 3):
    fit(net, target)  # torch: silent the graphs of all calls stay in memory
```

## Use instead
`torch.autograd.grad` returns the gradient and stores it nowhere:
```py
def fit(net, target):
    z = torch.zeros(1, 6, requires_grad=True)
    for step in range(2):
        loss = (net(z) - target).pow(2).mean()
        gradient, = torch.autograd.grad(loss, z, create_graph=True)
    return z.detach()

net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3)).requires_grad_(False)
for target in torch.rand(4, 1, 3):
    fit(net, target)  # torch: ok
```
Or set `z.grad = None` when it has been used.

## What is reported
Reports a `backward(create_graph=True)` whose `.grad` is never cleared: of a leaf that a function leaves behind in each
call, or that gathers the graphs of several iterations.

## Fix safety
There is no automatic fix: where `.grad` has been used for the last time is for you to say.
"""

from __future__ import annotations

from ...autograd.events.graph_walks import Event, GradientCycle
from ...autograd.facts import Facts
from ...headline import headline
from ...severity import Severity
from ..support.finding import Finding, Rule, TraceStep
from ..support.story import tensor_name

WARNING = "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient"


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, GradientCycle)
    name = tensor_name(facts, event.leaf) or "a leaf"
    plain = name.strip("`")
    if event.call is not None:
        links = (
            TraceStep(
                event.call.node, "Each call leaves its graph behind", event.call, short="leaves its graph behind"
            ),
        )
    else:
        links = (
            TraceStep(event.past.node, "`.grad` is not cleared after this", event.past, short="`.grad` is not cleared"),
        )
    message = headline(
        f"`create_graph=True` makes `{plain}.grad` hold its own leaf: their memory is never freed",
        "`create_graph=True` makes a reference cycle through a gradient that is never cleared",
    )
    return Finding(
        point=event.point,
        severity=Severity.INFORMATION,
        message=message,
        links=links,
        help=f"Use `torch.autograd.grad(loss, {plain}, create_graph=True)`, or set `{plain}.grad = None` after its "
        "last use.",
    )


RULE = Rule(
    "TL106",
    "create-graph-cycle",
    "a gradient with a graph holds its own leaf, and is never cleared",
    __doc__,
    (GradientCycle,),
    check,
    warns=(WARNING,),
    answerable=True,
)
