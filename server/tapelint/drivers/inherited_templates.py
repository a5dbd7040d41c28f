"""Methods of a base class in another file that call what a class of the checked file fills in: they run on its objects.

class Trainer:                             base.py
    def step(self, batch): self.loss(batch).backward()
    def loss(self, batch): raise NotImplementedError

class Segmentation(Trainer):               the checked file: `step` runs on a `Segmentation`
    def loss(self, batch): ...
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator

from ..domain.mro import is_module, mro_of
from ..domain.state import State
from ..domain.values import Class, Frame, Function, HeapRef, Value
from ..engine.machine import Machine
from .attribute_flow import object_flow


def inherited_templates(
    machine: Machine, state: State, module: int, kind: HeapRef, others: Container[int]
) -> Iterator[tuple[Function, frozenset[ast.AST]]]:
    """The methods that a class of ``module`` inherits from one of the modules ``others``, by their frames, and that
    reach methods which it fills in: ``forward``, and those that go backward. Each with the definitions it reaches so.
    """
    if not _inherits(state, kind, others):
        return
    flow = object_flow(machine, state, kind)
    homes = {name: state.get(method.frame, Frame).module for name, method in flow.methods.items()}
    for name, method in flow.methods.items():
        if homes[name] not in others or name == "__init__":
            continue
        if flow.flows[name].backward or name == "forward" and is_module(state, kind):
            filled = (flow.methods[each].node for each in flow.reached(name) if homes[each] == module)
            if parts := frozenset(filled):
                yield method, parts


def _inherits(state: State, kind: HeapRef, others: Container[int]) -> bool:
    """Whether a base of a class is defined at the top level of one of the modules ``others``."""
    bases = (state.heap[base.id] for base in mro_of(state, kind) if isinstance(base, HeapRef))
    return any(isinstance(base, Class) and base.scope in others for base in bases)


def call_site(state: State, module: int, function: Function, kind: Value) -> ast.AST:
    """Where the story of a method begins that nothing calls: at its definition, or where a class of ``module`` derives
    from that which defines it in another file.
    """
    thing = state.heap[kind.id] if isinstance(kind, HeapRef) else None
    if isinstance(thing, Class) and thing.node.bases and state.get(function.frame, Frame).module != module:
        return thing.node.bases[0]
    return function.node
