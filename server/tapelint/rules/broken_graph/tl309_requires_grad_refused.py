"""requires_grad is set on a tensor that cannot take it.

## Why PyTorch fails
Whether a computed tensor requires grad follows from what it was computed from, so only a leaf's flag may be changed:
"you can only change requires_grad flags of leaf variables". `requires_grad_()` on a computed tensor that requires grad
already is allowed, and does nothing. Integers and truth values have no derivative: "Only Tensors of floating point and
complex dtype can require gradients", or from `requires_grad_()` "only Tensors of floating point dtype can require
gradients".

## Example
```py
x = torch.ones(3, requires_grad=True)
y = x * 2
y.requires_grad = False  # error: [requires-grad-refused] "not a leaf" # torch: raises "only change requires_grad"
```

```py
x = torch.tensor([1, 2, 3], requires_grad=True)  # error: [requires-grad-refused] "integers" # torch: raises "floating"
```

## Use instead
```py
x = torch.ones(3, requires_grad=True)
y = (x * 2).detach()
z = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
(y * z).sum().backward()  # torch: ok
```

## What is reported
Reports `requires_grad` set on what is not a leaf (`y.requires_grad = False` after `y = x * 2`), and on integers and
truth values (`torch.arange(3, requires_grad=True)`, `nn.Parameter(torch.tensor([1, 2]))`).

## Fix safety
`detach()` gives a tensor of the same values that is detached from the graph, which is what switching the flag off asks
for. For the gradient of a computed tensor, `retain_grad()` is what switching the flag on asks for.
"""

from __future__ import annotations

import ast
from collections import deque

from ...autograd.events.broken_graph import RequiresGradRefused
from ...autograd.events.graph_walks import Event
from ...autograd.facts import Facts
from ...autograd.model.graph import Leaf, Node
from ...autograd.model.program_point import ProgramPoint
from ...headline import headline, titled
from ...severity import Severity
from ..support.cure import FixProposal
from ..support.finding import Finding, Rule, TraceStep
from ..support.story import code, tensor_name

LEAF = "you can only change requires_grad flags of leaf variables"
MADE = "Only Tensors of floating point and complex dtype can require gradients"
ASSIGNED = "only Tensors of floating point and complex dtype can require gradients"
CALLED = "only Tensors of floating point dtype can require gradients"


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, RequiresGradRefused)
    name = tensor_name(facts, event.tensor) or code(event.created_at.node)
    where, created_at = event.point.node, event.created_at
    links, cures = list[TraceStep](), list[FixProposal]()
    if event.reason == "leaf":
        if event.recorded is not None:
            links += returned_with_graph(facts, event.recorded, event.point)
        error = LEAF
        message = headline(f"{name} is not a leaf: {code(created_at.node)} computed it", f"{name} is not a leaf")
        links.append(TraceStep(created_at.node, f"This computes {name}", created_at, short="computed"))
        if event.wanted:
            help_text = (
                "Call `retain_grad()` instead: it requires grad already, and its gradient is then kept in `.grad`."
            )
            cures.append(
                FixProposal(
                    "retain_grad_instead",
                    titled("Call `retain_grad()` on {} instead", name),
                    (where,),
                )
            )
        else:
            help_text = "Use `detach()`: its result has the same values and no graph."
            cures.append(FixProposal("detach_instead", titled("Detach {} instead", name), (where,)))
    else:
        what = "integers" if event.reason == "int" else "bools"
        error = _not_floating(where)
        message = headline(f"{name} holds {what}: it cannot require grad", f"This holds {what}: it cannot require grad")
        if created_at.node is not where:
            links.append(TraceStep(created_at.node, f"This makes {what}", created_at, short=f"makes {what}"))
        help_text = "Make it of floating point numbers (`dtype=torch.float32`, `.float()`)."
        cures.append(FixProposal("float_dtype", "Create it with a floating point dtype", (created_at.node,)))
        if isinstance(created_at.node, ast.expr):
            cures.append(FixProposal("to_float", "Convert it to floating point", (created_at.node,)))
    return Finding(
        at=where,
        point=event.point,
        severity=Severity.ERROR,
        message=message,
        short="refused",
        raises=error,
        links=tuple(links),
        help=help_text,
        cures=tuple(cures),
    )


def _not_floating(node: ast.AST) -> str:
    """What PyTorch says of integers: each of the three ways to ask for a gradient has its own words."""
    if not isinstance(node, ast.Call):
        return ASSIGNED
    return CALLED if isinstance(node.func, ast.Attribute) and node.func.attr == "requires_grad_" else MADE


RULE = Rule(
    "TL309",
    "requires-grad-refused",
    "requires_grad is set where it cannot be",
    __doc__,
    (RequiresGradRefused,),
    check,
    raises=(LEAF, MADE, CALLED),
)


def returned_with_graph(facts: Facts, graph: Node, now: ProgramPoint) -> list[TraceStep]:
    """The steps of a story that say which call of the function that runs ``now`` gave ``graph`` its first part: the
    leaf that was made there, if it is one, and the innermost ``return``: calls around that only hand it on. Empty if
    none did.
    """
    for item in _nearest(graph):
        for key in item.results if isinstance(item, Node) else (item.tensor,):
            for point in facts.origins.returned.get(key, ()):
                if len(point.calls) > len(now.calls) and point.calls[: len(now.calls)] == now.calls:
                    return [*_made_leaf(facts, item, point), _returned(facts, key, point)]
    return []


def _nearest(graph: Node, most: int = 64) -> list[Node | Leaf]:
    """The nodes and leaves that a graph leads to, the nearest first: beyond ``most`` they explain little."""
    found = dict[Node | Leaf, None]()
    todo = deque[Node | Leaf]([graph])
    while todo and len(found) < most:
        item = todo.popleft()
        found.setdefault(item)
        if isinstance(item, Node):
            todo += (each for each in item.inputs if each not in found)
    return list(found)


def _made_leaf(facts: Facts, item: Node | Leaf, returned: ProgramPoint) -> list[TraceStep]:
    made = facts.provenance_of(item.tensor).rewrapped if isinstance(item, Leaf) else None
    if made is None or made.calls[: len(returned.calls)] != returned.calls:
        return []
    assert isinstance(item, Leaf)
    name = tensor_name(facts, item.tensor) or "A tensor"
    return [TraceStep(made.node, f"{name} is made to require grad here", made, short="made to require grad")]


def _returned(facts: Facts, key: int, point: ProgramPoint) -> TraceStep:
    name = tensor_name(facts, key)
    what = f"{name} requires grad and" if name is not None else "What requires grad"
    return TraceStep(point.node, f"{what} is returned here", point, short="returned")
