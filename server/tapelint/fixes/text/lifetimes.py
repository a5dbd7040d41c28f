"""Whether a variable is read after a statement, whether other code may hold what it holds, and so whether its name may
get a new meaning instead of being written in place.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...source import Loop, dotted
from .name_resolution import binds, is_local, is_parameter
from .source_editor import SCOPES, Place, SourceEditor, demand, refuse

VIEWS = frozenset(
    "T H mT mH data real imag as_strided contiguous detach diagonal expand expand_as flatten movedim narrow permute"
    " ravel reshape select squeeze swapaxes swapdims t to transpose type unflatten unfold unsqueeze view"
    " view_as".split()
)
"""Methods and attributes whose result may be the memory they were called on
(https://docs.pytorch.org/docs/stable/tensor_view.html), ``.data`` and the conversions that may find nothing to do.
"""


def base_of(operand: ast.expr) -> ast.expr:
    """What the memory of an expression belongs to, as far as its views tell."""
    while True:
        function = operand.func if isinstance(operand, ast.Call) else operand
        if not isinstance(function, ast.Attribute) or function.attr not in VIEWS:
            return operand
        operand = function.value


def assignable(editor: SourceEditor, place: Place, target: ast.expr, *, declared: bool = False) -> str:
    """The name that may be assigned anew; refused where it would be missed that it no longer means the same tensor."""
    name = demand(dotted(target) or None, "not a name or an attribute")
    if isinstance(target, ast.Name):
        refuse(not declared and not is_local(editor, place, name), "a variable of another scope")
        if is_shared(editor, place, name):
            refuse(
                not is_read_again(editor, place, name) or is_only_written(editor, place, name),
                "it is changed for others to see",
            )
    return name


def is_read_again(editor: SourceEditor, place: Place, name: str, within: ast.AST | None = None) -> bool:
    """Whether ``name`` may be read once ``place`` ran: below it, in a loop around it, by a function inside the scope.

    With ``within``, a part of the statement, the rest of the statement counts as well, and the statement itself only
    where a loop comes back to it with the same value.
    """
    scope = editor.scopes(place)[0]
    statement = place.statement
    own = set(map(id, ast.walk(statement)))
    if within is not None:
        mine = set(map(id, ast.walk(within)))
        if any(id(node) not in mine for node in _loads(statement, name)):
            return True
    if any(id(node) not in own and editor.begin(node) >= editor.end(statement) for node in _loads(scope, name)):
        return True
    if any(node is not scope and any(_loads(node, name)) for node in ast.walk(scope) if isinstance(node, SCOPES)):
        return True
    return any(_reads_again(loop, name, own if within is not None else set()) for loop in _loops_around(place, name))


def _reads_again(loop: ast.AST, name: str, own: set[int]) -> bool:
    """Whether the next iteration reads ``name``; in the nodes ``own`` only where no iteration assigns it."""
    is_assigned = any(name in binds(node) for node in ast.walk(loop))
    return any(not is_assigned or id(node) not in own for node in _loads(loop, name))


def is_shared(editor: SourceEditor, place: Place, name: str) -> bool:
    """Whether ``name`` was handed in, as a parameter or by a loop, so that changing it in place is seen elsewhere."""
    return is_parameter(editor.scopes(place)[0], name) or any(_binds(loop, name) for loop in place.parents)


def is_only_written(editor: SourceEditor, place: Place, name: str) -> bool:
    """Whether all that the scope does with ``name`` is to change it in place: who handed it in reads it there."""
    scope = editor.scopes(place)[0]
    written = {id(base) for node in ast.walk(scope) if (base := _written_by(node)) is not None}
    return all(id(node) in written for node in _loads(scope, name))


def _written_by(statement: ast.AST) -> ast.AST | None:
    """What a statement that does nothing else writes in place: ``x`` of ``x += 1`` and of ``x.add_(1).mul_(2)``."""
    if isinstance(statement, ast.AugAssign):
        return statement.target
    return in_place_calls(statement.value)[1] if isinstance(statement, ast.Expr) else None


def in_place_calls(node: ast.expr) -> tuple[list[ast.Attribute], ast.expr]:
    """The in-place methods of a chain of calls, the last one first, and what they write: ``x`` of
    ``x.add_(1).mul_(2)``.
    """
    functions: list[ast.Attribute] = []
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr.endswith("_"):
        functions.append(node.func)
        node = node.func.value
    return functions, node


def _loops_around(place: Place, name: str) -> Iterator[ast.AST]:
    """The loops that may come back to ``place`` with the same ``name``, innermost first."""
    for node in reversed(place.parents):
        if isinstance(node, SCOPES) or _binds(node, name):
            return
        if isinstance(node, Loop):
            yield node


def _binds(loop: ast.AST, name: str) -> bool:
    return isinstance(loop, (ast.For, ast.AsyncFor)) and any(name in binds(node) for node in ast.walk(loop.target))


def _loads(node: ast.AST, name: str) -> Iterator[ast.AST]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and inner.id == name and isinstance(inner.ctx, ast.Load):
            yield inner
        elif isinstance(inner, ast.AugAssign) and isinstance(inner.target, ast.Name) and inner.target.id == name:
            yield inner.target
