"""A reentrant checkpoint whose inputs need no gradient.

## Why PyTorch fails
The reentrant checkpoint runs its function without gradients and is itself one operation over the inputs. If no input
requires grad, neither does its output, whatever is trained inside: the parameters of the block get no gradient. PyTorch
warns "None of the inputs have requires_grad=True", and raises if nothing else requires grad.

## Example
```py
from torch.utils.checkpoint import checkpoint

block = nn.Sequential(nn.Linear(3, 4), nn.Tanh())
h = checkpoint(block, torch.randn(2, 3), use_reentrant=True)  # error: [checkpoint-without-grad]
h.sum().backward()  # torch: raises "does not require grad"
```

## Use instead
```py
from torch.utils.checkpoint import checkpoint

block = nn.Sequential(nn.Linear(3, 4), nn.Tanh())
h = checkpoint(block, torch.randn(2, 3), use_reentrant=False)
h.sum().backward()  # torch: ok
```

## What is reported
Reports `torch.utils.checkpoint.checkpoint(..., use_reentrant=True)` (the default where nothing is said) with inputs
that do not require grad, where a backward finds no graph because of it, or an optimizer holds the parameters inside and
no backward ever reaches them.

## Fix safety
Without reentrant autograd the block is recorded as usual and computed again in the backward.
"""

from __future__ import annotations

from ...autograd.events.graph_walks import BackwardWithoutGraph, Event
from ...autograd.events.training_step import NeverReached
from ...autograd.facts import Facts
from ...autograd.model.cuts import Cut, CutReason
from ...headline import headline
from ...severity import Severity
from ..support.cure import FixProposal
from ..support.finding import Finding, Rule, TraceStep, severity_of
from ..support.story import code, tensor_names, verb

ERROR = "element 0 of tensors does not require grad and does not have a grad_fn"


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, (BackwardWithoutGraph, NeverReached))
    cut = event.cut
    if cut is None or cut.reason is not CutReason.CHECKPOINT:
        return None
    if isinstance(event, NeverReached):
        return untrained(event, cut, facts)
    message = headline(
        f"{code(cut.point.node)} has no graph: no input of this reentrant checkpoint requires grad",
        "The result of this reentrant checkpoint has no graph: none of its inputs requires grad",
    )
    return Finding(
        point=cut.point,
        severity=severity_of(event),
        message=message,
        raises=ERROR,
        links=(TraceStep(event.point.node, f"{code(event.point.node)} has no graph", event.point, short="no graph"),),
        help="Pass `use_reentrant=False`, or let an input require grad.",
        cures=(FixProposal("non_reentrant", "Pass `use_reentrant=False` to the checkpoint", (cut.point.node,)),),
    )


def untrained(event: NeverReached, cut: Cut, facts: Facts) -> Finding:
    """Something else trains, so nothing raises."""
    names = tensor_names(facts, event.leaves)
    message = headline(
        f"{names} {verb(names)} never trained: no input of this reentrant checkpoint requires grad",
        "This reentrant checkpoint is never trained: none of its inputs requires grad",
    )
    return Finding(
        point=cut.point,
        severity=Severity.WARNING,
        message=message,
        links=(TraceStep(event.point.node, f"This step skips {names}", event.point, short=f"skips {names}"),),
        help="Pass `use_reentrant=False`, or let an input require grad.",
        cures=(FixProposal("non_reentrant", "Pass `use_reentrant=False` to the checkpoint", (cut.point.node,)),),
    )


RULE = Rule(
    "TL310",
    "checkpoint-without-grad",
    "a reentrant checkpoint whose inputs need no gradient",
    __doc__,
    (BackwardWithoutGraph, NeverReached),
    check,
    raises=(ERROR,),
    warns=("None of the inputs have requires_grad=True. Gradients will be None",),
)
