"""``a[i]``, ``a[i] = v`` and ``del a[i]`` on tensors, lists, dicts and the program's own classes."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial

from ..autograd import resolve_view
from ..domain import facets
from ..domain.completion import ProgramRaised
from ..domain.opaque_values import is_data
from ..domain.options import settled
from ..domain.state import State
from ..domain.values import (
    NONE,
    BuiltinMethod,
    Const,
    External,
    HeapRef,
    Instance,
    Mapping,
    Range,
    Sequence,
    SequenceKind,
    Slice,
    TensorRef,
    Tuple,
    Unknown,
    Value,
    as_key,
    entry_key,
    unknown_number,
)
from ..engine.lost_history import taken
from ..engine.machine import EXPRESSIONS, Machine
from ..engine.open_objects import changed, forget_items, open_up, store_in_unknown
from ..engine.paths.conditions import forget
from ..engine.paths.picks import entries, item_picked
from ..engine.statistics import Ended
from ..models.python import array_memory
from ..models.torch import dispatch
from ..models.torch.autograd import missing_grad
from ..models.torch.autograd.changed_objects import part_changed
from ..models.torch.nn import module_registry
from ..models.torch.nn.new_parameters import kept
from ..models.torch.registry import MAPPING_METHODS, SEQUENCE_METHODS, Call, method
from ..ops.module_names import some_of
from . import tensor_items
from .picked_items import at_known_index, at_unknown_index, stored
from .refused.refusals import refuse_item


def load(machine: Machine, state: State, owner: Value, index: Value, node: ast.AST) -> Value:
    if isinstance(owner, TensorRef):
        return tensor_items.load(machine, state, owner, index, node)
    if owner == NONE:
        missing_grad.refuse_none(machine, state, owner, node, "TypeError")
    if isinstance(owner, Tuple):
        return _of_tuple(machine, state, owner, index, node)
    if isinstance(owner, Range):
        return unknown_number()
    if isinstance(owner, HeapRef):
        thing = state.heap[owner.id]
        machine.observations.add(owner.id)
        if isinstance(thing, Sequence):
            kind, more = thing.kind, thing.is_partial
            wrap = partial(_list_of, state, kind, more)
            return _item(machine, state, owner.id, thing.items, more, index, node, wrap)
        if isinstance(thing, Mapping):
            return _entry(machine, state, owner, thing, index, node)
        if isinstance(thing, Instance):
            own = machine.call_dunder(state, owner, "__getitem__", [index], node)
            if own is not None:
                return own
    if isinstance(owner, Unknown):
        name = _item_name(index)
        given = None if name is None else state.given_attributes(owner.tensor_id).get(name)
        return given or array_memory.item_of(machine, owner, index)
    if isinstance(owner, External):
        return _of_library(owner, index)
    return _of_plain(owner)


def _of_tuple(machine: Machine, state: State, owner: Tuple, index: Value, node: ast.AST) -> Value:
    is_spelled = owner.is_spelled and isinstance(index, Slice) and _slice_of(index) is not None
    wrap = partial(_tuple_of, is_spelled)
    return _item(machine, state, 0, list(owner.items), False, index, node, wrap)


def _of_plain(owner: Value) -> Value:
    """An item of a text, or of what is no container: Python has none of a number or None."""
    if isinstance(owner, Const) and not hasattr(owner.value, "__getitem__"):
        raise ProgramRaised("TypeError", f"'{type(owner.value).__name__}' object is not subscriptable")
    return Unknown("item")


def _of_library(owner: External, index: Value) -> Value:
    """``models.__dict__["resnet18"]`` of a library, or a generic type: ``list[Tensor]``, ``nn.Module["..."]``."""
    if not owner.name.endswith(".__dict__"):
        return owner
    if isinstance(index, Const) and isinstance(index.value, str):
        return External(f"{owner.name.removesuffix('__dict__')}{index.value}")
    picked = some_of(owner.name)
    return owner if picked is None else External(picked)


def _slice_of(index: Slice) -> slice | None:
    """The slice that plain bounds make; None where a bound is not known, or is none that Python takes."""
    start, stop, step = (
        part.value if isinstance(part, Const) else "?" for part in (index.start, index.stop, index.step)
    )
    if any(bound is not None and not isinstance(bound, int) for bound in (start, stop, step)) or step == 0:
        return None
    return slice(start, stop, step)


def _items_in(items: list[Value], more: bool, index: Slice) -> list[Value]:
    """The items in a slice. Where there may be ``more``, others may stand between the last one and those before it."""
    known = _slice_of(index)
    if known is None:
        return list(items)
    if more and (known.start or 0) < -1 and (known.step or 1) > 0:
        known = slice(-1, known.stop, known.step)
    return items[known]


def _tuple_of(is_spelled: bool, items: list[Value]) -> Value:
    return Tuple(tuple(items), is_spelled=is_spelled)


def _list_of(state: State, kind: SequenceKind, more: bool, items: list[Value]) -> Value:
    return HeapRef(state.new(Sequence(kind, items, more)))


def _item(
    machine: Machine,
    state: State,
    owner: int,
    items: list[Value],
    more: bool,
    index: Value,
    node: ast.AST,
    wrap: Callable[[list[Value]], Value],
) -> Value:
    if isinstance(index, Const) and isinstance(index.value, int):
        if -len(items) <= index.value < len(items) and (not more or index.value >= 0 or -index.value <= 1):
            item = items[index.value]
            return at_known_index(machine, state, owner, item, index) if owner else item
        return items[-1] if more and items else Unknown("item")
    if isinstance(index, Slice):
        return wrap(_items_in(items, more, index))
    found = item_picked(machine, state, {f"item {place}": item for place, item in enumerate(items)}, more, node)
    return at_unknown_index(machine, state, owner, found, items, index)


def _entry(machine: Machine, state: State, owner: HeapRef, thing: Mapping, index: Value, node: ast.AST) -> Value:
    key = as_key(settled(index))
    if key is not None and (found := thing.items.get(key)) is not None:
        return at_known_index(machine, state, owner.id, found, index)
    may_be_there = thing.items if key is None else [each for each in thing.items if isinstance(each, Unknown)]
    if thing.default is not None and not may_be_there:
        made = machine.call(state, thing.default, [], {}, node)
        state.edit(owner.id, Mapping).items[entry_key(index)] = made
        return made
    if isinstance(index, Unknown) and index in thing.items:
        return thing.items[index]
    there = thing if key is None else _under_unknown_keys(state, thing)
    found = item_picked(machine, state, entries(there), thing.is_partial, node) if there.items else Unknown("item")
    return at_unknown_index(machine, state, owner.id, found, list(there.items.values()), index)


def _under_unknown_keys(state: State, thing: Mapping) -> Mapping:
    """What may stand under a known key that was not seen: what was put in under a key that is not known, where all of
    that is data or none.
    """
    there = {key: value for key, value in thing.items.items() if isinstance(key, Unknown)}
    alike = len({is_data(state, value) for value in there.values()}) == 1
    return Mapping(there if alike else {}, thing.is_partial)


def store(machine: Machine, state: State, owner: Value, index: Value, value: Value, node: ast.AST) -> None:
    owner = dispatch.proven(machine, state, owner)
    if isinstance(owner, TensorRef):
        tensor_items.store(machine, state, owner, index, value, node)
    elif isinstance(owner, HeapRef):
        thing = state.heap[owner.id]
        if isinstance(thing, (Sequence, Mapping)):
            value = kept(machine, state, thing, value, node)
            stored(machine, owner.id, index)
            changed(machine, state, owner.id)
            if isinstance(thing, Sequence):
                _store_item(machine, state, owner, thing, index, value)
            else:
                _store_entry(machine, state, owner, thing, index, value)
        elif isinstance(thing, Instance):
            machine.call_dunder(state, owner, "__setitem__", [index, value], node)
    elif isinstance(owner, Unknown):
        forget(state, owner, "__setitem__")
        array_memory.note_write(machine, state, owner, node)
        store_in_unknown(machine, state, owner, value)
        if (name := _item_name(index)) is not None:
            state.edit_given_attributes(owner.tensor_id)[name] = value
        else:
            forget_items(state, [owner])
    elif isinstance(owner, (External, BuiltinMethod)):
        store_in_unknown(machine, state, owner, value)


def _item_name(index: Value) -> str | None:
    """What an item of an unknown object is kept by: a text is the key of a dict, and what was put there is found again.
    At another place of an array or a tensor stands a copy.
    """
    key = as_key(settled(index))
    return facets.item(key) if isinstance(key, str) else None


def _store_entry(machine: Machine, state: State, owner: HeapRef, thing: Mapping, index: Value, value: Value) -> None:
    """``d[key] = v``; what is known of a key need not be what it is: an unknown value is the key of one entry."""
    edited = state.edit(owner.id, Mapping)
    key = as_key(index)
    if key is not None:
        edited.items[key] = value
        if thing.owner is not None:
            module_registry.keep(state, thing.owner, thing.kind, key, value)
        return
    if thing.owner is not None:
        open_up(machine, [thing.owner])
    edited.items[entry_key(index)] = value
    edited.is_partial = edited.is_partial or not isinstance(index, Unknown)


def _store_item(machine: Machine, state: State, owner: HeapRef, thing: Sequence, index: Value, value: Value) -> None:
    if not isinstance(index, Const):
        open_up(machine, [owner])
    edited = state.edit(owner.id, Sequence)
    if (
        isinstance(index, Const)
        and isinstance(index.value, int)
        and -len(thing.items) <= index.value < len(thing.items)
    ):
        edited.items[index.value] = value
    elif edited.items:  # it may be any of them: what is only a place for it, such as None, need not be there any more
        edited.items[:] = (Unknown("item") if isinstance(item, Const) else item for item in edited.items)
        edited.items[-1] = value
        edited.is_partial = edited.is_partial or isinstance(index, Slice)


def remove(machine: Machine, state: State, owner: Value, index: Value) -> None:
    match owner:
        case TensorRef():
            part_changed(machine, state, owner.id)
        case Unknown():
            state.edit_given_attributes(owner.tensor_id).pop(_item_name(index) or "", None)
        case HeapRef():
            _remove_item(machine, state, owner, index)


def _remove_item(machine: Machine, state: State, owner: HeapRef, index: Value) -> None:
    changed(machine, state, owner.id)
    thing = state.heap[owner.id]
    if as_key(index) is None:
        open_up(machine, [owner])
    if isinstance(thing, Mapping) and (key := as_key(index)) is not None:
        state.edit(owner.id, Mapping).items.pop(key, None)
    elif isinstance(thing, Sequence):
        items = state.edit(owner.id, Sequence).items
        if isinstance(index, Const) and isinstance(index.value, int) and -len(items) <= index.value < len(items):
            del items[index.value]
        elif isinstance(index, Slice):
            parts = (index.start, index.stop, index.step)
            bounds = [part.value for part in parts if isinstance(part, Const) and isinstance(part.value, int | None)]
            if len(bounds) == 3 and bounds[2] != 0:
                del items[bounds[0] : bounds[1] : bounds[2]]


def subscript(machine: Machine, node: ast.Subscript, state: State, key: object) -> Value:
    return loaded(machine, state, machine.eval(node.value, state), machine.eval(node.slice, state), node)


def loaded(machine: Machine, state: State, owner: Value, index: Value, node: ast.Subscript) -> Value:
    """The item that ``node`` reads of ``owner``; where Python has none, it raises."""
    try:
        refuse_item(state, owner, index)
    except ProgramRaised as refused:
        if index != Const(0) or not isinstance(owner, TensorRef) or machine.handlers_around:
            raise
        return _read_number(machine, state, owner, node, refused)
    return load(machine, state, owner, index, node)


def _read_number(
    machine: Machine, state: State, owner: TensorRef, node: ast.Subscript, refused: ProgramRaised
) -> Value:
    """``loss.data[0]``: a number had one dimension before PyTorch 0.4. What is written for that goes on."""
    if resolve_view(state, owner.id).requires_grad:
        raise refused
    if not state.path_condition and machine.unit.ended is None:
        machine.unit.ended = Ended(node, state.point(node).calls, refused.name, refused.message, ".item()")
    return taken(machine, state, owner, node)


def slicing(machine: Machine, node: ast.Slice, state: State, key: object) -> Value:
    start, stop, step = (
        machine.eval(part, state) if part is not None else NONE for part in (node.lower, node.upper, node.step)
    )
    return Slice(start, stop, step)


@method(SEQUENCE_METHODS, "__setitem__")
@method(MAPPING_METHODS, "__setitem__")
def set_item(machine: Machine, state: State, receiver: HeapRef, call: Call) -> Value:
    """What stands for ``a[i] = v`` in a lambda: ``a.__setitem__(i, v)``."""
    store(machine, state, receiver, call.get(0, "key"), call.get(1, "value"), call.node)
    return NONE


EXPRESSIONS.update({ast.Subscript: subscript, ast.Slice: slicing})
