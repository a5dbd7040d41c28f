"""Do something outside autograd: wrap statements in ``with torch.no_grad():``.

Targets: one or more consecutive statements of one suite. The name of torch is the one this file imported; a file that
has none gets no fix, and neither do statements that suspend (``yield``, ``await``): the mode would leak to code that
runs meanwhile.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.source_editor import SourceEditor
from ...text.under_mode import wrapped


def edits(editor: SourceEditor, *targets: ast.AST) -> list[Edit]:
    return wrapped(editor, targets, "no_grad")
