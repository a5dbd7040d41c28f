"""Update a parameter in place instead of computing a new one: ``w = w - lr * w.grad`` becomes
``with torch.no_grad(): w -= lr * w.grad``.

Target: the right side of the assignment, or the statement. Where gradients are off, only the assignment changes.
"""

from __future__ import annotations

import ast

from ...source.edit import Edit
from ..names import dotted, qualified, torch_name
from ..refused import Refused
from ..rows import indent_of, indent_unit, is_inline
from ..sheet import Place, Sheet

_SIGNS = {ast.Sub: "-", ast.Add: "+", ast.Mult: "*", ast.Div: "/"}


def edits(sheet: Sheet, target: ast.AST) -> list[Edit]:
    place = sheet.place(target)
    statement = place.statement
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        raise Refused("not an assignment")
    value, name = statement.value, dotted(statement.targets[0])
    if not isinstance(value, ast.BinOp) or name is None or dotted(value.left) != name or type(value.op) not in _SIGNS:
        raise Refused("not a value computed from itself")
    if isinstance(value.left, ast.BinOp) or sheet.first_row(statement) != sheet.last_row(statement):
        raise Refused("more than one step")
    sign = _SIGNS[type(value.op)]
    rest = sheet.text[sheet.end(value.left) : sheet.end(statement)].strip()
    if not rest.startswith(sign) or rest.count("(") != rest.count(")"):
        raise Refused("in parentheses")
    update = f"{name} {sign}= {rest.removeprefix(sign).strip()}"
    begin, end = sheet.begin(statement), sheet.end(statement)
    if _gradients_are_off(sheet, place):
        return [sheet.edit(begin, end, update)]
    no_grad = torch_name(sheet, place, "no_grad")
    if no_grad is None or is_inline(sheet, place) or not sheet.starts_row(statement):
        raise Refused("no place for a with statement")
    inner = indent_of(sheet, place) + indent_unit(sheet, place)
    return [sheet.edit(begin, end, f"with {no_grad}():{sheet.eol}{inner}{update}")]


def _gradients_are_off(sheet: Sheet, place: Place) -> bool:
    for node in place.parents:
        if isinstance(node, ast.With):
            for item in node.items:
                call = item.context_expr
                if isinstance(call, ast.Call) and qualified(sheet, place, call.func) == "torch.no_grad":
                    return True
    return False
