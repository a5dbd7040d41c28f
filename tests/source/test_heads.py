"""What has a body is shown by its name or its head."""

from __future__ import annotations

import ast

import pytest

from tapelint.source import head, parse


def shown(text: str, kind: type[ast.AST]) -> str:
    """The part of ``text`` at which the first node of a kind is shown."""
    source = parse(text, "a.py")
    span = head(source, next(node for node in ast.walk(source.tree) if isinstance(node, kind)))
    rows = list(source.lines[span.row - 1 : span.end_row])
    rows[-1] = rows[-1][: span.end_column - 1]
    return "\n".join([rows[0][span.column - 1 :], *rows[1:]] if rows[1:] else [rows[0][span.column - 1 :]])


@pytest.mark.parametrize(
    ("text", "kind", "part"),
    [
        ("@decorated\ndef step(self):\n    pass\n", ast.FunctionDef, "step"),
        ("class A:\n    async  def  über(self):\n        pass\n", ast.AsyncFunctionDef, "über"),
        ("class Net(nn.Module):\n    x = 1\n", ast.ClassDef, "Net"),
        ("for x, y in loader:\n    f(x)\nelse:\n    g()\n", ast.For, "for x, y in loader"),
        ("while f(x,\n        y):\n    x = 1\n", ast.While, "while f(x,\n        y)"),
        ("with f() as a, g():\n    x = 1\n", ast.With, "with f() as a, g()"),
        ("with f() as a:\n    x = 1\n", ast.With, "with f() as a"),
        ("if x:\n    y = 1\n", ast.If, "if x"),
        ("y = f(\n    x,\n)\n", ast.Call, "f(\n    x,\n)"),
        ("def \\\n  step():\n    pass\n", ast.FunctionDef, "def \\\n  step():\n    pass"),
    ],
)
def test_the_head_stands_for_all_of_it(text: str, kind: type[ast.AST], part: str) -> None:
    assert shown(text, kind) == part
