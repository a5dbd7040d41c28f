"""A list keeps a tensor that is written before the next one is kept.

## What PyTorch does
A list holds references: after ten appends of a tensor that is updated in place it holds one tensor ten times, with the
values of the last update. `detach()`, `.data` and `numpy()` copy nothing either; optimizers write parameters in place,
and a backward adds to a `.grad` that is there. So a trajectory, a history of weights or of gradients is the same values
throughout.

## Example
```py
x = torch.zeros(2)
path = []
for step in range(3):
    x += 1
    path.append(x)  # warning: [kept-value-overwritten] "`path`"
assert torch.stack(path).mean() == 3  # torch: silent it should be 2
```

```py
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), 0.1)
weights = []
for x in torch.ones(3, 2, 3):
    opt.zero_grad()
    net(x).sum().backward()
    opt.step()
    weights.append(net.weight.detach().numpy())  # warning: [kept-value-overwritten] "`weights`"
assert (weights[0] == weights[2]).all()  # torch: silent they are the last weights three times
```

## Use instead
```py
x = torch.zeros(2)
path = []
for step in range(3):
    x += 1
    path.append(x.clone())
assert torch.stack(path).mean() == 2  # torch: ok
```

## What is reported
Reports `kept.append(x)` where the list holds the same memory already and that was written in between: the tensor
itself, its `.data`, its `detach()`, or the array that `numpy()` gave of it. Only where the list is read.

## Fix safety
`clone()` costs the memory of the tensor once more, in each iteration; what else holds the old tensor is not changed.
"""

from __future__ import annotations

import ast

from ...autograd.events.graph_walks import Event, KeptValueOverwritten
from ...autograd.facts import Facts
from ...headline import capitalized, headline
from ...severity import Severity
from ..support.cure import FixProposal
from ..support.finding import Finding, Rule, TraceStep
from ..support.story import code, tensor_name


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, KeptValueOverwritten)
    call, write = event.point.node, event.write
    value = call.args[0] if isinstance(call, ast.Call) and call.args else None
    function = call.func if isinstance(call, ast.Call) else None
    holder = code(function.value) if isinstance(function, ast.Attribute) else "the list"
    name = tensor_name(facts, event.memory) or code(value)
    thing = name if name != holder else code(value)
    copied = ".copy()" if event.is_array else ".clone()"
    return Finding(
        point=event.point,
        severity=Severity.WARNING,
        message=headline(
            f"{holder} keeps the same {thing} each time, no copy: all entries have the values of the last write",
            f"{holder} keeps one memory each time: all entries have the values of the last write",
            "The same memory is kept each time: all entries have the values of the last write",
        ),
        links=(
            TraceStep(
                event.first.node,
                capitalized(f"{holder} keeps {thing} for the first time"),
                event.first,
                short="kept, no copy",
            ),
            TraceStep(write.point.node, f"This writes {thing} in place", write.point, short="written in place"),
            TraceStep(
                call,
                capitalized(f"{holder} keeps the same memory again"),
                event.point,
                short="the same memory kept again",
            ),
        ),
        help=f"Keep a copy: `{ast.unparse(value) if value is not None else 'x'}{copied}`.",
        cures=(FixProposal("clone", "Keep a copy instead of the tensor itself", (value,)),)
        if value is not None and not event.is_array
        else (),
    )


RULE = Rule(
    "TL211",
    "kept-value-overwritten",
    "a list keeps a tensor that is written before the next one is kept: its entries are all the same",
    __doc__,
    (KeptValueOverwritten,),
    check,
)
