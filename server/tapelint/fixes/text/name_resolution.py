"""What names mean where a fix is made: which are torch's, and which statements depend on each other through names."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ...source import Loop, body_of, dotted
from .source_editor import SCOPES, Place, SourceEditor

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def qualified(editor: SourceEditor, place: Place, node: ast.AST) -> str | None:
    """The full name of something imported: ``torch.nn.functional.relu`` for ``F.relu``; None if it is not imported."""
    root, _, rest = dotted(node).partition(".")
    for scope in editor.scopes(place):
        found = list(_bindings(scope, root))
        if found:
            imported = [module for module in found if module]
            if not imported or is_parameter(scope, root):
                return None
            return f"{imported[0]}.{rest}" if rest else imported[0]
    return None


def torch_name(editor: SourceEditor, place: Place, wanted: str) -> str | None:
    """How ``torch.<wanted>`` is spelled at ``place``: ``torch.no_grad``, ``th.no_grad``, ``no_grad``; None if not."""
    parts = wanted.split(".")
    spelled = {
        ".".join(["torch", *parts[:depth]]): "".join(f".{part}" for part in parts[depth:])
        for depth in (*range(1, len(parts)), 0, len(parts))
    }
    candidates: dict[str, str] = {}
    for scope in editor.scopes(place):
        for node in own_nodes(scope):
            for name, module in _imports(node):
                candidates.setdefault(module, name)
    for module, suffix in spelled.items():
        if module in candidates and qualified(editor, place, ast.Name(candidates[module], ast.Load())) == module:
            return candidates[module] + suffix
    return None


def own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a scope: not what is inside the scopes in it, nor what is there for type checkers only."""
    pending = body_of(scope)
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, SCOPES):
            pending.extend(node.decorator_list if not isinstance(node, ast.Module) else ())
        elif isinstance(node, ast.If) and dotted(node.test).endswith("TYPE_CHECKING"):
            pending.extend(node.orelse)
        elif not isinstance(node, ast.Lambda):
            pending.extend(ast.iter_child_nodes(node))


def _bindings(scope: ast.AST, name: str) -> Iterator[str | None]:
    """For each time a scope binds ``name``: the full name of what is imported, or None."""
    if is_parameter(scope, name):
        yield None
    for node in own_nodes(scope):
        for bound, module in _imports(node):
            if bound == name:
                yield module
        if name in binds(node):
            yield None


def is_parameter(scope: ast.AST, name: str) -> bool:
    """Whether a scope is a function with an argument of this name."""
    arguments = getattr(scope, "args", None)
    return arguments is not None and any(isinstance(a, ast.arg) and a.arg == name for a in ast.walk(arguments))


def _imports(node: ast.AST) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            first = alias.name.partition(".")[0]
            yield (alias.asname, alias.name) if alias.asname else (first, first)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        for alias in node.names:
            yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def binds(node: ast.AST) -> set[str]:
    """The names one node binds or unbinds by itself, imports aside."""
    if isinstance(node, ast.Name):
        return set() if isinstance(node.ctx, ast.Load) else {node.id}
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {node.name}
    if isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        return {node.name} if node.name else set()
    if isinstance(node, ast.MatchMapping):
        return {node.rest} if node.rest else set()
    return set()


def is_local(editor: SourceEditor, place: Place, name: str) -> bool:
    """Whether assigning to ``name`` at ``place`` binds the variable that reading it there reads."""
    scope = editor.scopes(place)[0]
    if isinstance(scope, ast.Module):
        return True
    declared = any(isinstance(n, (ast.Global, ast.Nonlocal)) and name in n.names for n in own_nodes(scope))
    return declared or any(True for _ in _bindings(scope, name))


def written(nodes: Iterable[ast.AST]) -> set[str]:
    """All names the statements bind, imports included; a function's own variables count too, to be on the safe side."""
    found: set[str] = set()
    for inner in (inner for node in nodes for inner in ast.walk(node)):
        found |= binds(inner)
        found.update(name for name, _ in _imports(inner))
    return found


def read(nodes: Iterable[ast.AST]) -> set[str]:
    """All names the statements read."""
    walked = [inner for node in nodes for inner in ast.walk(node)]
    added = [node.target for node in walked if isinstance(node, ast.AugAssign)]
    loaded = [node for node in walked if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    return {node.id for node in (*loaded, *added) if isinstance(node, ast.Name)}


def may_swap(one: Iterable[ast.AST], others: Iterable[ast.AST]) -> bool:
    """Whether no name makes the order of some statements matter."""
    one, others = list(one), list(others)
    return not (written(one) & (read(others) | written(others)) or read(one) & written(others))


def leaves(statements: Iterable[ast.AST], kinds: tuple[type[ast.AST], ...]) -> bool:
    """Whether statements may jump out of themselves in one of these ways; what a function or loop does is its own."""
    loop_jumps = (ast.Break, ast.Continue)
    pending = [(node, False) for node in statements]
    while pending:
        node, in_loop = pending.pop()
        if isinstance(node, kinds) and not (in_loop and isinstance(node, loop_jumps)):
            return True
        if isinstance(node, Loop):
            pending.extend((child, True) for child in node.body)
            pending.extend((child, in_loop) for child in node.orelse)
        elif not isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            pending.extend((child, in_loop) for child in ast.iter_child_nodes(node))
    return False
