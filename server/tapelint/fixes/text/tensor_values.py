"""Appending a method call to the tensors an expression stands for."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ...source.edit import Edit
from .concrete_syntax import Concrete, append_call
from .edit_refused import EditRefused
from .source_editor import SourceEditor


def append_to_values(
    editor: SourceEditor, targets: Sequence[ast.AST], call: str, unless: tuple[str, ...]
) -> list[Edit]:
    """``call`` behind each target, or behind the elements of a display; not where one of ``unless`` was called."""
    made: list[Edit] = []
    for target in targets:
        concrete = Concrete(editor, target)
        for value in _values(target):
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


def _has_call(value: ast.expr, parent: ast.AST, names: tuple[str, ...]) -> bool:
    """Whether a value is the result of such a call, or is only there to be called so."""
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Attribute) and value.func.attr in names
    return isinstance(parent, ast.Attribute) and parent.attr in names
