"""autograd.grad is asked for a gradient that does not exist.

## What it does
Reports `torch.autograd.grad` with an input that the outputs do not depend on, or that does not require grad.

## Why PyTorch fails
The gradient is looked for at exactly the tensor that is given. If the outputs were computed from a detached copy of it,
or if what is given is a view that was made since (`x[0]`), it is not in their graph: "The differentiated Tensor at
index 0 appears to not have been used in the graph". With `allow_unused=True` the answer is None, with
`materialize_grads=True` it is zero. A tensor that does not require grad is refused in any case.

## Example
```py
pos = torch.randn(4, 3, requires_grad=True)
centred = (pos - pos.mean(0)).detach().requires_grad_(True)
energy = centred.pow(2).sum()
(force,) = torch.autograd.grad(energy, pos)  # error: [unused-input] "`pos`" # torch: raises "not have been used"
```

## Use instead
```py
pos = torch.randn(4, 3, requires_grad=True)
centred = pos - pos.mean(0)
energy = centred.pow(2).sum()
(force,) = torch.autograd.grad(energy, pos)  # torch: ok
```

## Fix safety
Removing the call that cut the graph lets the gradient through. `materialize_grads=True` makes the error a
gradient of zero: right only if the outputs are meant not to depend on the input.
"""

from __future__ import annotations

from ...autograd.events.broken_graph import UnusedInput
from ...autograd.events.graph_walks import Event
from ...autograd.facts import Facts
from ...headline import headline
from ...severity import Severity
from ..support.cure import FixProposal
from ..support.finding import Finding, Rule, TraceStep
from ..support.story import code, tensor_name

UNUSED = "appears to not have been used in the graph"
PLAIN = "One of the differentiated Tensors does not require grad"


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, UnusedInput)
    name = tensor_name(facts, event.tensor) or code(event.created_at.node)
    links = [TraceStep(event.created_at.node, f"This makes {name}", event.created_at, short=f"makes {name}")]
    cures: list[FixProposal] = []
    if event.plain:
        what, error = "does not require grad", PLAIN
        help_text = "Set `requires_grad_()` on it before the outputs are computed."
        cures.append(FixProposal("requires_grad", f"Let {name} require grad", (event.created_at.node,)))
    else:
        what, error = "is not in the graph of the outputs", UNUSED
        help_text = "Differentiate with respect to the very tensor that entered the computation."
        if event.cut is not None:
            links.append(
                TraceStep(event.cut.node, "The way to the outputs is cut here", event.cut, short="the graph is cut")
            )
            cures.append(FixProposal("remove_call", "Let the gradient through", (event.cut.node,)))
        title = "Take zero for the gradient of what was not used (a cut graph is then not noticed)"
        cures.append(FixProposal("materialize_grads", title, (event.point.node,), "unsafe"))
    return Finding(
        point=event.point,
        severity=Severity.ERROR,
        message=headline(f"The gradient of {name} is asked for, but it {what}", f"An input {what}"),
        short="not reached",
        raises=error,
        links=tuple(links),
        help=help_text,
        cures=tuple(cures),
        of_absence=event.cut is None,
    )


RULE = Rule(
    "TL311",
    "unused-input",
    "autograd.grad is asked for a gradient that does not exist",
    __doc__,
    (UnusedInput,),
    check,
    raises=(UNUSED, PLAIN),
)
