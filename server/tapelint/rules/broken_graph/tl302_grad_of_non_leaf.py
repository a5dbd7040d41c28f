"""The `.grad` of a tensor that is no leaf is None, and is used.

## What it does
Reports a use of `.grad` of a computed tensor (a method, arithmetic, an index) that was not requested with
`retain_grad()`: it is None.

## Why PyTorch fails
A backward adds gradients to the `.grad` of leaves: parameters, and tensors made with `requires_grad=True`. The
gradients of what was computed from them pass through and are dropped, so `.grad` stays None, and code that uses it gets
"'NoneType' object has no attribute ..." or "unsupported operand type(s)". The same happens to a parameter that was
rebound: after `w = w - lr * w.grad` the name `w` belongs to a computed tensor.

## Example
```py
x = torch.ones(3, requires_grad=True)
h = x * 2
h.pow(2).sum().backward()
print(h.grad.norm())  # error: [grad-of-non-leaf] "`h`" # torch: raises "NoneType"
```

## Use instead
```py
x = torch.ones(3, requires_grad=True)
h = x * 2
h.retain_grad()
h.pow(2).sum().backward()
print(h.grad.norm())  # torch: ok
```

An update is written in place, so that the parameter stays the same tensor.
```py
w = torch.ones(3, requires_grad=True)
for step in range(3):
    loss = (w ** 2).sum()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
    w.grad.zero_()  # torch: ok
```

What each iteration computes anew from its own gradient, such as an adversarial input, begins as a new leaf.
```py
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
x = torch.rand(2, 4, requires_grad=True)
for step in range(3):
    net(x).sum().backward()
    x = x + 0.1 * x.grad.sign()
    x = x.clamp(0, 1).detach().requires_grad_()  # torch: ok
```

## Fix safety
`retain_grad()` keeps one more tensor alive and changes no value. A tensor that an iteration leaves to the next one
becomes a leaf, which the backward of the next one reaches as before; elsewhere that is unsafe, since what the tensor
was computed from gets no gradient any more.
"""

from __future__ import annotations

import ast

from ...autograd.events.broken_graph import AbsentGradientUsed
from ...autograd.events.graph_walks import Event
from ...autograd.facts import Facts
from ...autograd.model.program_point import earlier_iteration
from ...autograd.model.stores import StoreKind
from ...severity import Severity
from ..support.cure import FixProposal
from ..support.finding import Finding, Rule, TraceStep
from ..support.story import code, prefix, tensor_name


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, AbsentGradientUsed)
    name = tensor_name(facts, event.tensor) or code(event.created_at.node)
    message = (
        f"`.grad` of {name} is None here: {name} is no leaf, {code(event.created_at.node)} computed "
        f"it, and a backward keeps "
        f"the gradients of leaves only. Python raises about `NoneType`."
    )
    kept = [s for s in facts.stored.get(event.tensor, ()) if s.how is StoreKind.ASSIGNED]
    cures = [FixProposal("inplace_update", "Update it in place, without gradients", (event.created_at.node,))]
    anew = earlier_iteration(event.created_at, event.read) is not None and isinstance(event.created_at.node, ast.expr)
    if anew:
        title = f"Make {name} a new leaf in each iteration"
        cures.append(FixProposal("make_leaf", title, (event.created_at.node,)))
    for stored in kept[:1]:
        written = ast.parse(stored.target, mode="eval").body
        cures.append(FixProposal("retain_grad", f"Keep the gradient of `{stored.target}`", (stored.statement, written)))
        title = f"Keep the gradient of `{stored.target}` where there is one"
        cures.append(FixProposal("retain_grad_if_tracked", title, (stored.statement, written)))
    if isinstance(event.created_at.node, ast.expr) and not anew:
        title = f"Make {name} a leaf (what it was computed from gets no gradient)"
        cures.append(FixProposal("make_leaf", title, (event.created_at.node,), "unsafe"))
    return Finding(
        point=event.read,
        severity=Severity.ERROR,
        message=message,
        links=(TraceStep(event.created_at.node, f"{prefix(event.created_at)}{name} was computed here"),),
        help="call `retain_grad()` on it before the backward, or take the gradient with `torch.autograd.grad`.",
        cures=tuple(cures),
    )


RULE = Rule(
    "TL302",
    "grad-of-non-leaf",
    "the `.grad` of a tensor that is no leaf is used",
    __doc__,
    (AbsentGradientUsed,),
    check,
    raises=("'NoneType' object has no attribute",),
)
