"""autograd.grad is asked for a gradient that does not exist.

## Why PyTorch fails
The gradient is looked for at exactly the tensor that is given. If the outputs were computed from a detached copy of it,
or if what is given is a view that was made since (`x[0]`), it is not in their graph: "The differentiated Tensor at
index 0 appears to not have been used in the graph". With `allow_unused=True` the answer is None, with
`materialize_grads=True` it is zero: what is moved along such a gradient stays where it is. A tensor that does not
require grad is refused in any case.

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

## What is reported
Reports `torch.autograd.grad` with an input that the outputs do not depend on, or that does not require grad.

## Fix safety
Removing what cut the graph lets the gradient through; removing a `detach()` is unsafe, since the gradient may be meant
with respect to what was detached. Nothing is offered where the outputs do not depend on the input:
`materialize_grads=True` would make the error a gradient of zero.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from ...autograd.events.broken_graph import UnusedInput
from ...autograd.events.graph_walks import Event
from ...autograd.facts import Facts
from ...autograd.model.cuts import Cut
from ...headline import headline
from ...severity import Severity
from ..support.cure import FixProposal
from ..support.finding import Finding, Holds, Rule, TraceStep
from ..support.graph_cuts import ADVICE, cures, reason_of, require_grad
from ..support.story import code, tensor_name

UNUSED = "appears to not have been used in the graph"
PLAIN = "One of the differentiated Tensors does not require grad"
DIFFERENTIATE = "Differentiate with respect to the very tensor that entered the computation."
FROZEN = "Ask for the gradients of what is trained only: leave out what the program has frozen."


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, UnusedInput)
    name = tensor_name(facts, event.tensor) or code(event.created_at.node)
    if event.plain:
        return plain(event, name, facts)
    made = TraceStep(event.created_at.node, f"This makes {name}", event.created_at, short=f"makes {name}")
    return Finding(
        point=event.point,
        severity=Severity.ERROR,
        message=_message(event, name, facts),
        short="not reached",
        raises=UNUSED,
        links=(made, *(_end(event.cut) if event.cut is not None else ())),
        help=_advice(event, facts),
        cures=tuple(_restoring(event.cut)) if event.cut is not None else (),
        no_fix="what the outputs are meant to depend on cannot be seen",
        holds=Holds.IF_NOTHING_MAKES_IT if event.cut is None else Holds.ON_ITS_PATH,
    )


def _message(event: UnusedInput, name: str, facts: Facts) -> str:
    """What is asked for, and why the outputs do not depend on it."""
    asked, cut, nowhere = f"The gradient of {name} is asked for", event.cut, "the outputs do not depend on it"
    if cut is not None:
        place = cut.point.calls[-1] if cut.is_by_mode and cut.point.calls else cut.point.node
        by, mode = code(place), f" under `torch.{cut.name}()`" if cut.is_by_mode else ""
        return headline(
            f"{asked}, but {by} cuts the graph{mode}",
            f"{asked}, but {code(place.func) if isinstance(place, ast.Call) else by} cuts the graph{mode}",
            f"{asked}, but the graph is cut{mode}",
            f"The gradient is asked for of an input, but {by} cuts the graph{mode}",
            f"The gradient is asked for of an input, but the graph is cut{mode}",
        )
    if event.whole is not None:
        whole = tensor_name(facts, event.whole) or "the whole tensor"
        return headline(f"{asked}, a new view: the outputs depend on {whole}", f"{asked}, but {nowhere}")
    return headline(f"{asked}, but {nowhere}", f"An input is asked for, but {nowhere}")


def _restoring(cut: Cut) -> Iterator[FixProposal]:
    """What keeps the graph. What was detached on purpose may be what the gradient should be asked for instead."""
    for cure in cures(cut):
        yield (
            cure if cut.is_by_mode else replace(cure, applicability="unsafe", effect="Gradients then flow through it.")
        )


def _end(cut: Cut) -> Iterator[TraceStep]:
    """Where the graph ends."""
    text = f"The way to the outputs ends here: {reason_of(cut)}"
    yield TraceStep(cut.point.node, text, cut.point, short="the graph is cut")


def _advice(event: UnusedInput, facts: Facts) -> str:
    """What to do."""
    if event.cut is not None:
        return ADVICE.get(event.cut.reason, DIFFERENTIATE)
    if event.whole is not None:
        whole = tensor_name(facts, event.whole) or "the whole tensor"
        return f"Differentiate with respect to {whole}, and take the part of its gradient."
    return DIFFERENTIATE


def plain(event: UnusedInput, name: str, facts: Facts) -> Finding:
    """An input that does not require grad; what the program has frozen is to stay so."""
    made = event.created_at
    frozen = facts.training.frozen_at.get(event.tensor)
    message = f"The gradient of {name} is asked for, but it does not require grad"
    step = TraceStep(made.node, f"This makes {name}", made, short=f"makes {name}")
    if frozen is not None:
        step = TraceStep(frozen.node, f"This freezes {name}", frozen, short=f"freezes {name}")
    return Finding(
        point=event.point,
        severity=Severity.ERROR,
        message=headline(message, "An input does not require grad"),
        short="not reached",
        raises=PLAIN,
        links=(step,),
        help="Set `requires_grad_()` on it before the outputs are computed." if frozen is None else FROZEN,
        cures=(FixProposal("requires_grad", require_grad(name), (made.node,)),) if frozen is None else (),
        no_fix="whether it is to stay frozen is for you to decide",
        holds=Holds.IF_NOTHING_MAKES_IT,
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
