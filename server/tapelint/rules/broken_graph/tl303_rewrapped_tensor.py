"""A loss, or a term of it, lost its graph unintentionally.

## What PyTorch does
It raises nothing, so the mistake is hard to find. A tensor whose flag is set is a new leaf. The error "does not require
grad" is gone, the backward runs, and gives a gradient to this leaf alone: the graph behind its value is still lost, and
no parameter gets a gradient from it. Nothing is trained.

A term without a graph is a constant: the loss has its value, the gradient does not know it. A gradient penalty that was
computed without `create_graph=True` penalises nothing.

## Example
```py
model = nn.Linear(3, 1)
loss = model(torch.randn(4, 3)).detach().pow(2).mean()
loss.requires_grad_(True)  # warning: [rewrapped-tensor] "detach"
loss.backward()
assert model.weight.grad is None  # torch: silent nothing is trained
```

```py
critic = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
x = torch.randn(4, 3, requires_grad=True)
score = critic(x).sum()
slope, = torch.autograd.grad(score, x, retain_graph=True)  # warning: [rewrapped-tensor] "`create_graph=True`"
penalty = (slope.norm(dim=1) - 1).pow(2).mean()
loss = score + 10 * penalty
loss.backward()  # torch: silent the penalty has no gradient
```

## Use instead
```py
model = nn.Linear(3, 1)
loss = model(torch.randn(4, 3)).pow(2).mean()
loss.backward()
assert model.weight.grad is not None  # torch: ok
```

```py
critic = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
x = torch.randn(4, 3, requires_grad=True)
score = critic(x).sum()
slope, = torch.autograd.grad(score, x, create_graph=True)
penalty = (slope.norm(dim=1) - 1).pow(2).mean()
loss = score + 10 * penalty
loss.backward()  # torch: ok
```

## What is reported
Reports a backward from a number that lost its graph (`.data`, `detach()`, `item()`, `torch.tensor(...)`, `argmax`,
no_grad) and then got `requires_grad` set; and one from a sum, a term of which was made anew by `torch.tensor(...)`, or
comes from a gradient without `create_graph=True`.

## Fix safety
Removing the call that cut the graph restores it, and the gradients that were missing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...autograd.events.broken_graph import RewrappedRoot, TermLost
from ...autograd.events.graph_walks import Event
from ...autograd.facts import Facts
from ...autograd.model.cuts import CutReason
from ...headline import headline
from ...severity import Severity
from ...source import walk
from ..support.cure import FixProposal
from ..support.finding import Finding, Rule, TraceStep
from ..support.graph_cuts import GRADIENT_GRAPH
from ..support.story import code, tensor_name

MODES = (CutReason.NO_GRAD, CutReason.INFERENCE_MODE)


def check(event: Event, facts: Facts) -> Finding | None:
    if isinstance(event, TermLost):
        return constant(event, facts)
    assert isinstance(event, RewrappedRoot)
    name, cut = tensor_name(facts, event.root) or code(event.wrapped.node), event.cut.point
    how = f"under `torch.{event.cut.name}()`" if event.cut.reason in MODES else f"by `{event.cut.name}`"
    backward = code(event.point.node)
    return Finding(
        point=event.wrapped,
        since=event.wrapped,
        severity=Severity.WARNING,
        message=headline(
            f"{backward} trains nothing: {name} is a new leaf, its graph was cut {how}",
            f"{name} is a new leaf, its graph was cut {how}: its backward trains nothing",
            f"{name} is a new leaf: its backward trains nothing",
        ),
        links=(
            TraceStep(cut.node, f"The graph ends at {code(cut.node)}", cut, short="the graph ends"),
            TraceStep(
                event.wrapped.node,
                f"{name} becomes a leaf, with no graph behind it",
                event.wrapped,
                short="a leaf, no graph behind it",
            ),
            TraceStep(event.point.node, f"{backward} reaches only {name}", event.point, short=f"reaches only {name}"),
        ),
        help=f"Compute {name} from what requires grad, without that cut; it then requires grad by itself.",
        cures=tuple(_cures(cut.node, event.wrapped.node)),
    )


def _cures(cut: ast.AST, wrapped: ast.AST) -> Iterator[FixProposal]:
    """A call that makes a leaf of its argument makes one of a tensor with a graph, too (``torch.tensor(x.item())``)."""
    arguments = [*wrapped.args, *wrapped.keywords] if isinstance(wrapped, ast.Call) else []
    if not any(cut is node for argument in arguments for node in walk(argument)):
        yield FixProposal("remove_call", "Remove the call to keep the graph", (cut,))
    yield FixProposal("unwrap", "Use the tensor itself", (wrapped,))


def constant(event: TermLost, facts: Facts) -> Finding:
    """A sum whose term has a value and no gradient."""
    name = tensor_name(facts, event.root) or "the sum"
    node = event.cut.point.node
    is_gradient = event.cut.reason is CutReason.CREATE_GRAPH
    if is_gradient:
        why = "`create_graph=True` is missing"
        advice = "Pass `create_graph=True`, or leave the term out of the loss if it is only to be looked at."
        cures = [FixProposal("create_graph", GRADIENT_GRAPH, (node,))]
    else:
        why = "that term trains nothing"
        advice = "Use the tensor itself; if its gradient is not wanted, say so with `.detach()`."
        cures = [
            FixProposal("unwrap", "Use the tensor itself", (node,)),
            FixProposal("remove_call", "Remove the call to keep the graph", (node,)),
        ]
    backward = code(event.point.node)
    links = (
        TraceStep(node, f"{code(node)} has no graph", short="no graph"),
        TraceStep(
            event.point.node,
            f"{backward} takes it for a constant in {name}",
            event.point,
            short="takes it for a constant",
        ),
    )
    return Finding(
        at=node,
        point=event.point,
        severity=Severity.WARNING,
        message=headline(
            f"{code(node)} is a constant in {name}, without a graph: {why}",
            f"{code(node)} is a constant in {name}: {why}",
            f"A term without a graph is a constant in {name}: {why}",
        ),
        links=links,
        help=advice,
        cures=tuple(cures),
    )


RULE = Rule(
    "TL303",
    "rewrapped-tensor",
    "a loss, or a term of it, lost its graph and goes on as a number",
    __doc__,
    (RewrappedRoot, TermLost),
    check,
    warns=("To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone()",),
)
