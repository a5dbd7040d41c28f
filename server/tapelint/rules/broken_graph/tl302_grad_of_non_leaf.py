"""The `.grad` of a tensor that is no leaf, or that no backward has reached, is None, and is used.

## Why PyTorch fails
A backward adds gradients to the `.grad` of leaves: parameters, and tensors made with `requires_grad=True`. The
gradients of what was computed from them pass through and are dropped, so `.grad` stays None, and code that uses it gets
"'NoneType' object has no attribute 'norm'", "'NoneType' object is not subscriptable" or "unsupported operand type(s)
for *: 'float' and 'NoneType'". The same happens to a parameter that was rebound: after `w = w - lr * w.grad` the name
`w` belongs to a computed tensor, and under `no_grad` to one that does not require grad.

A leaf has a gradient from the first backward that reaches it until `zero_grad()`, which sets it to None again.

## Example
```py
x = torch.ones(3, requires_grad=True)
h = x * 2
h.pow(2).sum().backward()
print(h.grad.norm())  # error: [grad-of-non-leaf] "`h`" # torch: raises "'NoneType' object has no attribute 'norm'"
```

```py
w = torch.ones(3, requires_grad=True)
for step in range(3):
    (w ** 2).sum().backward()
    w = w - 0.1 * w.grad  # error: [grad-of-non-leaf] "`w`" # torch: raises "'float' and 'NoneType'"
```

```py
net = nn.Linear(3, 1)
images = torch.rand(2, 3)
net(images).sum().backward()
print(images.grad.abs())  # error: [grad-of-non-leaf] "does not require grad" # torch: raises "NoneType"
```

```py
w = torch.ones(3, requires_grad=True)
for step in range(3):
    w.grad.zero_()  # error: [grad-of-non-leaf] "no backward has reached it yet" # torch: raises "NoneType"
    (w * 2).sum().backward()
```

## Use instead
```py
x = torch.ones(3, requires_grad=True)
h = x * 2
h.retain_grad()
h.pow(2).sum().backward()
print(h.grad.norm())  # torch: ok
```

An update is written in place, so that the parameter stays the same tensor:
```py
w = torch.ones(3, requires_grad=True)
for step in range(3):
    loss = (w ** 2).sum()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
    w.grad.zero_()  # torch: ok
```

Data that needs a gradient requires grad before it is used:
```py
net = nn.Linear(3, 1)
images = torch.rand(2, 3, requires_grad=True)
net(images).sum().backward()
print(images.grad.abs())  # torch: ok
```

A leaf's gradient is cleared after it was used, or if it is there:
```py
w = torch.ones(3, requires_grad=True)
for step in range(3):
    if w.grad is not None:
        w.grad.zero_()
    (w * 2).sum().backward()  # torch: ok
```

What each iteration computes anew from its own gradient, such as an adversarial input, begins as a new leaf:
```py
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
x = torch.rand(2, 4, requires_grad=True)
for step in range(3):
    net(x).sum().backward()
    x = x + 0.1 * x.grad.sign()
    x = x.clamp(0, 1).detach().requires_grad_()  # torch: ok
```

## What is reported
Reports a use of `.grad` of a computed tensor (a method, arithmetic, an index) that was not requested with
`retain_grad()`: it is None. The same of a tensor that does not require grad: data, or what was computed under
`no_grad`. The same of a leaf, if no leaf at all has a gradient, and code that is not known cannot have gone backward.
A warning where it is printed after a backward has passed through the tensor, and of what `.to(device)` gives
of a leaf: on another device that is a copy.

## Fix safety
`retain_grad()` keeps one more tensor alive and changes no value. A tensor that an iteration leaves to the next one
becomes a leaf, which the backward of the next one reaches as before; elsewhere that is unsafe, since what the tensor
was computed from gets no gradient any more.
"""

from __future__ import annotations

import ast

