"""A leaf of each iteration holds a graph that leads back to it.

## What PyTorch does
It raises nothing, until no memory is left. Leaf, attribute, graph, leaf are a cycle, and Python's collector does not
look into graphs. So nothing in it is ever freed: of every iteration the leaf stays in memory, with the whole graph and
what that saved.

## Example
```py
for task in range(3):
    net = nn.Linear(3, 1)
    loss = net(torch.randn(4, 3)).tanh().pow(2).mean()
    grads = torch.autograd.grad(loss, list(net.parameters()), create_graph=True)
    for p, g in zip(net.parameters(), grads):
        p.update = g  # information: [graph-on-its-own-leaf] "p.update"
        print(p.update.shape)  # torch: silent the networks of all iterations stay in memory
```

## Use instead
```py
for task in range(3):
    net = nn.Linear(3, 1)
    loss = net(torch.randn(4, 3)).tanh().pow(2).mean()
    grads = torch.autograd.grad(loss, list(net.parameters()), create_graph=True)
    updates = dict(zip(net.parameters(), grads))
    print(len(updates))  # torch: ok
```
Or keep the value only (`p.update = g.detach()`), or delete the attribute when it has been used.

## What is reported
Reports an attribute of a leaf, or its `.grad`, that is given a tensor whose graph leads to the same leaf, where a loop
makes the leaf anew in every iteration.

## Fix safety
There is no automatic fix: whether the graph is needed is for you to say.
"""

from __future__ import annotations

from ...autograd.events.graph_walks import Event, LeafHoldsItself
from ...autograd.facts import Facts
from ...headline import headline
from ...severity import Severity
from ..support.finding import Finding, Rule, TraceStep
from ..support.story import tensor_name


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, LeafHoldsItself)
    holder = f"`{event.stored.target}`"
    leaf = tensor_name(facts, event.leaf) or "the leaf"
    return Finding(
        at=event.stored.statement,
        point=event.point,
        severity=Severity.INFORMATION,
        message=headline(
            f"{holder} and {leaf} hold each other, so that their memory is never freed",
            f"{leaf} is held by its own graph, so that its memory is never freed",
            "A leaf is held by its own graph, so that its memory is never freed",
        ),
        links=(
            TraceStep(event.lap.loop, "Every iteration leaves one behind", short="every iteration leaves one behind"),
        ),
        help="Keep the graph in a variable or a dict of the iteration, detach it, or delete the attribute after use: "
        "otherwise every one stays in memory, with all that its graph saved.",
    )


RULE = Rule(
    "TL109",
    "graph-on-its-own-leaf",
    "a leaf of each iteration holds a graph that leads back to it",
    __doc__,
    (LeafHoldsItself,),
    check,
    answerable=True,
)
