"""A tensor with a graph is changed and the graph does not know.

## What PyTorch does
It raises nothing. The operation changes the values of `h`, and `h` keeps the `grad_fn` it had. The backward goes
through `h` as if it had not been written: clamped elements get a gradient, and a factor is missing. The gradient
belongs to another function than the one that was computed. Parameters are leaves, have no `grad_fn`, and may be changed
so. Where something has saved `h` before, TL205 or TL201 tell. Not reported is what does not change the derivative
(adding a constant) and what is usually meant to keep the old gradient: rounding, copying, filling.

## Example
```py
x = torch.tensor([2.0, 0.5], requires_grad=True)
h = x + 0
h.data.clamp_(max=1.0)  # warning: [write-hidden-from-graph] "`h`"
(3 * h).sum().backward()
assert x.grad.tolist() == [3.0, 3.0]  # torch: silent it should be [0, 3]
```

## Use instead
```py
x = torch.tensor([2.0, 0.5], requires_grad=True)
h = (x + 0).clamp(max=1.0)
(3 * h).sum().backward()
assert x.grad.tolist() == [0.0, 3.0]  # torch: ok
```
Where the old gradient is wanted (a straight-through estimator), add the change as a constant, which says so:
```py
x = torch.tensor([2.0, 0.5], requires_grad=True)
h = x + 0
h = h + (h.clamp(max=1.0) - h).detach()
(3 * h).sum().backward()
assert x.grad.tolist() == [3.0, 3.0]  # torch: ok
```

## What is reported
Reports `clamp_()`, `mul_()`, `zero_()` and other in-place operations on `h.data`, on `h.detach()` or under `no_grad`
where `h` was computed with a graph and is then used in further computations that autograd records.

## Fix safety
The straight-through form computes the same values and the same gradient, and says that this is meant: it is a change of
style, marked unsafe because the clamp itself may be what should be differentiated.
"""

from __future__ import annotations

from ...autograd.events.graph_walks import Event, HiddenWriteUsed
from ...autograd.facts import Facts
from ...headline import capitalized, headline
from ...severity import Severity
from ..support.cure import FixProposal
from ..support.finding import Finding, Rule, TraceStep
from ..support.story import code, tensor_name


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, HiddenWriteUsed)
    name = tensor_name(facts, event.tensor) or "a tensor with a graph"
    write, node = event.write.point, event.point.node
    effect = "The gradient stays that of the old values, and the code says so."
    return Finding(
        point=write,
        severity=Severity.WARNING,
        message=headline(
            f"{code(write.node)} changes {name} and not its graph: its gradient is silently wrong",
            f"{name} is changed and its graph is not: its gradient is silently wrong",
            "A tensor is changed and its graph is not: its gradient is silently wrong",
        ),
        links=(
            TraceStep(
                write.node,
                capitalized(f"{code(write.node)} changes {name}, and autograd does not record it"),
                write,
                short="written, not recorded",
            ),
            TraceStep(
                node,
                capitalized(f"{code(node)} uses {name} with the graph from before"),
                event.point,
                short="used with the graph from before",
            ),
        ),
        help="Compute a new tensor, so that the operation is differentiated; a value that should keep the old gradient "
        "is `y + (new - y).detach()`.",
        cures=(
            FixProposal(
                "straight_through",
                "Add the change with `detach()` instead of writing it",
                (write.node,),
                "unsafe",
                effect=effect,
            ),
        ),
    )


RULE = Rule(
    "TL209",
    "write-hidden-from-graph",
    "a tensor with a graph is changed and the graph does not know: its gradient is silently wrong",
    __doc__,
    (HiddenWriteUsed,),
    check,
)
