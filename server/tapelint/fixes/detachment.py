"""Cutting a value off its graph, or undoing such a cut."""

from __future__ import annotations

import ast

from ..source.edit import Edit
from .in_place import METHODS
from .text.concrete_syntax import Concrete
from .text.expressions import is_method, replace, steady
from .text.name_resolution import qualified, written
from .text.rows import put_before, take_out
from .text.source_editor import EditRefused, SourceEditor, refuse, require

_FUNCTIONS = ("torch.tensor", "torch.as_tensor", "torch.Tensor", "torch.autograd.Variable", "torch.nn.Parameter")
_LISTS = ("torch.nn.ParameterList",)

DETACHED = "{state}.detach()"
OF_TUPLE = "tuple({part}.detach() for {part} in {state})"


def detach_states(
    editor: SourceEditor, statement: ast.AST, *states: ast.AST, value: str = DETACHED, after: bool = False
) -> list[Edit]:
    """Carried states assigned anew, ``h = h.detach()``, each as a statement of its own.

    Targets: the statement to insert before, or ``after``, where it must not be the last of its suite; and the states,
    as they are written somewhere (:func:`steady`).
    """
    place = editor.place(statement)
    if after:
        is_followed = place.statement is statement and place.index + 1 < len(place.suite)
        require(is_followed, "nothing follows it")
        # What this iteration does with a state needs its gradient.
        refuse(any(_reads(place.suite[place.index + 1 :], steady(state)) for state in states), "it is used again below")
        place = editor.place(place.suite[place.index + 1])
    wanted = [_assigned(steady(state), value) for state in states]
    there = [ast.unparse(each) for each in place.suite[max(place.index - len(wanted), 0) : place.index]]
    refuse(there == wanted, "done already")
    return [put_before(editor, place, *wanted)]


def _reads(statements: list[ast.stmt], name: str) -> bool:
    """Whether statements read what is written ``name`` before one of them goes backward; to write into it is no use."""
    for statement in statements:
        nodes = [node for node in ast.walk(statement) if isinstance(node, ast.expr)]
        written = {
            id(node.value) for node in nodes if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
        }
        loaded = (
            node for node in nodes if isinstance(getattr(node, "ctx", None), ast.Load) and id(node) not in written
        )
        if any(ast.unparse(node) == name for node in loaded):
            return True
        if any(isinstance(node, ast.Attribute) and node.attr == "backward" for node in nodes):
            return False
    return False


def _assigned(name: str, value: str) -> str:
    """``value`` assigned to a state; in it, ``{state}`` is the state, ``{part}`` names its parts."""
    return f"{name} = {value.format(state=name, part='s' if name.partition('.')[0] != 's' else 'part')}"


def keep_detached_item(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    """``self.kept[key].detach_()`` becomes ``self.kept[key] = self.kept[key].detach()``.

    Target: the call, a statement of its own. The rule knows that it is a container whose items are assigned, and no
    tensor.
    """
    statement = editor.place(target).statement
    match statement:
        case ast.Expr(ast.Call(func=ast.Attribute(value=ast.Subscript() as item, attr="detach_") as function) as call):
            refuse(target is not call and target is not statement, "not a statement of its own")
            end = editor.end(function)
            return [editor.insert(editor.begin(call), f"{steady(item)} = "), editor.edit(end - 1, end, "")]
    raise EditRefused("not an item that is detached")


def keep_detached(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    """``target.detach()`` becomes ``target = target.detach()``.

    Target: the call, a statement of its own. The variable of a loop is refused: nobody reads it again.
    """
    statement = editor.place(target).statement
    match statement:
        case ast.Expr(ast.Call(func=ast.Attribute(value=state, attr="detach")) as call):
            refuse(target is not call and target is not statement, "not a statement of its own")
            name = steady(state)
            loops = [each for each in editor.path(target) if isinstance(each, (ast.For, ast.AsyncFor))]
            targets = {ast.unparse(part) for loop in loops for part in ast.walk(loop.target)}
            refuse(name in targets, "the variable of a loop")
            return [editor.insert(editor.begin(call), f"{name} = ")]
    raise EditRefused("not a variable that is detached")


def keep_gradient(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    """``g.data.round_()`` becomes ``g = g + (g.round() - g).detach()``.

    Target: the statement that calls an in-place method on ``.data`` of a name or attribute.
    """
    match editor.place(target).statement:
        case ast.Expr(
            ast.Call(
                func=ast.Attribute(
                    attr=method, value=ast.Attribute(attr="data", value=ast.Name() | ast.Attribute() as owner)
                )
            ) as call
        ) if method.endswith("_") and method[:-1] in METHODS:
            name = editor.text_of(owner)
            arguments = editor.text[editor.end(call.func) : editor.end(call)]
            return [replace(editor, call, f"{name} = {name} + ({name}.{method[:-1]}{arguments} - {name}).detach()")]
    raise EditRefused("not an in-place method of .data")


def remove_call(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    """``x.detach()``, ``x.item()`` and ``x.data`` become ``x``. A statement that only calls an in-place method, as
    ``x.detach_()``, is removed.

    Target: the call of a method without arguments, or the attribute.
    """
    node = target.value if isinstance(target, ast.Expr) else target
    attribute = node.func if isinstance(node, ast.Call) else node
    if not isinstance(attribute, ast.Attribute) or not isinstance(attribute.ctx, ast.Load):
        raise EditRefused("not a method or an attribute that is read")
    if isinstance(editor.path(node)[-2], ast.Expr):
        refuse(not attribute.attr.endswith("_"), "a statement that only does this")
        return [take_out(editor, editor.place(node))]
    refuse(isinstance(node, ast.Call) and bool(node.args or node.keywords), "a method with arguments")
    end = Concrete(editor, node).extent(attribute.value)[1]
    return [editor.edit(end, editor.end(node), "")]


def unwrap(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    """``torch.tensor(loss.item())`` becomes ``loss``, ``float(loss)`` too, and ``nn.ParameterList([t])`` ``[t]``.

    Target: the call of ``torch.tensor``, ``float`` and their like, or that of ``item`` in it.
    """
    if is_method(target, "item"):
        target = editor.path(target)[-2]
    if not isinstance(target, ast.Call) or not target.args:
        raise EditRefused("not a call with an argument")
    made = qualified(editor, editor.place(target), target.func)
    require(made in (*_FUNCTIONS, *_LISTS) or _is_float(editor, target), "not known to make a tensor")
    value = target.args[0]
    match value:
        case ast.Call(func=ast.Attribute(attr="item", value=owner)):
            value = owner
    forms = (ast.List,) if made in _LISTS else (ast.Name, ast.Attribute, ast.Subscript, ast.Call)
    require(isinstance(value, forms), "not a tensor by itself")
    return [replace(editor, target, editor.text_of(value))]


def _is_float(editor: SourceEditor, call: ast.Call) -> bool:
    """Whether Python's own ``float`` is called."""
    is_named = isinstance(call.func, ast.Name) and call.func.id == "float"
    return is_named and not any("float" in written([scope]) for scope in editor.scopes(editor.place(call)))
