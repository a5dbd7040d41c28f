"""A graph is carried from one iteration into the next.

## What it does
Reports a `backward()` that reaches into the graph of an earlier iteration, which that iteration's own
backward has freed: a hidden state, a running value, a list that keeps activations.

## Why PyTorch fails
Each iteration builds its graph, and its backward frees it. A tensor kept from there still points
at it; a loss that uses the tensor makes the next backward walk the old graph again: "Trying to backward through the
graph a second time", although the program calls backward once per iteration.

PyTorch's advice, `retain_graph=True`, often turns this into the in-place error, since the optimizer has stepped on
weights that the old graph saved; where it does run, memory grows with every iteration. The message says which of the
two would happen.

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
Keep the value and forget its history:
```py
w = torch.randn(4, 4, requires_grad=True)
h = torch.zeros(2, 4)
for step in range(3):
    h = h.detach()
    h = torch.tanh(torch.randn(2, 4) + h @ w)
    loss = h.sum()
    loss.backward()  # torch: ok
```

## Fix safety
Detaching cuts the gradient through the past (truncated backpropagation through time), which is what a
loop with one backward per iteration can have.
"""

from __future__ import annotations

from ...autograd.events.graph_walks import Event, FreedGraphReached, SavedTensorSpoiled
from ...autograd.facts import Tape
from ...autograd.model.graph import Freed
from ...autograd.model.program_point import earlier_lap
from ..support.finding import Finding, Rule
from ..support.modified_saved import ERROR as MODIFIED
from ..support.modified_saved import is_step
from ..support.story import assuming, carried, code, iteration, op_name, saved_name, writer
from ..support.walked_twice import ERROR, carrier, clearing, detaching, origin, retain_cure, retaining, story


def check(event: Event, tape: Tape) -> Finding | None:
    if isinstance(event, SavedTensorSpoiled):
        return stepped(event, tape)
    assert isinstance(event, FreedGraphReached)
    if origin(event) != "carried":
        return None
    past = earlier_lap(carrier(event).born, event.moment)
    assert past is not None
    now = next(lap for lap in event.moment.laps if lap.run == past.run)
    message = (
        f"in {iteration(event.moment, now)} {code(event.moment.node)} reaches the graph of iteration {past.number} "
        f"again: {carried(tape, carrier(event), event.moment)} "
        f"carries it over, and what {op_name(event.node)} saved there is freed. PyTorch raises "
        f"“{ERROR}”.{assuming(event.assumed)}"
    )
    return Finding(
        RULE.code,
        event.moment.node,
        event.moment,
        "warning" if event.assumed else "error",
        message,
        story(event, tape),
        f"detach what is carried from one iteration to the next. {retaining(event, tape, grows=True)}",
        (*detaching(event, tape), *clearing(event, tape), *retain_cure(event, grows=True)),
    )


def stepped(event: SavedTensorSpoiled, tape: Tape) -> Finding | None:
    """The other face: no backward has freed the old graph, but a step has written a weight that it saved."""
    old = next((n for n in event.path if earlier_lap(n.born, event.moment)), None)
    if old is None or not is_step(event) or event.retained:
        return None
    past = earlier_lap(old.born, event.moment)
    assert past is not None
    now = next(lap for lap in event.moment.laps if lap.run == past.run)
    bare = FreedGraphReached(
        event.moment,
        event.assumed,
        event.node,
        Freed(event.write.moment, event.root),
        event.path,
        event.root,
        old,
        (event.node, event.saved, event.write),
        None,
    )
    name = carried(tape, old, event.moment)
    message = (
        f"in {iteration(event.moment, now)} {code(event.moment.node)} reaches the graph of iteration {past.number} "
        f"again: {name} carries it over, and {writer(event.write)} has written "
        f"{saved_name(tape, event.saved) or 'a parameter'}, which {op_name(event.node)} saved there. PyTorch raises "
        f"“{MODIFIED}”.{assuming(event.assumed)}"
    )
    return Finding(
        RULE.code,
        event.moment.node,
        event.moment,
        "warning" if event.assumed else "error",
        message,
        story(bare, tape, "this step wrote what it saved"),
        f"detach {name}, or make it anew, between the iterations.",
        (*detaching(bare, tape), *clearing(bare, tape)),
    )


RULE = Rule(
    "TL102",
    "graph-carried-across-iterations",
    "a tensor carries the graph of one iteration into the next",
    __doc__,
    (FreedGraphReached, SavedTensorSpoiled),
    check,
    raises=(ERROR,),
)
