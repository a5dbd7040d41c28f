"""A test is unknown: two paths go on, and each remembers what it has chosen (``autograd.model.choices``).

Some sides of a test are no choice, since the program usually takes them: the one that an option has by default, the one
on which a container is not empty, and the one that goes on where the other only leaves (``if done: return``). A side
that leaves with a value that it has computed does not: both sides give what the function is called for.

    if kind == "a": return a(x)     two ways to compute the result, so
    return b(x)                     each is a choice
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator

from ...autograd.model.choices import Choice, Region, Subject
from ...autograd.state import fresh_id
from ...domain.state import State
from ...domain.values import Class, Const, External, Frame, Function, HeapRef, Origin, Tuple, Unknown, Value
from ...frozen import frozen
from ...source import walk
from ..machine import Machine
from ..module_system import is_in_stub
from ..observer import Forked
from .conditions import assume
from .defaults import by_default
from .entailment import entailed
from .own_stores import is_settled
from .witnesses import COUNTS

EMPTY = Const(0)
WHOLE = frozenset((name,) for name in ("[]", "get", "getattr", "hasattr"))
"""What begins a formula that is one unknown thing: what is looked up in an object is none of what the object is."""
COMPUTED = (ast.Call, ast.BinOp, ast.Await, ast.Yield, ast.YieldFrom, ast.GeneratorExp, ast.ListComp, ast.DictComp)
"""Expressions that make a value which was not there before."""


@frozen
class Branch:
    """A test, and the code that is run where it holds and where it fails."""

    test: ast.AST
    holds: tuple[ast.AST, ...]
    fails: tuple[ast.AST, ...] = ()


def _leaves(side: tuple[ast.AST, ...]) -> bool:
    return bool(side) and isinstance(side[-1], (ast.Raise, ast.Return, ast.Continue, ast.Break))


def _usual(machine: Machine, state: State, branch: Branch) -> bool | None:
    """The truth with which a program goes on where the other side does nothing but leave the function, the iteration
    or the program; None where that is neither.
    """
    if _only_leaves(machine, state, branch.holds):
        return False
    return True if _only_leaves(machine, state, branch.fails) else None


def _only_leaves(machine: Machine, state: State, side: tuple[ast.AST, ...]) -> bool:
    """Whether a side leaves and has computed nothing for that: it hands back what there was, or nothing."""
    if not _leaves(side):
        return False
    match side[-1]:
        case ast.Raise():
            return True
        case ast.Return(value=ast.expr() as value) if _gives(machine, state, value):
            return False
    return all(isinstance(each, ast.Expr) for each in side[:-1])


def _gives(machine: Machine, state: State, value: ast.expr) -> bool:
    """Whether an expression makes what was not there before, or picks code of the program or of a library: ``a(x)``,
    ``SGD``, ``torch.optim.SGD``.
    """
    parts = list(walk(value))
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    return any(isinstance(part, COMPUTED) for part in parts) or any(
        _is_code(state, machine.lookup(state, name)) for name in names
    )


def _is_code(state: State, value: Value) -> bool:
    if isinstance(value, HeapRef):
        return isinstance(state.heap[value.id], Class)
    return isinstance(value, Function) or isinstance(value, External) and not value.name.startswith("builtins.")


def fork(machine: Machine, branch: Branch, state: State, key: Hashable, negated: bool, holds: bool = True) -> State:
    """A second path for an unknown test, where it comes out the other way than on ``state``."""
    other = state.fork()
    path, rest = (state, other) if holds else (other, state)
    part(machine, branch, path, rest, key, negated)
    if machine.observer is not None:
        machine.observer.decide(Forked(branch.test, path, rest, key, negated))
    return other


def part(machine: Machine, branch: Branch, path: State, other: State, key: Hashable, negated: bool) -> None:
    """Let an unknown test hold on ``path`` and not on ``other``, and note that as a choice."""
    is_first = not path.supposed
    assume(path, key, not negated)
    assume(other, key, negated)
    if is_first:
        _note_code(machine, path, branch, branch.holds, branch.fails)
        _note_code(machine, other, branch, branch.fails, branch.holds)
    if key is not None and by_default(key) is not None or is_in_stub(machine.imports, path):
        return
    formula = ("?", fresh_id()) if key is None else key
    empty, usual = _where_empty(formula), _usual(machine, path, branch)
    subject = Subject.SIZE if empty is not None else _subject(machine, path, formula)
    about, scope = frozenset(_terms(formula)), scope_of(machine, path)
    for state, holds, side, opposite in (
        (path, True, branch.holds, branch.fails),
        (other, False, branch.fails, branch.holds),
    ):
        taken = holds is not negated
        if holds is not usual and (empty is None or empty is taken):
            goes_on = _leaves(opposite)
            # A function is called for other data, too: with some of them it goes on.
            decides = Subject.FLAG if goes_on and subject is Subject.DATA else subject
            if is_settled(state, about, side):
                decides = Subject.OWN
            inside = None if goes_on else side
            choice = Choice(formula, branch.test, fresh_id(), negated, decides, about, inside, scope)
            state.guard = state.guard.choosing(choice, taken)


def _note_code(
    machine: Machine, state: State, branch: Branch, side: tuple[ast.AST, ...], opposite: tuple[ast.AST, ...]
) -> None:
    """Note the code that only the side of a test leads to that a path has taken, where it has a premise since."""
    if state.supposed:
        scope = scope_of(machine, state)
        behind = _behind(scope, branch.test) if _leaves(opposite) else ()
        state.supposed_code = Region((*side, *behind), scope)


def _behind(scope: ast.AST, test: ast.AST) -> tuple[ast.AST, ...]:
    """The statements that follow the ``if`` with a test in its block."""
    for node in walk(scope):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            statements = block if isinstance(block, list) else []
            for place, statement in enumerate(statements):
                if isinstance(statement, ast.If) and statement.test is test:
                    return tuple(statements[place + 1 :])
    return ()


def scope_of(machine: Machine, state: State) -> ast.AST:
    """The function whose code is running, or the module."""
    function = state.get(state.frame, Frame).function
    return machine.running_file(state) if function is None else function.node


def _terms(formula: Hashable) -> Iterator[Hashable]:
    """The unknown things that a test is about: what is looked up in an object is one, not the object."""
    if not isinstance(formula, tuple) or _is_content(formula) or formula[:1] in WHOLE:
        yield formula
        return
    for part in formula[1:2] if formula[0] == "isinstance" else formula[1:]:
        if not isinstance(part, (Const, Tuple)):
            yield from _terms(part)


def _is_content(term: Hashable) -> bool:
    """Whether it stands for what is in a tensor."""
    return isinstance(term, tuple) and (not term or not isinstance(term[0], str))


def _asks_for_content(formula: Hashable) -> bool:
    """Whether a test depends on what tensors hold, and not on their sizes alone."""
    if not isinstance(formula, tuple) or _is_content(formula):
        return isinstance(formula, tuple)
    return formula[0] not in COUNTS and any(map(_asks_for_content, formula[1:]))


def _is_constant(machine: Machine, state: State, term: Hashable) -> bool:
    """Whether it stands for what is in a tensor that is made of constants."""
    if not isinstance(term, tuple) or not _is_content(term) or term[0] not in state.tensors:
        return False
    return (state.tensors[term[0]].storage, *term[1:]) in machine.facts.contents.constants


def _where_empty(formula: Hashable) -> bool | None:
    """The truth of a test that asks whether a container is empty, if that is; None for any other test."""
    if isinstance(formula, HeapRef):
        return False
    for size in _sizes(formula):
        is_empty = ("Eq", size, EMPTY)
        truths = [entailed({is_empty: taken}, formula) for taken in (True, False)]
        if None not in truths and truths[0] is not truths[1]:
            return truths[0]
    return None


def _sizes(formula: Hashable) -> list[Hashable]:
    if not isinstance(formula, tuple) or not formula:
        return []
    return [formula] if formula[0] in COUNTS else [size for part in formula[1:] for size in _sizes(part)]


def _subject(machine: Machine, state: State, formula: Hashable) -> Subject:
    """What an unknown test is about. In later iterations of a loop the data are others each time, and any of its sides
    is taken in some; what is made of constants is the same.
    """
    terms = [*_terms(formula)]
    if any(isinstance(term, Unknown) and term.origin is Origin.ITEM for term in terms):
        return Subject.ITEM
    is_data = _asks_for_content(formula)
    varies = any(lap.number > 1 for lap in state.iterations)
    if varies and is_data and machine.facts.contents.constants:
        varies = not all(isinstance(term, Const) or _is_constant(machine, state, term) for term in terms)
    return Subject.DATA if is_data and not varies else Subject.FLAG
