"""Training goes on in evaluation mode after the first validation, or a frozen part loses that mode.

## What PyTorch does
`eval()` is a switch: it holds until `train()` is called. In evaluation mode dropout does nothing, and batch
normalization uses its running statistics and no longer updates them. So the first epoch trains one network and all
later ones another, without regularization and with the statistics of the first epoch.

`train()` switches all that a network holds. A frozen part of it that was set to evaluation mode before is in training
mode again: batch normalization uses the statistics of each batch, and the running ones change, although no parameter
does.

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

```py
body = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8)).requires_grad_(False)
body.eval()  # warning: [training-in-evaluation-mode] "`net.train()` undoes `body.eval()`"
net = nn.Sequential(body, nn.Linear(8, 1))
opt = torch.optim.SGD(net[1].parameters(), lr=0.01)
for epoch in range(3):
    net.train()
    opt.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    opt.step()
assert body[1].num_batches_tracked == 3  # torch: silent the statistics of the frozen part have changed
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

```py
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8)).requires_grad_(False)
        self.head = nn.Linear(8, 1)

    def train(self, mode=True):
        super().train(mode)
        self.body.eval()
        return self

    def forward(self, x):
        return self.head(self.body(x))

net = Net()
opt = torch.optim.SGD(net.head.parameters(), lr=0.01)
for epoch in range(3):
    net.train()
    opt.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    opt.step()
assert net.body[1].num_batches_tracked == 0  # torch: ok
```

## What is reported
Reports `eval()` in a loop, or the call that leaves this mode on, if the network is in training mode in the first
iteration, and from the second one on it is trained in evaluation mode: `train()` was called once, before the loop, or
never. Only networks are reported that are evaluated in between, and that have dropout or batch normalization, or ask
for `self.training`. Of a network whose code is not known that is assumed.

Reports `eval()` of a part of a network none of whose parameters requires grad, if `train()` of the network has undone
it before each call of the part. A part that was called in evaluation mode is not reported, nor one that was trained
before.

## Fix safety
`train()` at the start of each iteration sets all layers to training mode, also those that the program had set to
evaluation mode on purpose. So the fix is marked unsafe.
"""

from __future__ import annotations

import ast

from ...autograd.events.graph_walks import Event
from ...autograd.events.training_step import EvaluationUndone, TrainedInEvaluation
from ...autograd.facts import Facts
from ...autograd.model.program_point import earlier_iteration, shared_calls
from ...headline import cure_title, headline
from ...severity import Severity
from ...source import Loop
from ..support.cure import FixProposal
from ..support.finding import Finding, Rule, TraceStep
from ..support.story import code, iteration


def check(event: Event, facts: Facts) -> Finding | None:
    if isinstance(event, EvaluationUndone):
        return _undone(event)
    assert isinstance(event, TrainedInEvaluation)
    past = earlier_iteration(event.before, event.now)
    if past is None:
        return None
    now = next(lap for lap in event.now.iterations if lap.run == past.run)
    cures: tuple[FixProposal, ...] = ()
    network = event.now.node.func if isinstance(event.now.node, ast.Call) else None
    mode, trained = code(event.point.node), "the network" if network is None else code(network)
    when = [f"call {now.number}"] if now.is_call else [iteration(event.now, now), f"iteration {now.number}"]
    call = _left_by(event)
    done, so = f"{mode} is never undone", "in evaluation mode"
    if call is not None:
        done, so = f"{code(call)} leaves evaluation mode on", "in it"
    message = headline(
        *(f"{done}: {trained} trains {so} from {each} on" for each in when),
        f"{done}: the network trains {so}",
        "This leaves evaluation mode on, and the network trains in it",
    )
    if network is not None and event.now.calls == () and isinstance(now.loop, Loop):
        calls = (f"`{ast.unparse(network)}.train()`", "`train()`")
        title = cure_title(*(f"Call {call} at the start of each iteration" for call in calls))
        effect = "Every module in it is then in training mode."
        cures = (FixProposal("train_before", title, (now.loop.body[0], network), "unsafe", effect=effect),)
    return Finding(
        at=call,
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


def _left_by(event: TrainedInEvaluation) -> ast.Call | None:
    """The call that leaves the network in evaluation mode, where what trains it again is not in that call: the methods
    that evaluate may switch, what runs them forgets to switch back.
    """
    inside = event.point.calls[shared_calls(event.point.calls, event.now.calls) :]
    return inside[0] if inside and isinstance(inside[0], ast.Call) else None


def _undone(event: EvaluationUndone) -> Finding:
    """Of a frozen part that is in training mode again."""
    mode, undone, called = (code(point.node) for point in (event.point, event.undone_at, event.now))
    return Finding(
        point=event.point,
        severity=Severity.WARNING,
        message=headline(
            f"{undone} undoes {mode}: what is frozen runs in training mode",
            f"{mode} is undone: what is frozen runs in training mode",
            "`train()` undoes this `eval()`: what is frozen runs in training mode",
        ),
        links=(
            TraceStep(
                event.undone_at.node,
                "This switches all parts of the network to training mode",
                event.undone_at,
                short="switches to training mode",
            ),
            TraceStep(
                event.now.node,
                f"{called} runs the frozen part in training mode{_changing(event.layer)}",
                event.now,
                short="runs in training mode",
            ),
        ),
        help="Override `train()` so that it calls `eval()` of this part, or call that after each `train()`.",
    )


def _changing(layer: str | None) -> str:
    """What a layer, or a network of the program, does in training mode."""
    if layer is None:
        return ""
    if not layer.startswith("nn."):
        return f", which asks for `self.training` (`{layer}`)"
    what = "dropout drops" if "Dropout" in layer else "batch normalization changes its statistics"
    return f": {what} (`{layer}`)"


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
    "training goes on in evaluation mode after the first validation, or a frozen part loses that mode",
    __doc__,
    (TrainedInEvaluation, EvaluationUndone),
    check,
    answerable=True,
)
