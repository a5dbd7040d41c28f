"""A module keeps what is to be trained, and does not register it.

## What PyTorch does
It raises nothing. A module registers what is an `nn.Parameter` at the moment of the assignment. Everything else is an
attribute like any other: `parameters()` does not give it to the optimizer, `state_dict()` does not save it, `to()` does
not move it. Its gradients are computed in every backward, and no step uses them.

`Parameter.to(device)` returns the Parameter itself if it is there already, and otherwise a computed copy. So a
program that was tried on the CPU trains it, and does not on a GPU. Nor does a module look into a plain list or dict.

## Example
```py
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 1)
        self.shift = torch.tensor(0.0, requires_grad=True)  # warning: [unregistered-parameter] "no `nn.Parameter`"
        self.scale = nn.Parameter(torch.ones(1)) * 0.1  # warning: [unregistered-parameter] "computed"

    def forward(self, x):
        return self.fc(x) * self.scale + self.shift

names = [name for name, _ in Net().named_parameters()]
assert names == ["fc.weight", "fc.bias"]  # torch: silent neither is trained, saved or moved
```

```py
class Net(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.hidden = []  # warning: [unregistered-parameter] "plain list"
        for i in range(depth):
            self.hidden.append(nn.Linear(4, 4))

    def forward(self, x):
        for layer in self.hidden:
            x = layer(x)
        return x

assert not list(Net(2).parameters())  # torch: silent
```

## Use instead
```py
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 1)
        self.shift = nn.Parameter(torch.tensor(0.0))
        self.scale = nn.Parameter(torch.ones(1) * 0.1)

    def forward(self, x):
        return self.fc(x) * self.scale + self.shift

assert len(list(Net().parameters())) == 4  # torch: ok
```

## What is reported
Reports an attribute of an `nn.Module` that its constructor sets to a tensor that requires grad and is no
`nn.Parameter`: a plain tensor, what `.to(device)` or `.cuda()` made of a Parameter, or what was computed of one. Not
reported is what the file gives to an optimizer by itself, collects, writes, or differentiates with respect to. Where
the optimizer of the module steps in the same program, TL304 tells the whole story. And a plain list or dict of layers
that the constructor makes. A list that is written with one item (`self.teacher = [Net()]`) hides it on purpose.

## Fix safety
What was computed of the Parameter is computed of its initial value. `nn.ModuleList` and its like change what is
trained, moved by `to()` and saved, not what is computed.
"""

from __future__ import annotations

from ...autograd.events.broken_graph import ParameterUnregistered
from ...autograd.events.graph_walks import Event
from ...autograd.facts import Facts
from ...headline import headline
from ...severity import Severity
from ..support.cure import FixProposal, container, registered, registering
from ..support.finding import Finding, Rule, Same
from ..support.story import code


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, ParameterUnregistered)
    kept, misses = code(event.point.node), "`parameters()` leaves it out"
    advice = "Assign an `nn.Parameter`, or use `register_buffer` for what is not trained."
    match event.how:
        case "leaf":
            what = f"{kept} requires grad but is no `nn.Parameter`"
            cures: tuple[FixProposal, ...] = (FixProposal("parameter", "Make it an `nn.Parameter`", (event.value,)),)
        case "converted":
            what = f"{kept} is a copy of an `nn.Parameter`, not one itself"
            cures = (FixProposal("parameter_outside", "Wrap the copy in `nn.Parameter`", (event.value,)),)
        case "computed":
            what = f"{kept} is computed from an `nn.Parameter`, and is none"
            cures = (FixProposal("parameter_outside", "Wrap the result in `nn.Parameter`", (event.value,)),)
        case "hidden":
            what, misses = f"{kept} is a plain {container(event.wrapper)}", "`parameters()` misses the layers in it"
            advice, cures = registering(event.wrapper), registered(event.wrapper, event.value)
    alone = " unless they are given it by itself" if event.how in ("leaf", "hidden") else ""
    return Finding(
        point=event.point,
        severity=Severity.WARNING,
        message=headline(f"{what}: {misses}", what, f"{kept} is no `nn.Parameter`"),
        help=(
            f"{advice} As it is, optimizers do not train it{alone}, `state_dict()` does not save it and "
            "`to()` does not move it."
        ),
        cures=cures,
    )


RULE = Rule(
    "TL321",
    "unregistered-parameter",
    "a module keeps what is to be trained, and does not register it",
    __doc__,
    (ParameterUnregistered,),
    check,
    answerable=True,
    told_by={"TL304": Same.AT_ITS_PLACE},
)
