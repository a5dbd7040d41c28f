"""A tensor with a graph is written in place (off by default).

## What PyTorch does
Most such writes are right: `y = x * 2; y += 1` is. Whether one is depends on what the operations before and after have
saved, and a change far away may turn a right one into "one of the variables needed for gradient computation has been
modified by an inplace operation". Some projects prefer to have none of them; this rule is for those, and has to be
selected. What is wrong for certain is TL201's business.

## Example
```py
x = torch.ones(3, requires_grad=True)
y = x * 2
y += 1  # hint: [inplace-on-graph-tensor] "y"
y.sum().backward()  # torch: ok
```

## Use instead
```py
x = torch.ones(3, requires_grad=True)
y = x * 2
y = y + 1
y.sum().backward()  # torch: ok
```

## What is reported
Reports every in-place write to a tensor that an operation has made and that autograd tracks, whether it is right or
not.

## Fix safety
The out-of-place form needs memory for one more tensor; code that holds the old one does not see the change.
"""

from __future__ import annotations

from ...autograd.events.graph_walks import Event, GraphTensorWritten
from ...autograd.facts import Facts
from ...headline import headline
from ...severity import Severity
from ..support.cure import FixProposal
from ..support.finding import Finding, Rule
from ..support.story import code, tensor_name


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, GraphTensorWritten)
    name = tensor_name(facts, event.tensor) or "a tensor"
    node = event.point.node
    return Finding(
        point=event.point,
        severity=Severity.HINT,
        message=headline(
            f"Writes {name} in place, whose graph may need the old values",
            "Writes a tensor in place, whose graph may need the old values",
        ),
        help=f"Compute a new tensor instead of {code(node)}: a backward raises if an operation has saved the values "
        "that it overwrites, now or after a change elsewhere.",
        cures=(FixProposal("out_of_place", "Compute a new tensor instead of writing in place", (node,)),),
    )


RULE = Rule(
    "TL207",
    "inplace-on-graph-tensor",
    "a tensor with a graph is written in place",
    __doc__,
    (GraphTensorWritten,),
    check,
    default=False,
)
