"""Assignment to every form of target, and what it tells the tape: under which name a tensor was kept, and where."""

from __future__ import annotations

import ast

from ..autograd import StoreKind, give_history
from ..domain.completion import ProgramRaised
from ..domain.mro import is_module
from ..domain.opaque_values import may_return_numbers
from ..domain.state import State
from ..domain.values import FALSE, TRUE, Const, Frame, HeapRef, Instance, Sequence, TensorRef, Tuple, Unknown, Value
from ..engine.lifecycle import AttributeAssigned, FlagAssigned, UpdateBound
from ..engine.machine import Machine
from ..engine.stored_names import remember, replaces, writes_part
from ..engine.syntax.walked_results import walked_variables
from ..frozen import frozen
from ..models.torch.autograd_function.context_reads import check_unpacked
from ..models.torch.kept_aliases import bound
from ..source import walk, written
from . import attributes, networks_by_use, subscripts
from .iteration import unpack
from .refused.refusals import refuse_unpacking

LOOPS = (ast.For, ast.AsyncFor, ast.comprehension)


@frozen
class Place:
    """Where an attribute or an item is stored: the parts of the target, evaluated."""

    target: ast.Attribute | ast.Subscript
    owner: Value
    index: Value | None = None


def place_of(machine: Machine, state: State, target: ast.Attribute | ast.Subscript) -> Place:
    owner = machine.eval(target.value, state)
    return Place(target, owner, machine.eval(target.slice, state) if isinstance(target, ast.Subscript) else None)


def assign(
    machine: Machine, state: State, target: ast.expr, value: Value, statement: ast.AST, source: ast.expr | None
) -> None:
    """Bind ``value`` to ``target``. ``source`` is the expression it came from, where there is one for exactly this
    target.
    """
    if isinstance(target, ast.Name):
        _assign_name(machine, state, target.id, value, statement, source)
        bound(machine, state, target, value, source, statement)
    elif isinstance(target, (ast.Tuple, ast.List)):
        _unpack(machine, state, target, value, statement, source)
        return
    elif isinstance(target, (ast.Attribute, ast.Subscript)):
        store(machine, state, place_of(machine, state, target), value, statement, source)
        return
    elif isinstance(target, ast.Starred):
        assign(machine, state, target.value, value, statement, source)
        return
    if machine.probe is not None:
        machine.probe(target, state, value)


def store(
    machine: Machine, state: State, place: Place, value: Value, statement: ast.AST, source: ast.expr | None
) -> None:
    """Bind ``value`` to an attribute or an item of what is known by now: the parts of the target are not evaluated."""
    target, owner = place.target, place.owner
    if isinstance(target, ast.Attribute):
        _refuse_plain(state, owner, target.attr, value)
        if isinstance(owner, HeapRef):
            machine.facts.origins.attribute_stores[owner.id, target.attr] = target, source or target
            if isinstance(value, TensorRef):
                machine.lifecycle.attribute_assigned.publish(
                    machine, AttributeAssigned(state, owner, target, value.id, source)
                )
            elif target.attr == "requires_grad" and value in (TRUE, FALSE):
                machine.lifecycle.flag_assigned.publish(machine, FlagAssigned(state, owner, target, value == TRUE))
        remember(machine, state, written(target), value, statement, source, StoreKind.ASSIGNED)
        bound(machine, state, target, value, source, statement)
        attributes.store(machine, state, owner, target.attr, value, target)
    elif place.index is not None:
        # What is not known may be another thing at each name.
        called = written(target if isinstance(owner, Unknown) else target.value)
        remember(machine, state, called, value, statement, source, StoreKind.ASSIGNED)
        bound(machine, state, target, value, source, statement)
        if isinstance(owner, HeapRef) and isinstance(place.index, Const):
            machine.facts.origins.attribute_stores[owner.id, str(place.index.value)] = target, source or target
        subscripts.store(machine, state, owner, place.index, value, target)
        if isinstance(owner, TensorRef) and isinstance(value, TensorRef):
            writes_part(state, written(target.value), owner.id, value.id, statement, source)
    if machine.probe is not None:
        machine.probe(target, state, value)


