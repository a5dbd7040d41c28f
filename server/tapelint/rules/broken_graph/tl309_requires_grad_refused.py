"""requires_grad is set on a tensor that cannot take it.

## What it does
Reports `requires_grad` set on what is not a leaf (`y.requires_grad = False` after `y = x * 2`), and on integers and
truth values (`torch.arange(3, requires_grad=True)`, `nn.Parameter(torch.tensor([1, 2]))`).

## Why PyTorch fails
Whether a computed tensor requires grad follows from what it was computed from, so only a leaf's flag may be
changed: "you can only change requires_grad flags of leaf variables". `requires_grad_()` on a computed tensor
that requires grad already is allowed, and does nothing. A derivative needs a continuous quantity: "only Tensors of
floating point dtype can require gradients".

## Example
```py
x = torch.ones(3, requires_grad=True)
y = x * 2
y.requires_grad = False  # error: [requires-grad-refused] "not a leaf" # torch: raises "only change requires_grad"
```

```py
x = torch.tensor([1, 2, 3], requires_grad=True)  # error: [requires-grad-refused] "integers" # torch: raises "floating"
```

## Use instead
```py
x = torch.ones(3, requires_grad=True)
y = (x * 2).detach()
z = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
(y * z).sum().backward()  # torch: ok
```

## Fix safety
`detach()` gives the same values without history, which is what switching the flag off asks for. For the
gradient of a computed tensor, `retain_grad()` is what switching the flag on asks for.
"""

from __future__ import annotations

import ast

from ...autograd.events.broken_graph import RequiresGradRefused
from ...autograd.events.graph_walks import Event
from ...autograd.facts import Tape
from ..support.cure import Cure
from ..support.finding import Finding, Link, Rule
from ..support.story import code, prefix, tensor_name

LEAF = "you can only change requires_grad flags of leaf variables"
DTYPE = "only Tensors of floating point dtype can require gradients"


def check(event: Event, tape: Tape) -> Finding | None:
    assert isinstance(event, RequiresGradRefused)
    name = tensor_name(tape, event.tensor) or "it"
    where, born = event.moment.node, event.born
    if event.reason == "leaf":
        message = f"{name} is not a leaf: it was computed by {code(born.node)}. PyTorch raises “{LEAF}”."
        links = (Link(born.node, f"{prefix(born)}{name} was computed here"),)
        if event.wanted:
            help_text = "it requires grad already; `retain_grad()` keeps its gradient in `.grad`."
            cures = (Cure("retain_grad_instead", f"Keep the gradient of {name} instead", (where,)),)
        else:
            help_text = "`detach()` gives the same values without history."
            cures = (Cure("detach_instead", f"Detach {name} instead", (where,)),)
    else:
        what = "integers" if event.reason == "int" else "truth values"
        message = f"{name} holds {what}, which have no gradient. PyTorch raises “{DTYPE}”."
        links = (Link(born.node, f"{prefix(born)}{what} made here"),) if born.node is not where else ()
        help_text = "make it of floating point numbers (`dtype=torch.float32`, `.float()`)."
        cures = (Cure("float_dtype", "Make it of floating point numbers", (born.node,)),)
        if isinstance(born.node, ast.expr):
            cures += (Cure("to_float", "Convert it to floating point numbers", (born.node,)),)
    return Finding(RULE.code, where, event.moment, "error", message, links, help_text, cures)


RULE = Rule(
    "TL309",
    "requires-grad-refused",
    "requires_grad is set where it cannot be",
    __doc__,
    (RequiresGradRefused,),
    check,
    raises=(LEAF, DTYPE, "only Tensors of floating point and complex dtype can require gradients"),
)
