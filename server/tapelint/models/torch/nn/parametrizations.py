"""Parameters that are computed from others: by spectral or weight norm, pruning, parametrizations of one's own.

    layer = spectral_norm(nn.Linear(3, 3))
    layer(x)        # computes layer.weight from what the optimizer trains, then the layer

With ``torch.nn.utils.parametrizations`` the weight is computed each time it is asked for. The older functions and
pruning compute it at each call of the layer and keep it as an attribute until the next: its graph can be used up.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from .... import ops
from ....autograd import leaf, record
from ....domain import facets
from ....domain.state import State
from ....domain.values import Const, External, HeapRef, Instance, TensorRef, Tuple, Value
from ....engine.machine import Machine
from ..registry import Call, function

SAVING = ("spectral_norm", "weight_norm")
"""These save what they compute from; what the others save of it does not matter after a step."""
GRAD_FNS = {"weight_norm": "WeightNormInterfaceBackward0", "spectral_norm": "DivBackward0", "orthogonal": ""}
"""The ``grad_fn`` of what each computes, ``MulBackward0`` for pruning; empty where sizes and options decide."""


@function(
    "torch.nn.utils.parametrizations.spectral_norm",
    "torch.nn.utils.parametrizations.weight_norm",
    "torch.nn.utils.parametrizations.orthogonal",
)
def computed_when_read(machine: Machine, state: State, call: Call) -> Value:
    return _parametrize(state, call, "parametrizations.{}.original", *_own(call))


@function("torch.nn.utils.parametrize.register_parametrization")
def register_parametrization(machine: Machine, state: State, call: Call) -> Value:
    return _parametrize(state, call, "parametrizations.{}.original", call.get(2, "parametrization"), "")


@function(
    "torch.nn.utils.spectral_norm",
    "torch.nn.utils.weight_norm",
    "torch.nn.utils.prune.l1_unstructured",
    "torch.nn.utils.prune.random_unstructured",
    "torch.nn.utils.prune.ln_structured",
    "torch.nn.utils.prune.random_structured",
    "torch.nn.utils.prune.custom_from_mask",
    "torch.nn.utils.prune.identity",
)
def computed_when_called(machine: Machine, state: State, call: Call) -> Value:
    how, grad_fn = _own(call)
    module = _parametrize(state, call, "{}_orig", how, grad_fn)
    if isinstance(module, HeapRef) and isinstance(thing := state.heap[module.id], Instance):
        made = computed(machine, state, thing, call.node)
        if how.name == "spectral_norm":  # until the first call the weight is mere data
            made = {name: TensorRef(leaf(state, call.node)) for name in made}
        state.edit(module.id, Instance).attributes.update(made)
    return module


def _own(call: Call) -> tuple[External, str]:
    """Which of PyTorch's own parametrizations ``call`` is, and the ``grad_fn`` of what it computes."""
    name = call.name.rpartition(".")[2]
    grad_fn = GRAD_FNS.get(name, "MulBackward0")
    if name == "weight_norm" and call.get(2, "dim", Const(0)) != Const(0):
        grad_fn = ""  # the fused operation knows the first and the last dimension only
    return External(name), grad_fn


def _parametrize(state: State, call: Call, label: str, how: Value, grad_fn: str) -> Value:
    """The parameter goes on under another name; the module remembers how its old name is computed."""
    module, name = call.get(0, "module"), call.get(1, "name", call.get(1, "tensor_name", Const("weight")))
    if not isinstance(module, HeapRef) or not isinstance(thing := state.heap[module.id], Instance):
        return module
    if not isinstance(name, Const) or not isinstance(name.value, str):
        return module
    if not isinstance(thing.attributes.get(name.value), TensorRef):
        return module
    thing = state.edit(module.id, Instance)
    known = _parametrized(thing)
    original = thing.attributes.pop(name.value)
    thing.attributes.setdefault(label.format(name.value), original)
    thing.attributes[facets.PARAMETRIZED] = Tuple((*known.items, Tuple((name, original, how, Const(grad_fn)))))
    return module


def _parametrized(thing: Instance) -> Tuple:
    """What of a module is computed; where two paths that were merged differ in it, nothing is known of that."""
    known = thing.attributes.get(facets.PARAMETRIZED)
    return known if isinstance(known, Tuple) else Tuple(())


@function(
    "torch.nn.utils.parametrize.remove_parametrizations",
    "torch.nn.utils.remove_spectral_norm",
    "torch.nn.utils.remove_weight_norm",
    "torch.nn.utils.prune.remove",
)
def remove(machine: Machine, state: State, call: Call) -> Value:
    module, name = call.get(0, "module"), call.get(1, "name", call.get(1, "tensor_name", Const("weight")))
    if isinstance(module, HeapRef) and isinstance(thing := state.heap[module.id], Instance):
        known = _parametrized(thing)
        edited = state.edit(module.id, Instance).attributes
        for item in known.items:
            if isinstance(item, Tuple) and item.items[0] == name and isinstance(name, Const):
                for label in [k for k, v in edited.items() if v == item.items[1]]:
                    del edited[label]
                edited[str(name.value)] = item.items[1]
        edited[facets.PARAMETRIZED] = Tuple(
            tuple(i for i in known.items if isinstance(i, Tuple) and i.items[0] != name)
        )
    return module


def computed(
    machine: Machine, state: State, thing: Instance, node: ast.AST, only: str | None = None
) -> dict[str, Value]:
    """The computed parameters of a module, made now. With ``only`` just this one."""
    found: dict[str, Value] = {}
    for item in _parametrized(thing).items:
        assert isinstance(item, Tuple)
        name, original, how, grad_fn = item.items
        assert isinstance(name, Const) and isinstance(grad_fn, Const)
        if only is not None and name.value != only:
            continue
        value = found.get(name.value, original)
        if isinstance(how, External):
            found[name.value] = _made(machine, state, value, (how.name, str(grad_fn.value)), node)
        else:
            found[name.value] = machine.call(state, how, [value], {}, node)
    return found


def _made(machine: Machine, state: State, original: Value, own: tuple[str, str], node: ast.AST) -> Value:
    """What PyTorch's own parametrizations leave behind: a node that saved something, of some also the original."""
    if not isinstance(original, TensorRef):
        return original
    how, grad_fn = own
    row = ops.candidates("square" if how in SAVING else "mul")[0]
    given = {"self": original.id} if how in SAVING else {"self": original.id, "other": leaf(state, node)}
    return TensorRef(record(machine.facts, state, replace(row, name=how, grad_fn=grad_fn), given, node)[0])


def is_kept(thing: Instance, name: str) -> bool:
    """Whether a computed parameter stays an attribute until the next call."""
    return f"{name}_orig" in thing.attributes
