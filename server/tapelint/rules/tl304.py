"""An optimizer is given what it cannot train.

## What it does
Reports an optimizer (or `add_param_group`) that is given a computed tensor.

## Why PyTorch fails
An optimizer changes tensors in place, by their `.grad`. A computed tensor has none, and changing it would
not change what it was computed from; PyTorch raises "can't optimize a non-leaf Tensor".
`torch.randn(3, requires_grad=True) * 0.01` is a computed tensor: the leaf is the factor that nobody holds any more.
`.double()` and `.cuda()` compute one, too.

## Example
```py
image = torch.randn(1, 3, 8, 8, requires_grad=True) * 0.01
opt = torch.optim.SGD([image], lr=0.1)  # error: [parameters-not-trained] "`image`" # torch: raises "non-leaf Tensor"
```

## Use instead
```py
image = (torch.randn(1, 3, 8, 8) * 0.01).requires_grad_()
opt = torch.optim.SGD([image], lr=0.1)  # torch: ok
```

## Fix safety
`detach().requires_grad_()` begins a graph at the computed value. What it was computed from is trained no more.
"""

from __future__ import annotations

from ..tape.events import Event
from ..tape.lost import NonLeafOptimized
from ..tape.tape import Tape
from .cure import Cure
from .finding import Finding, Link, Rule
from .story import code, prefix, tensor_name

ERROR = "can't optimize a non-leaf Tensor"


def check(event: Event, tape: Tape) -> Finding | None:
    assert isinstance(event, NonLeafOptimized)
    name = tensor_name(tape, event.tensor) or "it"
    message = (
        f"{code(event.moment.node)} is given {name}, which is no leaf: {code(event.born.node)} computed it. "
        f"PyTorch raises “{ERROR}”."
    )
    return Finding(
        RULE.code,
        event.moment.node,
        event.moment,
        "error",
        message,
        (Link(event.born.node, f"{prefix(event.born)}{name} was computed here"),),
        "give it the leaf, or make a leaf of the computed value (`.detach().requires_grad_()`).",
        (Cure("make_leaf", f"Make {name} a leaf", (event.born.node,)),),
    )


RULE = Rule(
    "TL304",
    "parameters-not-trained",
    "an optimizer is given what it cannot train",
    __doc__,
    (NonLeafOptimized,),
    check,
    raises=(ERROR,),
)
