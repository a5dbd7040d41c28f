"""A tensor that autograd saved is written in place.

## Why PyTorch fails
A tensor and its views share a version counter, which every in-place write raises by one. An operation that saves a
tensor remembers the version; backward compares, and raises "one of the variables needed for gradient computation has
been modified by an inplace operation". PyTorch names the operation that saved the value, not the line that wrote it;
this rule points at the write.

Whether a write is harmful depends on what the operations around it save: `exp`, `sigmoid`, `tanh`, `relu`, `softmax`
save their result; `*`, `pow`, `log`, `matmul` save inputs; `+` and a product with a number save nothing of it.
`torch.no_grad()` does not help: a write under it counts as well.

## Example
```py
x = torch.ones(3, requires_grad=True)
y = x.exp()
y += 1  # error: [saved-tensor-modified] "exp"
y.sum().backward()  # torch: raises "modified by an inplace operation"
```

## Use instead
```py
x = torch.ones(3, requires_grad=True)
y = x.exp()
y = y + 1
y.sum().backward()  # torch: ok
```

## What is reported
Reports an in-place write (`+=`, `add_`, `x[i] = ...`, `relu_`, ...) to a tensor that an operation
saved for backward, where a backward needs it afterwards.

## Fix safety
The out-of-place operation computes the same value in new memory, and so does a write to a clone. A write to a parameter
that moves behind the backward comes too late for this forward, so that one is marked unsafe. So is a new tensor where
another view of the memory is read later: that one would not show the write.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...autograd.events.graph_walks import Event, SavedTensorModified
from ...autograd.facts import Facts
from ...autograd.model.graph_search import leaf_tensors
from ...headline import cure_title, headline
from ..support.cure import COPIED, Applicability, FixProposal
from ..support.finding import Finding, Rule, severity_of
from ..support.modified_saved import ERROR, REFUSED, error, in_own_backward, is_step, story
from ..support.story import PARAMETERS, code, op_name, role, saved_name, variable

UNNAMED = "a tensor"
LOST = "Other views of the same memory then keep the old values, and are read."


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, SavedTensorModified)
    node, saved, write = event.node, event.saved, event.write
    if is_step(event) or in_own_backward(event, facts):
        return None
    name = saved_name(facts, saved) or (variable(facts, node) if saved.role == "result" else UNNAMED)
    it = "them" if name.startswith(PARAMETERS) else "it"
    message = headline(
        f"Writes {name} in place, but {op_name(node)} saved {it} for {code(event.point.node)}",
        f"Writes {name} in place, but {op_name(node)} saved {it} for a backward",
        f"Writes in place what {op_name(node)} saved for a backward",
    )
    part = role(saved) if not role(saved).startswith("`") else f"its {role(saved)}"
    saves, writes = f"{op_name(node)} saves {name}, {part}, for its backward", f"This writes {name} in place"
    return Finding(
        point=write.point,
        severity=severity_of(event),
        message=message,
        raises=error(event),
        links=story(event, saves, writes),
        help=f"{_advice(event)} `torch.no_grad()` does not help: a write under it counts as well.",
        cures=tuple(_cures(event, facts, name)),
    )


def _advice(event: SavedTensorModified) -> str:
    """What to do: a leaf is written because it is to change, other tensors because that is short."""
    if event.saved.tensor in leaf_tensors(event.path):
        return "Write it after that backward, or compute the loss again after the write."
    match event.write.point.node:
        case ast.AugAssign(target=ast.Name() | ast.Attribute() as target, op=op, value=value):
            new = code(ast.Assign([target], ast.BinOp(target, op, value), lineno=0))
            return f"Compute a new tensor ({new}), or write to a clone."
    return "Compute a new tensor, or write to a clone."


def _cures(event: SavedTensorModified, facts: Facts, name: str | None) -> Iterator[FixProposal]:
    node, operation = event.node.created_at.node, op_name(event.node)
    is_leaf = event.saved.tensor in leaf_tensors(event.path)
    anew = [] if is_leaf else [*_anew(event, facts)]  # it is the leaf that is to be changed
    yield from anew[:-1]
    if event.saved.role == "result":
        if isinstance(node, ast.expr):
            title = cure_title(f"Write to a copy of what {operation} returns", "Write to a copy of the result")
            yield FixProposal("clone", title, (node,), effect=COPIED)
    else:
        for part in ast.walk(node):
            if isinstance(part, (ast.Name, ast.Attribute)) and f"`{ast.unparse(part)}`" == name:
                yield FixProposal("clone", _given_copy(operation, name), (part,), effect=COPIED)
                break
    yield from anew[-1:]
    if event.saved.role != "result":
        given = [node.left, node.right] if isinstance(node, ast.BinOp) else getattr(node, "args", [])
        for part in given if isinstance(node, (ast.BinOp, ast.Call)) else ():
            if not isinstance(part, ast.Starred):
                yield FixProposal("clone", _given_copy(operation, f"`{ast.unparse(part)}`"), (part,), effect=COPIED)
    if is_leaf:
        moved, anchor = _apart(event)
        effect = "The forward then uses the values from before the write."
        for purpose in ("relocate_after", "move_block_after"):
            yield FixProposal(purpose, "Write after the backward", (moved, anchor), "unsafe", effect=effect)


def _anew(event: SavedTensorModified, facts: Facts) -> Iterator[FixProposal]:
    """Give the name that is written a tensor of its own: other views of the memory go on without the write."""
    where = event.write.point.node
    others = facts.memory.read_since.get(event.write.stamp, ())
    if any(facts.origins.names.get(other) != _name_written(where) for other in others):
        safety: Applicability = "unsafe"
        effect = copied = LOST
    else:
        safety, effect, copied = "safe", "", COPIED
    yield FixProposal("out_of_place", "Compute a new tensor instead of writing in place", (where,), safety, (), effect)
    title = "Compute new tensors instead of writing in place each time"
    yield FixProposal("out_of_place_each", title, (where,), safety, (), effect)
    yield FixProposal("clone_before", "Clone it first, and write to the copy", (where,), safety, (), copied)


def _name_written(node: ast.AST) -> str:
    """The text of what a write changes, without the calls and subscripts that cut it out: ``y`` of ``y[0].add_(1)``."""
    match node:
        case ast.Expr(value=part) | ast.Subscript(value=part) | ast.Call(func=ast.Attribute(value=part)):
            return _name_written(part)
        case ast.Assign(targets=[part]) | ast.AugAssign(target=part):
            return _name_written(part)
    return ast.unparse(node)


def _given_copy(operation: str, name: str | None) -> str:
    return cure_title(f"Give {operation} a copy of {name}", f"Give {operation} a copy", "Give it a copy")


def _apart(event: SavedTensorModified) -> tuple[ast.AST, ast.AST]:
    """The write and the backward, or the calls that led to them where their ways part."""
    ours, theirs = (*event.write.point.calls, event.write.point.node), (*event.point.calls, event.point.node)
    return next(((a, b) for a, b in zip(ours, theirs) if a is not b), (ours[-1], theirs[-1]))


RULE = Rule(
    "TL201",
    "saved-tensor-modified",
    "a tensor saved for backward is written in place",
    __doc__,
    (SavedTensorModified,),
    check,
    raises=(ERROR, REFUSED),
)
