"""Record a graph where gradients are off: what computes the root goes into ``with torch.enable_grad():``.

Targets: what was computed without gradients, and what goes backward. Where both stand in one suite, all from the first
down to the second goes in, else only the statement of the first. Refused where code around it enters the mode: that can
be changed.
"""

from __future__ import annotations

import ast

from ....source.edit import Edit
from ...text.context_managers import managers_around
from ...text.edit_refused import EditRefused
from ...text.name_resolution import qualified
from ...text.source_editor import SourceEditor
from ...text.under_mode import wrapped
from .enable_grad import MODES

_SWITCHES = ("torch.set_grad_enabled", "torch.autograd.set_grad_enabled", "torch.autograd.grad_mode.set_grad_enabled")


def _is_switched(editor: SourceEditor, node: ast.AST) -> bool:
    """Whether code around a node switches gradients by a condition."""
    managers = (item.context_expr for part in editor.path(node) if isinstance(part, ast.With) for item in part.items)
    calls = (each for each in managers if isinstance(each, ast.Call))
    return any(qualified(editor, editor.place(each), each.func) in _SWITCHES for each in calls)


def edits(editor: SourceEditor, computed: ast.AST, backward: ast.AST) -> list[Edit]:
    if any(managers_around(editor, [computed], MODES)) or _is_switched(editor, computed):
        raise EditRefused("the mode is entered around it")
    first, last = editor.whole(computed), editor.place(backward)
    if last.suite is not first.suite or last.index < first.index:
        return wrapped(editor, [first.statement], "enable_grad")
    return wrapped(editor, first.suite[first.index : last.index + 1], "enable_grad")
