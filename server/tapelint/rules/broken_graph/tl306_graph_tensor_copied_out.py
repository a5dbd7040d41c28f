"""A tensor with a graph is asked for as plain data.

## Why PyTorch fails
An array has no graph, and a copy of a tensor would need a copy of the whole graph behind it. Rather than drop the
graph silently, PyTorch raises "Can't call numpy() on Tensor that requires grad" and "Only Tensors created
explicitly by the user (graph leaves) support the deepcopy protocol". `y.item()` and `y.tolist()` are fine (`float(y)`
works and warns), and so is a `state_dict()`, which holds parameters and buffers without graphs.

## Example
```py
model = nn.Linear(3, 1)
out = model(torch.randn(4, 3))
print(out.numpy())  # error: [graph-tensor-copied-out] "`out`" # torch: raises "Can't call numpy() on Tensor"
```

```py
import copy

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 1)

    def forward(self, x):
        self.last = self.fc(x)
        return self.last

net = Net()
net(torch.randn(4, 3)).mean().backward()
best = copy.deepcopy(net)  # error: [graph-tensor-copied-out] "`net.last`" # torch: raises "deepcopy protocol"
```

## Use instead
```py
import copy

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 1)

    def forward(self, x):
        out = self.fc(x)
        self.last = out.detach()
        return out

net = Net()
out = net(torch.randn(4, 3))
print(out.detach().numpy())
best = copy.deepcopy(net)  # torch: ok
```
On a GPU it is `out.detach().cpu().numpy()`.

## What is reported
Reports `.numpy()` and functions that make arrays of what they are given (those of NumPy, most of SciPy,
`sklearn.metrics`, `matplotlib.pyplot`) on tensors that require grad, and `copy.deepcopy` of tensors that are no
leaves, also where a module or a list holds them.

## Fix safety
`detach()` gives a tensor of the same values that is detached from the graph; where the graph is not needed, nothing is
lost.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable

from ...autograd.events.broken_graph import GraphCopiedOut
from ...autograd.events.graph_walks import Event
from ...autograd.facts import Facts
from ...autograd.model.graph_search import nodes_below
from ...autograd.model.stores import Stored, StoreKind
from ...headline import headline
from ..support.cure import FixProposal
from ..support.finding import Finding, Rule, TraceStep, severity_of
from ..support.story import code, tensor_name

ERRORS = {
    "numpy": "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead",
    "deepcopy": "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol",
}


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, GraphCopiedOut)
    key, trail = event.held[0]
    path = spelled(event.source, trail)
    name = f"`{ast.unparse(path)}`" if path is not None and trail else tensor_name(facts, key) or code(event.source)
    keepers = [stored for held, trail in event.held if trail and (stored := last_kept(facts, held)) is not None]
    what = "requires grad" if event.how == "numpy" else "has a graph and is no leaf"
    how = "converted to NumPy" if event.how == "numpy" else "copied"
    links = [
        TraceStep(s.statement, f"This keeps {code(s.value)} with its graph", s.point, short="kept with its graph")
        for s in keepers[-1:]
    ]
    return Finding(
        point=event.point,
        severity=severity_of(event),
        message=headline(
            f"{code(event.point.node)} fails: {name} {what}",
            f"{name} {what}, so it cannot be {how}",
            f"A tensor that {what} cannot be {how}",
        ),
        short="copied out",
        raises=ERRORS[event.how],
        links=tuple(links or recorded(event, facts, name)),
        help="Detach what is kept before it is copied, or copy the `state_dict()` of a module."
        if event.how == "deepcopy"
        else "Call `detach()` first: its result has the same values and no graph.",
        cures=tuple(cures(event, keepers)),
        cause=assumed_call(event),
    )


def assumed_call(event: GraphCopiedOut) -> Hashable:
    """The call that is assumed to have given the tensor its graph: with a graph, all that it returned has one."""
    if not event.because or event.recorded is None:
        return None
    made = min(nodes_below([event.recorded]), key=lambda node: node.id).created_at
    return made.node, made.calls


def recorded(event: GraphCopiedOut, facts: Facts, name: str) -> list[TraceStep]:
    """Where the tensor got its graph, if that is not in the call itself."""
    node = event.recorded
    if node is None or any(part is node.created_at.node for part in ast.walk(event.point.node)):
        return []
    made = node.created_at
    known = next((called for key in node.results if (called := tensor_name(facts, key)) is not None), name)
    return [
        TraceStep(made.node, f"{code(made.node)} gives {known} its `grad_fn`", made, short="its `grad_fn` is from here")
    ]


def cures(event: GraphCopiedOut, keepers: list[Stored]) -> list[FixProposal]:
    found: list[FixProposal] = []
    if event.source is not None and not event.held[0][1]:
        found.append(FixProposal("detach", "Detach it first", (event.source,)))
    elif isinstance(event.source, (ast.List, ast.Tuple)):
        found.append(FixProposal("detach", "Detach the tensors first", (event.source,)))
    values = tuple(dict.fromkeys(s.value for s in keepers if s.value is not None))
    if values:
        found.append(FixProposal("detach", "Detach the values where they are kept", values))
    paths = [path for _, trail in event.held if (path := spelled(event.source, trail)) is not None]
    if event.how == "deepcopy" and paths and len(paths) == len(event.held):
        targets = (event.point.node, *paths)
        found.append(FixProposal("detach_states", "Detach the kept tensors before the copy", targets))
    if event.how == "numpy":
        found.append(FixProposal("no_grad", "Convert it under `torch.no_grad()`", (event.point.node,)))
    return found


def spelled(source: ast.expr | None, trail: tuple[str | int, ...]) -> ast.expr | None:
    """``net``, ``("attn", "map")`` -> ``net.attn.map``; None where a part has no name."""
    path = source
    for part in trail:
        if path is None or not isinstance(part, str) or not part.isidentifier():
            return None
        path = ast.Attribute(path, part, ast.Load())
    return path


def last_kept(facts: Facts, key: int) -> Stored | None:
    """Where the tensor was put into what holds it now: the last place that is more than a variable."""
    kept = [s for s in facts.origins.stored.get(key, ()) if s.how is not StoreKind.ITERATED]
    inside = [s for s in kept if s.how is not StoreKind.ASSIGNED or not s.target.isidentifier()]
    candidates = inside or kept
    return candidates[-1] if candidates else None


RULE = Rule(
    "TL306",
    "graph-tensor-copied-out",
    "a tensor with a graph is asked for as plain data",
    __doc__,
    (GraphCopiedOut,),
    check,
    raises=tuple(ERRORS.values()),
)
