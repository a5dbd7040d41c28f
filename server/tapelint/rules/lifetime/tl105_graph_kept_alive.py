"""A loop collects graphs that no backward walks.

## What PyTorch does
It raises nothing, until no memory is left. A tensor that requires grad holds its graph, and the graph holds every
activation that the operations saved. `total += loss` in a validation loop keeps all batches alive. After a backward the
saved tensors are freed, and the bare nodes of the graph remain, 0.6 to 0.8 KB each: `total += loss` behind the backward
of a network with 200 nodes keeps about 140 KB with each batch.

What an object collects from call to call grows in the same way, with no loop in sight: a metric's `update`, a step that
keeps its losses, a running statistic that is written in place with gradients enabled.

Several names that hold parts of the same graph are one finding, which names them all. It is a hint where a loop that is
known to be short collects in a local variable, which is gone when the function returns.

Not reported is a graph that is, or may be, wanted:

- what some path goes backward through;
- what a function without a caller in the file returns, or leaves to its caller; but for the total of a loop that
  runs a network in evaluation mode;
- a recurrence (each step works on what the step before it has computed), or the derivatives with `create_graph=True` of
  what was computed before the loop, that a function returns, or that end with each iteration of a loop around it. A
  sum or a list of separate terms is reported where the caller never walks it;
- what a list holds whose older items are taken off again (`last.pop(0)`, `last = last[-9:]`): it does not grow;
- what a backward in the loop reaches again: TL102, TL104 or TL107 report that.

## Example
```py
net = nn.Linear(4, 1)
total = 0.0
for step in range(3):
    total += net(torch.randn(8, 4)).pow(2).mean()  # information: [graph-kept-alive] "total"
print(total)  # torch: silent the activations of all iterations are in memory
```

## Use instead
```py
net = nn.Linear(4, 1)
total = 0.0
with torch.no_grad():
    for step in range(3):
        total += net(torch.randn(8, 4)).pow(2).mean()
print(total)  # torch: ok
```
Or keep the number only: `total += loss.item()`, `losses.append(loss.detach())`.

An object that is called again and again:
```py
class Trainer:
    def __init__(self):
        self.net = nn.Linear(4, 1)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
        self.losses = []

    def step(self, x, y):
        loss = (self.net(x) - y).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.losses.append(loss.item())  # torch: ok
```

## What is reported
Reports a running total, a list, a dict, an attribute or a carried state that holds the graphs of several iterations at
the end of a loop, where no backward ever walks them.

## Fix safety
No backward walks the graph, so cutting it changes no gradient.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ...autograd.events.graph_walks import Event, GraphKeptAlive
from ...autograd.facts import Facts
from ...autograd.model.stores import RetainedGraphs
from ...bounds import BOUNDS
from ...headline import cure_title, headline, number_of
from ...severity import Severity
from ..support.cure import FixProposal
from ..support.finding import Finding, Rule, Same, TraceStep
from ..support.story import op_name

KILOBYTES = 0.8
"""What a node takes without what it has saved, measured on the CPU."""

Definition = (ast.FunctionDef, ast.AsyncFunctionDef)


def check(event: Event, facts: Facts) -> Finding | None:
    assert isinstance(event, GraphKeptAlive)
    collected = event.collected
    stored = collected.stored
    name = f"`{stored.target}`"
    loop = _each(collected)
    until = f" until {_names(collected.until)} empties it" if collected.until else ""
    beside = _beside(collected.others)
    links: tuple[TraceStep, ...] = ()
    if collected.alive:
        last = max(collected.alive, key=lambda node: node.id)
        message = headline(
            f"{name} keeps the graph of every {loop} in memory, and no backward uses it",
            f"The graph of every {loop} stays in memory, and no backward uses it",
        )
        stays = f"What {op_name(last)} and the others saved stays in memory"
        links = (
            TraceStep(
                last.created_at.node,
                f"{op_name(last)} saves what a backward would need",
                last.created_at,
                short=f"{op_name(last)} saves for backward",
            ),
        )
    else:
        freed = any(node.saves_anything for node in collected.added)
        stays = "The backward has freed what it saved, its nodes stay" if freed else "Its nodes stay"
        message = headline(
            f"{name} keeps the graph nodes of every {loop} in memory",
            f"The graph nodes of every {loop} stay in memory",
        )
    value = stored.statement.value if isinstance(stored.statement, ast.AugAssign) else stored.value
    title = cure_title(f"Detach what is kept in {name}", "Detach what is kept")
    cures = (FixProposal("detach", title, (value,)),) if value else ()
    return Finding(
        at=stored.statement,
        point=event.point,
        severity=Severity.HINT if _is_cheap(collected) else Severity.INFORMATION,
        message=message,
        links=links,
        help=f"Keep the value (`.item()`, `.detach()`), or compute it under `torch.no_grad()`. {stays}{until}: "
        f"{_cost(collected)} more with each {loop}.{beside}",
        cures=cures,
        loop=collected.lap.loop if collected.alive else None,
    )


def _each(collected: RetainedGraphs) -> str:
    """What happens again and again: a round of a loop, a call of a function."""
    loop = collected.lap.loop
    return f"call of `{loop.name}`" if isinstance(loop, Definition) else "iteration"


def _beside(others: Sequence[str]) -> str:
    """What else holds parts of the same graph: by name, as far as these are few."""
    if not others:
        return ""
    shown, more = [f"`{name}`" for name in others[:2]], len(others) - 2
    if more > 0:
        return f" {', '.join(shown)} and {more} more variable{'s' * (more != 1)} hold parts of the same graph."
    return f" {' and '.join(shown)} hold{'s' * (len(shown) == 1)} a part of the same graph."


def _names(functions: Sequence[str]) -> str:
    return " or ".join(f"`{name}`" for name in functions[:2])


def _cost(collected: RetainedGraphs) -> str:
    """What one iteration adds: nodes, the kilobytes that they take, saved tensors."""
    opaque = sorted({node.assumption for node in collected.added if node.assumption is not None})
    count = sum(node.assumption is None for node in collected.added)
    nodes = number_of(count, "node")
    size = f"{nodes} (about {count * KILOBYTES:.1f} KB)" if not opaque else nodes
    whole = " and ".join(f"the whole graph of `{name}`" for name in opaque[:2])
    saved = number_of(collected.saved, "saved tensor") if collected.saved else ""
    given = "the graph that it is given" if not any(node.certain for node in collected.added) else ""
    parts = [part for part in (given, whole, size if count else "", saved) if part]
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0] if parts else "some"


def _is_cheap(collected: RetainedGraphs) -> bool:
    """Whether it costs little: for the time of a call only, or a few bare nodes."""
    return collected.is_brief or not collected.alive and _is_short(collected)


def _is_short(collected: RetainedGraphs) -> bool:
    """Whether a loop is known to have few iterations, and so are those in it. What is written in place has been there
    before, and will be.
    """
    laps = collected.stored.point.iterations
    around = next((at for at, lap in enumerate(laps) if lap.run == collected.lap.run), None)
    if around is None or collected.stored.value is None:
        return False
    return all(_is_counted(lap.loop) for lap in laps[around:])


def _is_counted(loop: ast.AST) -> bool:
    """Whether the text says how often a loop runs, and that is not often: ``for _ in range(3)``, ``for k in "ab"``."""
    if isinstance(loop, ast.For) and isinstance(loop.iter, (ast.Tuple, ast.List, ast.Constant)):
        return True
    if not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Call):
        return False
    call = loop.iter
    counts = [argument.value for argument in call.args if isinstance(argument, ast.Constant)]
    is_range = isinstance(call.func, ast.Name) and call.func.id == "range"
    return (
        is_range
        and len(counts) == len(call.args)
        and all(isinstance(n, int) and n <= BOUNDS.short_loop for n in counts)
    )


RULE = Rule(
    "TL105",
    "graph-kept-alive",
    "a loop collects graphs that no backward uses",
    __doc__,
    (GraphKeptAlive,),
    check,
    answerable=True,
    told_by=dict.fromkeys(("TL102", "TL104", "TL107"), Same.IN_ITS_STORY),
)
