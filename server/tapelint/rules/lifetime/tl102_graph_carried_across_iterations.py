"""A graph is carried from one iteration into the next.

## Why PyTorch fails
Each iteration builds its graph, and its backward frees it. A tensor kept from there still points
at it; a loss that uses the tensor makes the next backward walk the old graph again: "Trying to backward through the
graph a second time", although the program calls backward once per iteration.

PyTorch's advice, `retain_graph=True`, often turns this into the in-place error, since the optimizer has stepped on
weights that the old graph saved (the help says so where that is seen); where it does run, memory grows with every
iteration.

## Example
```py
w = torch.randn(4, 4, requires_grad=True)
h = torch.zeros(2, 4)
for step in range(3):
    h = torch.tanh(torch.randn(2, 4) + h @ w)
    loss = h.sum()
    loss.backward()  # error: [graph-carried-across-iterations] "h" # torch: raises "second time"
```

## Use instead
Keep the value and drop its graph:
```py
w = torch.randn(4, 4, requires_grad=True)
h = torch.zeros(2, 4)
for step in range(3):
    h = h.detach()
    h = torch.tanh(torch.randn(2, 4) + h @ w)
    loss = h.sum()
    loss.backward()  # torch: ok
```

## What is reported
Reports a `backward()` that reaches into the graph of an earlier iteration, which that iteration's own
backward has freed: a hidden state, a running value, a list that keeps activations.

## Fix safety
Detaching cuts the gradient through the past (truncated backpropagation through time), which is what a
loop with one backward per iteration can have. It is not offered where it would cut the gradients within an iteration,
as in a cell that runs at each step of a sequence, and marked unsafe where what is trained gets its only gradient so.
"""

from __future__ import annotations

from ...autograd.events.graph_walks import Event, FreedGraphReached, SavedTensorModified
from ...autograd.facts import Facts
from ...autograd.model.graph import BackwardPass
from ...autograd.model.program_point import Iteration, earlier_iteration
from ...headline import headline
from ..support.finding import Finding, Rule, severity_of
from ..support.modified_saved import ERROR as MODIFIED
from ..support.modified_saved import is_step
from ..support.story import carried, code, saved_name, writer
from ..support.walked_twice import (
    ERROR,
    UNNAMED,
    carrier,
    clearing,
    detaching,
    of_term,
    origin,
    previous,
    refused,
    repeated,
    restarting,
    retain_cure,
    story,
    unit,
)


def check(event: Event, facts: Facts) -> Finding | None:
    if isinstance(event, SavedTensorModified):
        return stepped(event, facts)
    assert isinstance(event, FreedGraphReached)
    if origin(event) != "carried":
        return None
    past = earlier_iteration(carrier(event).created_at, event.point)
    assert past is not None
    now = next(lap for lap in event.point.iterations if lap.run == past.run)
    name, whose = carried(facts, carrier(event), event.point), previous(past, now)
    message = headline(
        f"{name} still carries the graph of {whose}, which {code(event.freed.point.node)} has freed",
        f"{name} still carries the graph of {whose}, which its backward has freed",
        f"{name} still carries the graph of {whose}, which is freed",
        f"The graph of {whose} is still carried along, and its backward has freed it",
    )
    return Finding(
        point=event.point,
        severity=severity_of(event),
        message=message,
        raises=ERROR,
        short="walks the graph again",
        links=story(event, facts),
        help=f"{_advice(event, facts, name, past)} {refused(event, facts)}".rstrip(),
        no_fix=UNNAMED,
        cures=(
            *of_term(event, facts),
            *detaching(event, facts),
            *clearing(event, facts),
            *restarting(event, facts),
            *([] if repeated(event) else retain_cure(event, grows=True)),
        ),
    )


def _advice(event: FreedGraphReached, facts: Facts, name: str, past: Iteration) -> str:
    """What an expert would do: that depends on how the value is carried."""
    if of_term(event, facts):
        return f"Call `backward()` on what is added to {name}, and add it detached."
    if clearing(event, facts):
        return f"Empty {name} after each backward, or keep detached values in it."
    return f"Detach {name} between the {unit(past)}s: no gradient flows into earlier ones."


def stepped(event: SavedTensorModified, facts: Facts) -> Finding | None:
    """The other face: no backward has freed the old graph, but a step has written a weight that it saved."""
    old = next((n for n in event.path if earlier_iteration(n.created_at, event.point)), None)
    if old is None or not is_step(event) or event.retained:
        return None
    past = earlier_iteration(old.created_at, event.point)
    assert past is not None
    now = next(lap for lap in event.point.iterations if lap.run == past.run)
    bare = FreedGraphReached(
        point=event.point,
        because=event.because,
        node=event.node,
        freed=BackwardPass(event.write.point, event.root),
        path=event.path,
        root=event.root,
        shared=old,
        spoiled=(event.node, event.saved, event.write),
        first_use=None,
    )
    name = carried(facts, old, event.point)
    wrote = saved_name(facts, event.saved) or "a parameter"
    message = headline(
        f"{name} still carries the graph of {previous(past, now)}, and {writer(event.write)} has changed {wrote} since",
        f"{name} still carries the graph of {previous(past, now)}, whose weights a step has changed",
        f"The graph of {previous(past, now)} is still carried along, and a step has changed its weights",
    )
    return Finding(
        point=event.point,
        severity=severity_of(event),
        message=message,
        raises=MODIFIED,
        short=f"needs version {event.saved.version}",
        links=story(bare, facts, "This step writes what was saved", f"written, version {event.write.version}"),
        help=_advice(bare, facts, name, past),
        no_fix=UNNAMED,
        cures=(*of_term(bare, facts), *detaching(bare, facts), *clearing(bare, facts), *restarting(bare, facts)),
    )


RULE = Rule(
    "TL102",
    "graph-carried-across-iterations",
    "a tensor carries the graph of one iteration into the next",
    __doc__,
    (FreedGraphReached, SavedTensorModified),
    check,
    raises=(ERROR,),
    answerable=True,
)
