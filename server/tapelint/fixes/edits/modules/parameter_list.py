"""Register the parameters of a list: ``self.ws = [...]`` becomes ``self.ws = nn.ParameterList([...])``.

Target: the value that is assigned.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.source_editor import SourceEditor
from ...text.wrapping import wrap


def edits(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    return wrap(editor, target, "nn.ParameterList")
