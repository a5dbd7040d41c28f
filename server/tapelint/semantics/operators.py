"""Operators: on tensors they are ops, on plain values plain arithmetic, on the program's own classes their methods."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from typing import Any

from .. import ops
from ..autograd.events.broken_graph import ManagerDropped
from ..bounds import BOUNDS
from ..domain.induction import InductionValue, derived, is_number, raw_value
from ..domain.opaque_values import as_data, is_data
from ..domain.state import State
from ..domain.values import (
    FALSE,
    NONE,
    TRUE,
    Const,
    HeapRef,
    Mapping,
    MissingGrad,
    Origin,
    Sequence,
    TensorRef,
    Tuple,
    Unknown,
    Value,
    as_key,
)
from ..engine.loops.thresholds import assume_reached
from ..engine.lost_history import added, computed, weighed
from ..engine.machine import EXPRESSIONS, Machine
from ..engine.paths.conditions import decide, following, remembered
from ..engine.paths.parting import Branch, fork
from ..engine.paths.truth import tested_truth, truth
from ..models.python import sets
from ..models.python.classes.comparisons import equal, identical, is_among
from ..models.torch import dispatch, kept_aliases
from ..models.torch.autograd import missing_grad
from ..models.torch.autograd.grad_mode import MANAGERS, waits_to_be_entered
from .calls import call_dunder

ARITHMETIC: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
COMPARISONS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
DUNDER = {
    "Add": "add",
    "Sub": "sub",
    "Mult": "mul",
    "Div": "truediv",
    "MatMult": "matmul",
    "Pow": "pow",
    "FloorDiv": "floordiv",
    "Mod": "mod",
}

MAX_BASE, MAX_EXPONENT = 1e6, 64
"""Powers of smaller numbers are computed, and shifts: others may be larger than memory."""


def binary(machine: Machine, node: ast.BinOp, state: State, key: object) -> Value:
    left, right = machine.eval(node.left, state), machine.eval(node.right, state)
    if isinstance(node.op, ast.Sub):
        kept_aliases.compared(machine, state, left, right, (node.left, node.right), node)
    return remembered(
        machine, node, state, counted(machine, state, node.op, combine(machine, state, node.op, left, right, node))
    )


def counted(machine: Machine, state: State, op: ast.operator, value: Value) -> Value:
    """A number that was added to another one in a loop may be what the program counts: ``n = n + 1``."""
    if isinstance(op, (ast.Add, ast.Sub)) and type(value) is Const and type(value.value) in (int, float):
        return InductionValue(value.value, machine.observations, grows=True) if state.iterations else value
    return value


def combine(machine: Machine, state: State, op: ast.operator, left: Value, right: Value, node: ast.AST) -> Value:
    """``left op right``."""
    name = type(op).__name__
    if _is_none(left) or _is_none(right):
        missing_grad.refuse_none(machine, state, left, node, "TypeError")
        missing_grad.refuse_none(machine, state, right, node, "TypeError")
    missing_grad.tell_moved(machine, state, left, node)
    missing_grad.tell_moved(machine, state, right, node)
    if isinstance(left, Const) and isinstance(right, Const):
        return _plain(op, left, right)
    if isinstance(left, HeapRef) or isinstance(right, HeapRef):
        own = call_dunder(machine, state, left, f"__{DUNDER.get(name, '')}__", [right], node)
        if own is None:
            own = call_dunder(machine, state, right, f"__r{DUNDER.get(name, '')}__", [left], node)
        if own is not None:
            return own
    given = left, right
    left, right = as_data(state, left), as_data(state, right)
    if isinstance(left, TensorRef) or isinstance(right, TensorRef):
        result = _tensors(machine, state, name, left, right, node)
        if name == "Mult":
            weighed(machine, result, *given)
            weighed(machine, result, *reversed(given))
        return result
    joined = _containers(machine, state, name, left, right)
    return _data(machine, state, left, right) if joined is None else joined


def _is_none(value: Value) -> bool:
    return isinstance(value, MissingGrad) or type(value) is Const and value.value is None


def _containers(machine: Machine, state: State, name: str, left: Value, right: Value) -> Value | None:
    """Two tuples or lists joined, or a list repeated; None where it is neither."""
    if name == "Add" and isinstance(left, Tuple) and isinstance(right, Tuple):
        items = left.items + right.items
        return Tuple(items) if len(items) <= BOUNDS.items else Unknown()
    if (members := sets.combined(state, name, left, right)) is not None:
        return HeapRef(state.new(members))
    if not isinstance(left, HeapRef) or not isinstance(thing := state.heap[left.id], Sequence):
        return None
    if name == "Add" and isinstance(right, HeapRef) and isinstance(other := state.heap[right.id], Sequence):
        return HeapRef(state.new(_joined(thing, other)))
    if name == "Mult" and isinstance(right, Const) and isinstance(right.value, int):
        return HeapRef(state.new(_repeated(thing, right.value, machine.limits.made_items)))
    if name == "Mult":
        return HeapRef(state.new(Sequence(thing.kind, thing.items * 2, True)))
    return None


def _data(machine: Machine, state: State, left: Value, right: Value) -> Value:
    """Data where both sides are data, a number where both are numbers; otherwise nothing is known of the result."""
    unknown = isinstance(left, Unknown) or isinstance(right, Unknown)
    if unknown and is_data(state, left) and is_data(state, right):
        return computed(machine, Origin.NUMBER if is_number(left) and is_number(right) else Origin.ANY, left, right)
    return Unknown()


def _tensors(machine: Machine, state: State, name: str, left: Value, right: Value, node: ast.AST) -> Value:
    swap = not isinstance(left, (TensorRef, Unknown)) or isinstance(left, Unknown) and left.origin is Origin.NUMBER
    row = ops.operator_name(name, reflected=swap)
    args = [right, left] if swap else [left, right]
    result = dispatch.run(machine, state, row, args, {}, node) if row else None
    if isinstance(result, TensorRef) and name in ("Add", "Sub"):
        added(machine, result, left if swap else right)
    if result is None:
        found = [t for v in (left, right) if (t := dispatch.tensor_of(machine, state, v)) is not None]
        result = dispatch.opaque(machine, state, found, node, name)
    return result


def _plain(op: ast.operator, one: Const, two: Const) -> Value:
    function = _computable(op, raw_value(one), raw_value(two))
    if function is None:
        return Unknown()
    try:
        return derived(function, one, two)
    except (ArithmeticError, TypeError, ValueError):  # the program's own mistake, such as a division by zero
        return Unknown()


def _computable(op: ast.operator, left: Any, right: Any) -> Callable[[Any, Any], Any] | None:
    """The function that computes ``left op right``; None where its result might take long or be large, and where a text
    is formatted.
    """
    if isinstance(op, ast.Pow):
        return operator.pow if _is_small_power(left, right) else None
    if isinstance(op, (ast.Mult, ast.LShift)) and (
        isinstance(left, (str, bytes)) or isinstance(right, (str, bytes)) or not _modest(left, right)
    ):
        return None
    if isinstance(op, ast.LShift) and isinstance(right, int) and right > MAX_EXPONENT:
        return None
    if isinstance(left, (str, bytes)) and not _makes_short_text(op, left, right):
        return None
    return ARITHMETIC.get(type(op))


def _makes_short_text(op: ast.operator, left: str | bytes, right: Any) -> bool:
    """Whether a text that is added, or formatted with ``%``, stays short: ``"%1000000000d" % i`` does not."""
    if isinstance(op, ast.Mod):
        return isinstance(right, (int, str)) and len(str(left)) <= BOUNDS.text and not _is_wide(left)
    return not isinstance(right, (str, bytes)) or len(left) + len(right) <= BOUNDS.text


def _is_wide(text: str | bytes) -> bool:
    """Whether a format asks for a width, or a precision, of five digits or more."""
    return re.search(r"\d{5}", str(text)) is not None


def _is_small_power(base: Any, exponent: Any) -> bool:
    return (
        isinstance(base, (int, float))
        and isinstance(exponent, (int, float))
        and abs(base) < MAX_BASE
        and abs(exponent) < MAX_EXPONENT
    )


def _joined(thing: Sequence, other: Sequence) -> Sequence:
    """``items + others``: the first of them where they are many, since a list that is doubled again and again is larger
    than memory.
    """
    items = thing.items + other.items
    is_partial = thing.is_partial or other.is_partial or len(items) > BOUNDS.items
    return Sequence(thing.kind, items[: BOUNDS.items], is_partial)


def _repeated(thing: Sequence, times: int, most: int) -> Sequence:
    """``items * times``, which may be far more than memory holds: the first of them, and that there are more."""
    room = -(-most // max(len(thing.items), 1))
    items = thing.items * max(0, min(times, room))
    return Sequence(thing.kind, items, times > 0 and thing.is_partial or times > room and bool(items))


def _modest(left: Any, right: Any) -> bool:
    return all(not isinstance(v, (int, float)) or abs(v) < BOUNDS.operand for v in (left, right))


def unary(machine: Machine, node: ast.UnaryOp, state: State, key: object) -> Value:
    value = machine.eval(node.operand, state)
    if isinstance(node.op, ast.Not):
        known = tested_truth(machine, state, value)
        return remembered(machine, node, state, Unknown("not", False)) if known is None else FALSE if known else TRUE
    if isinstance(value, TensorRef):
        row = ops.operator_name(type(node.op).__name__)
        result = dispatch.run(machine, state, row, [value], {}, node) if row else value
        return value if result is None else result
    if isinstance(value, Const):
        try:
            if isinstance(node.op, ast.USub):
                return Const(-value.value)
            if isinstance(node.op, ast.Invert):
                return Const(~value.value)
            return value
        except TypeError:
            return Unknown()
    if isinstance(value, Unknown):
        result = (
            computed(machine, Origin.ANY, value) if value.requires_grad is False else Unknown("", value.requires_grad)
        )
        return remembered(machine, node, state, result)
    return Unknown()


def compare(machine: Machine, node: ast.Compare, state: State, key: object) -> Value:
    left = machine.eval(node.left, state)
    result: Value = TRUE
    for op, comparator in zip(node.ops, node.comparators):
        right = machine.eval(comparator, state)
        if isinstance(op, (ast.Eq, ast.NotEq)) and len(node.ops) == 1:
            kept_aliases.compared(machine, state, left, right, (node.left, comparator), node)
        recurs = isinstance(node.left, ast.BinOp) and isinstance(node.left.op, ast.Mod)
        step = assume_reached(machine, state, op, left, right, comparator, recurs) or _compare(
            machine, state, op, left, right, node
        )
        if step == FALSE:
            return FALSE
        if step != TRUE:
            result = step
        left = right
    return remembered(machine, node, state, result)


def _compare(machine: Machine, state: State, op: ast.cmpop, left: Value, right: Value, node: ast.AST) -> Value:
    if isinstance(op, (ast.Is, ast.IsNot)):
        same = _is_same(machine, state, left, right)
        return Unknown("is", False) if same is None else Const(same is isinstance(op, ast.Is))
    if isinstance(left, Const) and isinstance(right, Const) and type(op) in COMPARISONS:
        try:
            return Const(bool(COMPARISONS[type(op)](left.value, right.value)))
        except TypeError:
            return Unknown()
    if (answer := _compared_facts(state, op, left, right)) is not None:
        return answer
    if isinstance(op, (ast.In, ast.NotIn)):
        known = _membership(machine, state, op, left, right, node)
        if known is not None:
            return known
    if isinstance(left, TensorRef) or isinstance(right, TensorRef):
        name = ops.operator_name(type(op).__name__)
        first, second = (left, right) if isinstance(left, TensorRef) else (right, left)
        result = dispatch.run(machine, state, name, [first, second], {}, node) if name else None
        if result is not None:
            return result
    return Unknown("comparison", False)


def _is_same(machine: Machine, state: State, left: Value, right: Value) -> bool | None:
    """``left is right``; None where it is not known, as of a parameter that a layer may not have."""
    is_open = isinstance(left, TensorRef) and left.id in machine.facts.contents.optional
    return None if is_open and right == NONE else identical(state, left, right)


def _compared_facts(state: State, op: ast.cmpop, left: Value, right: Value) -> Const | None:
    """``x.dtype == torch.long``, ``x.shape == (4, 3)``, ``backend == np``, or ``!=``; None where it is not known."""
    if not isinstance(op, (ast.Eq, ast.NotEq)):
        return None
    same = equal(state, left, right)
    return None if same is None else Const(same is isinstance(op, ast.Eq))


def _membership(
    machine: Machine, state: State, op: ast.cmpop, left: Value, right: Value, node: ast.AST
) -> Value | None:
    """``left in right``, or ``not in``; None where it is not known."""
    known = _is_known_key(state, left, right)
    if known is None and isinstance(left, Const):
        try:
            known = _is_known_member(machine, state, left, right)
        except TypeError:  # nothing is in a set, or a dict, that cannot be hashed
            return Unknown()
    if known is None and isinstance(right, Tuple):
        known = is_among(state, left, right.items)
    if known is None and isinstance(right, HeapRef) and isinstance(thing := state.heap[right.id], Sequence):
        known = _is_item(machine, state, left, right, thing)
    if known is None and isinstance(right, HeapRef):
        answer = call_dunder(machine, state, right, "__contains__", [left], node)
        known = None if answer is None else truth(machine, state, answer)
    return None if known is None else Const(known is isinstance(op, ast.In))


def _is_item(machine: Machine, state: State, value: Value, container: HeapRef, thing: Sequence) -> bool | None:
    """Whether a list, or a set, has an item that is ``value``, or equal to it."""
    machine.observations.add(container.id)
    if thing.kind in sets.SETS:
        return sets.is_member(state, value, thing)
    known = is_among(state, value, tuple(thing.items))
    return known if known or not thing.is_partial else None


def _is_known_key(state: State, left: Value, right: Value) -> bool | None:
    """Whether a dict of which all keys are known has the key ``left``."""
    if not isinstance(right, HeapRef) or (key := as_key(left)) is None:
        return None
    thing = state.heap[right.id]
    return key in thing.items if isinstance(thing, Mapping) and thing.has_known_keys else None


def _is_known_member(machine: Machine, state: State, left: Const, right: Value) -> bool | None:
    """Whether a text, or a container of which all members are known and plain, has ``left`` in it."""
    if isinstance(right, Const) and isinstance(left.value, str) and isinstance(right.value, str):
        return left.value in right.value
    items = container_keys(machine, state, right)
    return None if items is None else left.value in items


def container_keys(machine: Machine, state: State, value: Value) -> list[Any] | str | None:
    """The plain members of a container, or None where not all are known; a text is asked itself what is in it."""
    if isinstance(value, Const) and isinstance(value.value, str):
        return value.value
    items: list[Value] = []
    if isinstance(value, Tuple):
        items = list(value.items)
    elif isinstance(value, HeapRef):
        thing = state.heap[value.id]
        machine.observations.add(value.id)
        if isinstance(thing, Mapping) and thing.has_known_keys:
            return list(thing.items)
        if not isinstance(thing, Sequence) or thing.is_partial:
            return None
        items = thing.items
    else:
        return None
    return [i.value for i in items if isinstance(i, Const)] if all(isinstance(i, Const) for i in items) else None


def _truth_of_part(
    machine: Machine, state: State, node: ast.BoolOp, part: ast.expr, value: Value
) -> tuple[bool | None, Value]:
    """The truth of a part of ``a and b``, and its value; Python does not ask for that of the last one. A manager
    of a context is true.
    """
    if isinstance(part, ast.Call) and isinstance(value, MANAGERS):
        _pass_over(machine, state, node, part, value)
        return True, value
    known = (truth if part is node.values[-1] else tested_truth)(machine, state, value)
    if known is None and isinstance(part, ast.Compare) and (follows := following(machine, part, state)) is not None:
        return follows, Const(follows)
    return known, value


def boolean(machine: Machine, node: ast.BoolOp, state: State, key: object) -> Value:
    stop = isinstance(node.op, ast.Or)
    value: Value = TRUE
    doubtful: list[tuple[ast.expr, Value]] = []
    for operand in node.values:
        machine.unit.completed.add(operand)
        value = machine.eval(operand, state)
        known, value = _truth_of_part(machine, state, node, operand, value)
        if known is stop:
            break
        if known is None and operand is not node.values[-1]:
            doubtful.append((operand, value))
    if not doubtful:
        return value
    if isinstance(value, TensorRef) and not is_data(state, value):
        return _result(machine, state, key, doubtful, value, stop)
    plain = all(is_data(state, each) for each in (*(given for _, given in doubtful), value))
    if plain and isinstance(value, TensorRef):
        return value
    return remembered(machine, node, state, Unknown("or" if stop else "and", False if plain else None))


def _result(
    machine: Machine, state: State, key: object, doubtful: list[tuple[ast.expr, Value]], last: Value, stop: bool
) -> Value:
    """The operand that is the result on this path: the last one, if all before it may leave it to that."""
    ends = (given for operand, given in doubtful if not _goes_on(machine, state, key, operand, given, stop))
    return next(ends, last)


def _goes_on(machine: Machine, state: State, key: object, operand: ast.expr, value: Value, stop: bool) -> bool:
    """Whether an operand leaves the result to those after it: on this path, if it may. On another it is the result."""
    known, choice, negated = decide(machine, operand, state, value)
    if known is None:
        machine.memo.fork(fork(machine, Branch(operand, ()), state, choice, negated, holds=not stop), key, value)
    return known is not stop


def _pass_over(machine: Machine, state: State, node: ast.BoolOp, part: ast.expr, value: Value) -> None:
    """Publish which manager is not entered: with ``and`` this one, with ``or`` the next. One that acts when it is made
    need not be entered.
    """
    if waits_to_be_entered(value) and part is not node.values[-1]:
        dropped = node.values[node.values.index(part) + isinstance(node.op, ast.Or)]
        machine.facts.events.publish(ManagerDropped(point=state.point(node), dropped=dropped, operands=node))


EXPRESSIONS.update({ast.BinOp: binary, ast.UnaryOp: unary, ast.Compare: compare, ast.BoolOp: boolean})
