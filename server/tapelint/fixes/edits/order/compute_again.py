"""Compute a value anew where it is out of date: ``score = D(fake)`` once more after ``opt.step()``, before it is used.

Targets: the statement that made it out of date, and what computes it, in any order; what does not stand above that
statement in its suite stays where it is. What only the second use needs, as a loss, moves along.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.edit_refused import EditRefused
from ...text.name_resolution import read, written
from ...text.rows import block, owns_rows, take_out, top_row
from ...text.source_editor import Place, SourceEditor
from ...text.statement_moves import above, refuse_crossing


def edits(editor: SourceEditor, anchor: ast.AST, *targets: ast.AST) -> list[Edit]:
    fixed = editor.whole(anchor)
    places = above(editor, targets, fixed)
    moved = _movable(places, fixed)
    copied = [place for place in places if place not in moved]
    if not copied or not all(isinstance(place.statement, ast.Assign) for place in copied):
        raise EditRefused("nothing to compute again")
    goal = _first_reader(places, fixed)
    if not all(owns_rows(editor, place.statement) for place in (*places, goal)):
        raise EditRefused("statements that share a row")
    _refuse_new_order(places, copied, goal)
    return [*(take_out(editor, place, with_comments=True) for place in moved), _inserted(editor, places, moved, goal)]


def _inserted(editor: SourceEditor, places: list[Place], moved: list[Place], goal: Place) -> Edit:
    """The statements before ``goal``; those that stay where they are leave their comments there."""
    indent = editor.indent_of_row(editor.first_row(goal.statement))
    texts = [
        block(editor, place, indent) if place in moved else indent + editor.text_of(place.statement) for place in places
    ]
    return editor.insert(editor.row_start(top_row(editor, goal)), "".join(text + editor.eol for text in texts))


def _refuse_new_order(places: list[Place], copied: list[Place], goal: Place) -> None:
    """Refuse where what is between depends on them, or they on that."""
    ours = [place.statement for place in places]
    for place in places:
        crossed = [s for s in place.suite[place.index + 1 : goal.index] if s not in ours]
        refuse_crossing(place, crossed, stays=place in copied)


def _movable(places: list[Place], anchor: Place) -> list[Place]:
    """Those whose results are not read before ``anchor``, but by others of them."""
    found: list[Place] = []
    for place in reversed(places):
        gone = [other.statement for other in found]
        between = place.suite[place.index + 1 : anchor.index + 1]
        if not written([place.statement]) & read(s for s in between if s not in gone):
            found.append(place)
    return found


def _first_reader(places: list[Place], anchor: Place) -> Place:
    """The first statement below ``anchor`` that reads a result."""
    results = written(place.statement for place in places)
    for index, statement in enumerate(anchor.suite[anchor.index + 1 :], anchor.index + 1):
        if results & read([statement]):
            return Place(statement, anchor.suite, index, anchor.owner, anchor.parents)
    raise EditRefused("it is not used again in this suite")
