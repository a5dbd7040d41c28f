"""The result of `detach()` is dropped, and gradients flow all the same.

## What PyTorch does
`detach()` gives another tensor, which shares the memory of `x` and has no graph. It does nothing to `x`. Where that
other tensor is not kept, the statement has no effect: the loss that uses `x` trains what `x` was computed from. It is
`detach_()` that changes `x` itself.

## Example
```py
net = nn.Linear(3, 1)
state, following = torch.randn(4, 3), torch.randn(4, 3)
target = 1 + 0.9 * net(following)
target.detach()  # warning: [detach-result-dropped] "`target.detach()` alone does nothing"
F.mse_loss(net(state), target).backward()
assert target.requires_grad  # torch: silent the gradient flows through the target
```

A parameter is not frozen in this way, either:
```py
net = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1))
for p in net[0].parameters():
    p.detach()  # warning: [detach-result-dropped] "`p.detach()` alone does nothing"
net(torch.randn(4, 3)).sum().backward()
assert net[0].weight.grad is not None  # torch: silent it is trained all the same
```

## Use instead
```py
net = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1))
net[0].requires_grad_(False)
state, following = torch.randn(4, 3), torch.randn(4, 3)
target = 1 + 0.9 * net(following)
target = target.detach()
F.mse_loss(net(state), target).backward()
assert net[0].weight.grad is None and not target.requires_grad  # torch: ok
```

## What is reported
Reports a statement that is nothing but `x.detach()` (or `torch.detach(x)`, `x.detach().cpu()`, or a list of such calls)
if a later backward walks the graph of `x`, or reaches the leaf that `x` is.

## Fix safety
The fix does what the statement says, and gradients change: it is unsafe.
"""

from __future__ import annotations

from ...autograd.events.broken_graph import DetachDropped
from ...autograd.events.graph_walks import Event
from ...autograd.facts import Facts
from ...headline import headline
from ...severity import Severity
from ..support.cure import FixProposal
from ..support.finding import Finding, Holds, Rule, TraceStep
from ..support.story import code


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, DetachDropped)
    call, is_leaf = event.point.node, event.source is None
    flows = "a later backward reaches the leaf" if is_leaf else "a later backward walks its graph"
    cure = FixProposal(
        "keep_detached", "Assign the result of `detach()`", (call,), "unsafe", effect="No gradient flows through it."
    )
    return Finding(
        point=event.point,
        severity=Severity.WARNING,
        message=headline(
            f"{code(call)} alone does nothing: {flows}",
            f"`detach()` alone does nothing: {flows}",
        ),
        links=(TraceStep(event.walk.node, "This backward goes on behind it", event.walk, short="goes on behind it"),),
        help="To train it no more, call `requires_grad_(False)`."
        if is_leaf
        else "Assign what `detach()` returns, or call `detach_()`.",
        cures=() if is_leaf else (cure,),
        holds=Holds.ON_ITS_PATH,
    )


RULE = Rule(
    "TL322",
    "detach-result-dropped",
    "the result of detach() is dropped, and a backward goes on behind it",
    __doc__,
    (DetachDropped,),
    check,
    answerable=True,
)
