"""Tests that are not known: the formulas by which their truth is remembered on a path.

    use = mode == "train"
    if use: ...
    if mode == "test": ...       # the same `mode`: not where `use` is true

A formula is the shape of a test with the values that its parts had: the same test on the same values has the same
truth, and says something of others (``entailment.py``). A tensor stands for what is in it, and so does a number that
was read from it.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable

from ...autograd import contents
from ...autograd.model.choices import Region
from ...bounds import BOUNDS
from ...domain.induction import InductionValue
from ...domain.state import State
from ...domain.values import BuiltinMethod, Const, HeapRef, Sequence, TensorRef, Tuple, Unknown, Value
from ...source import walk, written
from ..machine import Machine
from ..observer import Decided, DecideReason
from .defaults import by_default, is_possible, is_second, premise_of, supposing
from .entailment import entailed, values_of_fact
from .truth import tested_truth, truth

LOGIC = (ast.Compare, ast.BoolOp, ast.UnaryOp)
EACH = (ast.GeneratorExp, ast.ListComp)
OPPOSITE = {ast.IsNot: "Is", ast.NotEq: "Eq", ast.NotIn: "In"}
PURE = frozenset(
    "isinstance issubclass hasattr getattr callable bool abs startswith endswith lower upper strip get len type str "
    "int float round any all min max sum size dim numel exists isfile isdir is_file is_dir isdigit isnumeric "
    "isalpha".split()
)
"""Functions and methods whose results depend on what they are given alone, and are asked for again and again: of Python
(builtins, ``str``, ``os.path``, ``pathlib``), and ``size``, ``dim``, ``numel`` of torch.Tensor.
"""
INSIDE = frozenset("len any all max min sum get size".split())
"""Those among them that depend on what a container holds."""
ADDING = frozenset("append appendleft extend extendleft insert add update setdefault put push".split())
"""Methods that put something into a container: of lists, sets, dicts, ``collections.deque`` and ``queue.Queue``
(https://docs.python.org/3/library/stdtypes.html), and of the containers of torch.nn, which are called the same.
"""
TAKING = frozenset("clear discard pop popitem popleft remove".split())
"""Methods that take something out of one (the same page)."""
CHANGING = ADDING | TAKING | {"__setitem__"}
"""Methods after which a container holds something else."""


def symbolic(machine: Machine, node: ast.expr, state: State) -> Hashable:
    """What was evaluated last at ``node``, as a formula."""
    if isinstance(node, ast.Constant):
        return Const(node.value)
    value = machine.lookup(state, node.id) if isinstance(node, ast.Name) else machine.memo.latest(node)
    if isinstance(value, Const):
        return ("begun", value) if isinstance(value, InductionValue) and value.begun else value
    if isinstance(node, (*LOGIC, *EACH)) and (shape := _shape(machine, node, state)) is not None:
        return shape
    if not isinstance(value, Unknown):
        if isinstance(value, TensorRef):
            known = truth(machine, state, value)
            return contents(state, value.id) if known is None else Const(known)
        return written(node) if value is None else value
    if value.formula is not None:
        return value.formula
    if (read := machine.facts.provenance_of(value.tensor_id).number_in) is not None:
        return read
    return _shape(machine, node, state) or value


def _shape(machine: Machine, node: ast.expr, state: State) -> Hashable | None:
    """How ``node`` computes its value, if that depends on the values of its parts alone."""
    if isinstance(node, ast.UnaryOp):
        inner = symbolic(machine, node.operand, state)
        return _negated(inner) if isinstance(node.op, ast.Not) else (type(node.op).__name__, inner)
    if isinstance(node, ast.BoolOp):
        return _connective(machine, node, state)
    if isinstance(node, ast.Compare):
        return _comparisons(machine, node, state)
    if isinstance(node, ast.BinOp):
        left, right = symbolic(machine, node.left, state), symbolic(machine, node.right, state)
        return (type(node.op).__name__, left, right) if _depth(left) + _depth(right) < BOUNDS.arithmetic_depth else None
    if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
        return ("[]", symbolic(machine, node.value, state), symbolic(machine, node.slice, state))
    if isinstance(node, ast.Call) and not node.keywords and (name := _pure(node.func)):
        return _application(machine, node, name, state)
    return _each(machine, node, state) if isinstance(node, EACH) else None


def _connective(machine: Machine, node: ast.BoolOp, state: State) -> Hashable:
    """``a and b``, ``a or b``, up to the part that is known to end it, and without those before it that are known not
    to; the last one may be what it gives.
    """
    stop, parts = isinstance(node.op, ast.Or), list[Hashable]()
    for each in node.values:
        part = symbolic(machine, each, state)
        ends = isinstance(part, Const) and bool(part.value) is stop
        if ends or not isinstance(part, Const) or each is node.values[-1]:
            parts.append(part)
        if ends:
            break
    return parts[0] if len(parts) == 1 else (type(node.op).__name__, *parts)


def _comparisons(machine: Machine, node: ast.Compare, state: State) -> Hashable:
    """``a < b < c``: each comparison is a formula, and all of them are true."""
    values = [symbolic(machine, part, state) for part in (node.left, *node.comparators)]
    values = [values[0], *(_members(state, op, right) for op, right in zip(node.ops, values[1:]))]
    found = [_comparison(op, left, right) for op, left, right in zip(node.ops, values, values[1:])]
    return found[0] if len(found) == 1 else ("And", *found)


def _application(machine: Machine, node: ast.Call, name: str, state: State) -> Hashable | None:
    """A pure function, or method, of its arguments; None where its result depends on more than they are."""
    if name == "get" and not node.args:
        return None  # of a queue: another one each time
    if name == "bool" and len(node.args) == 1:
        return symbolic(machine, node.args[0], state)
    of = [node.func.value] if isinstance(node.func, ast.Attribute) else []
    given = [symbolic(machine, part, state) for part in (*of, *node.args)]
    return None if name in INSIDE and any(isinstance(each, HeapRef) for each in given) else (name, *given)


def _each(machine: Machine, node: ast.GeneratorExp | ast.ListComp, state: State) -> Hashable | None:
    """``x > 1 for x in xs``: the same words about the same values."""
    own = {name.id for part in node.generators for name in ast.walk(part.target) if isinstance(name, ast.Name)}
    if any(isinstance(part, ast.Call) and _pure(part.func) is None for part in ast.walk(node)):
        return None
    names = dict.fromkeys(name.id for name in ast.walk(node) if isinstance(name, ast.Name) and name.id not in own)
    values = [machine.lookup(state, name) for name in names]
    return None if any(isinstance(value, HeapRef) for value in values) else ("each", Const(written(node)), *values)


def _members(state: State, op: ast.cmpop, right: Hashable) -> Hashable:
    """What ``in`` looks through, where all of it is known."""
    if isinstance(op, (ast.In, ast.NotIn)) and isinstance(right, HeapRef):
        thing = state.heap[right.id]
        if (
            isinstance(thing, Sequence)
            and not thing.is_partial
            and all(isinstance(item, Const) for item in thing.items)
        ):
            return Tuple(tuple(thing.items))
    return right


def _depth(part: Hashable) -> int:
    if not isinstance(part, tuple) or not part or not isinstance(part[0], str):
        return 0
    return 1 + max(map(_depth, part[1:]), default=0)


def _negated(inner: Hashable) -> Hashable:
    return inner[1] if isinstance(inner, tuple) and inner and inner[0] == "Not" else ("Not", inner)


def _comparison(op: ast.cmpop, left: Hashable, right: Hashable) -> Hashable:
    opposite = OPPOSITE.get(type(op))
    return ("Not", (opposite, left, right)) if opposite else (type(op).__name__, left, right)


def _pure(function: ast.expr) -> str | None:
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", None)
    return name if name in PURE else None


def remembered(machine: Machine, node: ast.expr, state: State, value: Value) -> Value:
    """``value``, which ``node`` had, knows its formula if it is not known itself."""
    if not isinstance(value, Unknown) or value.formula is not None:
        return value
    if value.requires_grad is False or isinstance(node, (ast.Call, ast.BoolOp)):
        shape = _shape(machine, node, state)
        return value if shape is None else value.computed_by(shape)
    return value


def forget(state: State, thing: Value, method: str) -> None:
    """After a ``method`` of ``thing``: what was assumed of its size and its members, for it may hold something else
    now; of its truth, too, if it does for certain.
    """
    if method in PURE:
        return
    changed = method in CHANGING
    stale = [
        key
        for key in state.path_condition
        if thing in values_of_fact(key) and (changed and key == thing or _looks(key))
    ]
    for key in stale:
        del state.path_condition[key]


def _looks(formula: Hashable) -> bool:
    """Whether it asks what is in a container."""
    if not isinstance(formula, tuple) or not formula:
        return False
    return formula[0] in INSIDE or formula[0] in ("In", "[]", "each") or any(map(_looks, formula[1:]))


Decision = tuple[bool | None, Hashable, bool]
"""The truth of a test; where that is unknown the formula to assume, and whether the test is its negation."""


def decide(machine: Machine, node: ast.expr, state: State, value: Value) -> Decision:
    """The truth of a test if it is known or follows from what was assumed; else the formula to assume, and whether the
    test is its negation.
    """
    known = tested_truth(machine, state, value)
    if known is not None:
        is_chosen = isinstance(value, (Unknown, BuiltinMethod)) and value in state.path_condition
        reason = DecideReason.FOLLOWS if is_chosen else DecideReason.KNOWN
        decision: Decision = known, None, False
    else:
        decision, reason = _decided(state, symbolic(machine, node, state), node)
    if machine.observer is not None and decision[0] is not None:
        machine.observer.decide(Decided(node, state, decision[0], reason))
    return decision


def following(machine: Machine, node: ast.expr, state: State) -> bool | None:
    """The truth of a comparison, if it follows from what was assumed."""
    negated, key = _unnegated(symbolic(machine, node, state))
    known = entailed(state.path_condition, key)
    return None if known is None else known is not negated


def _unnegated(key: Hashable) -> tuple[bool, Hashable]:
    """Whether a formula is the negation of another one, and that."""
    return (True, key[1]) if isinstance(key, tuple) and key and key[0] == "Not" else (False, key)


def decided(state: State, key: Hashable) -> Decision:
    """What is known of something with this formula, which no test asks for."""
    return _decided(state, key, None)[0]


def _decided(state: State, key: Hashable, node: ast.expr | None) -> tuple[Decision, DecideReason]:
    """What is known of a test with this formula, which stands at ``node``; and why, if its truth is."""
    (negated, key), reason = _unnegated(key), DecideReason.FOLLOWS
    follows = entailed(state.path_condition, key)
    if follows is None:
        follows = only_way(state, key, node)
        reason = DecideReason.SUPPOSED if _leaves_others(state, key, node) else DecideReason.DEFAULT
    if follows is not None:
        return (follows is not negated, None, False), reason
    return (None, key, negated), reason


def only_way(state: State, key: Hashable, node: ast.expr | None = None) -> bool | None:
    """The truth of a test that it must have, since none of the values of an option gives the other, or has because the
    path has a premise already, which is not about it, and whose code it does not stand in; None where both are
    followed.
    """
    usual = by_default(key)
    if usual is None:
        return None
    if _leaves_others(state, key, node):
        return supposing(state.supposed, key)
    return None if is_possible(key, not usual) else usual


def _leaves_others(state: State, key: Hashable, node: ast.expr | None) -> bool:
    """Whether a path goes on as with the defaults of all options but those that it supposes something of."""
    return bool(state.supposed) and not (is_second(state.supposed, key) and _is_in(node, state.supposed_code))


def _is_in(node: ast.expr | None, region: Region | None) -> bool:
    if node is None or region is None:
        return False
    return any(part is node for each in region.code for part in walk(each))


def assume(state: State, key: Hashable, taken: bool) -> None:
    """Note on a path which way a test goes, and what that supposes."""
    if key is not None:
        state.path_condition[key] = taken
        if not state.supposed or is_second(state.supposed, key):
            state.supposed = state.supposed & premise_of(key, taken)
