"""backward() is called on a tensor that has no graph.

## Why PyTorch fails
There is nothing to walk: the tensor was computed from data only, or its graph was cut by
`detach()`, `torch.no_grad()`, `torch.tensor(...)`, an integer or comparison result. PyTorch raises "element 0 of
tensors does not require grad and does not have a grad_fn". Parameters that were frozen for another step
(`requires_grad = False`) and never released have the same effect.

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

## What is reported
Reports `backward()` (or `torch.autograd.grad`) on a tensor that does not require grad, and says where
its graph was lost.

## Fix safety
Removing the call that cut the graph restores it; `torch.stack` makes the same tensor of losses as `torch.tensor`, with
their graphs. Numbers on the way (`loss.item()`) become tensors, which other readers get too. Where all is plain data,
the first tensor it is computed from can be made to require grad; which one is meant to be trained, you must know.
Where a gradient is constant its backward can be left out: it would train nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from ...autograd.events.graph_walks import BackwardWithoutGraph, Event
from ...autograd.facts import Facts
from ...autograd.model.cuts import Cut, CutReason
from ...autograd.model.program_point import loop_around
from ...headline import headline
from ..support.cure import FixProposal
from ..support.finding import Finding, Holds, Rule, TraceStep, severity_of
from ..support.graph_cuts import ADVICE, cures, reason_of
from ..support.story import code, freezer, tensor_name, verb

ERROR = "element 0 of tensors does not require grad and does not have a grad_fn"
LOSS = "Compute the loss from tensors that require grad, with gradients enabled."
RECORDED = "The graph is then recorded there, and kept until the backward."
TRACK = "Set `requires_grad=True` on what it is computed from"
FROZEN = "Let its parameters require grad again (`requires_grad_(True)`) before this loss is computed."
NO_FIX = {
    CutReason.LINEAR: "the gradient of a linear function has no graph in any form",
    CutReason.NUMPY: "the NumPy code would have to be written with torch operations",
    CutReason.OPERATION: "which operation is to stand in its place cannot be seen",
}
PARAMETER = "a parameter of its optimizer"
UNSEEN = "what is to require grad cannot be seen"


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, BackwardWithoutGraph)
    cut = event.cut
    if cut is not None and (cut.grad_mode_set_at is not None or cut.reason is CutReason.CHECKPOINT):
        return None  # rules of their own know what to do
    name = tensor_name(facts, event.root) or _root(event.point.node)
    if event.frozen is not None and event.is_frozen_only:
        return _frozen(event, event.frozen, name, facts)
    links: tuple[TraceStep, ...] = ()
    if cut is not None:
        reason = reason_of(cut)
        links = (TraceStep(cut.point.node, f"The graph ends here: {reason}", cut.point, short="the graph ends"),)
    else:
        reason = "nothing that it was computed from does"
    message = headline(f"{name} does not require grad: {reason}", f"{name} does not require grad")
    advice = ADVICE.get(cut.reason, LOSS) if cut is not None else LOSS
    found = _offered(event, cut)
    if event.frozen is not None:  # which of the two is meant to be trained cannot be seen
        links = (*links, _freezing(event, event.frozen, facts)[0])
        advice = f"{advice} Or is it to train what is frozen? {FROZEN}"
        found = tuple(replace(cure, applicability="unsafe") for cure in found)
    is_missing = cut is None or loop_around(cut.point, event.point) is not None
    return Finding(
        point=event.point,
        severity=severity_of(event),
        message=message,
        short="no graph to walk",
        raises=ERROR,
        links=links,
        help=advice,
        cures=found,
        no_fix=NO_FIX.get(cut.reason, UNSEEN) if cut is not None else UNSEEN,
        holds=Holds.IF_NOTHING_MAKES_IT if is_missing else Holds.ON_ITS_PATH,
    )


def _offered(event: BackwardWithoutGraph, cut: Cut | None) -> tuple[FixProposal, ...]:
    """What may give the loss a graph."""
    if cut is None:
        return (
            FixProposal("track_source", TRACK, (event.point.node,), "unsafe", effect="That tensor gets a `.grad`."),
        )
    return (*cures(cut), *_under(cut, event.point.node))


def _freezing(event: BackwardWithoutGraph, leaf: int, facts: Facts) -> tuple[TraceStep, str]:
    """Where a leaf was made not to require grad, and how that is written."""
    when, name = facts.training.frozen_at[leaf], tensor_name(facts, leaf) or PARAMETER
    by, done = freezer(when, event.point)
    return TraceStep(by, f"This freezes {name}", when, short=f"freezes {name}"), done


def _frozen(event: BackwardWithoutGraph, leaf: int, name: str, facts: Facts) -> Finding:
    """What the loss is to train has been made not to require grad, and still does not."""
    parameter = tensor_name(facts, leaf) or PARAMETER
    step, done = _freezing(event, leaf, facts)
    message = headline(
        f"{name} does not require grad: {done} has frozen {parameter}",
        f"This does not require grad: {done} has frozen {parameter}",
        f"{name} does not require grad: {parameter} {verb(parameter)} frozen",
        f"{name} does not require grad: what it is to train is frozen",
    )
    return Finding(
        point=event.point,
        severity=severity_of(event),
        message=message,
        short="no graph to walk",
        raises=ERROR,
        links=(step,),
        help=FROZEN,
        no_fix="where it is to require grad again cannot be seen",
    )


def _root(node: ast.AST) -> str:
    """What a nameless tensor is called in the call that goes backward from it."""
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr="backward")) | ast.Call(args=[value, *_]):
            return code(value)
    return "The tensor"


def _under(cut: Cut, backward: ast.AST) -> Iterator[FixProposal]:
    """Gradients on from what was computed without them down to the backward; none where they would be zero."""
    if cut.reason is CutReason.LINEAR:
        effect = "The gradient is constant: there is nothing to train."
        yield FixProposal("leave_out", "Remove this backward", (backward,), "unsafe", effect=effect)
    if cut.is_by_mode:
        title = "Compute it under `torch.enable_grad()`"
        yield FixProposal("enable_grad_around", title, (cut.point.node, backward), "unsafe", effect=RECORDED)


RULE = Rule(
    "TL301",
    "backward-without-graph",
    "backward on a tensor that has no graph",
    __doc__,
    (BackwardWithoutGraph,),
    check,
    raises=(ERROR,),
)
