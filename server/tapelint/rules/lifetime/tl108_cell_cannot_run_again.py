"""A cell of a notebook that raises when it is run a second time.

## Why PyTorch fails
A notebook's cells are a loop that is run by hand. The first run's backward frees the graph, and the second
run meets what is left of it: "Trying to backward through the graph a second time", as in a loop that
builds its loss outside.

## Example
```py cells
w = torch.randn(3, requires_grad=True)
# %% another cell
loss = w.exp().sum()
# %% and a third one
loss.backward()  # information: [cell-cannot-run-again] "cell 2"
```
The third cell, run again:
```py caller
loss.backward()  # torch: raises "second time"
```

## Use instead
Build the graph in the cell that walks it:
```py cells
w = torch.randn(3, requires_grad=True)
# %% another cell
loss = w.exp().sum()
loss.backward()
```
This cell, run again:
```py caller
loss = w.exp().sum()
loss.backward()  # torch: ok
```

## What is reported
Reports a cell of a notebook whose backward walks a graph that the cell does not build anew. Run from
top to bottom the notebook is fine; running this cell again, with nothing else run in between, raises. A note, not a
warning: nothing is wrong as long as that is not done.

## Fix safety
There is no automatic fix: which cells belong together is for their author to say.
"""

from __future__ import annotations

from ...autograd.events.graph_walks import CellRunAgain, Event
from ...autograd.facts import Facts
from ...headline import headline
from ...severity import Severity
from ..support.finding import Finding, Rule
from ..support.story import carried
from ..support.walked_twice import ERROR, carrier, story


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, CellRunAgain)
    reached = event.reached
    name = carried(facts, carrier(reached), reached.point)
    if event.built == event.cell:
        origin = f"its first run frees the graph that {name} keeps"
        way = f"Detach {name} where the cell begins, or where it is kept"
    else:
        origin = f"its first run frees the graph of {name}, which cell {event.built} builds"
        way = f"Build {name} in this cell, or run cell {event.built} again before it"
    return Finding(
        point=event.point,
        severity=Severity.INFORMATION,
        message=headline(f"Running this cell again raises: {origin}", "Running this cell again raises"),
        raises=ERROR,
        short="walks the graph again",
        links=story(reached, facts, "The first run of the cell frees it", "the first run frees the graph"),
        help=f"{way}.",
        no_fix="nothing is wrong in one run from top to bottom",
    )


RULE = Rule(
    "TL108",
    "cell-cannot-run-again",
    "a notebook's cell raises when it is run a second time",
    __doc__,
    (CellRunAgain,),
    check,
    raises=(ERROR,),
    answerable=True,
)
