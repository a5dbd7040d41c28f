"""Statements without inner flow: assignments, expressions, definitions, ``return``, ``raise``, ``del``,
``assert``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from ..autograd.events.broken_graph import ManagerDropped
from ..domain.completion import Break, Caught, Continue, ProgramRaised, Return
from ..domain.mro import name_of, raised_kinds
from ..domain.state import State
from ..domain.values import NONE, Frame, Unknown, Value
from ..engine.machine import STATEMENTS, Machine
from ..engine.stored_names import returns
from ..models.torch.autograd.changed_objects import may_have_changed
from ..models.torch.autograd.grad_mode import waits_to_be_entered
from ..ops import conversions
from ..source.cells import cell_at
from .assign import assign, delete
from .augmented import augmented
from .classes import define_class
from .functions import define_function

COPYING = conversions.MOVING | {"clone", "numpy"}
"""Methods that give another tensor or array, and do nothing to the one that they are called on."""


def expression(machine: Machine, node: ast.Expr, state: State) -> list[State]:
    if isinstance(node.value, (ast.Yield, ast.YieldFrom)):
        return yielding(machine, node.value, state, None)
    if isinstance(node.value, ast.Constant):
        return [state]
    return with_effect(machine, node, state)


def with_effect(machine: Machine, node: ast.stmt, state: State) -> list[State]:
    """A statement that does one thing on each path."""
    return machine.run_paths(state, partial(EFFECTS[type(node)], machine, node))


def evaluated(machine: Machine, node: ast.Expr, state: State) -> None:
    result = machine.eval(node.value, state)
    if detached := [*_detached_for_nobody(node.value)]:
        machine.facts.origins.dropped.update(() if _is_shown(machine, node) else detached)
    match node.value:
        case ast.Call(func=func):
            if waits_to_be_entered(result):
                machine.facts.events.publish(ManagerDropped(point=state.point(node.value), dropped=node.value))
            if isinstance(func, ast.Attribute):
                may_have_changed(machine, state, func, result)


def _is_shown(machine: Machine, node: ast.Expr) -> bool:
    """Whether a notebook shows the value of a statement, which is the last of its cell."""
    body = machine.tree.body if isinstance(machine.tree, ast.Module) else []
    if not machine.cells or node not in body:
        return False
    after = body[body.index(node) + 1 :][:1]
    return not after or cell_at(machine.cells, after[0].lineno) != cell_at(machine.cells, node.lineno)


def _detached_for_nobody(node: ast.expr) -> Iterator[ast.Call]:
    """The calls of ``detach`` in a statement whose results it only converts or lists, and drops."""
    match node:
        case ast.Call(func=ast.Attribute(attr="detach")):
            yield node
        case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in COPYING:
            yield from _detached_for_nobody(inner)
        case ast.ListComp(elt=inner):
            yield from _detached_for_nobody(inner)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                yield from _detached_for_nobody(part)


def yielding(machine: Machine, node: ast.Yield | ast.YieldFrom, state: State, target: ast.expr | None) -> list[State]:
    """``yield`` hands the value to the code that runs the generator: a loop body, or a list being collected."""
    if not machine.context.consumers:
        return [state]
    paths = machine.run_values(state, lambda s: machine.eval(node.value, s) if node.value else NONE)
    consumer = machine.context.consumers[-1]
    results: list[State] = []
    for path, value in paths:
        if value is None:
            results.append(path)
        elif isinstance(node, ast.YieldFrom):
            results += _yield_from(machine, node, path, value)
        else:
            machine.context.consumers.pop()
            try:
                results += consumer(path, value)
            finally:
                machine.context.consumers.append(consumer)
    if target is not None:
        for path in results:
            if path.completion is None:
                machine.bind(path, target.id, NONE) if isinstance(target, ast.Name) else None
    return results


def _yield_from(machine: Machine, node: ast.YieldFrom, state: State, value: Value) -> list[State]:
    consumer = machine.context.consumers[-1]
    results: list[State] = []
    for path, items in machine.run_values(state, lambda s: machine.iterate(s, value, node).values):
        if items is None:
            results.append(path)
            continue
        states = [path]
        for item in items:
            machine.context.consumers.pop()
            try:
                states = [out for s in states for out in (consumer(s, item) if s.completion is None else [s])]
            finally:
                machine.context.consumers.append(consumer)
        results += states
    return results


def assignment(machine: Machine, node: ast.Assign, state: State) -> list[State]:
    if isinstance(node.value, ast.Yield):
        return yielding(machine, node.value, state, node.targets[0])
    return with_effect(machine, node, state)


def assigned(machine: Machine, node: ast.Assign, state: State) -> None:
    value = machine.eval(node.value, state)
    for target in node.targets:
        assign(machine, state, target, value, node, node.value)


def annotated(machine: Machine, node: ast.AnnAssign, state: State) -> None:
    if node.value is not None:
        assign(machine, state, node.target, machine.eval(node.value, state), node, node.value)


def returned(machine: Machine, node: ast.Return, state: State) -> None:
    value: Value = NONE
    if node.value is not None:
        value = machine.eval(node.value, state)
        returns(machine, state, value, node)
    state.completion = Return(value)


def raised(machine: Machine, node: ast.Raise, state: State) -> None:
    if node.exc is None:
        raise machine.handled[-1] if machine.handled else ProgramRaised("Exception", is_meant=True)
    made = node.exc if isinstance(node.exc, ast.Call) else None
    value = machine.eval(made.func if made else node.exc, state)
    for argument in (*made.args, *(keyword.value for keyword in made.keywords)) if made else ():
        # `raise SystemExit(main())`: the exception is not made, its arguments are
        machine.eval(argument.value if isinstance(argument, ast.Starred) else argument, state)
    if isinstance(value, Unknown) and isinstance(value.formula, Caught):
        raise value.formula.error
    kinds = raised_kinds(state, value)
    raise ProgramRaised(name_of(kinds[0]) if kinds else "Exception", is_meant=True, kinds=kinds)


def asserted(machine: Machine, node: ast.Assert, state: State) -> None:
    machine.eval(node.test, state)


def deleted(machine: Machine, node: ast.Delete, state: State) -> None:
    for target in node.targets:
        delete(machine, state, target)


def jump(machine: Machine, node: ast.stmt, state: State) -> list[State]:
    state.completion = Break() if isinstance(node, ast.Break) else Continue()
    return [state]


def shared(machine: Machine, node: ast.Global | ast.Nonlocal, state: State) -> list[State]:
    frame = state.edit(state.frame, Frame)
    frame.shared = dict(frame.shared)
    for name in node.names:
        if isinstance(node, ast.Global):
            frame.shared[name] = frame.module
            continue
        key = frame.parent
        while key and name not in state.get(key, Frame).variables:
            key = state.get(key, Frame).parent
        if key:
            frame.shared[name] = key
    return [state]


def function_defined(machine: Machine, node: ast.FunctionDef, state: State) -> None:
    machine.bind(state, node.name, define_function(machine, state, node, None))


def class_defined(machine: Machine, node: ast.ClassDef, state: State) -> None:
    machine.bind(state, node.name, define_class(machine, state, node))


def nothing(machine: Machine, node: ast.stmt, state: State) -> list[State]:
    return [state]


EFFECTS: dict[type, Callable[[Machine, Any, State], None]] = {
    ast.Expr: evaluated,
    ast.Assign: assigned,
    ast.AnnAssign: annotated,
    ast.AugAssign: augmented,
    ast.Return: returned,
    ast.Raise: raised,
    ast.Assert: asserted,
    ast.Delete: deleted,
    ast.FunctionDef: function_defined,
    ast.AsyncFunctionDef: function_defined,
    ast.ClassDef: class_defined,
}
"""What a statement without inner flow does on a path."""
SUSPENDED = (ast.Expr, ast.Assign, ast.Return)
"""Those of them that evaluate one expression and use its value: a unit may end in the call that this is."""

STATEMENTS.update(dict.fromkeys(EFFECTS, with_effect))
STATEMENTS.update(
    {
        ast.Expr: expression,
        ast.Assign: assignment,
        ast.Break: jump,
        ast.Continue: jump,
        ast.Global: shared,
        ast.Nonlocal: shared,
        ast.Pass: nothing,
    }
)
