"""The editor's "fix all" makes the text that ``--fix`` makes; where there is no safe fix it is not offered."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "mdtest"))

from mdspec import Block, read_programs
from tapelint.analysis import analyse
from tapelint.analysis.fix_all import repair
from tapelint.source import Edit, Span, apply
from wire import Wire

SAMPLE = 12
ACTIONS = {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "source"]}}}
CLIENT = {
    "textDocument": {"publishDiagnostics": {}, "codeAction": ACTIONS},
    "workspace": {"workspaceEdit": {"documentChanges": True}},
}


def with_several_findings() -> list[Block]:
    """A sample of the literate programs of one file that claim several findings."""
    alone = [b for b in read_programs() if len(b.expected) > 1 and not (b.files or b.cells or b.tests)]
    return alone[:: max(1, len(alone) // SAMPLE)]


@pytest.fixture(scope="module")
def editor() -> Iterator[Wire]:
    wire = Wire()
    wire.start(CLIENT)
    yield wire
    wire.close()


def fix_all(wire: Wire, uri: str) -> list[dict]:
    place = {"line": 0, "character": 0}
    params = {"textDocument": {"uri": uri}, "range": {"start": place, "end": place}}
    params["context"] = {"diagnostics": [], "only": ["source.fixAll"]}
    return wire.request("textDocument/codeAction", params)["result"]


def edited(text: str, action: dict) -> str:
    (document,) = action["edit"]["documentChanges"]
    edits = []
    for edit in document["edits"]:
        start, end = edit["range"]["start"], edit["range"]["end"]
        span = Span(start["line"] + 1, start["character"] + 1, end["line"] + 1, end["character"] + 1)
        edits.append(Edit(span, edit["newText"]))
    return apply(text, edits)


@pytest.mark.parametrize("block", with_several_findings(), ids=lambda block: block.name)
def test_the_editor_and_the_command_line_agree(editor: Wire, block: Block) -> None:
    uri = f"untitled:{block.name}"
    editor.open(uri, block.program)
    actions = fix_all(editor, uri)
    report = analyse(block.program, uri)
    expected = repair(report, unsafe=False)
    assert len(actions) == (expected.fixes > 0)
    if actions:
        assert edited(block.program, actions[0]) == expected.report.source.text
        assert repair(expected.report, unsafe=False).fixes == 0, "it goes on until nothing is left"


def test_it_goes_on_where_a_fix_uncovers_another_hazard(editor: Wire) -> None:
    text = "import torch\n\nx = torch.ones(3, requires_grad=True)\ny = x.exp()\ny += 1\ny.sum().backward()\n"
    text += "z = x.exp()\nz += 1\nz.sum().backward()\n"
    editor.open("untitled:twice", text)
    (action,) = fix_all(editor, "untitled:twice")
    assert edited(text, action).count(" = y + 1\n") == 1 and edited(text, action).count(" = z + 1\n") == 1


def test_it_is_not_offered_where_no_fix_is_safe(editor: Wire) -> None:
    text = (
        "import torch\n\nw = torch.ones(3, requires_grad=True)\nopt = torch.optim.SGD([w], 0.1)\n"
        "def step():\n    opt.zero_grad()\n    w.grad.sum()\n    opt.step()\n"
    )
    editor.open("untitled:unsafe", text)
    assert fix_all(editor, "untitled:unsafe") == []


FUNCTION = """
def f{0}():
    y = torch.ones(3, requires_grad=True).exp()
    y += {0}
    y.sum().backward()
f{0}()
"""
MANY = "import torch\n" + "".join(map(FUNCTION.format, range(20)))
OTHER = "import torch\n\ny = torch.ones(3, requires_grad=True).exp()\ny += 1\ny.sum().backward()\n"


def test_an_edit_of_another_file_does_not_wait_for_the_fixes_of_many_findings(wire: Wire) -> None:
    wire.start({**CLIENT, "workspace": {**CLIENT["workspace"], "applyEdit": True}})
    many, other = "untitled:many.py", "untitled:other.py"
    wire.open(many, MANY)
    wire.open(other, "import torch\n")
    assert len(wire.published(many, 1)) == 20
    asked = wire.ask("workspace/executeCommand", {"command": "tapelint.fixAll", "arguments": [many]})
    wire.change(other, 2, {"text": OTHER})
    assert len(wire.published(other, 2)) == 1
    assert not any(message.get("method") == "workspace/applyEdit" for message in wire.seen), "the fixes came first"
    wire.answers = False
    made = wire.until(lambda message: message.get("method") == "workspace/applyEdit", 120)
    wire.send(id=made["id"], result={"applied": True})
    assert wire.answer(asked)["result"] == {"fixes": 20, "applied": True}
