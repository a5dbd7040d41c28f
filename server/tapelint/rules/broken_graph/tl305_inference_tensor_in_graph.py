"""A tensor made in inference mode is used where autograd records.

## Why PyTorch fails
Inference mode saves time by leaving out the version counter. Without it a write could not be noticed, so autograd
refuses to save such a tensor: "Inference tensors cannot be saved for backward". Outside the mode it may not be written:
"Inplace update to inference tensor outside InferenceMode is not allowed". What saves nothing of it (`w + x`) is fine.

## Example
```py
model = nn.Linear(3, 1)
with torch.inference_mode():
    features = torch.randn(4, 3)
loss = model(features).mean()  # error: [inference-tensor-in-graph] "`features`" # torch: raises "Inference tensor"
```

## Use instead
```py
model = nn.Linear(3, 1)
with torch.no_grad():
    features = torch.randn(4, 3)
loss = model(features).mean()
loss.backward()  # torch: ok
```

## What is reported
Reports tensors made under `torch.inference_mode()` that an operation would save for backward, or that are written in
place outside of it (by an optimizer's step, too).

## Fix safety
`torch.no_grad()` computes the same values and makes ordinary tensors; it is a little slower.
"""

from __future__ import annotations

from ...autograd.events.broken_graph import InferenceTensorUsed
from ...autograd.events.graph_walks import Event
from ...autograd.facts import Facts
from ...headline import capitalized, headline
from ...severity import Severity
from ..support.cure import FixProposal
from ..support.finding import Finding, Rule, TraceStep
from ..support.story import code, tensor_name

SAVED = "Inference tensors cannot be saved for backward"
WRITTEN = "Inplace update to inference tensor outside InferenceMode is not allowed"


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, InferenceTensorUsed)
    known = tensor_name(facts, event.tensor)
    name = known or "a tensor"
    made = f"the state for {name}" if event.how == "state" else name
    mode = "was made in inference mode"
    match event.how:
        case "saved":
            texts = [f"`{event.op.rpartition('.')[2]}` saves {name} for its backward, but it {mode}"]
        case "state":
            texts = [f"{code(event.point.node)} writes its state for {name}, which {mode}"]
        case _:
            texts = [f"{name} {mode}: {code(event.point.node)} cannot write it outside of that"]
    return Finding(
        point=event.point,
        severity=Severity.ERROR,
        message=headline(*texts, f"{made} {mode}: autograd cannot use it here"),
        raises=SAVED if event.how == "saved" else WRITTEN,
        links=(
            TraceStep(
                event.made.node,
                capitalized(f"{made} is made in inference mode"),
                event.made,
                short="made in inference mode",
            ),
        ),
        help=("Compute it under `torch.no_grad()` instead of `torch.inference_mode()`, or clone it afterwards."),
        cures=(
            FixProposal(
                "no_grad_instead",
                "Use `torch.no_grad()` instead of inference mode",
                (event.made.node, *reversed(event.made.calls)),
            ),
        ),
    )


RULE = Rule(
    "TL305",
    "inference-tensor-in-graph",
    "a tensor made in inference mode is used where autograd records",
    __doc__,
    (InferenceTensorUsed,),
    check,
    raises=(SAVED, WRITTEN),
)
