"""What is unknown is taken for nothing certain: not for data, not for a number, not for one thing twice.

out = unet(x).sample          `unet` is of a library: `out` is an attribute, and it is unknown of what
((out - noise) ** 2).mean()   so `out` is no number; whether the difference has a graph is not known
a, b = native.knn(points)     two results, of which one may be data and the other not
"""

from __future__ import annotations

import ast
import sys

from .. import ops
from ..autograd import Facts, Leaf, Provenance, give_history, invent, resolve_view
from ..bounds import BOUNDS
from .mro import mro_of
from .state import State
from .values import (
    BuiltinMethod,
    Const,
    External,
    HeapRef,
    Instance,
    Mapping,
    Range,
    Sequence,
    TensorRef,
    Tuple,
    Unknown,
    Value,
)

KNOWN = frozenset((*sys.stdlib_module_names, "builtins", "numpy", "torch"))
"""Packages whose constants are numbers, types and texts: ``math.pi``, ``np.inf``, ``torch.float``."""


def as_data(state: State, value: Value) -> Value:
    """What an operation is given: an attribute, an object of the program or of a library is a value of which nothing
    is known; an attribute of data is data.
    """
    if isinstance(value, BuiltinMethod):
        if _is_setting(state, value):
            return Unknown("attribute", False)
        return Unknown("attribute", value.receiver.requires_grad if isinstance(value.receiver, Unknown) else None)
    if isinstance(value, External) and value.name.partition(".")[0] not in KNOWN:
        return Unknown("library")
    if isinstance(value, HeapRef) and isinstance(state.heap[value.id], Instance):
        return Unknown("object")
    return value


def _is_setting(state: State, attribute: BuiltinMethod) -> bool:
    """Whether it is what a layer of PyTorch was made with and keeps: ``self.momentum`` in a class derived from
    ``BatchNorm2d``. It is no tensor, whatever the constructor was given.
    """
    owner = state.heap[attribute.receiver.id] if isinstance(attribute.receiver, HeapRef) else None
    if not isinstance(owner, Instance) or owner.is_partial:
        return False
    kinds = [kind.name for kind in mro_of(state, owner.kind) if isinstance(kind, External)]
    rows = [row for name in kinds if name.startswith("torch.nn.") and (row := ops.layer(name.rpartition(".")[2]))]
    return any(attribute.name in row.arguments and attribute.name not in TENSORS for row in rows)


TENSORS = frozenset(("weight", "_weight", "bias", "pos_weight", "_random_samples"))
"""Arguments of layers that are tensors, or have the name of one."""


def is_data(state: State, value: Value, deep: int = BOUNDS.data_depth) -> bool:
    """Whether there is certainly nothing in a value that has a graph: numbers, texts, data, and containers of such."""
    value = as_data(state, value)
    if isinstance(value, Unknown):
        return value.requires_grad is False
    if isinstance(value, TensorRef):
        return resolve_view(state, value.id).requires_grad is False
    if isinstance(value, Tuple):
        return deep > 0 and all(is_data(state, item, deep - 1) for item in value.items)
    thing = state.heap[value.id] if isinstance(value, HeapRef) else None
    if isinstance(thing, (Sequence, Mapping)):
        items = thing.items if isinstance(thing, Sequence) else thing.items.values()
        return deep > 0 and not thing.is_partial and all(is_data(state, item, deep - 1) for item in items)
    return isinstance(value, (Const, External, Range))


def part_of(facts: Facts, state: State, whole: int, node: ast.AST) -> TensorRef:
    """A part of what an unknown call has returned, which is taken for a tensor and may be several: it depends on
    what the whole depends on, and shares nothing with other parts for certain. Of several each has the graph it was
    made with, whatever the mode is now.
    """
    tensor = resolve_view(state, whole)
    made = invent(facts, state, [whole], node, assumption_of(state, whole), saves_anything=False)
    may_be_cut = facts.provenance_of(whole).parts_may_be_cut
    facts.record_provenance(made, Provenance(part_of=whole, parts_may_be_cut=may_be_cut))
    if (may_be_cut or state.grad_mode is not True) and tensor.requires_grad is not False:
        give_history(state, state.tensors[made], state.tensors[made].grad_fn, None)
    return TensorRef(made)


def assumption_of(state: State, key: int) -> str | None:
    """The unknown code that a tensor, or what it is a view of, came from; it may be no tensor (``env.T.values()``)."""
    tensor = state.tensors[key]
    return tensor.assumption or (state.tensors[tensor.base].assumption if tensor.base is not None else None)


def may_return_numbers(state: State, whole: int, is_loss: bool = False) -> bool:
    """Whether an unknown call may return numbers beside what has a graph: it ``is_loss``, or was given a graph as one
    is. Two results of a network may both lead to losses, and what one of the program returns its text says.
    """
    tensor = resolve_view(state, whole)
    below = tensor.grad_fn.inputs if tensor.assumption and tensor.grad_fn is not None else ()
    leaves = [each for each in below if isinstance(each, Leaf)]
    is_unknown = all(state.tensors[each.tensor].stands_for_module for each in leaves)
    return is_unknown and (is_loss or len(leaves) < len(below))


def item_at_unknown_place(state: State, items: list[Value]) -> Value:
    """The item at an unknown place: known only if all are the same kind of thing; then the last stands for it, but for
    those of which the last has no graph and another may have one.
    """
    if not items or any(type(i) is not type(items[0]) for i in items):
        return Unknown("item")
    is_last_data = is_data(state, items[-1])
    return Unknown("item") if is_last_data and not all(is_data(state, item) for item in items) else items[-1]
