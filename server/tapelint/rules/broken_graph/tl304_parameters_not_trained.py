"""An optimizer holds what it cannot train.

## Why PyTorch fails
An optimizer changes tensors in place, by their `.grad`. A computed tensor has none, and changing it would
not change what it was computed from; PyTorch raises "can't optimize a non-leaf Tensor".
`torch.randn(3, requires_grad=True) * 0.01` is a computed tensor: the leaf is the factor that is no longer held.
`.double()` and `.cuda()` compute one, too. If all layers are in a plain list, there is nothing to hold at all:
"optimizer got an empty parameter list".

A parameter behind a cut gets no gradient from anywhere. The optimizer skips it, in every step, and nothing is raised.

`parameters()` finds what is assigned to attributes of a module: modules and `nn.Parameter`s, also those in
`nn.ModuleList`, `nn.ParameterList` and their like. It does not look into lists and dicts. And an optimizer keeps the
tensors that it was given: a layer that replaces another later on has new ones.

`p = p - 0.1 * p.grad` computes a new tensor and gives it the name `p`. In `for p in net.parameters()` that name is
bound anew in the next iteration, and the network still holds what it held.

## Example
```py
image = torch.randn(1, 3, 8, 8, requires_grad=True) * 0.01
opt = torch.optim.SGD([image], lr=0.1)  # error: [parameters-not-trained] "`image`" # torch: raises "non-leaf Tensor"
```

```py
encoder, decoder = nn.Linear(4, 4), nn.Linear(4, 1)
opt = torch.optim.SGD([*encoder.parameters(), *decoder.parameters()], lr=0.1)
for step in range(3):
    h = encoder(torch.randn(8, 4)).data  # warning: [parameters-not-trained] "encoder.weight"
    opt.zero_grad()
    decoder(h).pow(2).mean().backward()
    opt.step()
assert encoder.weight.grad is None  # torch: silent the encoder is not trained
```

```py
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = [nn.Linear(4, 4) for _ in range(2)]  # warning: [parameters-not-trained] "plain list"
        self.out = nn.Linear(4, 1)

    def forward(self, x):
        for layer in self.hidden:
            x = torch.tanh(layer(x))
        return self.out(x)

net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    opt.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    opt.step()
assert len(list(net.parameters())) == 2  # torch: silent the hidden layers are not trained
```

## Use instead
```py
image = (torch.randn(1, 3, 8, 8) * 0.01).requires_grad_()
opt = torch.optim.SGD([image], lr=0.1)  # torch: ok
```

A network registers its layers, and has all of them before the optimizer is built:
```py
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])
        self.out = nn.Linear(4, 1)

    def forward(self, x):
        for layer in self.hidden:
            x = torch.tanh(layer(x))
        return self.out(x)

net = Net()
net.out = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    opt.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    opt.step()  # torch: ok
```

Without `.data` the encoder is trained with the decoder. What is not to be trained is not given to the optimizer, and is
frozen with `requires_grad_(False)`:
```py
encoder, decoder = nn.Linear(4, 4).requires_grad_(False), nn.Linear(4, 1)
opt = torch.optim.SGD(decoder.parameters(), lr=0.1)
for step in range(3):
    h = encoder(torch.randn(8, 4))
    opt.zero_grad()
    decoder(h).pow(2).mean().backward()
    opt.step()  # torch: ok
```

## What is reported
Reports an optimizer (or `add_param_group`) that is given a computed tensor, or a leaf after `.to(device)`, which is a
copy on another device, and a place where the graph is cut (`.data`, `detach`, ...) above parameters that an optimizer
holds and that no backward ever reaches. And the other way round: parameters that backward passes reach, and that the
optimizer of the whole network does not hold, because they are in a plain list or dict, are plain tensors, or were
made or unfrozen after the optimizer. And an update by hand that only binds a name.

## Fix safety
`detach().requires_grad_()` begins a graph at the computed value. What it was computed from is trained no more.
`nn.ModuleList` and its like change what is trained, moved by `to()` and saved, not what is computed. The optimizer is
moved below the new layer, past statements that do not depend on it.
"""

from __future__ import annotations

import ast

from ...autograd.events.broken_graph import NonLeafOptimized, NothingToOptimize
from ...autograd.events.graph_walks import Event
from ...autograd.events.training_step import NeverReached, NeverStepped, UpdateDropped
from ...autograd.facts import Facts
from ...autograd.model.cuts import Cut, CutReason
from ...headline import capitalized, headline, titled
from ...severity import Severity
from ..support.cure import UPDATE, FixProposal, container, registered, registering
from ..support.finding import Finding, Rule, Same, TraceStep
from ..support.story import code, tensor_name, tensor_names, verb

ERROR = "can't optimize a non-leaf Tensor"
EMPTY = "optimizer got an empty parameter list"


def check(event: Event, facts: Facts) -> Finding | None:
    if isinstance(event, NeverReached):
        cut = event.cut
        return behind_a_cut(event, cut, facts) if cut is not None and cut.reason is not CutReason.CHECKPOINT else None
    if isinstance(event, NeverStepped):
        return not_held(event, facts)
    if isinstance(event, UpdateDropped):
        return dropped(event, facts)
    if isinstance(event, NothingToOptimize):
        return nothing_held(EMPTY, event)
    assert isinstance(event, NonLeafOptimized)
    name = tensor_name(facts, event.tensor) or code(event.created_at.node)
    given = f"{name} is given to an optimizer, but it is no leaf"
    message = headline(f"{given}: {code(event.created_at.node)} computed it", given)
    return Finding(
        point=event.point,
        severity=Severity.ERROR,
        message=message,
        raises=ERROR,
        links=(TraceStep(event.created_at.node, f"This computes {name}", event.created_at, short="computed, no leaf"),),
        help="Give it the leaf, or make a leaf of the computed value (`.detach().requires_grad_()`).",
        cures=(
            FixProposal(
                "make_leaf", titled("Make {} a leaf with `detach().requires_grad_()`", name), (event.created_at.node,)
            ),
        ),
    )


