"""Assigning a carried state anew before a statement."""

from __future__ import annotations

import ast

from ...source.edit import Edit
from .edit_refused import EditRefused
from .name_resolution import dotted
from .rows import must_stay_first, put_before
from .source_editor import SourceEditor


def assign_before(editor: SourceEditor, statement: ast.AST, state: ast.AST, value: str) -> list[Edit]:
    """``state = <value>`` before ``statement``; in ``value``, ``{state}`` is the state, ``{part}`` names its parts."""
    name = steady(state)
    part = "s" if name.partition(".")[0] != "s" else "part"
    wanted = f"{name} = {value.format(state=name, part=part)}"
    place = editor.place(statement)
    if place.statement is not statement:
        raise EditRefused("not a statement")
    if must_stay_first(place):
        raise EditRefused("nothing may stand before it")
    if place.index and ast.unparse(place.suite[place.index - 1]) == wanted:
        raise EditRefused("done already")
    return [put_before(editor, place, wanted)]


def assign_after(editor: SourceEditor, statement: ast.AST, state: ast.AST, value: str) -> list[Edit]:
    """The same just after ``statement``, before whatever follows it."""
    place = editor.place(statement)
    if place.statement is not statement or place.index + 1 >= len(place.suite):
        raise EditRefused("nothing follows it")
    return assign_before(editor, place.suite[place.index + 1], state, value)


def steady(state: ast.AST) -> str:
    """The text of a state that can be read and assigned any number of times to the same effect."""
    holder: ast.AST = state
    if isinstance(state, ast.Subscript):
        if not isinstance(state.slice, (ast.Constant, ast.Name)):
            raise EditRefused("an item that may not stay the same")
        holder = state.value
    if dotted(holder) is None:
        raise EditRefused("not a name or an attribute")
    return ast.unparse(state)
