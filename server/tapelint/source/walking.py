"""Going over trees.

    for p in net.parameters():      walk(loop) gives the loop, `p`, the call, `net.parameters`, `net`, ...
        self.norms[i] = p.norm()    written(target.value) is "self.norms", however often the statement runs

``ast.walk`` asks every node for its fields by name and looks at each to see whether it is a node; which fields can
hold nodes is known by the kind of a node.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import wraps
from typing import TypeVar

T = TypeVar("T")
N = TypeVar("N", bound=ast.AST)

_PREFIX = "_tapelint_"
_PLAIN = frozenset(
    "ctx op ops type_comment simple is_async conversion level kind id attr arg name module asname rest "
    "kwd_attrs".split()
)
"""Fields without nodes to go over (the grammar of https://docs.python.org/3/library/ast.html)."""
_ENDS = (ast.Constant, ast.Global, ast.Nonlocal, ast.MatchSingleton, ast.alias)
FIELDS: dict[type[ast.AST], tuple[str, ...]] = {
    kind: () if issubclass(kind, _ENDS) else tuple(name for name in kind._fields if name not in _PLAIN)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}
"""For each kind of node the fields that hold nodes, or lists of them; operators and contexts are left out."""

Definition = ast.FunctionDef | ast.AsyncFunctionDef
Loop = ast.For | ast.AsyncFor | ast.While
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
SCOPES = (*FUNCTIONS, ast.ClassDef)

_COMPOUND = tuple(kind for kind in FIELDS if "body" in kind._fields or "cases" in kind._fields)
_BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")


def cached_on_node(function: Callable[[N], T]) -> Callable[[N], T]:
    """Compute ``function`` once for a node, and keep the result with it for as long as the node lives. The result must
    depend on nothing but what is below the node.

    It stands in the node's ``__dict__``, because a dictionary of its own, weak or not, would cost more than most of
    what is kept. Reusing a tree after an edit drops it for the nodes whose contents changed (``source.tree_reuse``).
    """
    name = f"{_PREFIX}{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def known(node: N) -> T:
        try:
            return node.__dict__[name]  # type: ignore[no-any-return]
        except KeyError:
            found = node.__dict__[name] = function(node)
            return found

    return known


def drop_cached(node: ast.AST) -> None:
    """Forget all that was computed for ``node``: what is below it has changed."""
    for name in [name for name in vars(node) if name.startswith(_PREFIX)]:
        delattr(node, name)


def walk(root: ast.AST) -> Iterator[ast.AST]:
    """A node and all below it, but for operators and contexts, in no certain order."""
    todo: list[ast.AST | None] = [root]
    while todo:
        node = todo.pop()
        if node is not None:
            yield node
            for name in FIELDS[type(node)]:
                value = getattr(node, name)
                if type(value) is list:
                    todo += value
                else:
                    todo.append(value)


def own_nodes(scope: ast.AST, others: tuple[type[ast.AST], ...] = SCOPES) -> Iterator[ast.AST]:
    """The nodes below a scope without those below ``others`` in it, in the order of the text."""
    todo = children(scope)[::-1]
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, others):
            todo += children(node)[::-1]


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes directly below a node, but for operators and contexts, in the order of the text."""
    found: list[ast.AST] = []
    for name in FIELDS[type(node)]:
        value = getattr(node, name)
        if type(value) is list:
            found += filter(None, value)
        elif value is not None:
            found.append(value)
    return found


def last_name(node: ast.expr) -> str:
    """``Tensor`` of ``torch.Tensor`` and of ``Tensor``; empty for what is no dotted name."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def is_none(node: ast.AST | None) -> bool:
    """Whether a node is the literal ``None``; not for no node at all."""
    return isinstance(node, ast.Constant) and node.value is None


def body_of(scope: ast.AST) -> list[ast.AST]:
    """What a scope runs: the statements of a function, a class or a module, the one expression of a lambda."""
    body: list[ast.AST] | ast.AST = getattr(scope, "body", [])
    return [body] if isinstance(body, ast.AST) else list(body)


def blocks(node: ast.AST) -> Iterator[ast.AST]:
    """The statements, handlers and cases that stand directly in a statement, a handler or a case, in their order."""
    for name in _BLOCKS:
        yield from getattr(node, name, ())


@cached_on_node
def definitions(node: ast.AST) -> tuple[Definition | ast.ClassDef, ...]:
    """The functions and classes that are defined in a statement, or in all of a tree, each before those inside it."""
    found = [node] if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) else []
    for inner in blocks(node):
        if isinstance(inner, _COMPOUND):
            found += definitions(inner)
    return tuple(found)


@cached_on_node
def written(node: ast.AST) -> str:
    """An expression as it is written, in Python's own spelling."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, (ast.Name, ast.Attribute)):
        return f"{written(node.value)}.{node.attr}"  # what is asked for most, fifty times as fast
    return ast.unparse(node)


def dotted(node: ast.AST) -> str:
    """``a.b.c`` for a name and its attributes, nothing for anything else."""
    root = node
    while isinstance(root, ast.Attribute):
        root = root.value
    return written(node) if isinstance(root, ast.Name) else ""


def own_name(method: ast.AST) -> str | None:
    """What a method calls the object that it runs on: its first parameter."""
    arguments = getattr(method, "args", None)
    first = [*arguments.posonlyargs, *arguments.args][:1] if isinstance(arguments, ast.arguments) else []
    return first[0].arg if first else None


def own_attribute(node: ast.AST, own: str | None = "self") -> str | None:
    """``x`` of ``self.x``, where the object is called ``own``; None for anything else."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == own:
        return node.attr
    return None


def called_on(node: ast.AST) -> str:
    """What a method is called on, as it is written; nothing where ``node`` is no such call."""
    return written(node.func.value) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
