"""Compute a new tensor where one was overwritten.

Target, one of

* an augmented assignment: ``y += 1`` becomes ``y = y + 1``;
* a call of an in-place method or function: the statement ``y.add_(1)`` becomes ``y = y.add(1)``, and within an
  expression ``h = h.relu_()`` becomes ``h = h.relu()``;
* a call with ``inplace=True``, which is taken out: ``F.relu(x, inplace=True)``, ``nn.ReLU(True)``.

Only names and attributes can be assigned anew; ``y[0] += 1`` is refused, and so is what would be missed: a parameter or
a loop's variable that is changed for others to see, or an operand that is read again.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.arguments import Arguments
from ...text.concrete_syntax import Concrete
from ...text.edit_refused import EditRefused
from ...text.inplace_twins import ARGUMENT, FUNCTIONS, METHODS
from ...text.lifetimes import is_read_again, is_shared
from ...text.name_resolution import dotted, is_local, qualified
from ...text.source_editor import Place, SourceEditor
from ...text.written import assignable, base_of

_TIGHTNESS: dict[type[ast.operator], int] = {
    ast.BitOr: 0,
    ast.BitXor: 1,
    ast.BitAnd: 2,
    **dict.fromkeys((ast.LShift, ast.RShift), 3),
    **dict.fromkeys((ast.Add, ast.Sub), 4),
    **dict.fromkeys((ast.Mult, ast.MatMult, ast.Div, ast.FloorDiv, ast.Mod), 5),
    ast.Pow: 6,
}
_ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant, ast.List, ast.Dict, ast.Set)


def edits(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    if isinstance(target, ast.AugAssign):
        return _augmented(editor, target)
    place = editor.place(target)
    node = target.value if isinstance(target, (ast.Expr, ast.Assign, ast.AnnAssign, ast.Return)) else target
    if not isinstance(node, ast.Call):
        raise EditRefused("not an in-place operation")
    name = qualified(editor, place, node.func)
    if name is None and isinstance(node.func, ast.Attribute) and node.func.attr.endswith("_"):
        return _methods(editor, place, node)
    if name is not None and name.endswith("_"):
        return _function(editor, place, node, name)
    return _argument(editor, place, node, name)


def _augmented(editor: SourceEditor, statement: ast.AugAssign) -> list[Edit]:
    place = editor.place(statement)
    target = assignable(editor, place, statement.target, declared=True)
    concrete = Concrete(editor, statement)
    begin, end = concrete.core(concrete.find_operator())
    operator = editor.text[begin : end - 1]
    made = [editor.edit(begin, end, f"= {target} {operator}")]
    if _needs_parentheses(concrete, statement):
        made += [editor.insert(editor.begin(statement.value), "("), editor.insert(editor.end(statement.value), ")")]
    return made


def _needs_parentheses(concrete: Concrete, statement: ast.AugAssign) -> bool:
    value = statement.value
    if concrete.expression(value).lpar:
        return False
    if isinstance(value, ast.BinOp):
        return _TIGHTNESS[type(value.op)] <= _TIGHTNESS[type(statement.op)]
    if isinstance(value, ast.UnaryOp):
        return isinstance(value.op, ast.Not)
    return not isinstance(value, (*_ATOMS, ast.JoinedStr, ast.Await, ast.ListComp))


def _methods(editor: SourceEditor, place: Place, call: ast.Call) -> list[Edit]:
    """A chain of in-place methods, all of them changed: each works on what the one before gave."""
    made: list[Edit] = []
    node: ast.expr = call
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr.endswith("_"):
        if node.func.attr[:-1] not in METHODS:
            raise EditRefused("no twin that is not in place")
        made.append(_without_underscore(editor, node.func))
        node = node.func.value
    return made + _kept(editor, place, call, node)


def _function(editor: SourceEditor, place: Place, call: ast.Call, name: str) -> list[Edit]:
    module, _, function = name.rpartition(".")
    if module not in ("torch", "torch.nn.functional") or function[:-1] not in FUNCTIONS:
        raise EditRefused("no twin that is not in place")
    if isinstance(call.func, ast.Name):
        raise EditRefused("the twin may not be imported")
    return [_without_underscore(editor, call.func), *_kept(editor, place, call, _operand(call))]


def _argument(editor: SourceEditor, place: Place, call: ast.Call, name: str | None) -> list[Edit]:
    """A function or a layer with an argument to work in place."""
    index, is_function = None, False
    for module, positions in ARGUMENT.items():
        rest = (name or "").removeprefix(module)
        if rest in positions:
            index, is_function = positions[rest], module == "torch.nn.functional."
            break
    else:
        if not (dotted(call.func) or "").rpartition(".")[2][:1].isupper():
            raise EditRefused("not known to make a layer")
    given = {keyword.arg: keyword.value for keyword in call.keywords}.get("inplace")
    if given is None and index is not None and index < len(call.args):
        given = call.args[index]
    if isinstance(given, ast.Constant) and not given.value:
        raise EditRefused("not in place")
    if index is None:
        if given is None:
            raise EditRefused("not in place")
        return Arguments(editor, call).put("inplace", "False")
    made = Arguments(editor, call).remove("inplace", index)
    return made + _kept(editor, place, call, _operand(call)) if is_function else made


def _operand(call: ast.Call) -> ast.expr:
    if call.args and not isinstance(call.args[0], ast.Starred):
        return call.args[0]
    for keyword in call.keywords:
        if keyword.arg == "input":
            return keyword.value
    raise EditRefused("no operand")


def _without_underscore(editor: SourceEditor, function: ast.expr) -> Edit:
    end = editor.end(function)
    return editor.edit(end - 1, end, "")


def _is_formatted(editor: SourceEditor, call: ast.Call) -> bool:
    """Whether a call stands in an f-string or a t-string."""
    return any(type(node).__name__ in ("JoinedStr", "TemplateStr") for node in editor.path(call))


def _kept(editor: SourceEditor, place: Place, call: ast.Call, operand: ast.expr) -> list[Edit]:
    """What it takes for the new value to be found where the old one was: nothing, or an assignment before the call."""
    if _is_formatted(editor, call):
        raise EditRefused("in a formatted string")
    statement = place.statement
    if isinstance(statement, ast.Expr) and statement.value is call:
        return [editor.insert(editor.begin(statement), f"{assignable(editor, place, operand)} = ")]
    base = base_of(operand)
    name = dotted(base)
    if isinstance(statement, ast.Expr) and name is not None and is_shared(editor, place, name):
        raise EditRefused("it is changed for others to see")
    if name is None:
        if isinstance(base, (ast.Subscript, ast.Attribute)):
            raise EditRefused("an item or an attribute that may be read again")
        return []
    if isinstance(statement, ast.Assign) and [dotted(target) for target in statement.targets] == [name]:
        return []
    if isinstance(base, ast.Name) and is_local(editor, place, name) and not is_read_again(editor, place, name, call):
        return []
    raise EditRefused("the operand may be read again")
