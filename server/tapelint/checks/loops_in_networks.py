"""Loops that are a part of a network: they go through layers or time steps, and their graph belongs to the whole.

def forward(self, x):
    for layer in self.layers: x = layer(x)      no leak, however many layers there are
"""

from __future__ import annotations

import ast
from collections.abc import Set

from ..autograd.model.graph_search import nodes_below
from ..domain.mro import is_module, own_function
from ..domain.state import State
from ..domain.values import NONE, Frame, HeapRef, Instance, TensorRef, Value
from ..engine.machine import Machine
from ..models.torch.nn.module_registry import is_module_like
from ..source import cached_on_node, walk


def is_in_network(machine: Machine, state: State, frame: Frame, run: int) -> bool:
    """Whether a loop is a part of a network: it runs in a ``forward``, or goes through layers, or through what layers
    have computed.
    """
    if runs_forward(machine, state):
        return True
    loops = [lap.loop for lap in state.iterations if lap.run == run]
    return any(_over_layers(state, frame, loop) or _over_outputs(state, frame, loop, run) for loop in loops)


def runs_forward(machine: Machine, state: State) -> bool:
    """Whether a network runs: a loop in it goes through layers or time steps, and its graph belongs to the whole."""
    return any(_is_forward(state, definition, given) for definition, given in machine.context.call_stack)


def _is_forward(state: State, definition: ast.AST, given: tuple[Value, ...]) -> bool:
    """Whether a function that runs is what its first argument, a module, does when it is called."""
    module = given[0] if given else NONE
    thing = state.heap.get(module.id) if isinstance(module, HeapRef) else None
    if not isinstance(thing, Instance) or not is_module(state, thing.kind):
        return False
    found = own_function(state, thing.kind, "forward")
    return found is not None and found.node is definition


def _over_layers(state: State, frame: Frame, loop: ast.AST) -> bool:
    """Whether a loop goes through networks: ``for layer in self.layers``, or ``self.layers[i]`` in ``for i in ...``."""
    if not isinstance(loop, ast.For):
        return False
    names = {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
    if any(is_module_like(state, frame.variables.get(name, NONE)) for name in names):
        return True
    picked = (node.value for node in _subscripts(loop) if _uses(node.slice, names))
    return any(is_module_like(state, _held(state, frame, each)) for each in picked)


def _over_outputs(state: State, frame: Frame, loop: ast.AST, run: int) -> bool:
    """Whether a loop goes through tensors that have a graph already, as the outputs of a network: it keeps no more of
    it than there was. What its body computes of data and gives the same name is no such tensor.
    """
    if not isinstance(loop, ast.For):
        return False
    items = [frame.variables.get(n.id, NONE) for n in ast.walk(loop.target) if isinstance(n, ast.Name)]
    graphs = nodes_below(state.grad_fns(item.id for item in items if isinstance(item, TensorRef)))
    return any(all(lap.run != run for lap in node.created_at.iterations) for node in graphs)


def _uses(expression: ast.expr, names: Set[str]) -> bool:
    return any(isinstance(node, ast.Name) and node.id in names for node in walk(expression))


def _held(state: State, frame: Frame, expression: ast.expr) -> Value:
    """What a variable of the scope holds, or an attribute of the object in one; None stands for anything else."""
    match expression:
        case ast.Name(name):
            return frame.variables.get(name, NONE)
        case ast.Attribute(ast.Name(name), attribute):
            owner = frame.variables.get(name, NONE)
            thing = state.heap.get(owner.id) if isinstance(owner, HeapRef) else None
            return thing.attributes.get(attribute, NONE) if isinstance(thing, Instance) else NONE
    return NONE


@cached_on_node
def _subscripts(loop: ast.AST) -> tuple[ast.Subscript, ...]:
    return tuple(node for node in walk(loop) if isinstance(node, ast.Subscript))
