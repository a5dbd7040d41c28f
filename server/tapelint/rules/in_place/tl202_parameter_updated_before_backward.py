"""A parameter is updated between the forward that saved it and the backward that needs it.

## What it does
Reports an optimizer's `step()` that updates a parameter which a graph has saved, where a later
backward walks that graph.

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
Run every backward first, then step:
```py
a, b = nn.Linear(4, 4), nn.Linear(4, 1)
opt_a = torch.optim.SGD(a.parameters(), lr=0.1)
opt_b = torch.optim.SGD(b.parameters(), lr=0.1)
value = b(a(torch.randn(8, 4)))
loss_b = (value.detach() - b(torch.randn(8, 4))).pow(2).mean()
loss_b.backward()
value.mean().backward()  # torch: ok
opt_b.step()
opt_a.step()
```
Or compute the forward again after the step.

What is only data for the second loss, as a generator's image is for the discriminator, is detached there:
```py
G, D = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4)), nn.Linear(4, 1)
opt_g = torch.optim.SGD(G.parameters(), lr=0.1)
fake = G(torch.randn(8, 4))
D(fake).mean().backward()
opt_g.step()
D(fake.detach()).mean().backward()  # torch: ok
```

## Fix safety
Moving the step behind the backward lets that backward add its gradients to the parameters before they
are updated, so the fix is marked unsafe. Where that step has updated all that the old graph leads to, `detach()` comes
first: it gives no gradient to what is done with.
"""

from __future__ import annotations

import ast

from ...autograd.events.graph_walks import Event, SavedTensorSpoiled
from ...autograd.facts import Tape
from ...autograd.model.program_point import earlier_lap
from ..support.cure import Cure
from ..support.finding import Finding, Link, Rule
from ..support.modified_saved import ERROR, REFUSED, error, is_step
from ..support.story import assuming, carried, code, lifted, op_name, prefix, saved_name, writer
from ..support.walked_twice import readers


def check(event: Event, tape: Tape) -> Finding | None:
    assert isinstance(event, SavedTensorSpoiled)
    if not is_step(event):
        return None
    node, saved, write = event.node, event.saved, event.write
    name = saved_name(tape, saved) or "a parameter"
    message = (
        f"{writer(write)} updates {name}, but {op_name(node)} saved it for backward, and "
        f"{code(event.moment.node)} walks that graph afterwards. "
        f"PyTorch raises “{error(event)}”.{assuming(event.assumed)}"
    )
    links = [
        Link(node.born.node, f"{prefix(node.born)}{op_name(node)} saved {name} here (version {saved.version})"),
        *(Link(call, f"{prefix(node.born)}in this call") for call in node.born.calls[-1:]),
        Link(write.moment.node, f"{prefix(write.moment)}updated here (version {write.version})"),
        Link(event.moment.node, f"{prefix(event.moment)}this backward needs version {saved.version}"),
    ]
    old = next((n for n in event.path if earlier_lap(n.born, event.moment)), None)
    advice = "run every backward before the step, or compute the forward again after it"
    if old is not None:
        advice = f"{carried(tape, old, event.moment)} carries the graph of an earlier iteration: detach it"
    place = lifted(event.moment.calls, write.moment, node.born)
    other = (
        event.moment.calls[len(write.moment.calls) - 1]
        if place is not write.moment.node and write.moment.calls
        else event.moment.node
    )
    depth = len(write.moment.calls) if place is write.moment.node else write.moment.calls.index(place)
    made = [n.born.calls[depth] if len(n.born.calls) > depth else n.born.node for n in event.path]
    cures = [
        *_detaching(event, tape),
        Cure("compute_after", f"Compute {carried(tape, event.path[0], event.moment)} after the step", (place, *made)),
        Cure(
            "move_after",
            "Step after the backward (that backward then adds its gradients to this update)",
            (place, other),
            "unsafe",
        ),
    ]
    return Finding(
        RULE.code,
        place,
        write.moment,
        "warning" if event.assumed else "error",
        message,
        tuple(links),
        advice + ".",
        tuple(cures),
    )


def _detaching(event: SavedTensorSpoiled, tape: Tape) -> list[Cure]:
    """Cut what is older than the step off where it is used, if the step was all that its graph was for: in the
    outermost call that is given it, since further in the same code may have run before the step.
    """
    old = event.settled
    if old is None or old is event.path[0]:
        return []
    young = event.path[event.path.index(old) - 1]
    names = dict.fromkeys(stored.target for key in old.results for stored in tape.stored.get(key, ()))
    for place in (*young.born.calls, young.born.node):
        found = [reader for name in names for reader in readers(place, name)]
        if found:
            title = f"Detach `{ast.unparse(found[0])}` where it is used after the step (it gets no gradient there)"
            return [Cure("detach", title, tuple(found), "unsafe")]
    return []


RULE = Rule(
    "TL202",
    "parameter-updated-before-backward",
    "an optimizer steps between a forward and its backward",
    __doc__,
    (SavedTensorSpoiled,),
    check,
    raises=(ERROR, REFUSED),
)
