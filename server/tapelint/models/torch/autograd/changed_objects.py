"""Objects of unknown classes that a method may have changed: a call whose result the program drops is made for that.

lap = Laplace(net, prior.exp())     unknown, and given a graph: what its methods return may lead there
lap.fit(loader)                     now it may hold anything
loss = lap.likelihood(prior)        what it leads to is not known

And what an unknown network returned, which was taken for a tensor and proves to be a container or an object:

out, states = net(x, states)
for state in states:
    state.detach_()                 no view can be detached like this: `states` is a container, and keeps no graph
"""

from __future__ import annotations

import ast
from dataclasses import replace

from ....autograd import Leaf, Node, Tensor, fresh_id, give_history
from ....domain.state import State
from ....domain.values import BuiltinMethod, TensorRef, Value
from ....engine.machine import Machine
from ....engine.stored_names import named
from ..registry import is_opaque


def may_have_changed(machine: Machine, state: State, method: ast.Attribute, result: Value) -> None:
    """A method was called whose ``result`` is dropped. Where its object is no tensor, and was taken to keep a graph
    that it had been given, it is not taken to do so any more. Nor is an object whose attribute the method is of.
    """
    match method.value:
        case ast.Attribute(base, name) if isinstance(whole := named(machine, state, base), TensorRef):
            is_changed = method.attr == "detach_" or is_opaque(state, BuiltinMethod(whole, method.attr))
            if is_changed and is_opaque(state, BuiltinMethod(whole, name)):  # ``out.state.detach_()``
                part_changed(machine, state, whole.id)
    if isinstance(result, TensorRef):
        _given_may_have_changed(machine, state, method, result)


def _given_may_have_changed(machine: Machine, state: State, method: ast.Attribute, result: TensorRef) -> None:
    owner, graph = named(machine, state, method.value), state.tensors[result.id].grad_fn
    if graph is None or graph.assumption is None or not isinstance(owner, TensorRef):
        return
    tensor = state.tensors[owner.id]
    kept = tensor.grad_fn
    if kept is None or not tensor.assumption or owner.id not in graph.operand_ids:
        return
    if is_opaque(state, BuiltinMethod(owner, method.attr)):
        state.tensors[owner.id] = _forgotten(tensor, kept)


def part_changed(machine: Machine, state: State, whole: int | None) -> None:
    """A part of what an unknown call returned is replaced or loses its graph, as parts of containers and objects do
    and parts of a tensor do not: what the ``whole`` was taken to keep it may keep no more, and so for what it is itself
    a part of. A tensor that was not guessed stays as it is. The first of several results stands for all of them, and
    is its own part.
    """
    seen: set[int] = set()
    while whole is not None and whole not in seen and (tensor := state.tensors[whole]).assumption:
        seen.add(whole)
        if tensor.grad_fn is not None:
            state.changes += 1
            give_history(state, tensor, None, None)
        whole = machine.facts.provenance_of(whole).part_of


def _forgotten(tensor: Tensor, graph: Node) -> Tensor:
    """What stands for an object whose ``graph`` is not known any more: it goes on to depend on leaves, which an
    optimizer or a network holds.
    """
    leaves = tuple(each for each in graph.inputs if isinstance(each, Leaf))
    if not leaves:
        return replace(tensor, requires_grad=None, grad_fn=None, assumption=None)
    graph = replace(graph, id=fresh_id(), inputs=leaves, saved=(), saves_anything=False, is_complete=False)
    return replace(tensor, grad_fn=graph)
