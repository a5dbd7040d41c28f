"""backward() is called on a tensor of more than one element.

## Why PyTorch fails
A backward pass begins with the gradient of its root, and only for a single number is there an obvious
one: 1. PyTorch raises "grad can be implicitly created only for scalar outputs". It asks for the number of elements, not
of dimensions: a tensor of sizes `(1,)` or `(1, 1)` will do.

## Example
```py
model = nn.Linear(3, 1)
x, y = torch.randn(8, 3), torch.randn(8, 1)
loss = F.mse_loss(model(x), y, reduction="none")
loss.backward()  # error: [non-scalar-backward] "(8, 1)" # torch: raises "only for scalar outputs"
```

## Use instead
```py
model = nn.Linear(3, 1)
x, y = torch.randn(8, 3), torch.randn(8, 1)
loss = F.mse_loss(model(x), y, reduction="none")
loss.mean().backward()  # torch: ok
```

The gradient of each row of a batch with respect to its own input is the gradient of the sum, if no row depends on
another.
```py
u = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
t = torch.linspace(0, 1, 10).unsqueeze(1).requires_grad_()
(du,) = torch.autograd.grad(u(t).sum(), t)  # torch: ok
```

## What is reported
Reports `backward()` (or `torch.autograd.grad`) without an initial gradient on a tensor that has more than
one element: an unreduced loss (`reduction="none"`), a whole batch of outputs, a stack of losses.

## Fix safety
`mean()` gives what the default reduction of a loss gives, `sum()` adds up; they differ by a factor in
every gradient. Which is meant is for you to say.
"""

from __future__ import annotations

from ...autograd.events.broken_graph import NonScalarBackward
from ...autograd.events.graph_walks import Event
from ...autograd.facts import Facts
from ...headline import headline
from ..support.cure import FixProposal
from ..support.finding import Finding, Rule, TraceStep, severity_of
from ..support.story import code, tensor_name

ERROR = "grad can be implicitly created only for scalar outputs"


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, NonScalarBackward)
    name = tensor_name(facts, event.root) or code(event.source) if event.source is not None else "The tensor"
    message = headline(
        f"{name} {measured(event)}, but {code(event.point.node)} needs a single number",
        f"{name} {measured(event)}, but a backward needs a single number",
    )
    links: tuple[TraceStep, ...] = ()
    if event.built is not None:
        links = (
            TraceStep(
                event.built.node,
                f"This computes {name}, which {measured(event)}",
                event.built,
                short="computed, not a scalar",
            ),
        )
    cures = []
    if event.source is not None:
        mean = FixProposal("mean", "Take the mean of all elements", (event.source,))
        total = FixProposal("sum", "Sum all elements", (event.source,))
        cures = [mean, total] if event.wants == "backward" else [total]
    return Finding(
        point=event.point,
        severity=severity_of(event),
        message=message,
        short="not a scalar",
        raises=ERROR,
        links=links,
        help="Reduce it first (`.mean()`, `.sum()`), or say with which gradient to begin "
        "(`backward(torch.ones_like(...))`, `grad_outputs=`).",
        cures=tuple(cures),
    )


def measured(event: NonScalarBackward) -> str:
    """``has sizes (8, 1)``; sizes that are not known are left open."""
    if isinstance(event.sizes, tuple):
        sizes = ", ".join("…" if size is None else str(size) for size in event.sizes)
        return f"has sizes ({sizes}{',' if len(event.sizes) == 1 else ''})"
    return "has one element for each sample" if event.sizes == "batch" else "has more than one element"


RULE = Rule(
    "TL307",
    "non-scalar-backward",
    "backward on a tensor of more than one element",
    __doc__,
    (NonScalarBackward,),
    check,
    raises=(ERROR,),
)
