"""Sequences of different lengths: ``torch.nn.utils.rnn``, packed for recurrent layers and padded again.

packed = pack_padded_sequence(x, lengths)   # a named tuple: data, batch_sizes, and how they were sorted
out, h = rnn(packed)                        # out is packed in the same way
y, lengths = pad_packed_sequence(out)       # writes the parts of y one after the other: can be walked once
"""

from __future__ import annotations

from dataclasses import replace

from ....autograd import resolve_view
from ....domain.completion import ProgramRaised
from ....domain.state import State
from ....domain.values import NONE, Origin, TensorRef, Tuple, Unknown, Value
from ....engine.machine import Machine
from .. import dispatch
from ..registry import Call, function

FIELDS = ("data", "batch_sizes", "sorted_indices", "unsorted_indices")


def is_packed(value: Value) -> bool:
    return isinstance(value, Tuple) and value.names == FIELDS


def repacked(result: Value, packed: Tuple) -> Value:
    """What a recurrent layer returns for a packed input: its output is packed like that. No other layer takes one."""
    if not isinstance(result, Tuple):
        raise ProgramRaised("TypeError", "argument 'input' must be Tensor, not PackedSequence")
    return replace(result, items=(replace(packed, items=(result.items[0], *packed.items[1:])), *result.items[1:]))


@function("torch.nn.utils.rnn.pack_padded_sequence")
def pack(machine: Machine, state: State, call: Call) -> Value:
    result = None
    given = call.get(0, "input")
    if isinstance(given, TensorRef) or isinstance(given, Unknown) and given.origin is Origin.BATCH:
        result = dispatch.run(machine, state, "pack_padded_sequence", call.args, call.kwargs, call.node)
    if not isinstance(result, Tuple):
        return _unknown(machine, state, given, call)
    sorting = Unknown("sorted_indices", False), Unknown("unsorted_indices", False)
    return Tuple((*result.items[:2], *sorting), FIELDS)


@function("torch.nn.utils.rnn.PackedSequence")
def packed_by_hand(machine: Machine, state: State, call: Call) -> Value:
    """Its ``data`` is a field, and has nothing of the ``data`` of a tensor."""
    return Tuple(tuple(call.get(place, name, Unknown(name, False)) for place, name in enumerate(FIELDS)), FIELDS)


@function("torch.nn.utils.rnn.pack_sequence")
def pack_list(machine: Machine, state: State, call: Call) -> Value:
    padded = dispatch.run(machine, state, "pad_sequence", [call.get(0, "sequences")], {}, call.node)
    args = [padded or NONE, Unknown("lengths", False)]
    return pack(machine, state, Call(call.name, args, {}, call.node, call.key))


@function("torch.nn.utils.rnn.pad_sequence")
def pad_list(machine: Machine, state: State, call: Call) -> Value:
    result = dispatch.run(machine, state, "pad_sequence", call.args, call.kwargs, call.node)
    return result if result is not None else _unknown(machine, state, call.get(0, "sequences"), call)


@function("torch.nn.utils.rnn.pad_packed_sequence")
def pad(machine: Machine, state: State, call: Call) -> Value:
    given = call.get(0, "sequence")
    if isinstance(given, Tuple) and is_packed(given):
        result = dispatch.run(machine, state, "pad_packed_sequence", list(given.items[:2]), {}, call.node)
        if result is not None:
            return Tuple((result, Unknown("lengths", False)))
    return Tuple((_unknown(machine, state, given, call), Unknown("lengths", False)))


def _unknown(machine: Machine, state: State, value: Value, call: Call) -> Value:
    """A tensor of which only that is known which graph it may have."""
    tensor = dispatch.tensor_of(machine, state, value)
    if tensor is None or resolve_view(state, tensor).requires_grad is False:
        return Unknown(call.name.rpartition(".")[2], None if tensor is None else False)
    return dispatch.opaque(machine, state, [tensor], call.node, call.name.rpartition(".")[2])
