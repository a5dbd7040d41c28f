"""Methods that need no arguments, called on an object that a call has left a graph on.

    class Memory(nn.Module):
        def forward(self, x): outputs = self.fc(x); self.state = outputs[-1]; return outputs
        def reset(self): self.state.detach_()          raises: what `forward` has left is a view
        def clear(self): self.state = None             lets go of the graph

Nothing in the program may call them in this order, so what is found rests on it and names both methods.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ..autograd.events.broken_graph import GraphCopiedOut, RequiresGradRefused
from ..autograd.events.graph_walks import Event, ViewDetached, ViewRefused
from ..domain.completion import ProgramRaised
from ..domain.state import State
from ..domain.values import BoundMethod, Function, HeapRef, Instance
from ..engine.machine import Machine
from ..engine.syntax.syntactic_summary import syntactic_summary
from ..frozen import frozen
from ..semantics.calls import call_value
from .attribute_flow import ObjectFlow
from .inherited_templates import call_site

Refused = ViewDetached | ViewRefused | GraphCopiedOut | RequiresGradRefused
"""What PyTorch refuses to do with a tensor because of the graph or the memory that it is part of."""


@frozen
class Between:
    """A call of a method after another one."""

    name: str
    # The paths on which it ends.
    ended: tuple[State, ...]
    # What PyTorch refuses in it.
    refused: tuple[Refused, ...]


@dataclass(slots=True)
class _Heard:
    found: list[Refused] = field(default_factory=list)

    def hear(self, event: Event) -> None:
        if isinstance(event, Refused):
            self.found.append(event)


def called_between(
    machine: Machine, state: State, flow: ObjectFlow, function: Function, receiver: HeapRef
) -> Iterator[Between]:
    """Each method without arguments called on copies of a path on which ``function`` has ended."""
    for name, method in flow.methods.items():
        if name != "__init__" and method.node is not function.node and needed(method) == 1:
            yield _called(machine, state.fork(), name, method, receiver)


def is_for_callers(flow: ObjectFlow, name: str, function: Function) -> bool:
    """Whether the code that calls ``function`` may call the method ``name`` as well: it is public, is no part of
    ``function``, and does not go backward.
    """
    inner = flow.reached(getattr(function.node, "name", ""))
    summaries = (syntactic_summary(flow.methods[each].node) for each in flow.reached(name))
    return not name.startswith("_") and name not in inner and not any(s.backward or s.yields for s in summaries)


def needed(method: Function) -> int:
    """How many arguments a method must be given, the object included."""
    spec = method.node.args
    return len(spec.posonlyargs) + len(spec.args) - len(method.defaults)


def _called(machine: Machine, state: State, name: str, method: Function, receiver: HeapRef) -> Between:
    site = call_site(state, machine.module, method, state.get(receiver.id, Instance).kind)

    def run(path: State) -> None:
        call_value(machine, path, BoundMethod(method, receiver), [], {}, site)

    heard = _Heard()
    with machine.facts.events.heard_by(heard.hear):
        try:
            ended = machine.run_paths(state, run)
        except ProgramRaised:
            ended = []
    return Between(name, tuple(path for path in ended if path.completion is None), tuple(heard.found))
