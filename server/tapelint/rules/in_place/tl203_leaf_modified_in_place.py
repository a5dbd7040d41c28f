"""A leaf that requires grad is written in place.

## Why PyTorch fails
A leaf is where gradients are collected; if it could be overwritten as part of the graph it would
no longer be a leaf. PyTorch raises "a leaf Variable that requires grad is being used in an in-place operation" at the
write.

## Example
```py
w = torch.zeros(3, requires_grad=True)
w += 1  # error: [leaf-modified-in-place] "w" # torch: raises "a leaf Variable that requires grad"
```

## Use instead
An update that autograd shall not record goes under `torch.no_grad()`:
```py
w = torch.zeros(3, requires_grad=True)
with torch.no_grad():
    w += 1  # torch: ok
```
A value that shall be differentiated is a new tensor: `v = w + 1`.

## What is reported
Reports an in-place write, with gradients enabled, to a leaf tensor that requires grad (a parameter,
or a tensor made with `requires_grad=True`), or to a view of one.

## Fix safety
`torch.no_grad()` makes it an update of the leaf; the out-of-place form makes a new tensor, and the name
no longer means the leaf, so that one is unsafe. Where what is written requires grad itself (`q += self.level`),
`torch.no_grad()` would leave it without a gradient, and the out-of-place form comes first. `torch.no_grad()` is unsafe
where what is written was computed from what requires grad. The out-of-place form comes first, too, where a
variable that means a view is written as a whole (`pos = self.pos[:, :n]; pos += x`): that computes a value.
"""

from __future__ import annotations

import ast

from ...autograd.events.graph_walks import Event, LeafWritten
from ...autograd.facts import Facts
from ...headline import capitalized, headline, titled
from ...source import own_nodes
from ..support.cure import FixProposal
from ..support.finding import Finding, Rule, TraceStep, severity_of
from ..support.story import PARAMETERS, tensor_name

NAMELESS = "a leaf"
SHORT = "a leaf that requires grad"


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, LeafWritten)
    if _is_for_any_flag(event):
        return None
    name = tensor_name(facts, event.tensor) or NAMELESS
    what = f"a view of {name}" if event.view else name
    error = "a view of a leaf Variable that requires grad" if event.view else "a leaf Variable that requires grad"
    which = f", and {name} is" if event.view else ","
    if name.startswith(PARAMETERS):
        which = ", and they are leaves that require grad"
        message = headline(f"Writes {what} in place{which}", "Writes parameters in place, which are leaves")
    else:
        message = headline(
            f"Writes {what} in place{which} a leaf that requires grad",
            f"Writes {name} in place, a leaf that requires grad",
            f"Writes {SHORT} in place",
        )
    if name == NAMELESS:
        message = f"Writes {what} that requires grad in place"
    made = f"This makes {name} require grad" if name != NAMELESS else "This makes the leaf"
    stored = facts.origins.stored.get(event.tensor)
    links = (TraceStep(stored[0].statement, made, short="makes the leaf"),) if stored else ()
    return Finding(
        point=event.point,
        severity=severity_of(event),
        message=message,
        short="written in place",
        raises=f"{error} is being used in an in-place operation",
        links=links,
        help=_advice(event, name),
        cures=cures(event, name, [each.value for each in stored or () if each.value is not None]),
    )


def _is_for_any_flag(event: LeafWritten) -> bool:
    """Whether it is a guess that parameters require grad, and a loop sets ``requires_grad`` of them to what is no
    constant: its author expects that they need not.

        for mine, yours in zip(target.parameters(), source.parameters()):
            mine.copy_(yours).requires_grad_(mine.requires_grad)
    """
    is_guess = bool(event.because) and event.parameter
    return is_guess and any(_sets_flags_again(lap.loop) for lap in event.point.iterations)


def _sets_flags_again(loop: ast.AST) -> bool:
    for node in own_nodes(loop):
        match node:
            case ast.Call(func=ast.Attribute(attr="requires_grad_"), args=[value]):
                pass
            case ast.Assign(targets=[ast.Attribute(attr="requires_grad")], value=value):
                pass
            case _:
                continue
        if not isinstance(value, ast.Constant):
            return True
    return False


def _advice(event: LeafWritten, name: str) -> str:
    """What to do: whether a graph is written on purpose decides."""
    if event.given and not event.parameter:
        return f"Create {name} without `requires_grad=True`: it gets a graph from what is written into it."
    if event.given or event.wanted and not event.parameter:
        return f"Compute a new tensor instead of writing {name}: what is written requires grad itself."
    return "Put the update under `torch.no_grad()`, or compute a new tensor."


def cures(event: LeafWritten, name: str, values: list[ast.expr]) -> tuple[FixProposal, ...]:
    """Out of place, or without a graph: which comes first depends on what is written. ``values`` are what the leaf was
    made of.
    """
    node = event.point.node
    value = event.wanted or event.view and isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)
    then = "stays as it is" if event.view else "is then no longer the leaf"
    apart = FixProposal(
        "out_of_place",
        "Compute a new tensor instead of writing in place",
        (node,),
        "safe" if value else "unsafe",
        effect=capitalized(f"{name} {then}."),
    )
    if event.given and not event.parameter:
        plain = titled("Create {} without `requires_grad`", name)
        effect = "Its graph comes from what is written into it."
        return (*(FixProposal("plain_tensor", plain, (made,), effect=effect) for made in values[:1]), apart)
    effect = "What it was computed from gets no gradient." if event.given else "Autograd does not record it."
    unrecorded = tuple(
        FixProposal(
            purpose,
            titled(f"{what} {{}} under `torch.no_grad()`", name),
            (node,),
            "unsafe" if event.given else "safe",
            effect=effect,
        )
        for purpose, what in (("no_grad_writes", "Update"), ("no_grad", "Update only"))
    )
    return (apart, *unrecorded) if value else (*unrecorded, apart)


RULE = Rule(
    "TL203",
    "leaf-modified-in-place",
    "a leaf that requires grad is written in place",
    __doc__,
    (LeafWritten,),
    check,
    raises=(
        "a leaf Variable that requires grad is being used in an in-place operation",
        "a view of a leaf Variable that requires grad is being used in an in-place operation",
        "a leaf Variable that requires grad has been used in an in-place operation",
    ),
)
