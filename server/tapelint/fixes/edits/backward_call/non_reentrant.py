"""Checkpoint without reentrant autograd: ``checkpoint(f, x)`` becomes ``checkpoint(f, x, use_reentrant=False)``.

Target: the call of ``checkpoint`` or ``checkpoint_sequential``.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.arguments import Arguments
from ...text.backward_calls_text import as_call
from ...text.source_editor import SourceEditor


def edits(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    return Arguments(editor, as_call(target)).put("use_reentrant", "False")
