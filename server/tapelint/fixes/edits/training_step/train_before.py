"""Set a network to training mode before something: ``net.train()`` on a row of its own.

Targets: the statement to insert before, and the network, as the program writes it elsewhere.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.edit_refused import EditRefused
from ...text.rows import must_stay_first, put_before
from ...text.source_editor import SourceEditor
from ...text.states import steady


def edits(editor: SourceEditor, anchor: ast.AST, network: ast.AST) -> list[Edit]:
    place = editor.whole(anchor)
    if must_stay_first(place):
        raise EditRefused("nothing may stand before it")
    return [put_before(editor, place, f"{steady(network)}.train()")]
