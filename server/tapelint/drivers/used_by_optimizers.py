"""Functions that only optimizers use: no code goes backward through what they compute.

    def power(matrix, exponent):
        u, s, v = torch.svd(matrix)          svd saves `s`
        return u @ s.pow_(exponent).diag() @ v.t()

    class Shampoo(torch.optim.Optimizer):
        def step(self): ... power(self.state[p]["precond"], -0.5) ...      no graph is walked that leads here

What ``step`` computes goes into the parameters and the optimizer's state. An optimizer that goes backward itself, or
through what it calls, may walk what it computes: nothing is known of that.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..domain.mro import mro_of
from ..domain.state import State
from ..domain.values import Class, External, Frame, Function, HeapRef, Value
from ..models.python.classes.library_classes import is_derived
from ..source import Definition
from .no_grad_only import mentions_of, training_functions


def serves_optimizers(tree: ast.Module, state: State, module: int, function: Function, owner: HeapRef | None) -> bool:
    """Whether a function of ``tree``, which is run as ``module``, is a method of an optimizer, or is mentioned only in
    such methods and in functions of which the same is true.
    """
    node = function.node
    stepping = {each for kind in _optimizers(state, module) for each in _methods(state, kind)}
    if not isinstance(node, Definition) or not stepping or not stepping.isdisjoint(training_functions(tree)):
        return False
    return owner is not None and _is_optimizer(state, owner) or _is_used_in(tree, node, stepping)


def _optimizers(state: State, module: int) -> Iterator[HeapRef]:
    """The classes of a module that are optimizers."""
    for value in state.get(module, Frame).variables.values():
        if isinstance(value, HeapRef) and isinstance(state.heap.get(value.id), Class) and _is_optimizer(state, value):
            yield value


def _is_optimizer(state: State, kind: Value) -> bool:
    bases = (base.name for base in mro_of(state, kind) if isinstance(base, External))
    return any(is_derived(name, "torch.optim.Optimizer") for name in bases)


def _methods(state: State, kind: HeapRef) -> Iterator[ast.AST]:
    functions = state.get(kind.id, Class).attributes.values()
    return (each.node for each in functions if isinstance(each, Function))


def _is_used_in(tree: ast.Module, function: Definition, users: set[ast.AST]) -> bool:
    """Whether all that mentions a function stands in ``users``, or in functions of which the same is true."""
    mentions, around, todo = mentions_of(tree), set[ast.AST](), [function]
    while todo:
        for user in (site.function for site in mentions.get(todo.pop().name, ())):
            if user is None:
                return False
            if user not in around and user not in users:
                todo.append(user)
            around.add(user)
    outermost = (user for user in around - users if isinstance(user, Definition))
    return not around.isdisjoint(users) and all(user.name in mentions for user in outermost)
