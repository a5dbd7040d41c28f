"""Training goes on in evaluation mode after the first validation.

## What PyTorch does
`eval()` is a switch: it holds until `train()` is called. In evaluation mode dropout does nothing, and batch
normalization uses its running statistics and no longer updates them. So the first epoch trains one network and all
later ones another, without regularization and with the statistics of the first epoch.

## Example
```py
net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
modes = []
net.train()
for epoch in range(3):
    opt.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    opt.step()
    modes.append(net.training)
    net.eval()  # warning: [training-in-evaluation-mode] "never undone"
    with torch.no_grad():
        net(torch.randn(8, 4))
assert modes == [True, False, False]  # torch: silent dropout is off from the second epoch on
```

## Use instead
```py
net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
modes = []
for epoch in range(3):
    net.train()
    opt.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    opt.step()
    modes.append(net.training)
    net.eval()
    with torch.no_grad():
        net(torch.randn(8, 4))
assert modes == [True, True, True]  # torch: ok
```

## What is reported
Reports `eval()` in a loop, if the network is in training mode in the first iteration, and from the second one on it is
trained in evaluation mode: `train()` was called once, before the loop, or never. Only networks are reported that are
evaluated in between, and that have dropout or batch normalization, or ask for `self.training`. Of a network whose code
is not known that is assumed.

## Fix safety
`train()` at the start of each iteration sets all layers to training mode, also those that the program had set to
evaluation mode on purpose. So the fix is marked unsafe.
"""

from __future__ import annotations

import ast

from ...autograd.events.graph_walks import Event
from ...autograd.events.training_step import TrainedInEvaluation
from ...autograd.facts import Facts
from ...autograd.model.program_point import earlier_iteration
from ...headline import cure_title, headline
from ...severity import Severity
from ...source import Loop
from ..support.cure import FixProposal
from ..support.finding import Finding, Rule, TraceStep
from ..support.story import code, iteration


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, TrainedInEvaluation)
    past = earlier_iteration(event.before, event.now)
    if past is None:
        return None
    now = next(lap for lap in event.now.iterations if lap.run == past.run)
    cures: tuple[FixProposal, ...] = ()
    network = event.now.node.func if isinstance(event.now.node, ast.Call) else None
    mode, trained = code(event.point.node), "the network" if network is None else code(network)
    when = [f"call {now.number}"] if now.is_call else [iteration(event.now, now), f"iteration {now.number}"]
    message = headline(
        *(f"{mode} is never undone: {trained} trains in evaluation mode from {each} on" for each in when),
        f"{mode} is never undone: the network trains in evaluation mode",
    )
    if network is not None and event.now.calls == () and isinstance(now.loop, Loop):
        calls = (f"`{ast.unparse(network)}.train()`", "`train()`")
        title = cure_title(*(f"Call {call} at the start of each iteration" for call in calls))
        effect = "Every module in it is then in training mode."
        cures = (FixProposal("train_before", title, (now.loop.body[0], network), "unsafe", effect=effect),)
    return Finding(
        point=event.point,
        severity=Severity.WARNING,
        message=message,
        links=(
            TraceStep(
                event.before.node,
                f"{code(event.before.node)} runs in training mode",
                event.before,
                short="runs in training mode",
            ),
            TraceStep(
                event.point.node,
                "This switches the network to evaluation mode, until `train()` is called",
                event.point,
                short="switches to evaluation mode",
            ),
            TraceStep(
                event.now.node,
                f"{code(event.now.node)} runs in evaluation mode{outcome(event.layer)}",
                event.now,
                short="runs in evaluation mode",
            ),
        ),
        help="Call `train()` at the start of each epoch, or at the end of the validation.",
        cures=cures,
    )


def outcome(layer: str | None) -> str:
    """What a layer, or a network of the program, does in evaluation mode."""
    if layer is None:
        return ""
    if not layer.startswith("nn."):
        return f", which asks for `self.training` (`{layer}`)"
    what = "dropout does nothing" if "Dropout" in layer else "batch normalization keeps its old statistics"
    return f": {what} (`{layer}`)"


RULE = Rule(
    "TL409",
    "training-in-evaluation-mode",
    "training goes on in evaluation mode after the first validation",
    __doc__,
    (TrainedInEvaluation,),
    check,
    answerable=True,
)
