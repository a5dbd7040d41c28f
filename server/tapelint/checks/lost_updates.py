"""An update by hand that is bound to the wrong thing, and so is lost.

    for p in net.parameters():
        p = p - 0.1 * p.grad     # `p` is a name of this loop: the parameter stays what it was

Names are bound, tensors are written (``p -= ...`` under ``no_grad``). A new value is surely lost only where no code
reads the name before the loop binds it again.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ..autograd.events.training_step import UpdateDropped
from ..domain.values import TensorRef
from ..engine.lifecycle import UpdateBound
from ..engine.machine import Machine

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


def on_update_bound(machine: Machine, event: UpdateBound) -> None:
    """Publish an update that is bound to the variable of a loop, if no code reads it."""
    state, name, leaf, statement = event.state, event.name, event.leaf, event.statement
    old = machine.lookup(state, name)
    loop = state.iterations[-1].loop if state.iterations else None
    if not isinstance(old, TensorRef) or state.tensors[old.id].storage != leaf:
        return
    if not isinstance(loop, (ast.For, ast.AsyncFor)) or not _binds(loop.target, name):
        return
    scope = machine.context.call_stack[-1][0] if machine.context.call_stack else machine.tree
    if not machine.query(_read_after, name, scope, statement, loop):
        machine.facts.events.publish(
            UpdateDropped(
                point=state.point(statement),
                because=state.tensors[leaf].because,
                leaf=leaf,
                name=name,
                loop=loop,
            )
        )


def _binds(target: ast.AST, name: str) -> bool:
    return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(target))


def _read_after(name: str, scope: ast.AST, statement: ast.AST, loop: ast.AST) -> bool:
    """Whether what ``statement`` binds to ``name`` may be read: further down, or by a function that sees the name."""
    assert isinstance(statement, (ast.stmt, ast.expr))
    end = (statement.end_lineno or 0, statement.end_col_offset or 0)
    found = (read for child in ast.iter_child_nodes(scope) for read in _reads(child, name, loop, False))
    return any(inner or (node.lineno, node.col_offset) >= end for node, inner in found)


def _reads(node: ast.AST, name: str, loop: ast.AST, inner: bool) -> Iterator[tuple[ast.expr, bool]]:
    """Where ``name`` is read as ``loop`` or what is outside has bound it, and whether in a function of its own."""
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name):
        return
    if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
        yield node, inner
    elif isinstance(node, ast.AugAssign) and _binds(node.target, name):
        yield node.target, inner
    elif isinstance(node, FUNCTIONS):
        if any(isinstance(part, ast.arg) and part.arg == name for part in ast.walk(node.args)):
            return
        inner = True
    for child in _unbound_parts(node, name, loop):
        yield from _reads(child, name, loop, inner)


def _unbound_parts(node: ast.AST, name: str, loop: ast.AST) -> Iterable[ast.AST]:
    """The parts of ``node`` that see ``name`` as it was: a comprehension or another loop may bind it anew."""
    if isinstance(node, COMPREHENSIONS) and any(_binds(part.target, name) for part in node.generators):
        return [node.generators[0].iter]
    if isinstance(node, (ast.For, ast.AsyncFor)) and _binds(node.target, name) and node is not loop:
        if loop not in ast.walk(node):
            return [node.iter, *node.orelse]
    return ast.iter_child_nodes(node)