from ...autograd.events.broken_graph import AbsentGradientShown, AbsentGradientUsed, NoGradient
from ...autograd.events.graph_walks import Event
from ...autograd.facts import Facts
from ...autograd.model.cuts import CutReason
from ...autograd.model.program_point import earlier_iteration
from ...autograd.model.stores import StoreKind
from ...headline import headline, titled
from ...severity import Severity
from ..support.cure import UPDATE, FixProposal, spelled
from ..support.finding import Finding, Holds, Rule, TraceStep, severity_of
from ..support.graph_cuts import require_grad
from ..support.story import code, tensor_name

ERRORS = (
    "'NoneType' object has no attribute",
    "'NoneType' object is not subscriptable",
    "'float' and 'NoneType'",
    "'Tensor' and 'NoneType'",
    "'NoneType' and 'Tensor'",
)
SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.MatMult: "@", ast.FloorDiv: "//", ast.Mod: "%"}
NO_LEAF = "The `.grad` of a tensor that is no leaf is None"
RETAINED = "Call `retain_grad()` on it before the backward, or take the gradient with `torch.autograd.grad`."


def check(event: Event, facts: Facts) -> Finding | None:
    if isinstance(event, AbsentGradientShown):
        return _shown(event, facts)
    assert isinstance(event, AbsentGradientUsed)
    match event.why:
        case NoGradient.COMPUTED:
            return _computed(event, facts)
        case NoGradient.CONSTANT:
            return _constant(event, facts)
        case _:
            return _unwalked(event, facts)


def _computed(event: AbsentGradientUsed, facts: Facts) -> Finding:
    """Of a tensor that is no leaf."""
    name = tensor_name(facts, event.tensor) or code(event.created_at.node)
    cures = [FixProposal("inplace_update", UPDATE, (event.created_at.node,))]
    anew = earlier_iteration(event.created_at, event.read) is not None and isinstance(event.created_at.node, ast.expr)
    if anew:
        title = titled("Make {} a new leaf in each iteration", name)
        cures.append(FixProposal("make_leaf", title, (event.created_at.node,)))
    cures += _keeping(facts, event.tensor)
    if isinstance(event.created_at.node, ast.expr) and not anew:
        title = titled("Make {} a leaf with `detach().requires_grad_()`", name)
        effect = "What it was computed from gets no gradient."
        cures.append(FixProposal("make_leaf", title, (event.created_at.node,), "unsafe", effect=effect))
    return Finding(
        point=event.read,
        severity=severity_of(event),
        message=headline(
            f"The `.grad` of {name} is None: {code(event.created_at.node)} computed it, so it is no leaf",
            f"The `.grad` of {name} is None: {name} is no leaf",
            NO_LEAF,
        ),
        raises=_raised(event.point.node),
        raiser=_raiser(event),
        cause=event.created_at.node if event.because else None,
        links=(
            TraceStep(
                event.created_at.node,
                f"This computes {name}, which is no leaf",
                event.created_at,
                short="computed, no leaf",
            ),
        ),
        help=RETAINED,
        cures=tuple(cures),
    )


def _raised(node: ast.AST) -> str | None:
    """What Python raises where None is used like that, as far as it is always the same."""
    match node:
        case ast.Attribute(attr=name):
            return f"'NoneType' object has no attribute '{name}'"
        case ast.Subscript(ctx=ast.Load()):
            return "'NoneType' object is not subscriptable"
        case ast.Subscript():
            return "'NoneType' object does not support item assignment"
        case ast.BinOp(op=op) if type(op) in SIGNS:
            return f"unsupported operand type(s) for {SIGNS[type(op)]}"
        case ast.AugAssign(op=op) if type(op) in SIGNS:
            return f"unsupported operand type(s) for {SIGNS[type(op)]}="
    return None


def _raiser(event: AbsentGradientUsed) -> ast.AST | None:
    """Where the None is used, if that is not the row in which it is read."""
    node, read = event.point.node, event.read.node
    return node if getattr(node, "lineno", 0) != getattr(read, "lineno", 0) else None


