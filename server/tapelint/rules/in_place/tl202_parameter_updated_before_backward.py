"""A parameter is updated between the forward that saved it and the backward that needs it.

## Why PyTorch fails
`step()` writes the parameters in place. A layer whose input needs a gradient saved its weight;
backward finds the weight changed and raises "one of the variables needed for gradient computation has been modified
by an inplace operation". A layer that is fed plain data saves its input only, so stepping is fine there.

## Example
```py
a, b = nn.Linear(4, 4), nn.Linear(4, 1)
opt_a = torch.optim.SGD(a.parameters(), lr=0.1)
opt_b = torch.optim.SGD(b.parameters(), lr=0.1)
value = b(a(torch.randn(8, 4)))
loss_b = (value.detach() - b(torch.randn(8, 4))).pow(2).mean()
loss_b.backward()
opt_b.step()  # error: [parameter-updated-before-backward] "b.weight"
value.mean().backward()  # torch: raises "modified by an inplace operation"
opt_a.step()
```

## Use instead
Compute the forward again after the step, with the new weights:
```py
a, b = nn.Linear(4, 4), nn.Linear(4, 1)
opt_a = torch.optim.SGD(a.parameters(), lr=0.1)
opt_b = torch.optim.SGD(b.parameters(), lr=0.1)
x = torch.randn(8, 4)
loss_b = (b(a(x)).detach() - b(torch.randn(8, 4))).pow(2).mean()
loss_b.backward()
opt_b.step()
b(a(x)).mean().backward()  # torch: ok
opt_a.step()
```

Or run every backward before the first step. The backward for `a` goes through `b` and leaves gradients there, which the
step of `b` is not meant to use: clear them before the backward for `b`.
```py
a, b = nn.Linear(4, 4), nn.Linear(4, 1)
opt_a = torch.optim.SGD(a.parameters(), lr=0.1)
opt_b = torch.optim.SGD(b.parameters(), lr=0.1)
value = b(a(torch.randn(8, 4)))
loss_b = (value.detach() - b(torch.randn(8, 4))).pow(2).mean()
value.mean().backward()
opt_b.zero_grad()
loss_b.backward()  # torch: ok
opt_a.step()
opt_b.step()
```

What is only data for the second loss, as a generator's image is for the discriminator, is detached there:
```py
G, D = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4)), nn.Linear(4, 1)
opt_g = torch.optim.SGD(G.parameters(), lr=0.1)
fake = G(torch.randn(8, 4))
D(fake).mean().backward()
opt_g.step()
D(fake.detach()).mean().backward()  # torch: ok
```

## What is reported
Reports an optimizer's `step()` that updates a parameter which a graph has saved, where a later
backward walks that graph.

## Fix safety
Moving the step behind the backward lets that backward add its gradients to the parameters before they
are updated, so the fix is marked unsafe. Where that step has updated all that the old graph leads to, `detach()` comes
first: it gives no gradient to what is done with.
"""

from __future__ import annotations

import ast

from ...autograd.events.graph_walks import Event, SavedTensorModified
from ...autograd.facts import Facts
from ...autograd.model.program_point import earlier_iteration
from ...headline import capitalized, cure_title, headline, titled
from ..support.cure import FixProposal
from ..support.finding import Finding, Rule, Same, severity_of
from ..support.forward_again import computing_again
from ..support.modified_saved import ERROR, REFUSED, error, is_step, story
from ..support.story import carried, code, lifted, op_name, saved_name, writer
from ..support.walked_twice import readers


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, SavedTensorModified)
    if not is_step(event):
        return None
    node, saved, write = event.node, event.saved, event.write
    name = saved_name(facts, saved) or "a parameter"
    message = headline(
        f"{writer(write)} changes {name} before {code(event.point.node)}, which needs its old values",
        f"{writer(write)} changes {name}, whose old values a later backward needs",
        f"{writer(write)} changes a parameter before a backward that needs its old values",
    )
    saves, writes = (
        f"{op_name(node)} saves {name} for its backward",
        capitalized(f"{writer(write)} updates {name} in place"),
    )
    old = next((n for n in event.path if earlier_iteration(n.created_at, event.point)), None)
    advice = "Compute the forward again after the step, or run every backward before it"
    if old is not None:
        advice = f"{carried(facts, old, event.point)} carries the graph of an earlier iteration: detach it"
    place = lifted(event.point.calls, write.point, node.created_at)
    other = (
        event.point.calls[len(write.point.calls) - 1]
        if place is not write.point.node and write.point.calls
        else event.point.node
    )
    depth = len(write.point.calls) if place is write.point.node else write.point.calls.index(place)
    made = [n.created_at.calls[depth] if len(n.created_at.calls) > depth else n.created_at.node for n in event.path]
    late = carried(facts, event.path[0], event.point)
    cures = [
        *_detaching(event, facts),
        FixProposal("compute_after", titled("Compute {} after the step", late), (place, *made)),
        *computing_again(event, facts),
        FixProposal(
            "move_after",
            cure_title(f"Step after {code(other)}", "Step after the other backward"),
            (place, other),
            "unsafe",
            effect="The step then applies the gradients of both backwards.",
        ),
    ]
    return Finding(
        at=place,
        point=write.point,
        severity=severity_of(event),
        message=message,
        raises=error(event),
        links=story(event, saves, writes),
        help=advice + ".",
        cures=tuple(cures),
    )


def _detaching(event: SavedTensorModified, facts: Facts) -> list[FixProposal]:
    """Cut what is older than the step off where it is used, if the step was all that its graph was for: in the
    outermost call that is given it, since further in the same code may have run before the step.
    """
    old = event.settled
    if old is None or old is event.path[0]:
        return []
    young = event.path[event.path.index(old) - 1]
    names = dict.fromkeys(stored.target for key in old.results for stored in facts.origins.stored.get(key, ()))
    for place in (*young.created_at.calls, young.created_at.node):
        found = [reader for name in names for reader in readers(place, name)]
        if found:
            after = "where it is used after the step"
            title = cure_title(f"Detach `{ast.unparse(found[0])}` {after}", f"Detach it {after}")
            return [FixProposal("detach", title, tuple(found), "unsafe", effect="It gets no gradient there.")]
    return []


RULE = Rule(
    "TL202",
    "parameter-updated-before-backward",
    "an optimizer steps between a forward and its backward",
    __doc__,
    (SavedTensorModified,),
    check,
    raises=(ERROR, REFUSED),
    told_by=dict.fromkeys(("TL102", "TL104"), Same.AT_ITS_EXCEPTION),
)
