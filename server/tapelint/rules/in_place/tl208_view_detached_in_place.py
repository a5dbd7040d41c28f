"""A view is detached in place.

## Why PyTorch fails
`detach_()` would have to detach the base of the view, too. PyTorch raises "Can't detach views in-place.
Use detach() instead", also under `no_grad`, and also where no graph is there to be cut: a view of plain data is refused
as well. What `detach()` and `.data` give is no view in this sense.

## Example
```py
rnn = nn.RNN(3, 4)
outputs, _ = rnn(torch.randn(5, 2, 3))
state = outputs[-1]
state.detach_()  # error: [view-detached-in-place] "`outputs[-1]`" # torch: raises "Can't detach views in-place"
```

## Use instead
```py
rnn = nn.RNN(3, 4)
outputs, _ = rnn(torch.randn(5, 2, 3))
state = outputs[-1]
state = state.detach()
assert not state.requires_grad  # torch: ok
```

## What is reported
Reports `detach_()` on a view: an item or a slice, what `view`, `t`, `chunk` or iterating gave, what a custom Function
returned of its own input.

## Fix safety
`detach()` gives a new tensor. What else holds the old one keeps its graph.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...autograd.events.graph_walks import Event, ViewDetached
from ...autograd.facts import Facts
from ...headline import headline
from ..support.cure import FixProposal
from ..support.finding import Finding, Rule, TraceStep, severity_of
from ..support.story import code, tensor_name

ERROR = "Can't detach views in-place. Use detach() instead"


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, ViewDetached)
    call = event.point.node
    base = call.func.value if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else call
    name = tensor_name(facts, event.tensor) or code(base)
    node = event.made.node
    made = code(node.iter if isinstance(node, (ast.For, ast.AsyncFor)) else node)
    detaches = f"Detaches {name} in place, which PyTorch refuses: it is a view"
    return Finding(
        point=event.point,
        severity=severity_of(event),
        message=headline(
            *([f"{detaches}, made by {made}"] if made != name else []),
            detaches,
            "Detaches a view in place",
        ),
        short="detached in place",
        raises=ERROR,
        links=(TraceStep(event.made.node, f"{made} makes the view", event.made, short="makes the view"),),
        help="Use `detach()`, and keep what it returns.",
        no_fix="it is made there, and nothing keeps it",
        cures=tuple(_cures(event)),
    )


def _cures(event: ViewDetached) -> Iterator[FixProposal]:
    """A variable, or an item of a container, is assigned anew; what is made there and then, as ``x.T`` is, is not."""
    node, title = event.point.node, "Assign what `detach()` returns"
    value = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    if value is None or event.made.node is not value:
        yield FixProposal("out_of_place", title, (node,))
        if value is not None:
            yield FixProposal("detach_item", title, (node,))


RULE = Rule(
    "TL208",
    "view-detached-in-place",
    "a view is detached in place",
    __doc__,
    (ViewDetached,),
    check,
    raises=(ERROR,),
)