def behind_a_cut(event: NeverReached, cut: Cut, facts: Facts) -> Finding:
    """The graph that leads to the parameters ends here, and there is no other way to them."""
    names = tensor_names(facts, event.leaves)
    optimizer = code(event.optimizer) if event.optimizer is not None else "An optimizer"
    them = "it" if len(event.leaves) == 1 else "them"
    message = headline(
        f"{optimizer} holds {names}, but the loss never reaches {them}: `{cut.name}` ends the graph here",
        f"The loss never reaches {names}: `{cut.name}` ends the graph here",
        f"{optimizer} holds {names}, but the loss never reaches {them}",
        f"An optimizer holds {names}, but the loss never reaches {them}",
    )
    return Finding(
        point=cut.point,
        severity=Severity.WARNING,
        message=message,
        links=(
            TraceStep(cut.point.node, f"The graph ends here: `{cut.name}`", cut.point, short="the graph ends"),
            TraceStep(event.point.node, f"This step skips {names}", event.point, short=f"skips {names}"),
        ),
        help="Let the graph go on, or freeze what is not to be trained (`requires_grad_(False)`) and do not give it to "
        "the optimizer.",
    )


RULE = Rule(
    "TL304",
    "parameters-not-trained",
    "an optimizer holds what it cannot train",
    __doc__,
    (NonLeafOptimized, NothingToOptimize, NeverReached, NeverStepped, UpdateDropped),
    check,
    raises=(ERROR, EMPTY),
    answerable=True,
    told_by={"TL303": Same.IN_ITS_STORY},
)


def not_held(event: NeverStepped, facts: Facts) -> Finding:
    """The optimizer of a whole network that has more than the optimizer was given."""
    held = code(event.optimizer) if event.optimizer is not None else "the optimizer"
    kept = code(event.attribute) if event.attribute is not None else code(event.value)
    place = event.attribute or event.value
    names = tensor_names(facts, event.leaves)
    cures: tuple[FixProposal, ...] = ()
    if event.why == "frozen":
        what = "This is unfrozen after the optimizer was made, which does not hold it"
        advice = "Give the optimizer all parameters (a step skips frozen ones), or add these (`add_param_group`)."
    elif event.why == "later":
        what = f"{kept} was made after {held}, which does not hold it"
        advice = "Build the optimizer when the network is complete, or add the new parameters (`add_param_group`)."
        if event.built is not None:
            cures = (FixProposal("move_after", "Build the optimizer afterwards", (event.built, event.value)),)
    else:
        plain = f"a plain {container(event.wrapper)}"
        thing = "a tensor, but no `nn.Parameter`" if event.why == "plain" else plain
        what = f"{kept} is {thing}, so `parameters()` misses {'it' if event.why == 'plain' else 'what is in it'}"
        advice = registering(event.wrapper)
        cures = registered(event.wrapper, event.value)
    message = headline(
        *([f"{what}: {names} {verb(names)} never trained"] if names != kept else []),
        f"{what}: it is never trained",
        what,
    )
    given = f"{capitalized(held)} is given the parameters of the network here"
    links = (
        [TraceStep(event.built, given, short="the optimizer is given its parameters")]
        if event.built is not None
        else []
    )
    links.append(
        TraceStep(
            event.point.node,
            f"{code(event.point.node)} does not update {names}",
            event.point,
            short=f"does not update {names}",
        )
    )
    return Finding(
        at=place,
        point=event.point,
        severity=Severity.WARNING,
        message=message,
        links=tuple(links),
        help=advice,
        cures=cures,
    )


def nothing_held(error: str, event: NothingToOptimize) -> Finding:
    """All there is lies where ``parameters()`` does not look."""
    what = f"The optimizer is given nothing: {code(event.attribute)} is a plain {container(event.wrapper)}"
    message = headline(f"{what}, which `parameters()` skips", what)
    links = (
        TraceStep(
            event.attribute,
            "This is kept where `parameters()` does not look",
            short="kept where `parameters()` does not look",
        ),
    )
    return Finding(
        point=event.point,
        severity=Severity.ERROR,
        message=message,
        raises=error,
        links=links,
        help=registering(event.wrapper),
        cures=registered(event.wrapper, event.value),
    )


def dropped(event: UpdateDropped, facts: Facts) -> Finding:
    """``p = p - lr * p.grad`` for the variable of a loop."""
    statement = event.point.node
    leaf = tensor_name(facts, event.leaf) or "The parameter"
    message = headline(
        f"{leaf} is not updated: this only gives the name `{event.name}` to a new tensor",
        f"{leaf} is not updated: this only gives a name to a new tensor",
    )
    cures: tuple[FixProposal, ...] = ()
    if isinstance(statement, ast.Assign):
        cures = (FixProposal("inplace_update", UPDATE, (statement.value,)),)
    advice = f"Write into the tensor: `{event.name}.copy_(...)`, `{event.name} -= ...`, under `torch.no_grad()`."
    return Finding(
        point=event.point,
        severity=Severity.WARNING,
        message=message,
        help=advice,
        cures=cures,
    )
