"""A loss that was cut off its graph is made to require grad again.

## What it does
Reports a backward from a number that lost its graph (`.data`, `detach()`, `item()`, `torch.tensor(...)`, `argmax`,
no_grad) and then got `requires_grad` set.

## Why PyTorch fails
It does not, and this is why it is hard to find. A tensor whose flag is set is a new leaf. The error "does not
require grad" is gone, the backward runs, and gives a gradient to this leaf alone: the graph behind its value is still
lost, and no parameter gets a gradient from it. Nothing is trained.

## Example
```py
model = nn.Linear(3, 1)
loss = model(torch.randn(4, 3)).detach().pow(2).mean()
loss.requires_grad_(True)  # warning: [rewrapped-tensor] "detach"
loss.backward()
assert model.weight.grad is None  # torch: silent nothing is trained
```

## Use instead
```py
model = nn.Linear(3, 1)
loss = model(torch.randn(4, 3)).pow(2).mean()
loss.backward()
assert model.weight.grad is not None  # torch: ok
```

## Fix safety
Removing the call that cut the graph restores it, and the gradients that were missing.
"""

from __future__ import annotations

from ..tape.events import Event
from ..tape.lost import RewrappedRoot
from ..tape.tape import Tape
from .cure import Cure
from .finding import Finding, Link, Rule
from .story import code, prefix, tensor_name

MODES = ("no_grad", "inference_mode", "create_graph")


def check(event: Event, tape: Tape) -> Finding | None:
    assert isinstance(event, RewrappedRoot)
    name = tensor_name(tape, event.root) or code(event.wrapped.node)
    how = f"under `torch.{event.reason}()`" if event.reason in MODES[:2] else f"by `{event.reason}`"
    message = (
        f"this makes {name} a new leaf, but its graph was lost {how}: {code(event.moment.node)} gives a gradient to "
        f"{name} alone, and trains nothing."
    )
    return Finding(
        RULE.code,
        event.wrapped.node,
        event.wrapped,
        "warning",
        message,
        (
            Link(event.cut.node, f"{prefix(event.cut)}the graph ends here: {code(event.cut.node)}"),
            Link(event.moment.node, f"{prefix(event.moment)}this backward reaches only {name}"),
        ),
        "compute the loss from what requires grad, without a cut on the way; the flag is then set by itself.",
        (
            Cure("remove_call", "Keep the graph", (event.cut.node,)),
            Cure("unwrap", "Use the tensor itself", (event.wrapped.node,)),
        ),
    )


RULE = Rule(
    "TL303",
    "rewrapped-tensor",
    "a loss that was cut off its graph is made to require grad again",
    __doc__,
    (RewrappedRoot,),
    check,
)
