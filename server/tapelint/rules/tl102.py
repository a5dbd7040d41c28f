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

from ..tape.events import Event, FreedGraphReached
from ..tape.moment import earlier_lap
from ..tape.tape import Tape
from .finding import Finding, Rule
from .lifetime import ERROR, carrier, detaching, origin, retain_cure, retaining, story
from .story import assuming, carried, code, iteration, op_name


def check(event: Event, tape: Tape) -> Finding | None:
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
        (*detaching(event, tape), *retain_cure(event, grows=True)),
    )


RULE = Rule(
    "TL102",
    "graph-carried-across-iterations",
    "a tensor carries the graph of one iteration into the next",
    __doc__,
    (FreedGraphReached,),
    check,
    raises=(ERROR,),
)
