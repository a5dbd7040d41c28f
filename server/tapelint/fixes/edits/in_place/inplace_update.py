"""Update a parameter in place instead of computing a new one: ``w = w - lr * w.grad`` becomes
``with torch.no_grad(): w -= lr * w.grad``.

Target: the right side of the assignment, or the statement. Updates of the same form right above and below it go with
it. Where gradients are off already, only the assignments change. A new tensor had no gradient; what stays the same
tensor keeps its own, so where no code clears that, ``w.grad = None`` follows.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.edit_refused import EditRefused
from ...text.name_resolution import dotted, qualified, torch_name
from ...text.rows import indent_of, indent_unit, is_inline, owns_rows
from ...text.source_editor import SCOPES, Place, SourceEditor

_SIGNS = {ast.Sub: "-", ast.Add: "+", ast.Mult: "*", ast.Div: "/"}


def edits(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    place = editor.place(target)
    run = _run(editor, place)
    bodies = [_update(editor, statement)[1] for statement in run]
    indent = editor.indent_of_row(editor.first_row(place.statement))
    made: list[Edit] = []
    if not _gradients_are_off(editor, place):
        no_grad = torch_name(editor, place, "no_grad")
        if no_grad is None or is_inline(editor, place) or not owns_rows(editor, run[0]):
            raise EditRefused("no place for a with statement")
        unit = indent_unit(editor, place)
        indent = indent_of(editor, place) + unit
        bodies[0] = f"with {no_grad}():{editor.eol}{indent}{bodies[0]}"
        rows = range(editor.first_row(run[0]) + 1, editor.last_row(run[-1]) + 1)
        made += [editor.insert(editor.row_start(row), unit) for row in rows if editor.rows[row - 1].strip()]
    made += [editor.edit(editor.begin(s), editor.end(s), body) for s, body in zip(run, bodies)]
    if owns_rows(editor, run[-1]):
        names = [name for s in run if (name := _update(editor, s)[0]) and not _is_cleared(editor, place, name)]
        text = "".join(f"{editor.eol}{indent}{name}.grad = None" for name in names)
        row = editor.last_row(run[-1])
        made += [editor.insert(editor.row_start(row) + len(editor.rows[row - 1].rstrip("\r\n")), text)] if text else []
    return made


def _run(editor: SourceEditor, place: Place) -> list[ast.stmt]:
    """The statement, and its neighbours that update other tensors by their gradients."""
    _update(editor, place.statement)
    first = last = place.index
    if owns_rows(editor, place.statement):
        while first and _goes_with(editor, place.suite[first - 1]):
            first -= 1
        while last + 1 < len(place.suite) and _goes_with(editor, place.suite[last + 1]):
            last += 1
    return place.suite[first : last + 1]


def _goes_with(editor: SourceEditor, statement: ast.stmt) -> bool:
    try:
        name, update = _update(editor, statement)
    except EditRefused:
        return False
    return f"{name}.grad" in update and owns_rows(editor, statement)


def _update(editor: SourceEditor, statement: ast.stmt) -> tuple[str, str]:
    """What an assignment updates, and the update in place; refused where it does something else."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        raise EditRefused("not an assignment")
    value, name = statement.value, dotted(statement.targets[0])
    if not isinstance(value, ast.BinOp) or name is None or _itself(value.left) != name or type(value.op) not in _SIGNS:
        raise EditRefused("not a value computed from itself")
    if editor.first_row(statement) != editor.last_row(statement):
        raise EditRefused("more than one row")
    sign = _SIGNS[type(value.op)]
    rest = editor.text[editor.end(value.left) : editor.end(statement)].strip()
    if not rest.startswith(sign) or rest.count("(") != rest.count(")"):
        raise EditRefused("in parentheses")
    return name, f"{name} {sign}= {rest.removeprefix(sign).strip()}"


def _itself(node: ast.AST) -> str | None:
    """What a tensor is called, also where its value is asked for: ``w``, ``w.data``, ``w.detach()``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "detach":
        node = node.func.value
    elif isinstance(node, ast.Attribute) and node.attr == "data":
        node = node.value
    return dotted(node)


def _gradients_are_off(editor: SourceEditor, place: Place) -> bool:
    for node in place.parents:
        if isinstance(node, ast.With):
            for item in node.items:
                call = item.context_expr
                if isinstance(call, ast.Call) and qualified(editor, place, call.func) == "torch.no_grad":
                    return True
    return False


def _is_cleared(editor: SourceEditor, place: Place, name: str) -> bool:
    """Whether code around clears gradients: of everything, of what a loop goes through, of this tensor; or whether this
    tensor's gradient is not read at all.
    """
    scope = next(node for node in reversed(place.parents) if isinstance(node, SCOPES))
    nodes = list(ast.walk(scope))
    variables = {n.target.id for n in nodes if isinstance(n, ast.For) and isinstance(n.target, ast.Name)}
    attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
    for node in attributes:
        if node.attr == "zero_grad":
            return True
        if node.attr == "grad" and dotted(node.value) in {name, *variables}:
            if isinstance(node.ctx, (ast.Store, ast.Del)) or _zeroed(editor, node):
                return True
    return f"{name}.grad" not in map(dotted, attributes)


def _zeroed(editor: SourceEditor, gradient: ast.Attribute) -> bool:
    """``w.grad.zero_()``, ``w.grad.data.zero_()``."""
    return any(isinstance(n, ast.Attribute) and n.attr == "zero_" for n in editor.path(gradient))
