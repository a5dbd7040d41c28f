"""Primitives for values: another text, another name, another argument, a call behind them, a call around them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...source import dotted
from ...source.edit import Edit
from .concrete_syntax import Arguments, Concrete
from .name_resolution import own_nodes, qualified, torch_name
from .source_editor import EditRefused, SourceEditor, refuse, require

_EMPTY = ("[]", "list()", "()", "tuple()", "{}", "dict()")
_DISPLAYS = (ast.List, ast.Tuple, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp)
_MAKERS = frozenset("list tuple dict set deque collections.deque defaultdict collections.defaultdict".split())
"""What makes a container: classes of Python and its ``collections``."""


def as_call(node: ast.AST) -> ast.Call:
    """The call, or the one that a statement consists of."""
    node = node.value if isinstance(node, ast.Expr) else node
    if not isinstance(node, ast.Call):
        raise EditRefused("not a call")
    return node


def is_method(node: ast.AST | None, *names: str) -> bool:
    """Whether a method of one of these names is called."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in names


def steady(state: ast.AST) -> str:
    """The text of a state that can be read and assigned any number of times to the same effect: a name, an attribute of
    names (``self.h``), or an item of these at a constant or a name (``states[0]``).
    """
    holder: ast.AST = state
    if isinstance(state, ast.Subscript):
        require(isinstance(state.slice, (ast.Constant, ast.Name)), "an item that may not stay the same")
        holder = state.value
    refuse(not dotted(holder), "not a name or an attribute")
    return ast.unparse(state)


def replace(editor: SourceEditor, node: ast.AST, text: str) -> Edit:
    """Another text in place of a node."""
    return editor.edit(editor.begin(node), editor.end(node), text)


def rename(editor: SourceEditor, function: ast.expr, name: str) -> Edit:
    """Another function of the same module, or method of the same object: ``torch.enable_grad`` for ``torch.no_grad``.
    Refused where the function is called by a name alone: the other one may not be imported.
    """
    if not isinstance(function, ast.Attribute):
        raise EditRefused("the other may not be imported")
    end = editor.end(function)
    return editor.edit(end - len(function.attr), end, name)


def put_argument(editor: SourceEditor, target: ast.AST, *, name: str, value: str) -> list[Edit]:
    """``name=value`` in a call. Target: the call."""
    return Arguments(editor, as_call(target)).put(name, value)


def drop_argument(editor: SourceEditor, target: ast.AST, *, name: str) -> list[Edit]:
    """A call without the argument ``name``. Target: the call."""
    return Arguments(editor, as_call(target)).remove(name)


def put_call_behind(editor: SourceEditor, *targets: ast.AST, call: str, unless: tuple[str, ...]) -> list[Edit]:
    """``call`` (``.detach()``) behind each target; not where one of the methods ``unless`` was called.

    Targets: one or more expressions. A tuple or list display stands for its elements, since a tuple has no ``detach``,
    and a container of which an item is asked for stands for that item.
    """
    made: list[Edit] = []
    for target in targets:
        concrete = Concrete(editor, target)
        for value in (_item(editor, value) for value in _values(target)):
            if not _has_call(value, editor.path(value)[-2], unless):
                made += concrete.put_behind(value, call)
    require(made, "done already")
    return made


def _values(target: ast.AST) -> Iterator[ast.expr]:
    value = _loaded(target)
    if isinstance(value, (ast.Tuple, ast.List)):
        for element in value.elts:
            yield from _values(element)
    else:
        yield value


def _loaded(target: ast.AST) -> ast.expr:
    if not isinstance(target, ast.expr) or not isinstance(getattr(target, "ctx", ast.Load()), ast.Load):
        raise EditRefused("not a value")
    return target


def _item(editor: SourceEditor, value: ast.expr) -> ast.expr:
    """The value itself, or the item that is asked of it where the text makes it a container."""
    if not isinstance(value, (ast.Name, ast.Attribute)) or not is_container(editor, value):
        return value
    parent = editor.path(value)[-2]
    if not isinstance(parent, ast.Subscript) or parent.value is not value or isinstance(parent.slice, ast.Slice):
        raise EditRefused("a container")
    return parent


def is_container(editor: SourceEditor, name: ast.Name | ast.Attribute) -> bool:
    """Whether the variable, or in any class the attribute of this name, is assigned a display of items."""
    scopes = editor.scopes(editor.place(name)) if isinstance(name, ast.Name) else []
    nodes = (node for scope in scopes for node in own_nodes(scope)) if scopes else ast.walk(editor.source.tree)
    return any(
        isinstance(node, ast.Assign) and any(_is_same(name, each) for each in node.targets) and _makes_items(node.value)
        for node in nodes
    )


def _is_same(name: ast.Name | ast.Attribute, target: ast.expr) -> bool:
    if isinstance(name, ast.Name):
        return isinstance(target, ast.Name) and target.id == name.id
    return isinstance(target, ast.Attribute) and target.attr == name.attr


def _makes_items(value: ast.expr) -> bool:
    return isinstance(value, _DISPLAYS) or (isinstance(value, ast.Call) and dotted(value.func) in _MAKERS)


def _has_call(value: ast.expr, parent: ast.AST, names: tuple[str, ...]) -> bool:
    """Whether a value is the result of such a call, or is only there to be called so."""
    if isinstance(value, ast.Call):
        return is_method(value, *names)
    return isinstance(parent, ast.Attribute) and parent.attr in names


def wrap(editor: SourceEditor, target: ast.AST, *, wrapper: str) -> list[Edit]:
    """``torch.<wrapper>(target)``: ``[a, b]`` becomes ``nn.ModuleList([a, b])``; what is empty is made by the wrapper.

    Target: the value that is assigned.
    """
    value, place = _loaded(target), editor.place(target)
    name = torch_name(editor, place, wrapper)
    refuse(name is None, "torch.nn has no name here")
    refuse(isinstance(value, ast.Call) and qualified(editor, place, value.func) == f"torch.{wrapper}", "done already")
    text = editor.text_of(value)
    if text in _EMPTY:
        return [replace(editor, value, f"{name}()")]
    if isinstance(value, ast.Tuple):
        refuse(len(as_call(ast.parse(f"f({text})").body[0]).args) != 1, "a tuple without parentheses")
    return [editor.insert(editor.begin(value), f"{name}("), editor.insert(editor.end(value), ")")]
