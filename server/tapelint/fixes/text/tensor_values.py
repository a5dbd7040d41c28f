"""Appending a method call to the tensors an expression stands for."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ...source.edit import Edit
from .concrete_syntax import Concrete, append_call
from .edit_refused import EditRefused
from .name_resolution import dotted, own_nodes
from .source_editor import SourceEditor


def append_to_values(
    editor: SourceEditor, targets: Sequence[ast.AST], call: str, unless: tuple[str, ...]
) -> list[Edit]:
    """``call`` behind each target, or behind the elements of a display; not where one of ``unless`` was called. Where
    the target is a container of which an item is asked for, behind that item.
    """
    made: list[Edit] = []
    for target in targets:
        concrete = Concrete(editor, target)
        for value in (_item(editor, value) for value in _values(target)):
            if not _has_call(value, editor.path(value)[-2], unless):
                made += append_call(concrete, value, call)
    if not made:
        raise EditRefused("done already")
    return made


def _values(target: ast.AST) -> Iterator[ast.expr]:
    if not isinstance(target, ast.expr) or not isinstance(getattr(target, "ctx", ast.Load()), ast.Load):
        raise EditRefused("not a value")
    if isinstance(target, (ast.Tuple, ast.List)):
        for element in target.elts:
            yield from _values(element)
    else:
        yield target


def _item(editor: SourceEditor, value: ast.expr) -> ast.expr:
    """The value itself, or the item that is asked of it where the text makes it a container."""
    if not isinstance(value, (ast.Name, ast.Attribute)) or not is_container(editor, value):
        return value
    parent = editor.path(value)[-2]
    if not isinstance(parent, ast.Subscript) or parent.value is not value or isinstance(parent.slice, ast.Slice):
        raise EditRefused("a container")
    return parent


_DISPLAYS = (ast.List, ast.Tuple, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp)
_MAKERS = frozenset("list tuple dict set deque collections.deque defaultdict collections.defaultdict".split())


def is_container(editor: SourceEditor, name: ast.Name | ast.Attribute) -> bool:
    """Whether the variable, or in any class the attribute of this name, is assigned a display of items."""
    trees = editor.scopes(editor.place(name)) if isinstance(name, ast.Name) else [editor.source.tree]
    walk = own_nodes if isinstance(name, ast.Name) else ast.walk
    for node in (node for tree in trees for node in walk(tree)):
        if isinstance(node, ast.Assign) and any(_is_same(name, target) for target in node.targets):
            value = node.value
            is_made = isinstance(value, ast.Call) and dotted(value.func) in _MAKERS
            if is_made or isinstance(value, _DISPLAYS):
                return True
    return False


def _is_same(name: ast.Name | ast.Attribute, target: ast.expr) -> bool:
    if isinstance(name, ast.Name):
        return isinstance(target, ast.Name) and target.id == name.id
    return isinstance(target, ast.Attribute) and target.attr == name.attr


def _has_call(value: ast.expr, parent: ast.AST, names: tuple[str, ...]) -> bool:
    """Whether a value is the result of such a call, or is only there to be called so."""
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Attribute) and value.func.attr in names
    return isinstance(parent, ast.Attribute) and parent.attr in names
