"""backward() is called on a number that was read from a tensor.

## Why PyTorch fails
A Python number has no graph and no `backward`: Python raises "'float' object has no attribute 'backward'". The
graph still belongs to the tensor that the number was read from.

## Example
```py
model = nn.Linear(3, 1)
loss = model(torch.randn(4, 3)).pow(2).mean().item()
loss.backward()  # error: [number-backward] "`.item()`" # torch: raises "'float' object has no attribute 'backward'"
```

## Use instead
The backward goes from the tensor; a number is read from it for the log.
```py
model = nn.Linear(3, 1)
running = 0.0
loss = model(torch.randn(4, 3)).pow(2).mean()
loss.backward()
running += loss.item()  # torch: ok
```

## What is reported
Reports `backward()` on a Python number that was read from a tensor by `item()`, `tolist()` or `float(...)`, or
computed from such numbers, and says where it was read. Of the `item()` of something unknown that is assumed.

## Fix safety
Without `item()` the loss is a tensor with its graph. What else reads it gets the tensor, too: a list that collects it
for the log keeps every graph alive. So the fix is marked unsafe.
"""

from __future__ import annotations

import ast

from ...autograd.events.broken_graph import NumberBackward
from ...autograd.events.graph_walks import Event
from ...autograd.facts import Facts
from ...autograd.model.cuts import CutReason
from ...headline import headline
from ..support.cure import FixProposal
from ..support.finding import Finding, Rule, TraceStep, severity_of
from ..support.graph_cuts import NO_NUMBER, NO_NUMBER_EFFECT
from ..support.story import code

ERROR = "object has no attribute 'backward'"


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, NumberBackward)
    call, cut = event.point.node, event.cut
    root = code(call.func.value) if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else "This"
    read = _reading(cut.point.node)
    what = "a Python number"
    verb, it, has = "is", "it", "has"
    if cut.operation == "tolist":
        what, verb, it, has = "Python numbers", "is", "they", "have"
    several = f"{read} and others" if cut.reason is CutReason.NUMBERS else read
    message = headline(
        f"{root} {verb} {what}, no tensor: {several} gave {it}, and {it} {has} no graph",
        f"{root} {verb} {what}, no tensor: {it} {has} no graph",
        f"This is {what}, no tensor: {it} {has} no graph",
    )
    return Finding(
        point=event.point,
        severity=severity_of(event),
        message=message,
        short="a number, no tensor",
        raises=ERROR,
        links=(
            TraceStep(
                cut.point.node, f"The graph ends here: {read} gives {what}", cut.point, short=f"the graph ends: {what}"
            ),
        ),
        help=f"Go backward from the tensor: leave out {read} there, and keep it for the log.",
        cures=tuple(
            FixProposal(purpose, NO_NUMBER, (cut.point.node,), "unsafe", effect=NO_NUMBER_EFFECT)
            for purpose in ("remove_call", "unwrap")
        ),
        no_fix="what is to stay a number, and what a tensor, cannot be seen",
    )


def _reading(node: ast.AST) -> str:
    """What turns a tensor into a number in ``node``: `.item()`, `float()`."""
    match node:
        case ast.Call(func=ast.Attribute(attr=name)):
            return f"`.{name}()`"
        case ast.Call(func=ast.Name(id=name)):
            return f"`{name}()`"
    return code(node)


RULE = Rule(
    "TL312",
    "number-backward",
    "backward on a number that was read from a tensor",
    __doc__,
    (NumberBackward,),
    check,
    raises=(ERROR,),
)
