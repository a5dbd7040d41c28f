"""The story of a finding in the text: document highlights, inlay hints, and the command ``tapelint.story``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from open_notebook import PUSHED as NOTEBOOKS
from open_notebook import cell, open_book
from programs import BAD, GOOD
from wire import Wire

SAVED, WRITTEN, RAISES = 3, 4, 5
"""The lines of the steps in BAD, from 0."""

STEPS = ["saved by exp, version 0", "written, version 1", "needs version 0: raises"]
TWICE = """import torch

def first():
    x = torch.ones(3, requires_grad=True)
    y = x.exp()
    y += 1
    y.sum().backward()

def second():
    x = torch.ones(3, requires_grad=True)
    y = x.exp()
    y += 1
    y.sum().backward()
"""
HELPER = "def grown(x):\n    return x.exp()\n"
MAIN = BAD.replace("x.exp()", "grown(x)").replace("import torch\n", "import torch\nfrom helper import grown\n")


def at(uri: str, line: int, character: int = 0) -> dict[str, Any]:
    return {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}


def highlighted(wire: Wire, uri: str, line: int, character: int = 0) -> list[int] | None:
    """The lines that are highlighted for a cursor."""
    answer = wire.request("textDocument/documentHighlight", at(uri, line, character))["result"]
    return None if answer is None else [each["range"]["start"]["line"] for each in answer]


def story(wire: Wire, *arguments: Any) -> dict[str, Any] | None:
    command = {"command": "tapelint.story", "arguments": [*arguments]}
    answer: dict[str, Any] | None = wire.request("workspace/executeCommand", command)["result"]
    return answer


def hints(wire: Wire, uri: str, first: int = 0, last: int = 100) -> list[dict[str, Any]] | None:
    area = {"start": {"line": first, "character": 0}, "end": {"line": last, "character": 0}}
    params = {"textDocument": {"uri": uri}, "range": area}
    answer: list[dict[str, Any]] | None = wire.request("textDocument/inlayHint", params)["result"]
    return answer


@pytest.mark.parametrize(
    ("line", "character"),
    [(WRITTEN, 0), (WRITTEN, 6), (RAISES, 0), (RAISES, 18), (SAVED, 4)],
    ids=["finding", "behind it", "line that raises", "end of that line", "step"],
)
def test_the_steps_are_highlighted(pushed: Wire, uri: str, line: int, character: int) -> None:
    pushed.open(uri, BAD)
    assert highlighted(pushed, uri, line, character) == [SAVED, WRITTEN, RAISES]


@pytest.mark.parametrize(("line", "character"), [(0, 0), (SAVED, 0), (2, 3)])
def test_elsewhere_the_editor_highlights_what_it_likes(pushed: Wire, uri: str, line: int, character: int) -> None:
    pushed.open(uri, BAD)
    assert highlighted(pushed, uri, line, character) is None


def test_nothing_is_highlighted_where_nothing_is_found(pushed: Wire, uri: str) -> None:
    pushed.open(uri, GOOD)
    assert highlighted(pushed, uri, WRITTEN) is None


def test_the_command_tells_the_finding_and_its_steps(pushed: Wire, uri: str) -> None:
    pushed.open(uri, BAD)
    found = story(pushed, uri, {"line": RAISES, "character": 3})
    assert found is not None
    assert (found["code"], found["name"], found["uri"]) == ("TL201", "saved-tensor-modified", uri)
    assert found["range"]["start"] == {"line": WRITTEN, "character": 0}
    assert [
        (step["number"], step["uri"], step["range"]["start"]["line"], step["short"]) for step in found["steps"]
    ] == [(number, uri, line, short) for number, line, short in zip((1, 2, 3), (SAVED, WRITTEN, RAISES), STEPS)]
    assert found["steps"][1]["message"] == "This writes `y` in place (version 1)"


@pytest.mark.parametrize("arguments", [(), ("file:///nowhere.py", {"line": 0, "character": 0}), ("file:///a.py", "b")])
def test_the_command_knows_no_story_there(pushed: Wire, arguments: tuple[Any, ...]) -> None:
    assert story(pushed, *arguments) is None


def test_newer_text_has_another_story(pushed: Wire, uri: str) -> None:
    pushed.open(uri, BAD)
    pushed.change(uri, 2, {"text": "\n" + BAD})
    assert highlighted(pushed, uri, WRITTEN + 1) == [SAVED + 1, WRITTEN + 1, RAISES + 1]
    pushed.change(uri, 3, {"text": GOOD})
    assert highlighted(pushed, uri, WRITTEN) is None


def test_a_step_of_many_rows_is_shown_in_its_first(pushed: Wire, uri: str) -> None:
    pushed.open(uri, BAD.replace("x.exp()", "torch.exp(\n    x\n)"))
    found = story(pushed, uri, {"line": WRITTEN + 2, "character": 0})
    assert found is not None
    area = found["steps"][0]["range"]
    assert area == {"start": {"line": SAVED, "character": 4}, "end": {"line": SAVED, "character": 14}}


def test_no_hints_unless_they_are_asked_for(pushed: Wire, uri: str) -> None:
    pushed.open(uri, BAD)
    assert hints(pushed, uri) is None


@pytest.fixture
def hinting(wire: Wire) -> Iterator[Wire]:
    options = {"settings": {"inlayHints": {"story": True}}}
    wire.start({"workspace": {"inlayHint": {"refreshSupport": True}}}, initializationOptions=options)
    yield wire


def test_hints_stand_behind_the_lines(hinting: Wire, uri: str) -> None:
    hinting.open(uri, BAD)
    found = hints(hinting, uri)
    assert found is not None
    assert [(hint["position"]["line"], hint["label"]) for hint in found] == [
        (line, f"{number} {short}") for number, line, short in zip((1, 2, 3), (SAVED, WRITTEN, RAISES), STEPS)
    ]
    rows = BAD.split("\n")
    assert all(hint["position"]["character"] == len(rows[hint["position"]["line"]]) for hint in found)
    assert "This writes `y` in place (version 1)" in found[1]["tooltip"]


def test_only_the_hints_of_the_range_are_sent(hinting: Wire, uri: str) -> None:
    hinting.open(uri, BAD)
    assert [hint["position"]["line"] for hint in hints(hinting, uri, WRITTEN, WRITTEN) or ()] == [WRITTEN]


def test_hints_of_several_findings_name_theirs(hinting: Wire, uri: str) -> None:
    hinting.open(uri, TWICE)
    assert {hint["label"] for hint in hints(hinting, uri) or ()} == {
        f"TL201 {number} {short}" for number, short in enumerate(STEPS, 1)
    }


def test_a_setting_that_changes_is_followed(hinting: Wire, uri: str) -> None:
    hinting.open(uri, BAD)
    assert hints(hinting, uri)
    hinting.seen.clear()
    hinting.notify("workspace/didChangeConfiguration", {"settings": {"tapelint": {"inlayHints": {"story": False}}}})
    hinting.until(lambda message: message.get("method") == "workspace/inlayHint/refresh")
    assert hints(hinting, uri) is None


def test_a_story_leads_through_other_files(wire: Wire, tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text(HELPER)
    (tmp_path / "main.py").write_text(MAIN)
    main, helper = ((tmp_path / name).as_uri() for name in ("main.py", "helper.py"))
    wire.start({}, workspaceFolders=[{"uri": tmp_path.as_uri(), "name": "project"}])
    wire.open(main, MAIN)
    found = story(wire, main, {"line": WRITTEN + 1, "character": 0})
    assert found is not None
    steps = [(step["uri"], step["range"]["start"]["line"], step["short"]) for step in found["steps"]]
    assert steps == list(zip((helper, main, main), (1, WRITTEN + 1, RAISES + 1), STEPS))
    assert highlighted(wire, main, WRITTEN + 1) == [WRITTEN + 1, RAISES + 1]
    # Once it is open, the helper shows its steps of findings in other files.
    wire.open(helper, HELPER)
    assert highlighted(wire, helper, 1, 12) == [1]
    again = story(wire, helper, {"line": 1, "character": 12})
    assert again == found


def test_the_cells_of_a_notebook_are_documents(wire: Wire) -> None:
    wire.start(NOTEBOOKS)
    open_book(wire)
    found = story(wire, cell(3), {"line": 0, "character": 2})
    assert found is not None
    assert [(step["uri"], step["range"]["start"]["line"]) for step in found["steps"]] == [
        (cell(1), 0),
        (cell(1), 1),
        (cell(3), 0),
    ]
    assert highlighted(wire, cell(3), 0, 2) == [0]
