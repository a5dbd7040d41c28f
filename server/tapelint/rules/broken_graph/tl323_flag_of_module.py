"""`net.requires_grad = False` freezes nothing: it is tensors that have this flag.

## What PyTorch does
`requires_grad` is an attribute of tensors. A module has a method `requires_grad_`, which sets the flag of each of its
parameters. An assignment gives the module one more attribute, which PyTorch does not read. The parameters require
grad as before, the backward computes their gradients, and an optimizer that holds them trains them. PyTorch says
nothing.

## Example
```py
body, head = nn.Linear(3, 3), nn.Linear(3, 1)
body.requires_grad = False  # warning: [flag-of-module] "`body.requires_grad = False` freezes nothing"
head(body(torch.randn(4, 3))).sum().backward()
assert body.weight.grad is not None  # torch: silent the body is trained all the same
```

## Use instead
```py
body, head = nn.Linear(3, 3), nn.Linear(3, 1)
body.requires_grad_(False)
head(body(torch.randn(4, 3))).sum().backward()
assert body.weight.grad is None  # torch: ok
```

## What is reported
Reports an assignment of `False` to `requires_grad` of a module, if a later backward reaches one of its parameters. It
says nothing of a class that has or reads such an attribute itself.

## Fix safety
The fix does what the assignment says, and gradients change: it is unsafe.
"""

from __future__ import annotations

import ast

from ...autograd.events.broken_graph import FlagOfModuleSet
from ...autograd.events.graph_walks import Event
from ...autograd.facts import Facts
from ...headline import headline
from ...severity import Severity
from ..support.cure import FixProposal
from ..support.finding import Finding, Holds, Rule, TraceStep


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, FlagOfModuleSet)
    target = event.point.node
    reaches = "a later backward reaches its parameters"
    cure = FixProposal(
        "freeze_module",
        "Call `requires_grad_(False)`",
        (target,),
        "unsafe",
        effect="Its parameters are no longer trained.",
    )
    return Finding(
        point=event.point,
        severity=Severity.WARNING,
        message=headline(
            f"`{ast.unparse(target)} = False` freezes nothing: {reaches}",
            f"`requires_grad = False` of a module freezes nothing: {reaches}",
        ),
        links=(TraceStep(event.walk.node, "This backward reaches them", event.walk, short="reaches them"),),
        help="A module has no such flag: call `requires_grad_(False)`, which sets that of each parameter.",
        cures=(cure,),
        holds=Holds.ON_ITS_PATH,
    )


RULE = Rule(
    "TL323",
    "flag-of-module",
    "requires_grad is set on a module, and freezes none of its parameters",
    __doc__,
    (FlagOfModuleSet,),
    check,
    answerable=True,
)
