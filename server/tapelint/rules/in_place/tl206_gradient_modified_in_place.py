"""A gradient is written in place while it is on its way to others.

## What PyTorch does
It raises nothing. An addition hands the gradient of its result to all of its terms: one tensor, no copies. Who comes
first and writes it changes what the others are given. Which of them comes first is decided by the order in which the
graph was built, so the same hook may be right at one term and wrong at the other.

## Example
```py
x = torch.zeros(2, requires_grad=True)
h = x.exp()
f = h.tanh()
f.register_hook(lambda g: g.mul_(0.5))  # warning: [gradient-modified-in-place] "exp"
((h + f) * torch.ones(2)).sum().backward()
print(x.grad)  # torch: silent the gradient through the skip connection is halved, too
```

## Use instead
Return a new gradient:
```py
x = torch.zeros(2, requires_grad=True)
h = x.exp()
f = h.tanh()
f.register_hook(lambda g: g.mul(0.5))
((h + f) * torch.ones(2)).sum().backward()
print(x.grad)  # torch: ok
```

## What is reported
Reports a hook, or the `backward` of a `torch.autograd.Function`, that writes the gradient it is given in place, where
the same tensor has been handed to another branch of the graph.

## Fix safety
The out-of-place operation computes the same gradient in new memory.
"""

from __future__ import annotations

from ...autograd.events.graph_walks import Event, GradientModified
from ...autograd.facts import Facts
from ...autograd.model.graph import Leaf
from ...headline import headline
from ...severity import Severity
from ..support.cure import FixProposal
from ..support.finding import Finding, Rule, TraceStep
from ..support.story import code, op_name, tensor_name


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, GradientModified)
    other = event.others[0]
    whose = (tensor_name(facts, other.tensor) or "a leaf") if isinstance(other, Leaf) else op_name(other)
    where = event.addition.created_at
    node = event.point.node
    message = headline(
        f"Writes in place a gradient that {whose} receives, too: the gradient of {whose} is silently wrong",
        "Writes in place a gradient that others receive too: theirs is silently wrong",
    )
    return Finding(
        point=event.point,
        severity=Severity.WARNING,
        message=message,
        links=(
            TraceStep(
                where.node,
                f"The backward of {code(where.node)} hands one gradient to all of its terms",
                where,
                short="one gradient for all terms",
            ),
        ),
        help="Compute and return a new tensor.",
        cures=(FixProposal("out_of_place", "Compute a new gradient instead of writing in place", (node,)),),
    )


RULE = Rule(
    "TL206",
    "gradient-modified-in-place",
    "a hook or a backward writes a gradient that others are given, too",
    __doc__,
    (GradientModified,),
    check,
)