def _keeping(facts: Facts, tensor: int) -> list[FixProposal]:
    """How the gradient of a tensor is kept where the tensor is first stored."""
    kept = [s for s in facts.origins.stored.get(tensor, ()) if s.how is StoreKind.ASSIGNED]
    cures: list[FixProposal] = []
    for stored in kept[:1]:
        written = spelled(stored.target)
        title = titled("Call `retain_grad()` on {}", f"`{stored.target}`")
        cures.append(FixProposal("retain_grad", title, (stored.statement, written)))
        title = titled("Call `retain_grad()` on {} if it requires grad", f"`{stored.target}`")
        cures.append(FixProposal("retain_grad_if_tracked", title, (stored.statement, written)))
    return cures


def _constant(event: AbsentGradientUsed, facts: Facts) -> Finding:
    """Of a tensor that requires no grad: data, or what was computed without a graph."""
    made = event.created_at.node
    name = tensor_name(facts, event.tensor) or code(made)
    cut = facts.provenance_of(event.tensor).cut
    mode = cut is not None and cut.reason in (CutReason.NO_GRAD, CutReason.INFERENCE_MODE)
    cures = [FixProposal("requires_grad", require_grad(name), (made,))]
    if mode:
        cures = [FixProposal("inplace_update", UPDATE, (made,))]
    return Finding(
        point=event.read,
        severity=severity_of(event),
        message=headline(
            *([f"The `.grad` of {name} is None: it was computed while autograd did not record"] if mode else []),
            f"The `.grad` of {name} is None: {name} does not require grad",
            "The `.grad` of a tensor that does not require grad is None",
        ),
        raises=_raised(event.point.node),
        raiser=_raiser(event),
        links=(
            TraceStep(
                made, f"This makes {name}, which does not require grad", event.created_at, short="does not require grad"
            ),
        ),
        help="Write it in place, so that it stays the same leaf." if mode else "Let it require grad before it is used.",
        cures=tuple(cures),
    )


def _unwalked(event: AbsentGradientUsed, facts: Facts) -> Finding:
    """Of a leaf."""
    name = tensor_name(facts, event.tensor) or code(event.created_at.node)
    is_cleared = event.why is NoGradient.CLEARED
    why = "it was cleared, and no backward came after" if is_cleared else "no backward has reached it yet"
    return Finding(
        point=event.read,
        severity=severity_of(event),
        message=headline(f"The `.grad` of {name} is None: {why}", f"This `.grad` is None: {why}"),
        raises=_raised(event.point.node),
        raiser=_raiser(event),
        help="Use it after the backward, before `zero_grad()`; or ask first whether it is None.",
        no_fix="where the backward belongs, or what is meant without a gradient, cannot be seen",
        holds=Holds.IF_NOTHING_MAKES_IT,
    )


def _shown(event: AbsentGradientShown, facts: Facts) -> Finding:
    """Of a tensor that is no leaf, printed."""
    name = tensor_name(facts, event.tensor) or code(event.created_at.node)
    return Finding(
        point=event.read,
        severity=Severity.WARNING,
        message=headline(f"This prints None for the `.grad` of {name}, which is no leaf", NO_LEAF),
        links=(
            TraceStep(
                event.created_at.node,
                f"This computes {name}, which is no leaf",
                event.created_at,
                short="computed, no leaf",
            ),
        ),
        help=RETAINED,
        cures=tuple(_keeping(facts, event.tensor)),
    )


RULE = Rule(
    "TL302",
    "grad-of-non-leaf",
    "the `.grad` of a tensor that is no leaf, or that no backward has reached, is used",
    __doc__,
    (AbsentGradientUsed, AbsentGradientShown),
    check,
    raises=ERRORS,
    warns=("The .grad attribute of a Tensor that is not a leaf Tensor is being accessed",),
)
