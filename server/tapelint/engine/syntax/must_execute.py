"""What a function does after a place in it, whichever way it goes, unless it raises.

def train(loader, net, check):
    for x, y in loader:
        out = net(x)
        check(out.numpy())            if a caller ran this with gradients switched off,
        loss(out, y).backward()       it would reach this, which raises: so none does
"""

from __future__ import annotations

import ast
from enum import Enum

from ...source import blocks, walk

GOES_BACKWARD = frozenset(("backward", "manual_backward"))
SWITCHES = frozenset(("enable_grad", "set_grad_enabled"))


class _Ends(Enum):
    """How a block ends after a place in it: it has gone backward, it is left another way, or it just ends."""

    WALKS = "walks"
    LEAVES = "leaves"
    FALLS = "falls"


def walks_after(function: ast.FunctionDef | ast.AsyncFunctionDef, place: ast.AST) -> bool:
    """Whether ``function`` goes backward after ``place`` on every way that does not raise. A way that ends in ``raise``
    tells nothing of how the function is called; one that returns may be there for calls without gradients.
    """
    return _after(function.body, place) is _Ends.WALKS


def _after(block: list[ast.stmt], place: ast.AST) -> _Ends | None:
    """How a block ends after ``place``; None if that is not in it."""
    index = next((i for i, statement in enumerate(block) if any(node is place for node in walk(statement))), None)
    if index is None:
        return None
    inner = _inside(block[index], place)
    if inner is not None and inner is not _Ends.FALLS:
        return inner
    for statement in block[index + 1 :]:
        if _walks(statement):
            return _Ends.WALKS
        if isinstance(statement, (ast.Return, ast.Break, ast.Continue)):
            return _Ends.LEAVES
    return _Ends.LEAVES if isinstance(block[index], ast.Return) else _Ends.FALLS


def _inside(statement: ast.stmt, place: ast.AST) -> _Ends | None:
    """The same for the blocks in a statement; what is in a function of its own runs some time."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return _Ends.LEAVES
    parts = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
    parts += [each.body for each in blocks(statement) if isinstance(each, (ast.ExceptHandler, ast.match_case))]
    return next((ends for part in parts if (ends := _after(part, place)) is not None), None)


def _walks(statement: ast.stmt) -> bool:
    """Whether a statement surely goes backward through what was computed before it. A loop is taken to run."""
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        is_switch = any(_last(item.context_expr) in SWITCHES for item in statement.items)
        return not is_switch and any(map(_walks, statement.body))
    if isinstance(statement, (ast.For, ast.AsyncFor, ast.Try)):
        return any(map(_walks, statement.body))
    call = statement.value if isinstance(statement, (ast.Expr, ast.Assign, ast.Return)) else None
    return isinstance(call, ast.Call) and _last(call) in GOES_BACKWARD and isinstance(call.func, ast.Attribute)


def _last(node: ast.expr) -> str:
    """The last name of what is called: ``no_grad`` of ``torch.no_grad()``."""
    name = node.func if isinstance(node, ast.Call) else node
    return name.attr if isinstance(name, ast.Attribute) else getattr(name, "id", "")
