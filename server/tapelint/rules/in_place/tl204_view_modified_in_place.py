"""One of several views that were made at once, or a view made without gradients, is written in place.

## Why PyTorch fails
Writing a view gives its base a new `grad_fn`. Where one operation made several views, each of
them would need a new one, too, and for a view made while grad mode was off it is not clear whether its graph is meant.
PyTorch refuses both at the write: "Output 0 of Split is a view and is being modified inplace", "A view was created in
no_grad mode and is being modified inplace with grad mode enabled".

## Example
```py
x = torch.ones(4, requires_grad=True)
first, second = (x * 2).split(2)
first += 1  # error: [view-modified-in-place] "split" # torch: raises "is a view and is being modified inplace"
```

## Use instead
Compute a new tensor:
```py
x = torch.ones(4, requires_grad=True)
first, second = (x * 2).split(2)
first = first + 1
first.sum().backward()  # torch: ok
```
Or slice: `y[:2]` makes one view, which may be written.

## What is reported
Reports an in-place write to one of several views made at once (`split`, `chunk`, `unbind`, iterating a tensor), to a
view made under `no_grad` or `inference_mode`, or to a view that a custom Function returned; a full backward hook on a
module makes such views of what goes in and of what comes out. Also reports a use of such a view after its base was
written.

## Fix safety
Writing out of place leaves the base unchanged. Where the base is used afterwards and should see the write, slice it
instead.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...autograd.events.graph_walks import Event, ViewRefused
from ...autograd.facts import Facts
from ...headline import capitalized, headline
from ..support.cure import COPIED, FixProposal
from ..support.finding import Finding, Rule, TraceStep, severity_of
from ..support.story import code, tensor_name, writer


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, ViewRefused)
    name = tensor_name(facts, event.tensor) or "a view"
    part = "a view of " if event.part is not None else ""
    node = event.made.node
    made = code(node.iter if isinstance(node, (ast.For, ast.AsyncFor)) else node)
    if event.kind == "multi":
        why = f"{part}one of several views that {made} made"
        short = f"{part}one of several views of one call"
        error = "Such functions do not allow the output views to be modified inplace"
    elif event.kind == "function":
        why = f"{part}a view that {code(event.made.node)} returns from a custom Function"
        short = f"{part}a view that a custom Function or a full backward hook returns"
        error = "This view was created inside a custom Function"
    else:
        mode = "inference mode" if event.kind == "inference" else "no_grad mode"
        why = short = f"{part}a view that was made in {mode}"
        error = f"A view was created in {mode} and is being modified inplace"
    if event.written is not None:
        return _used(event, facts, name)
    known = tensor_name(facts, event.tensor) is not None
    message = headline(
        f"Writes {name} in place, {why}" if known else f"Writes in place {why}",
        f"Writes {name} in place, {short}" if known else f"Writes in place {short}",
        f"Writes in place {short}",
    )
    if event.kind == "multi":
        advice = "Compute a new tensor, or slice the tensor that the views are of: one view may be written."
    else:
        advice = "Compute a new tensor, or make the view by slicing with grad mode on."
    if event.kind == "function":
        advice += " A full backward hook is a custom Function, too."
    return Finding(
        point=event.point,
        severity=severity_of(event),
        message=message,
        short="written in place",
        raises=error,
        links=_makers(event),
        help=advice,
        cures=tuple(_cures(event)),
    )


def _cures(event: ViewRefused) -> Iterator[FixProposal]:
    """A new tensor, the mode in which the view was made, or a copy that nothing protects."""
    node = event.point.node
    yield FixProposal("out_of_place", "Compute a new tensor instead of writing in place", (node,))
    if event.kind == "no_grad":
        yield FixProposal("no_grad", "Write it under `torch.no_grad()`, too", (node,))
    yield FixProposal("clone_before", "Clone it first, and write to the copy", (node,), effect=COPIED)
    for given in node.args if isinstance(node, ast.Call) else ():
        yield FixProposal("clone", "Write to a copy", (given,), effect=COPIED)


def _makers(event: ViewRefused) -> tuple[TraceStep, ...]:
    """Where the protected view was made, and where the view of it, if that is not where it is written."""
    what = "the views" if event.kind == "multi" else "the view"
    steps = [TraceStep(event.made.node, f"{code(event.made.node)} makes {what}", event.made, short=f"makes {what}")]
    if event.part is not None and event.part.node is not event.point.node and event.part != event.point:
        steps.append(
            TraceStep(
                event.part.node,
                f"{code(event.part.node)} makes a view of that view",
                event.part,
                short="makes a view of that view",
            )
        )
    return tuple(steps)


def _used(event: ViewRefused, facts: Facts, name: str) -> Finding:
    """The view itself was only read, but its base was written in between."""
    assert event.written is not None
    write = event.written
    base = tensor_name(facts, write.tensor) or "its base"
    message = headline(
        f"Uses {name}, a view that autograd protects, after {writer(write)} wrote {base} in place",
        f"Uses {name}, a view that autograd protects, after its base was written in place",
        "Uses a view that autograd protects after its base was written in place",
    )
    links = (
        *_makers(event),
        TraceStep(
            write.point.node,
            capitalized(f"{writer(write)} writes {base}, and the view with it"),
            write.point,
            short=f"written, version {write.version}",
        ),
    )
    severity = severity_of(event)
    advice = "Make the view again after the write, or keep a copy (`.clone()`)."
    return Finding(
        point=event.point,
        severity=severity,
        message=message,
        short="the view is used",
        raises="its base or another view of its base has been modified inplace",
        links=links,
        help=advice,
        cures=tuple(_copying(event.made.node, facts)),
        no_fix="whether the values before or after the write are meant cannot be seen",
    )


def _copying(made: ast.AST, facts: Facts) -> Iterator[FixProposal]:
    """Make the views of a copy of the tensor, which the write leaves alone."""
    names = set(facts.origins.names.values())
    iterated = made.iter if isinstance(made, (ast.For, ast.AsyncFor)) else made
    parts: list[ast.expr] = [iterated] if isinstance(iterated, (ast.Name, ast.Attribute)) else []
    if isinstance(iterated, ast.Call):
        parts = [*([iterated.func.value] if isinstance(iterated.func, ast.Attribute) else []), *iterated.args]
    base = next((part for part in parts if ast.unparse(part) in names), None)
    if base is not None or isinstance(made, (ast.Tuple, ast.List)):
        copied = "a copy" if base is None else f"a copy of {code(base)}"
        effect = "The views keep the values from before the write."
        yield FixProposal("clone", f"Make the views of {copied}", (base or made,), "unsafe", effect=effect)


RULE = Rule(
    "TL204",
    "view-modified-in-place",
    "a view that autograd protects is written in place",
    __doc__,
    (ViewRefused,),
    check,
    raises=(
        "is a view and is being modified inplace",
        "A view was created in no_grad mode and is being modified inplace with grad mode enabled",
        "A view was created in inference mode and is being modified inplace in normal mode",
        "its base or another view of its base has been modified inplace",
    ),
)
