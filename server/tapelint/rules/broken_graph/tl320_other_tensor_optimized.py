"""An optimizer holds another tensor than the loss uses.

## What PyTorch does
It raises nothing: a step skips what has no `.grad`.

`nn.Parameter(t)` is a new leaf. It shares the memory of `t`, but what a backward computes for `t` goes to `t.grad`.
`nn.ParameterList` and `nn.ParameterDict` make a Parameter of each tensor that is none yet.

An optimizer keeps the tensors that it was given, not their names. `x = x.clamp(0, 1).requires_grad_(True)` makes a
tensor of which the optimizer never hears: from the second iteration on nothing moves.

## Example
```py
log_alpha = torch.tensor(0.0, requires_grad=True)
opt = torch.optim.SGD(nn.ParameterList([log_alpha]), lr=0.1)  # warning: [other-tensor-optimized] "a new Parameter"
for step in range(3):
    loss = (log_alpha - 1) ** 2
    opt.zero_grad()
    loss.backward()
    opt.step()
assert log_alpha.item() == 0  # torch: silent three steps, and nothing was trained
```

```py
x = torch.zeros(3, requires_grad=True)
opt = torch.optim.SGD([x], lr=0.1)
for step in range(3):
    loss = ((x - 1) ** 2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        x = x.clamp(0, 0.5).requires_grad_(True)  # warning: [other-tensor-optimized] "keeps the old one"
assert x[0].item() < 0.21  # torch: silent one step of 0.2, and no other
```

```py
G, D = nn.Linear(3, 3), nn.Linear(3, 1)
g_opt = torch.optim.SGD(D.parameters(), lr=0.1)
d_opt = torch.optim.SGD(D.parameters(), lr=0.1)
start = G.weight.detach().clone()
for step in range(3):
    d_opt.zero_grad()
    D(G(torch.randn(2, 3)).detach()).mean().backward()
    d_opt.step()
    g_opt.zero_grad()
    (-D(G(torch.randn(2, 3))).mean()).backward()
    g_opt.step()  # warning: [other-tensor-optimized] "No optimizer holds `G.weight` and `G.bias`"
assert start.equal(G.weight)  # torch: silent the generator is not trained
```

## Use instead
Give the optimizer the tensor that the loss uses (`[log_alpha]`), and write into it:
```py
x = torch.zeros(3, requires_grad=True)
opt = torch.optim.SGD([x], lr=0.1)
for step in range(9):
    loss = ((x - 1) ** 2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        x.clamp_(0, 0.5)
assert x[0].item() == 0.5  # torch: ok
```

## What is reported
Reports a step of an optimizer that finds no gradient in a tensor it was given, because the gradients go to another one
in its place: `nn.Parameter(t)` and `nn.ParameterList([t])` make a new Parameter of `t`, and an assignment in the loop
gives the name of the tensor to a new one.

And optimizers of another network than the one that is trained: one that steps what another one steps in the same
iteration. One that never finds a gradient, or no new one since its last step. One that holds one of two networks
which the same code has made, where the other one is trained. In all of them a backward reaches parameters that no
optimizer holds. Who leaves a network out of all optimizers may mean it: without such an optimizer that is not
reported.

## Fix safety
The optimizer is given the tensor itself in place of the Parameter that was made of it.
"""

from __future__ import annotations

import ast

from ...autograd.events.graph_walks import Event
from ...autograd.events.training_step import OthersTrained, OtherTensorHeld
from ...autograd.facts import Facts
from ...headline import headline, titled
from ...severity import Severity
from ..support.cure import FixProposal
from ..support.finding import Finding, Rule, Same, TraceStep
from ..support.story import code, tensor_name, tensor_names


def check(event: Event, facts: Facts) -> Finding | None:
    if isinstance(event, OthersTrained):
        return superfluous(event, facts)
    assert isinstance(event, OtherTensorHeld)
    held = f"`{ast.unparse(event.optimizer)}`" if event.optimizer is not None else "the optimizer"
    used = tensor_name(facts, event.used) or "the tensor"
    cures: tuple[FixProposal, ...] = ()
    if event.how == "copied":
        texts: tuple[str, ...] = (
            f"{held} holds a new Parameter made of {used}, not {used} itself: {used} is never trained",
            f"The optimizer holds a new Parameter made of {used}: {used} is never trained",
            "The optimizer holds a new Parameter, not the tensor that the loss uses",
        )
        cures = (
            FixProposal(
                "unwrap",
                titled("Give the optimizer {} itself", used, "the tensor"),
                (event.made.node,),
            ),
        )
        advice = f"Give the optimizer {used} itself, or compute the loss from the new Parameter."
    else:
        texts = (
            f"{used} is a new tensor from here on, but {held} keeps the old one: {used} is not trained any more",
            f"{used} is a new tensor, but {held} keeps the old one: {used} is no longer trained",
            f"{used} is a new tensor from here on, but the optimizer keeps the old one",
            "This is a new tensor, but the optimizer keeps the old one",
        )
        advice = f"Write into {used} under `torch.no_grad()`, or build the optimizer anew."
        if event.built is not None:
            cures = (FixProposal("move_after", "Build the optimizer afterwards", (event.built, event.made.node)),)
    return Finding(
        point=event.made,
        severity=Severity.WARNING,
        message=headline(*texts),
        links=(
            TraceStep(
                event.reached.node,
                f"{code(event.reached.node)} computes gradients for {used}",
                event.reached,
                short=f"fills `.grad` of {used}",
            ),
            TraceStep(
                event.point.node,
                f"{code(event.point.node)} looks for them in another tensor, and finds none",
                event.point,
                short="looks in another tensor",
            ),
        ),
        help=advice,
        cures=cures,
    )


def superfluous(event: OthersTrained, facts: Facts) -> Finding:
    """One optimizer too many, and parameters that no optimizer holds."""
    step, names, backward = code(event.step.node), tensor_names(facts, event.leaves), code(event.reached.node)
    help = f"Give the optimizer {names}: build it of the network that the loss uses, when that is made."
    another: tuple[str, ...] = ()
    if event.idle:
        what, short = f"{step} finds no gradient in {tensor_names(facts, event.idle)}", "finds no gradient in a part"
        another = f"{what}: {backward} reaches another network", f"{what}: a loss uses another one"
        help = "Give the optimizer the network that the loss uses, or use the one in the loss that it holds."
    elif event.holds_the_same:
        what, short = f"{step} steps the parameters of another optimizer", "steps what another optimizer holds"
    else:
        what, short = f"{step} finds no new gradient", "finds no new gradient"
    links = [
        TraceStep(
            event.reached.node,
            f"{backward} computes gradients for {names}",
            event.reached,
            short=f"fills `.grad` of {names}",
        ),
        TraceStep(event.step.node, f"{what}, and no other one holds {names}", event.step, short=short),
    ]
    if event.built is not None:
        links.insert(0, TraceStep(event.built, "The optimizer is given its parameters", short="is given parameters"))
    return Finding(
        point=event.point,
        at=event.step.node,
        severity=Severity.WARNING,
        message=headline(
            *another,
            f"{what}; no optimizer holds {names}, which {backward} reaches",
            f"{what}, and no optimizer holds {names}",
            f"No optimizer holds {names}: {what}",
            what,
            short.capitalize(),
        ),
        links=tuple(links),
        help=help,
    )


RULE = Rule(
    "TL320",
    "other-tensor-optimized",
    "an optimizer holds another tensor than the loss uses",
    __doc__,
    (OtherTensorHeld, OthersTrained),
    check,
    told_by={"TL304": Same.IN_ITS_STORY},
)
