"""Leave gradients off, but make ordinary tensors: ``torch.inference_mode()`` becomes ``torch.no_grad()``.

Targets: what was computed in inference mode, then the calls that led there, innermost first. The mode is looked for in
the ``with`` statements and the decorators around them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...source.edit import Edit
from ..names import qualified
from ..refused import Refused
from ..sheet import Sheet


def edits(sheet: Sheet, *targets: ast.AST) -> list[Edit]:
    for target in targets:
        for node in reversed(sheet.path(target)):
            for expression in _managers(node):
                function = expression.func if isinstance(expression, ast.Call) else expression
                if isinstance(expression, ast.Call) and (expression.args or expression.keywords):
                    continue
                name = qualified(sheet, sheet.place(node), function)
                if name in ("torch.inference_mode", "torch.autograd.inference_mode"):
                    if not isinstance(function, ast.Attribute):
                        raise Refused("no_grad may not be imported")
                    end = sheet.end(function)
                    return [sheet.edit(end - len("inference_mode"), end, "no_grad")]
    raise Refused("the mode is not entered around it")


def _managers(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, (ast.With, ast.AsyncWith)):
        yield from (item.context_expr for item in node.items)
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield from node.decorator_list
