"""A fix edits the file that its nodes stand in, and no other one at the same rows."""

from __future__ import annotations

import ast

import pytest

from tapelint.fixes import edits_for
from tapelint.fixes.text.source_editor import EditRefused, SourceEditor
from tapelint.rules.support.cure import FixProposal, spelled
from tapelint.source import Source, parse

MAIN = "import fire\n\nfire.Fire(train)\nfire.Fire(state)\n"
NET = "import torch\n\nself.h = forward()\nkept_here = state\n"


def _value(source: Source, index: int) -> ast.expr:
    statement = source.tree.body[index]
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return statement.value.args[0]
    assert isinstance(statement, ast.Assign)
    return statement.value


def test_a_node_of_another_file_is_not_edited_into_this_one() -> None:
    main, net = parse(MAIN, "main.py"), parse(NET, "net.py")
    cure = FixProposal("detach", "Detach it", (_value(net, 2),))
    assert edits_for(net, cure) is not None
    assert edits_for(main, cure) is None


def test_nor_is_one_of_a_cure_that_belongs_to_another() -> None:
    main, net = parse(MAIN, "main.py"), parse(NET, "net.py")
    own = FixProposal("detach", "Detach it", (_value(main, 1),))
    other = FixProposal("detach", "Detach it", (_value(net, 2),))
    assert edits_for(main, own) is not None
    assert edits_for(main, FixProposal("detach", "Both", own.targets, also=(other,))) is None


def test_an_expression_that_is_to_be_written_stands_nowhere() -> None:
    editor = SourceEditor(parse(MAIN, "main.py"))
    for node in (spelled("fire.train"), _value(parse(NET, "net.py"), 2)):
        with pytest.raises(EditRefused):
            editor.begin(node)
        with pytest.raises(EditRefused):
            editor.end(node)
