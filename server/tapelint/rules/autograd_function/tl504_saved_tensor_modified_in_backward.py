"""A Function's backward writes a saved tensor in place.

## Why PyTorch fails
A saved tensor is not a copy: it shares its memory with the input or output it came from. Writing it
changes that tensor in silence, be it a parameter. Where the graph was retained, the next pass finds another version
than was saved and raises "one of the variables needed for gradient computation has been modified by an inplace
operation".

## Example
```py
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return x.mul_(2) * grad  # warning: [saved-tensor-modified-in-backward] "`w`"

w = torch.ones(3, requires_grad=True)
Square.apply(w).sum().backward()
assert w[0] == 2  # torch: silent the parameter has changed
```

## Use instead
```py
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return x.mul(2) * grad

w = torch.ones(3, requires_grad=True)
Square.apply(w).sum().backward()
assert w[0] == 1  # torch: ok
```

## What is reported
Reports a `backward` of a `torch.autograd.Function` that writes what it got from `ctx.saved_tensors`, where that is an
input or an output of the Function, or where the node runs again.

## Fix safety
The out-of-place operation computes the same value in new memory.
"""

from __future__ import annotations

from ...autograd.events.custom_function import SavedWrittenInBackward
from ...autograd.events.graph_walks import Event, SavedTensorModified
from ...autograd.facts import Facts
from ...headline import headline
from ...severity import Severity
from ..support.cure import FixProposal
from ..support.finding import Finding, Rule, Same, TraceStep, severity_of
from ..support.modified_saved import ERROR, in_own_backward
from ..support.story import code, role, saved_name


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, (SavedTensorModified, SavedWrittenInBackward))
    node, saved, write = event.node, event.saved, event.write.point
    named = saved_name(facts, saved)
    name = named or "what forward saved"
    writes = f"writes {name} in place" if named else f"writes in place {name}"
    severity = Severity.WARNING
    raises: str | None = None
    what = name if saved.role == "intermediate" else role(saved)
    links = [
        TraceStep(
            node.created_at.node,
            f"`{node.op}` saves {what} for its backward",
            node.created_at,
            short=f"saved by `{node.op}`, version {saved.version}",
        )
    ]
    if isinstance(event, SavedTensorModified):
        if not in_own_backward(event, facts):
            return None
        severity = severity_of(event)
        message = headline(
            f"The backward of `{node.op}` writes {name}, which it saved, and {code(event.point.node)} runs it again",
            f"The backward of `{node.op}` writes {name}, which it saved, and runs again",
            f"A backward writes {name}, which it saved, and runs again",
        )
        raises = ERROR
        links += [
            TraceStep(write.node, f"Its backward {writes}", write, short="written in its backward"),
            TraceStep(
                event.point.node,
                f"This runs the backward of `{node.op}` again",
                event.point,
                short="runs that backward again",
            ),
        ]
    elif saved.role == "intermediate":
        return None
    else:
        message = headline(
            f"The backward of `{node.op}` overwrites its saved tensor {name}, which is {role(saved)} itself, no copy",
            f"The backward of `{node.op}` {writes}",
            f"A backward {writes}",
        )
        links.append(
            TraceStep(
                event.point.node, f"This backward changes {name} in silence", event.point, short="changed in silence"
            )
        )
    return Finding(
        point=write,
        severity=severity,
        message=message,
        raises=raises,
        links=tuple(links),
        help="Compute a new tensor in backward.",
        cures=(FixProposal("out_of_place", "Compute a new tensor instead of writing in place", (write.node,)),),
    )


RULE = Rule(
    "TL504",
    "saved-tensor-modified-in-backward",
    "a Function's backward writes a saved tensor in place",
    __doc__,
    (SavedWrittenInBackward, SavedTensorModified),
    check,
    raises=(ERROR,),
    told_by={"TL201": Same.AT_ITS_PLACE},
)
