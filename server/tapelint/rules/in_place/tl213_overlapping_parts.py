"""A part of a tensor is written with another one that it overlaps.

## Why PyTorch fails
Entries are copied one after the other, so one that is read may have been written before. Where both parts lie in memory
without gaps (the first dimension of a contiguous tensor), PyTorch compares them and raises "unsupported operation: some
elements of the input tensor and the written-to tensor refer to a single memory location", in whichever direction the
entries move. In a later dimension it does not look: if entries move to higher indices, values that were just written
are copied on, and the first ones spread. NumPy makes a copy in such cases, PyTorch does not.

## Example
```py
memory = torch.zeros(8, 3)
memory[1:] = memory[:-1]  # error: [overlapping-parts] "overlap" # torch: raises "refer to a single memory location"
```

```py
x = torch.arange(8.0).reshape(2, 4)
x[:, 1:] = x[:, :-1]  # warning: [overlapping-parts] "before it is read"
assert x[0].tolist() == [0.0, 0.0, 0.0, 0.0]  # torch: silent it should be [0, 0, 1, 2]
```

## Use instead
```py
x = torch.arange(8.0).reshape(2, 4)
x[:, 1:] = x[:, :-1].clone()
assert x[0].tolist() == [0.0, 0.0, 1.0, 2.0]  # torch: ok
```

`torch.roll` shifts the entries, too, and puts those at the beginning that fall out at the end.

## What is reported
Reports `x[1:] = x[:-1]`, `x[:, 1:].copy_(x[:, :-1])` and `x[1:] += x[:-1]`: what is read and what is written are parts
of the same tensor, and overlap in memory.

## Fix safety
`clone()` of what is read costs its memory for the time of the copy. Where PyTorch does not raise, the values change,
to those that were meant, so there the fix is marked unsafe.
"""

from __future__ import annotations

from ...autograd.events.graph_walks import Event, OverlapCopied, OverlapRefused
from ...autograd.facts import Facts
from ...headline import headline
from ...severity import Severity
from ..support.cure import COPIED, FixProposal
from ..support.finding import Finding, Rule
from ..support.story import code, tensor_name

ERROR = (
    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
    "location"
)


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, OverlapRefused | OverlapCopied)
    read, name = code(event.read.node), tensor_name(facts, event.whole) or "the tensor"
    is_error = isinstance(event, OverlapRefused) and event.is_certain
    said = "An entry may be overwritten before it is read: PyTorch makes no copy first."
    if isinstance(event, OverlapRefused):
        said = f"It raises if {name} is contiguous and has more than two entries there." if not is_error else ""
    return Finding(
        point=event.point,
        severity=Severity.ERROR if is_error else Severity.WARNING,
        message=headline(
            f"{code(event.point.node)} writes a part of {name} that overlaps with {read}",
            f"Writes a part of {name} with another part that overlaps with it",
        ),
        raises=ERROR if is_error else None,
        help=f"Write a copy: `{code(event.read.node).strip('`')}.clone()`. {said}".rstrip(),
        cures=(_copying(event),),
    )


def _copying(event: OverlapRefused | OverlapCopied) -> FixProposal:
    """What is read is copied first; where PyTorch does not raise that changes values."""
    title = "Write a copy of what is read"
    if isinstance(event, OverlapRefused):
        return FixProposal("clone", title, (event.read.node,), effect=COPIED)
    effect = "Entries that are overwritten before they are read then get other values."
    return FixProposal("clone", title, (event.read.node,), "unsafe", effect=effect)


RULE = Rule(
    "TL213",
    "overlapping-parts",
    "a part of a tensor is written with another one that it overlaps",
    __doc__,
    (OverlapRefused, OverlapCopied),
    check,
    raises=(ERROR,),
)
