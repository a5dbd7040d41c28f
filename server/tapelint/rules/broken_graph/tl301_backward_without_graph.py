"""backward() is called on a tensor that has no graph.

## What it does
Reports `backward()` (or `torch.autograd.grad`) on a tensor that does not require grad, and says where
its graph was lost.

## Why PyTorch fails
There is nothing to walk: the tensor was computed from data only, or its history was cut by
`detach()`, `torch.no_grad()`, `torch.tensor(...)`, an integer or comparison result. PyTorch raises "element 0 of
tensors does not require grad and does not have a grad_fn".

## Example
```py
w = torch.ones(3, requires_grad=True)
loss = (w * 2).sum().detach()
loss.backward()  # error: [backward-without-graph] "detach" # torch: raises "does not require grad"
```

## Use instead
```py
w = torch.ones(3, requires_grad=True)
loss = (w * 2).sum()
loss.backward()  # torch: ok
```

## Fix safety
Removing the call that cut the graph restores it; `torch.stack` makes the same tensor of losses as `torch.tensor`, with
their graphs. Numbers on the way (`loss.item()`) become tensors, which other readers get too.
"""

from __future__ import annotations

import ast

from ...autograd.events.graph_walks import BackwardWithoutGraph, Event
from ...autograd.facts import Facts
from ...autograd.model.program_point import ProgramPoint
from ..support.cure import FixProposal
from ..support.finding import Finding, Rule, TraceStep, severity_of
from ..support.story import assuming, code, prefix, tensor_name

ERROR = "element 0 of tensors does not require grad and does not have a grad_fn"
REASONS = {
    "create_graph": "the gradient was computed without create_graph=True",
    "linear": "the gradient of a linear function depends on nothing, even with create_graph=True",
    "inference_mode": "it was computed under torch.inference_mode()",
    "no_grad": "it was computed under torch.no_grad()",
    "data": "`.data` gives the values without their history",
    **dict.fromkeys(("losses", "list"), "the tensors in the list are copied as numbers, without their history"),
    "numpy": "what NumPy computes has no history",
    "number": "it was computed from a Python number, which has no history",
    "numbers": "it was computed from Python numbers, which have no history",
    "numbers in a list": "it was made of Python numbers, which have no history",
}


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, BackwardWithoutGraph)
    if event.grad_mode_set_at is not None or event.reason == "checkpoint":  # rules of their own know what to do
        return None
    name = tensor_name(facts, event.root) or "its tensor"
    links: tuple[TraceStep, ...] = ()
    if event.cut is not None:
        reason = REASONS.get(event.reason, f"`{event.reason}` gives a tensor without history")
        links = (TraceStep(event.cut.node, f"{prefix(event.cut)}the graph ends here: {reason}"),)
    else:
        reason = "autograd has seen nothing that requires grad go into it"
    message = (
        f"{code(event.point.node)} has no graph to walk: {name} does not require grad, {reason}. PyTorch raises "
        f"“{ERROR}”.{assuming(event.assumption)}"
    )
    return Finding(
        code=RULE.code,
        node=event.point.node,
        point=event.point,
        severity=severity_of(event),
        message=message,
        links=links,
        help="compute the loss from tensors that require grad, with gradients enabled.",
        cures=tuple(cures(event, event.cut)) if event.cut is not None else (),
    )


def cures(event: BackwardWithoutGraph, cut: ProgramPoint) -> list[FixProposal]:
    """What keeps the graph that was lost at ``cut``."""
    found: list[FixProposal] = []
    if event.reason == "no_grad":
        found.append(FixProposal("inplace_update", "Update it in place, so that it stays a leaf", (cut.node,)))
    if event.reason in ("no_grad", "inference_mode"):
        around = (cut.node, *reversed(cut.calls))
        found.append(FixProposal("enable_grad", "Record the graph: enable gradients there", around))
    if event.reason in ("torch.tensor", "item"):
        found.append(FixProposal("unwrap", "Use the tensor itself", (cut.node,)))
    if event.reason == "losses":
        found.append(FixProposal("stack", "Keep their graphs: stack them", (cut.node,)))
    if event.wrapped is not None and not _inside(cut.node, event.wrapped.node):
        again = FixProposal("stack" if event.reason == "numbers in a list" else "unwrap", "", (event.wrapped.node,))
        title = "Keep the graph: no number on the way (what else reads it gets a tensor)"
        found.append(FixProposal("remove_call", title, (cut.node,), "unsafe", (again,)))
    if isinstance(cut.node, (ast.Call, ast.Attribute)) and event.reason in ("detach", "data"):
        found.append(FixProposal("remove_call", f"Keep the graph: remove `{event.reason}`", (cut.node,)))
    return found


def _inside(node: ast.AST, call: ast.AST) -> bool:
    return isinstance(call, ast.Call) and node in call.args


RULE = Rule(
    "TL301",
    "backward-without-graph",
    "backward on a tensor that has no graph",
    __doc__,
    (BackwardWithoutGraph,),
    check,
    raises=(ERROR,),
)
