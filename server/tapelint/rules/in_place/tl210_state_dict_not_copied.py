"""A state_dict that was kept while training went on is loaded or saved, or a network loads its own.

## What PyTorch does
`state_dict()` copies nothing: its tensors are the parameters' own memory, and a step writes there. What was kept as the
best weights holds the last ones. To load it changes nothing, to save it saves what the network is now.

## Example
```py
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), 0.1)
best = net.state_dict()
net(torch.ones(2, 3)).sum().backward()
opt.step()
trained = net.weight.detach().clone()
net.load_state_dict(best)  # warning: [state-dict-not-copied] "no copy of the parameters"
assert torch.equal(net.weight, trained)  # torch: silent the old weights are gone
```

## Use instead
```py
import copy
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), 0.1)
best = copy.deepcopy(net.state_dict())
net(torch.ones(2, 3)).sum().backward()
opt.step()
trained = net.weight.detach().clone()
net.load_state_dict(best)
assert not torch.equal(net.weight, trained)  # torch: ok
```

## What is reported
Reports `load_state_dict(kept)` into the network of which `kept` is the `state_dict()`, and `torch.save(kept)`, where an
optimizer has stepped in between, also where only the best weights are kept (`if loss < lowest: ...`). Reports
`target.load_state_dict(net.state_dict())` where both are one network: `target = net` and `net.to(device)` copy nothing.

## Fix safety
There is no fix: `copy.deepcopy(...)` costs the memory of the parameters once more.
"""

from __future__ import annotations

import ast

from ...autograd.events.graph_walks import Event, OwnStateUsed
from ...autograd.facts import Facts
from ...headline import capitalized, headline
from ...severity import Severity
from ..support.finding import Finding, Rule, TraceStep
from ..support.story import code, writer


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, OwnStateUsed)
    taken, write = event.taken, event.write
    if write is None:
        return _one_network(event)
    kept = code(event.source) if event.source is not None else "what is kept"
    does = "loading it changes nothing" if event.use == "load" else "it has the weights of now"
    return Finding(
        point=event.point,
        severity=Severity.WARNING,
        message=headline(f"{kept} is no copy of the parameters: {does}", f"What is kept is no copy: {does}"),
        links=(
            TraceStep(
                taken.node,
                f"{code(taken.node)} gives the memory of the parameters, no copy",
                taken,
                short="the parameters' memory, no copy",
            ),
            TraceStep(
                write.point.node,
                capitalized(f"{writer(write)} writes the parameters, and {kept} with them"),
                write.point,
                short="writes the parameters",
            ),
        ),
        help="Keep a copy: `copy.deepcopy(net.state_dict())`.",
        repeated=(taken.node,),
    )


def _one_network(event: OwnStateUsed) -> Finding:
    """``target.load_state_dict(net.state_dict())`` where that is the same network."""
    calls = [call for call in (event.point.node, event.taken.node) if isinstance(call, ast.Call)]
    names = " and ".join(code(called.value) for call in calls if isinstance(called := call.func, ast.Attribute))
    return Finding(
        point=event.point,
        severity=Severity.WARNING,
        message=headline(f"{names} are one network: loading it changes nothing", "A network loads its own state"),
        links=(),
        help="Make one a copy: `copy.deepcopy(net)`. `other = net` and `net.to(device)` make none.",
    )


RULE = Rule(
    "TL210",
    "state-dict-not-copied",
    "a state_dict that was kept while training went on is loaded or saved, or a network loads its own",
    __doc__,
    (OwnStateUsed,),
    check,
)
