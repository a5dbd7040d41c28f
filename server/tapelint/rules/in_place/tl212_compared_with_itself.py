"""A tensor is compared with what was kept of it, which is the same tensor.

## What PyTorch does
An assignment gives a tensor another name, and `.data`, `detach()` and `nn.Parameter` copy nothing. An optimizer writes
parameters in place, and a backward adds to a `.grad` that is there. So what was kept as the old value is the new one:
the difference is 0, the comparison says that nothing has changed, whatever the step did.

## Example
```py
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), 0.1)
before = net.weight.data
net(torch.ones(2, 3)).sum().backward()
opt.step()
change = (net.weight - before).norm()  # warning: [compared-with-itself] "`before`"
assert change == 0  # torch: silent the weights have changed
```

```py
w = torch.ones(2, requires_grad=True)
w.sum().backward()
old = w.grad
(2 * w).sum().backward()
step = w.grad - old  # warning: [compared-with-itself] "`old`"
assert step.tolist() == [0.0, 0.0]  # torch: silent it should be [2, 2]
```

## Use instead
```py
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), 0.1)
before = net.weight.detach().clone()
net(torch.ones(2, 3)).sum().backward()
opt.step()
change = (net.weight - before).norm()
assert change > 0  # torch: ok
```

## What is reported
Reports `x - kept`, `x == kept`, `torch.equal(x, kept)` (`allclose`, and the methods) and losses like
`mse_loss(x, kept)` where `kept` is the memory of `x`, kept without a copy before that was written: another name of the
tensor, its `.data`, its `detach()`, a `Parameter` made of it.

## Fix safety
There is no fix: `clone()` belongs where the value is kept, and costs its memory once more.
"""

from __future__ import annotations

from ...autograd.events.graph_walks import Event, KeptValueCompared
from ...autograd.facts import Facts
from ...headline import headline
from ...severity import Severity
from ..support.finding import Finding, Rule, TraceStep
from ..support.story import code


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, KeptValueCompared)
    kept, write = event.kept, event.write
    return Finding(
        point=event.point,
        severity=Severity.WARNING,
        message=headline(
            f"{code(event.source)} is no copy of {code(event.other)}: this compares a tensor with itself",
            "What was kept is no copy: this compares a tensor with itself",
        ),
        links=(
            TraceStep(kept.node, f"{code(event.source)} is kept here, without a copy", kept, short="kept, no copy"),
            TraceStep(
                write.point.node,
                f"This writes {code(event.other)} in place, and {code(event.source)} with it",
                write.point,
                short="written in place, both change",
            ),
        ),
        help="Keep a copy: `.detach().clone()`.",
    )


RULE = Rule(
    "TL212",
    "compared-with-itself",
    "a tensor is compared with what was kept of it before a write, which is the same memory",
    __doc__,
    (KeptValueCompared,),
    check,
)
