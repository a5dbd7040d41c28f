"""Register the modules of a list: ``self.layers = [...]`` becomes ``self.layers = nn.ModuleList([...])``.

Target: the value that is assigned.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.source_editor import SourceEditor
from ...text.wrapping import wrap


def edits(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    return wrap(editor, target, "nn.ModuleList")
