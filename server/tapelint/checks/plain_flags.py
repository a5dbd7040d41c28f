"""Modules that are given a plain attribute ``requires_grad``, which only tensors have as a flag.

    net.body.requires_grad = False       its parameters require grad as before
    criterion(net(x), y).backward()

Whether that matters a later backward shows, which reaches one of them. A class of the program that reads such an
attribute, or has one, means something else by it.
"""

from __future__ import annotations

import ast

from ..autograd import Leaf
from ..autograd.events.broken_graph import FlagOfModuleSet
from ..domain.mro import is_module, mro_of
from ..domain.state import State
from ..domain.values import Class, HeapRef, Instance, Sequence
from ..engine.lifecycle import BackwardEnded, FlagAssigned
from ..engine.machine import Machine
from ..models.torch.nn.module_registry import is_module_like, parameters_of
from ..source import cached_on_node, walk

FLAG = "requires_grad"


def on_flag_assigned(machine: Machine, event: FlagAssigned) -> None:
    """Note the leaves of a module that is to be frozen and keep their own flags."""
    state, owner = event.state, event.owner
    if not _is_plain_module(state, owner):
        return
    leaves = [state.tensors[key].storage for _, key in parameters_of(state, owner)]
    flags, point = machine.facts.networks.plain_flags, state.point(event.target)
    for leaf in leaves:
        if event.wanted:
            flags.pop(leaf, None)
        else:
            flags[leaf] = point


def _is_plain_module(state: State, owner: HeapRef) -> bool:
    """Whether something is a module, and neither its class nor a base class means anything by ``requires_grad``."""
    thing = state.heap[owner.id]
    if isinstance(thing, Sequence):
        return is_module_like(state, owner)
    if not isinstance(thing, Instance) or not is_module(state, thing.kind):
        return False
    kinds = (state.heap[kind.id] for kind in mro_of(state, thing.kind) if isinstance(kind, HeapRef))
    return not any(isinstance(kind, Class) and _means_its_own(kind.node) for kind in kinds)


@cached_on_node
def _means_its_own(kind: ast.AST) -> bool:
    """Whether a class has or reads an attribute of the name itself: ``self.requires_grad``."""
    own = (node for node in walk(kind) if isinstance(node, ast.Attribute) and node.attr == FLAG)
    named = any(getattr(part, "name", None) == FLAG for part in getattr(kind, "body", ()))
    return named or any(isinstance(node.value, ast.Name) and node.value.id == "self" for node in own)


def on_backward_ended(machine: Machine, event: BackwardEnded) -> None:
    """Publish the flags that were set in vain before a pass that has reached leaves of the module."""
    flags, state = machine.facts.networks.plain_flags, event.state
    if not flags:
        return
    leaves = (item.tensor for node in event.nodes() for item in node.inputs if isinstance(item, Leaf))
    for point in dict.fromkeys(flags.get(state.tensors[leaf].storage) for leaf in leaves):
        if point is not None:
            machine.facts.events.publish(FlagOfModuleSet(point=point, walk=state.point(event.call)))
