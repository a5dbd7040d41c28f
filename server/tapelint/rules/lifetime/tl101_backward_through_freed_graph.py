"""A second backward pass runs through a graph that the first one has freed.

## Why PyTorch fails
The first backward frees what the operations saved for it (their inputs, their results, their
masks). The second one needs it again and raises "Trying to backward through the graph a second time". Operations that
saved nothing (`+`, `sum`, `view`, ...) may be walked any number of times.

## Example
```py
x = torch.ones(3, requires_grad=True)
y = x ** 2
m = y * 3
n = y * 4
m.sum().backward()
n.sum().backward()  # error: [backward-through-freed-graph] "y" # torch: raises "second time"
```

## Use instead
One backward of the summed losses walks the graph once:
```py
x = torch.ones(3, requires_grad=True)
y = x ** 2
m = y * 3
n = y * 4
(m.sum() + n.sum()).backward()  # torch: ok
```
`retain_graph=True` on the first backward is right too; on the last one it would keep the graph for nothing.

## What is reported
Reports a `backward()` (or `torch.autograd.grad`) that reaches a graph which an earlier backward of
the same iteration has freed.

## Fix safety
Summing the losses and retaining the graph give the same gradients. Detaching the shared value cuts the
gradient behind it. That is safe where this gradient is cleared before any step uses it, as the generator's is after the
discriminator's backward; else it is marked unsafe.
"""

from __future__ import annotations

import ast

from ...autograd.events.graph_walks import Event, FreedGraphReached
from ...autograd.facts import Facts
from ...headline import capitalized, cure_title, headline
from ..support.cure import FixProposal
from ..support.finding import Finding, Rule, severity_of
from ..support.forward_again import computing_again
from ..support.story import code, keeper, variable
from ..support.walked_twice import (
    ERROR,
    before,
    carrier,
    differentiating,
    finished,
    handed,
    origin,
    refused,
    retain_cure,
    spared,
    story,
    uses_of,
)


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, FreedGraphReached)
    if origin(event) != "same":
        return None
    first, second = event.freed.point.node, event.point.node
    shared = carrier(event)
    name = variable(facts, shared)
    whose = f"an earlier {code(first)}" if code(first) == code(second) else code(first)
    message = (
        headline(
            f"{code(second)} runs twice through the graph of {name}, which its first run frees",
            f"This runs twice through the graph of {name}, which its first run frees",
            "This runs twice through a graph that its first run frees",
        )
        if first is second
        else headline(
            f"{code(second)} needs the graph of {name}, which {whose} has freed",
            f"{code(second)} needs the graph of {name}, which an earlier backward has freed",
            f"{code(second)} needs the graph of {name}, which is freed",
            f"This backward needs the graph of {name}, which an earlier one has freed",
            "This backward needs a graph that an earlier backward has freed",
        )
    )
    return Finding(
        point=event.point,
        since=event.freed.point if _is_repeated(event) else None,
        severity=severity_of(event),
        message=message,
        raises=ERROR,
        short="walks the graph again",
        links=story(event, facts),
        help=_advice(event, facts),
        cures=(
            FixProposal("merge_backwards", "Sum the losses, and run one backward", (first, second)),
            *differentiating(event, facts),
            *_beside_a_step(event, facts),
        ),
    )


def _is_repeated(event: FreedGraphReached) -> bool:
    """Whether both passes begin at one tensor, and the first was told nothing: it frees what the second needs."""
    first = event.freed.point.node
    return event.root == event.freed.root and isinstance(first, ast.Call) and not (first.args or first.keywords)


def _advice(event: FreedGraphReached, facts: Facts) -> str:
    """What an expert would do: that depends on whether an optimizer steps between the two backwards."""
    name = variable(facts, carrier(event))
    first, second = code(event.freed.point.node), code(event.point.node)
    if differentiating(event, facts):
        return f"Pass `create_graph=True` to {first}: its gradient then has a graph, too, and keeps the one it used."
    if event.update is None:
        once = f"Go backward from {name} once"
        if event.root != event.freed.root or event.freed.point.node is event.point.node:
            once = "Run one backward of the summed losses"
        if event.spoiled is not None:
            return f"{once}. {refused(event, facts)}"
        if _returns_gradients(event.freed.point.node):
            return f"Pass `retain_graph=True` to {first}, which keeps the graph in memory for {second}."
        earlier = "it" if event.freed.point.node is event.point.node else "the first backward"
        return f"{once}, or pass `retain_graph=True` to {earlier}, which keeps the graph in memory."
    step = code(event.update.point.node)
    if spared(event) or finished(event):
        user = first if spared(event) else second
        return f"Detach {name} where it is used for {user}: no gradient flows behind it from there."
    return f"Run the forward again after {step}, which changes what the old graph was computed from."


def _returns_gradients(node: ast.AST) -> bool:
    """Whether it is ``torch.autograd.grad``: its gradients are used as they are, so one sum of losses will not do."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "grad"


def _beside_a_step(event: FreedGraphReached, facts: Facts) -> list[FixProposal]:
    """Keep the graph, or cut what both backwards share: that comes first where an optimizer steps between them."""
    if event.update is None:
        return [*retain_cure(event, grows=False), *_detaching(event, facts)]
    again = [] if spared(event) else computing_again(event, facts)
    return [*again, *_detaching(event, facts), *retain_cure(event, grows=False)]


def _detaching(event: FreedGraphReached, facts: Facts) -> list[FixProposal]:
    """Cut what is shared off for one of the backwards, first the one that is more likely not to be for it."""
    shared, cures = carrier(event), list[FixProposal]()
    stored = keeper(facts, shared)
    uses = [(event.first_use, event.freed.point.node), (before(event, shared), event.point.node)]
    for user, backward in uses[:1] if spared(event) else uses[::-1] if finished(event) else uses:
        name = variable(facts, shared)
        title = cure_title(
            *(f"Detach {each} for {code(backward)}" for each in (name, "it")),
            f"Detach {name} for one backward",
            "Detach it for one backward",
        )
        effect = f"{capitalized(code(backward))} then gives no gradient to what {name} was computed from."
        for reader in uses_of(user.created_at.node, stored) if user is not None else ():
            cures.append(FixProposal("detach", title, (reader,), "unsafe", effect=effect))
        for call, given in handed(user) if user is not None and user.created_at.calls else ():
            there = cure_title(
                f"Detach {code(given)} in the call of {code(call.func)}", f"Detach {code(given)} in the call"
            )
            cures.append(FixProposal("detach", there, (given,), "unsafe", effect=effect))
    return cures


RULE = Rule(
    "TL101",
    "backward-through-freed-graph",
    "a second backward runs through a graph that the first one freed",
    __doc__,
    (FreedGraphReached,),
    check,
    raises=(ERROR,),
)
