"""Lists that grow together: ``rewards.append(r)`` beside ``log_probs.append(p)``, and a loss that reads both.

Who empties one of them must empty the others, too, or they do not fit each other any more.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator


def appended_beside(loop: ast.AST, append: ast.AST, end: ast.AST) -> list[ast.expr]:
    """The containers that the statement ``append`` (a call) has neighbours for, and that one statement of ``loop`` down
    to the row of ``end`` reads together with its own. None that the loop assigns or clears.
    """
    own = _appended(append)
    if own is None:
        return []
    last = getattr(end, "lineno", 0)
    above = (node for node in ast.walk(loop) if isinstance(node, ast.stmt) and node.lineno <= last)
    read = [names for names in map(_read, above) if ast.unparse(own) in names]
    together = {name for names in read for name in names}
    together -= {ast.unparse(own), *(name for node in ast.walk(loop) for name in _reset(node))}
    return [other for name, other in _neighbours(loop, append).items() if name in together]


def _neighbours(loop: ast.AST, append: ast.AST) -> dict[str, ast.expr]:
    """What the other statements of the suite append to, as it is written there first."""
    found: dict[str, ast.expr] = {}
    for statement in _suite_of(loop, append):
        other = _appended(statement.value) if isinstance(statement, ast.Expr) else None
        if other is not None:
            found.setdefault(ast.unparse(other), other)
    return found


def _appended(call: ast.AST) -> ast.expr | None:
    """What a call appends to."""
    match call:
        case ast.Call(func=ast.Attribute(value=(ast.Name() | ast.Attribute()) as container, attr="append")):
            return container
    return None


def _suite_of(loop: ast.AST, call: ast.AST) -> Iterable[ast.stmt]:
    """The statements of the suite in which a call is a statement."""
    for node in ast.walk(loop):
        for name in ("body", "orelse", "finalbody"):
            suite = getattr(node, name, None)
            if isinstance(suite, list) and any(isinstance(s, ast.Expr) and s.value is call for s in suite):
                return suite
    return ()


def _read(statement: ast.stmt) -> set[str]:
    """The names and attributes that a statement itself reads, without those in its suites."""
    return {ast.unparse(part) for part in _own(statement) if isinstance(part, (ast.Name, ast.Attribute))}


def _own(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case)):
            yield child
            yield from _own(child)


def _reset(node: ast.AST) -> Iterator[str]:
    """The names that a node gives a new value, or empties."""
    match node:
        case ast.Call(func=ast.Attribute(value=container, attr="clear")):
            yield ast.unparse(container)
        case ast.Assign() | ast.AnnAssign() | ast.Delete():
            targets = [node.target] if isinstance(node, ast.AnnAssign) else node.targets
            for part in (inner for target in targets for inner in ast.walk(target)):
                if isinstance(part, (ast.Name, ast.Attribute, ast.Subscript)):
                    yield ast.unparse(part.value if isinstance(part, ast.Subscript) else part)
