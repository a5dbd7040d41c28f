"""A saved tensor is changed where autograd cannot see it.

## What PyTorch does
It raises nothing, and the gradient is wrong. Each tensor has a version counter, and backward compares it with the
version that was saved. `.data` shares the memory but has a counter of its own: the write is not counted, nothing is
raised, and the gradient is computed from values that the forward pass never had. `detach()` shares the counter, so the
same write through it is caught.

## Example
```py
w = torch.tensor([2.0], requires_grad=True)
x = torch.tensor([3.0], requires_grad=True)
y = w * x
w.data.fill_(10.0)  # warning: [untracked-modification] "w"
y.backward()
assert x.grad.item() == 10.0  # torch: silent it should be 2
```

An array that `numpy()` gives, or that `from_numpy` took, is the memory of the tensor, too:
```py
logits = torch.zeros(2, requires_grad=True)
probs = torch.softmax(logits, 0)
p = probs.detach().numpy()
p /= p.max()  # warning: [untracked-modification] "`probs`"
probs[0].backward()
assert logits.grad.tolist() == [0.0, -1.0]  # torch: silent it should be [0.25, -0.25]
```

## Use instead
Write after the backward, under `no_grad`, where the version is counted:
```py
w = torch.tensor([2.0], requires_grad=True)
x = torch.tensor([3.0], requires_grad=True)
y = w * x
y.backward()
with torch.no_grad():
    w.fill_(10.0)
assert x.grad.item() == 2.0  # torch: ok
```
Compute a new array:
```py
logits = torch.zeros(2, requires_grad=True)
probs = torch.softmax(logits, 0)
p = probs.detach().numpy()
p = p / p.max()
probs[0].backward()
assert logits.grad.tolist() == [0.25, -0.25]  # torch: ok
```
A rounded or thresholded value that should keep the gradient of the smooth one (a straight-through estimator) adds the
change as a constant:
```py
logits = torch.tensor([0.3, 0.7], requires_grad=True)
gate = torch.sigmoid(logits)
gate = gate + (gate.round() - gate).detach()
gate.sum().backward()  # torch: ok
```

## What is reported
Reports a write through `.data`, by a fused optimizer, or to a NumPy array of the same memory, to what an operation has
saved for its backward, where that backward runs afterwards.

## Fix safety
The straight-through form changes the gradient to that of the value before the write, so the fix is marked unsafe.
"""

from __future__ import annotations

from ...autograd.events.graph_walks import Event, SavedTensorAltered
from ...autograd.facts import Facts
from ...headline import capitalized, headline
from ...severity import Severity
from ..support.cure import FixProposal
from ..support.finding import Finding, Rule, TraceStep
from ..support.story import op_name, saved_name, variable, writer


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, SavedTensorAltered)
    node, saved, write = event.node, event.saved, event.write
    name = saved_name(facts, saved) or (variable(facts, node) if saved.role == "result" else "a tensor")
    array = write.op == "numpy"
    unseen = (
        "a fused optimizer does not count its writes"
        if write.by_optimizer
        else "a NumPy array that is the memory of a tensor has no version counter"
        if array
        else "`.data` has a version counter of its own"
    )
    message = headline(
        f"{writer(write)} changes {name}, which {op_name(node)} saved: its gradient is silently wrong",
        f"{name} is changed after {op_name(node)} has saved it: its gradient is silently wrong",
        "A saved tensor is changed: its gradient is silently wrong",
    )
    links = (
        TraceStep(
            node.created_at.node,
            f"{op_name(node)} saves {name} for its backward",
            node.created_at,
            short=f"saved by {op_name(node)}, version {saved.version}",
        ),
        TraceStep(
            write.point.node,
            capitalized(f"{writer(write)} changes {name}, and its version counter stays as it was"),
            write.point,
            short="changed, version as before",
        ),
        TraceStep(
            event.point.node,
            f"The backward of {op_name(node)} uses the changed values",
            event.point,
            short="uses the changed values",
        ),
    )
    cures = (
        FixProposal(
            "straight_through",
            "Add the change with `detach()` instead of writing it",
            (write.point.node,),
            "unsafe",
            effect="The gradient stays that of the old value.",
        ),
    )
    advice = (
        "Write after the backward, or compute a new tensor; a value that should keep the old gradient is "
        "`y + (new - y).detach()`."
    )
    if array:
        advice = "Write a copy of the array (`a = a / n`, `a.copy()`), or write after the backward."
    return Finding(
        point=write.point,
        severity=Severity.WARNING,
        message=message,
        links=links,
        help=f"{advice} Autograd does not see this write: {unseen}.",
        cures=() if array else cures,
    )


RULE = Rule(
    "TL205",
    "untracked-modification",
    "a saved tensor is changed where autograd cannot see it: its gradient is silently wrong",
    __doc__,
    (SavedTensorAltered,),
    check,
)