def _assign_name(
    machine: Machine, state: State, name: str, value: Value, statement: ast.AST, source: ast.expr | None
) -> None:
    is_loop = isinstance(statement, LOOPS)
    if isinstance(value, TensorRef) and (leaf := _updated(machine, state, name, value, source)) is not None:
        machine.lifecycle.update_bound.publish(machine, UpdateBound(state, name, leaf, statement))
    if not is_loop:
        value = networks_by_use.variable(machine, state, name, value, statement)
        replaces(machine, state, state.get(state.frame, Frame).variables.get(name), value)
    machine.bind(state, name, value)
    remember(machine, state, name, value, statement, source, StoreKind.ITERATED if is_loop else StoreKind.ASSIGNED)


def _updated(machine: Machine, state: State, name: str, value: TensorRef, source: ast.expr | None) -> int | None:
    """The leaf of which a name is bound to a new value: one that was computed from it and its gradient, or, where it is
    a parameter, from what the name stood for (``mean = 0.9 * mean + 0.1 * p``).
    """
    leaf = machine.facts.provenance_of(value.id).update_of
    old = state.get(state.frame, Frame).variables.get(name)
    if leaf is not None or not isinstance(source, ast.BinOp) or not isinstance(old, TensorRef):
        return leaf
    is_own = state.tensors[old.id].parameter and any(isinstance(n, ast.Name) and n.id == name for n in walk(source))
    return state.tensors[old.id].storage if is_own else None


def _refuse_plain(state: State, owner: Value, name: str, value: Value) -> None:
    """A module takes no plain tensor where it has a parameter."""
    thing = state.heap[owner.id] if isinstance(owner, HeapRef) else None
    if isinstance(value, TensorRef) and isinstance(thing, Instance) and is_module(state, thing.kind):
        held = thing.attributes.get(name)
        if isinstance(held, TensorRef) and state.tensors[held.id].parameter and not state.tensors[value.id].parameter:
            raise ProgramRaised("TypeError", f"cannot assign 'torch.FloatTensor' as parameter '{name}'")


def _unpack(
    machine: Machine,
    state: State,
    target: ast.Tuple | ast.List,
    value: Value,
    statement: ast.AST,
    source: ast.expr | None,
) -> None:
    names = target.elts
    parts = source.elts if isinstance(source, (ast.Tuple, ast.List)) and len(source.elts) == len(names) else None
    star = next((i for i, e in enumerate(names) if isinstance(e, ast.Starred)), None)
    if star is None:
        if isinstance(value, Tuple) and len(value.items) != len(names) and machine.node_visits:
            check_unpacked(machine, state, value, len(names), target, source)
        refuse_unpacking(state, value, len(names), False)
        items = unpack(machine, state, value, len(names), target)
        _doubt_unwalked(machine, state, value, names, items)
        for index, (name, item) in enumerate(zip(names, items)):
            assign(machine, state, name, item, statement, parts[index] if parts else None)
        return
    refuse_unpacking(state, value, len(names) - 1, True)
    after = len(names) - star - 1
    items = unpack(machine, state, value, None, target)
    while len(items) < len(names) - 1:
        items.append(items[-1] if items else value)
    middle = HeapRef(state.new(Sequence("list", items[star : len(items) - after])))
    for name, item in zip(names, [*items[:star], middle, *items[len(items) - after :]]):
        assign(machine, state, name, item, statement, None)


def _doubt_unwalked(machine: Machine, state: State, whole: Value, names: list[ast.expr], items: list[Value]) -> None:
    """``loss, accuracy = criterion(out, y)``: where only the loss is walked, nothing is known of what is beside it."""
    if not isinstance(whole, TensorRef) or not may_return_numbers(state, whole.id):
        return
    function = state.get(state.frame, Frame).function
    walked = machine.query(walked_variables, machine.running_file(state) if function is None else function.node)
    bound = {name.id: item for name, item in zip(names, items) if isinstance(name, ast.Name)}
    for name, item in {} if walked.isdisjoint(bound) else bound.items():
        if name not in walked and isinstance(item, TensorRef):
            give_history(state, state.tensors[item.id], state.tensors[item.id].grad_fn, None)


def delete(machine: Machine, state: State, target: ast.expr) -> None:
    if isinstance(target, ast.Name):
        state.edit(state.frame, Frame).variables.pop(target.id, None)
    elif isinstance(target, (ast.Tuple, ast.List)):
        for item in target.elts:
            delete(machine, state, item)
    elif isinstance(target, ast.Attribute):
        attributes.remove(machine, state, machine.eval(target.value, state), target.attr, target)
    elif isinstance(target, ast.Subscript):
        subscripts.remove(machine, state, machine.eval(target.value, state), machine.eval(target.slice, state))
