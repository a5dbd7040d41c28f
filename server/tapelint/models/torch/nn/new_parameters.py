"""``nn.Parameter(t)``: a new leaf in the memory of ``t``, and what makes one of each tensor that it is given.

nn.Parameter(t)              shares storage and version counter with t; the gradients of the two are separate
nn.ParameterList([t, p])     a new Parameter of t; p, which is one already, stays what it is
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace

from ....autograd import Provenance, leaf, resolve_view
from ....domain.state import State
from ....domain.values import Mapping, Sequence, TensorRef, Value
from ....engine.machine import Machine
from ..dispatch import refuse_integers


def parameter_of(machine: Machine, state: State, source: Value, wants: bool | None, node: ast.AST) -> TensorRef:
    """``nn.Parameter(source, wants)``."""
    made = leaf(state, node, wants, parameter=True)
    if isinstance(source, TensorRef):
        origin = resolve_view(state, source.id)
        if wants:
            refuse_integers(machine, state, source.id, node)
        state.tensors[made] = replace(
            state.tensors[made],
            version_counter=origin.version_counter,
            storage=origin.storage,
            sizes=origin.sizes,
            kind=origin.kind,
        )
        if source.id in machine.facts.contents.float32:
            machine.facts.contents.float32.add(made)
        if origin.grad_fn is None and origin.requires_grad is True:
            machine.facts.record_provenance(made, Provenance(parameter_of=source.id))
    return TensorRef(made)


def registered(machine: Machine, state: State, items: Iterable[Value], node: ast.AST) -> list[Value]:
    """What ``nn.ParameterList`` keeps of ``items``: of each tensor that is no Parameter it makes one."""
    return [
        parameter_of(machine, state, item, True, node)
        if isinstance(item, TensorRef) and not state.tensors[item.id].parameter
        else item
        for item in items
    ]


def kept(machine: Machine, state: State, thing: Sequence | Mapping, value: Value, node: ast.AST) -> Value:
    """What a container keeps that is given ``value``: a list of Parameters makes one of a tensor."""
    if thing.kind not in ("ModuleList", "ModuleDict"):
        return value
    return registered(machine, state, [value], node)[0]
