"""What the text of a function says without executing it. Every node of a file is visited once: a nested function is
summarized for itself, and its summary is used for the functions around it.

    def train(model, loader):
        for x in loader: model(x).sum().backward()     # reaches backward; model is called; loader is only named
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from ...source import cached_on_node, children

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


@dataclass(slots=True)
class SyntacticSummary:
    """What the text of a function says. The first two are about its own body, the rest about nested functions too."""

    # Whether it is a generator.
    yields: bool = False
    # Whether it makes closures.
    closes: bool = False
    # Whether it gives generator expressions to calls, which run them in a scope inside its own.
    generates: bool = False
    # Whether it calls backward.
    backward: bool = False
    # For each name the attributes that are read of it, `()` where it is called, and `range` where it bounds one, as
    # only a number can.
    uses: dict[str, set[str]] = field(default_factory=dict)
    # The names that are compared with None or are conditions themselves.
    tests: set[str] = field(default_factory=set)
    # Whether it is a method that only derived classes define.
    abstract: bool = False


_TESTS = (ast.If, ast.IfExp, ast.While)


def _tested(node: ast.AST) -> Iterator[str]:
    """The names whose truth, or whether they are None, decides here."""
    parts = node.values if isinstance(node, ast.BoolOp) else [node.test] if isinstance(node, _TESTS) else []
    for part in parts:
        if isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.Not):
            part = part.operand
        if isinstance(part, ast.Compare) and isinstance(part.ops[0], (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)):
            part = part.left
        if isinstance(part, ast.Name):
            yield part.id


def _bounds(arguments: list[ast.expr]) -> Iterator[str]:
    """The names in the arithmetic of ``range(1, n + 1)``."""
    for part in arguments:
        if isinstance(part, ast.BinOp):
            yield from _bounds([part.left, part.right])
        elif isinstance(part, ast.Name):
            yield part.id


def is_abstract(scope: ast.AST) -> bool:
    """Whether a function is only there to be defined by derived classes."""
    return syntactic_summary(scope).abstract


def _is_abstract(scope: ast.AST) -> bool:
    """Whether a method is only there to be defined by derived classes."""
    if not isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    if any(ast.unparse(decorator).rpartition(".")[2] == "abstractmethod" for decorator in scope.decorator_list):
        return True
    body = [s for s in scope.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    match body:
        case [ast.Raise(exc=error) | ast.Return(value=error)]:  # some return it
            error = error.func if isinstance(error, ast.Call) else error
            return isinstance(error, ast.Name) and error.id == "NotImplementedError"
    return False


def is_unwritten(definition: ast.AST) -> bool:
    """Whether there is no code in a method: nothing but a docstring, ``pass``, ``...`` or an error that is returned."""
    body = definition.body if isinstance(definition, (ast.FunctionDef, ast.AsyncFunctionDef)) else [definition]
    return all(
        isinstance(each, ast.Pass)
        or isinstance(each, ast.Expr)
        and isinstance(each.value, ast.Constant)
        or isinstance(each, ast.Return)
        and is_abstract(definition)
        for each in body
    )


@cached_on_node
def syntactic_summary(scope: ast.AST) -> SyntacticSummary:
    """The summary of a function, a lambda or a class."""
    found = SyntacticSummary(abstract=_is_abstract(scope))
    todo = children(scope)
    run_in_calls: set[ast.AST] = set()
    while todo:
        node = todo.pop()
        kind = type(node)
        if isinstance(node, ast.Attribute):
            found.backward |= node.attr in ("backward", "manual_backward")
            if isinstance(node.value, ast.Name):
                found.uses.setdefault(node.value.id, set()).add(node.attr)
            else:
                todo.append(node.value)
            continue
        if isinstance(node, ast.Call):
            _note_call(found, node)
            run_in_calls.update(given for given in node.args if isinstance(given, ast.GeneratorExp))
        elif kind in _SCOPES:
            _note_inner(found, syntactic_summary(node))
            continue
        elif kind is ast.BoolOp or kind in _TESTS:
            found.tests.update(_tested(node))
        elif kind is ast.Yield or kind is ast.YieldFrom:
            found.yields = True
        elif kind is ast.GeneratorExp:
            found.generates |= node in run_in_calls
            found.closes |= node not in run_in_calls
        todo += children(node)
    return found


def _note_call(found: SyntacticSummary, node: ast.Call) -> None:
    """A name is called, and names bound the ``range`` that a loop may run over."""
    if type(node.func) is ast.Name:
        found.uses.setdefault(node.func.id, set()).add("()")
        if node.func.id == "range":
            for name in _bounds(node.args):
                found.uses.setdefault(name, set()).add("range")


def _note_inner(found: SyntacticSummary, inner: SyntacticSummary) -> None:
    """A scope inside does what it does with the names of this one."""
    found.closes = True
    found.backward |= inner.backward
    for name, uses in inner.uses.items():
        found.uses.setdefault(name, set()).update(uses)
    found.tests |= inner.tests
