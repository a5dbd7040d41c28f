"""Fix all takes no comment away that silences something; who clicks on the very fix gets it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.needed import HEAD, NEEDED

from wire import Wire

CAPABILITIES = {
    "textDocument": {
        "publishDiagnostics": {},
        "codeAction": {
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "source"]}},
            "isPreferredSupport": True,
        },
    },
    "workspace": {"workspaceEdit": {"documentChanges": True}},
}
FILES = {name: files for name, files in NEEDED.items() if not any(file.endswith(".ipynb") for file in files)}
UNUSED = HEAD + "b = w * 2  # tapelint: ignore[TL201]\n"


@pytest.fixture
def project(wire: Wire, tmp_path: Path) -> Iterator[tuple[Wire, Path]]:
    (tmp_path / "pyproject.toml").touch()
    wire.start(CAPABILITIES, workspaceFolders=[{"uri": tmp_path.as_uri(), "name": "project"}])
    yield wire, tmp_path


def actions(wire: Wire, uri: str, only: list[str]) -> list[dict[str, Any]]:
    return at(wire, uri, {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}, only)


def at(wire: Wire, uri: str, place: dict[str, Any], only: list[str]) -> list[dict[str, Any]]:
    params = {"textDocument": {"uri": uri}, "range": place, "context": {"diagnostics": [], "only": only}}
    return wire.request("textDocument/codeAction", params)["result"] or []


def edits(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    changes = [change for action in found for change in action["edit"]["documentChanges"]]
    return [edit for change in changes for edit in change["edits"]]


@pytest.mark.parametrize("files", FILES.values(), ids=FILES.keys())
def test_needed_suppressions_stay(project: tuple[Wire, Path], files: dict[str, str]):
    wire, folder = project
    for name, text in files.items():
        (folder / name).write_text(text)
    for name, text in files.items():
        uri = (folder / name).as_uri()
        wire.open(uri, text)
        assert "TL901" not in [found["code"] for found in wire.published(uri)]
        assert edits(actions(wire, uri, ["source.fixAll.tapelint"])) == []


def test_unused_suppression_has_a_quick_fix(project: tuple[Wire, Path]):
    wire, folder = project
    uri = (folder / "a.py").as_uri()
    wire.open(uri, UNUSED)
    (found,) = wire.published(uri)
    assert found["code"] == "TL901"
    assert edits(actions(wire, uri, ["source.fixAll.tapelint"])) == []
    (removal,) = [action for action in actions(wire, uri, ["quickfix"]) if action["title"] == "Remove TL201"]
    assert "isPreferred" not in removal, "editors apply those unasked"
    (edit,) = edits([removal])
    assert edit["range"]["start"] == {"line": 3, "character": 9} and edit["newText"] == ""


def test_fix_all_removes_unused_suppressions_if_selected(project: tuple[Wire, Path]):
    wire, folder = project
    (folder / "pyproject.toml").write_text('[tool.tapelint]\nextend-select = ["TL901"]\n')
    uri = (folder / "a.py").as_uri()
    wire.open(uri, UNUSED)
    assert wire.published(uri)
    assert edits(actions(wire, uri, ["source.fixAll.tapelint"]))


FADING = {
    **CAPABILITIES,
    "textDocument": {**CAPABILITIES["textDocument"], "publishDiagnostics": {"tagSupport": {"valueSet": [1, 2]}}},
}
PARTLY = HEAD + "n = w.sum().detach().requires_grad_()  # tapelint: ignore[TL303, TL101] why\nn.backward()\n"
RANGE = HEAD + "# tapelint: disable[TL201]\nb = w * 2\n# tapelint: enable[TL201]\n"
PART = (
    HEAD
    + "# tapelint: disable[TL101, TL303]\nn = w.sum().detach().requires_grad_()\nn.backward()\n"
    + "# tapelint: enable[TL101, TL303]\n"
)


@pytest.mark.parametrize(
    ("text", "faded", "after"),
    [
        (UNUSED, ["# tapelint: ignore[TL201]"], HEAD + "b = w * 2\n"),
        (PARTLY, ["TL101"], PARTLY.replace(", TL101", "")),
        (RANGE, ["# tapelint: disable[TL201]", "# tapelint: enable[TL201]"], HEAD + "b = w * 2\n"),
        (PART, ["TL101", "TL101"], PART.replace("TL101, ", "")),
    ],
    ids=["comment", "code", "range", "code of a range"],
)
def test_unused_suppression_is_faded_and_removed(wire: Wire, tmp_path: Path, text: str, faded: list[str], after: str):
    (tmp_path / "pyproject.toml").touch()
    wire.start(FADING, workspaceFolders=[{"uri": tmp_path.as_uri(), "name": "project"}])
    uri = (tmp_path / "a.py").as_uri()
    wire.open(uri, text)
    found = wire.published(uri)
    assert {(each["code"], each["severity"], *each["tags"]) for each in found} == {("TL901", 4, 1)}
    assert [within(text, each["range"]) for each in found] == faded
    for each in found:
        (removal,) = [one for one in at(wire, uri, each["range"], ["quickfix"]) if one["title"].startswith("Remove")]
        assert applied(text, edits([removal])) == after
    wire.change(uri, 2, {"text": after})
    assert wire.published(uri) == []


def test_only_clients_that_fade_are_sent_tags(project: tuple[Wire, Path]):
    wire, folder = project
    uri = (folder / "a.py").as_uri()
    wire.open(uri, RANGE)
    (found,) = wire.published(uri)
    assert "tags" not in found


def test_hover_on_a_suppression(project: tuple[Wire, Path]):
    wire, folder = project
    uri = (folder / "a.py").as_uri()
    text = HEAD + "y = w.exp()\ny += 1  # tapelint: ignore[TL201]\ny.sum().backward()\n"
    wire.open(uri, text)
    at = {"textDocument": {"uri": uri}, "position": {"line": 4, "character": 15}}
    found = wire.request("textDocument/hover", at)["result"]
    assert "hides one finding" in found["contents"]["value"] and "TL201, line 5" in found["contents"]["value"]
    assert within(text, found["range"]) == "# tapelint: ignore[TL201]"


HAZARD = HEAD + "y = w.exp()\ny += 1\ny.sum().backward()\n"
FILES_IGNORED = {
    "at the top": (HAZARD, "# tapelint: ignore-file[TL201]\n" + HAZARD),
    "shebang": ("#!/usr/bin/env python\n" + HAZARD, "#!/usr/bin/env python\n# tapelint: ignore-file[TL201]\n" + HAZARD),
    "encoding": (
        "#!/x\n# -*- coding: utf-8 -*-\n" + HAZARD,
        "#!/x\n# -*- coding: utf-8 -*-\n# tapelint: ignore-file[TL201]\n" + HAZARD,
    ),
    "docstring": ('#!/x\n"""a\nb"""\n' + HAZARD, '#!/x\n"""a\nb"""\n# tapelint: ignore-file[TL201]\n' + HAZARD),
    "docstring that goes on": (
        '"""a"""; z = \\\n  1\n' + HAZARD,
        '# tapelint: ignore-file[TL201]\n"""a"""; z = \\\n  1\n' + HAZARD,
    ),
    "another code": (
        HAZARD + "# tapelint: ignore-file[TL102] -- why\n",
        HAZARD + "# tapelint: ignore-file[TL102, TL201] -- why\n",
    ),
}


@pytest.mark.parametrize(("text", "after"), FILES_IGNORED.values(), ids=FILES_IGNORED.keys())
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_a_code_is_ignored_in_the_file(project: tuple[Wire, Path], text: str, after: str, end: str):
    wire, folder = project
    uri = (folder / "a.py").as_uri()
    text, after = text.replace("\n", end), after.replace("\n", end)
    wire.open(uri, text)
    assert "TL201" in [found["code"] for found in wire.published(uri)]
    (action,) = [each for each in actions(wire, uri, ["quickfix"]) if each["title"] == "Ignore TL201 in this file"]
    assert applied(text, edits([action])) == after
    wire.change(uri, 2, {"text": after})
    assert "TL201" not in [found["code"] for found in wire.published(uri)]


def test_one_offer_for_each_code_of_the_file(project: tuple[Wire, Path]):
    wire, folder = project
    uri = (folder / "a.py").as_uri()
    wire.open(
        uri, HEAD + "def f():\n    torch.ones(3).sum().backward()\n\n\ndef g():\n    torch.ones(3).sum().backward()\n"
    )
    assert len(wire.published(uri)) == 2
    titles = [each["title"] for each in actions(wire, uri, ["quickfix"]) if each["title"].startswith("Ignore")]
    assert titles == ["Ignore TL301 on this line"] * 2 + ["Ignore TL301 in this file"]


def within(text: str, area: dict[str, Any]) -> str:
    """The text of a range."""
    begin, end = (offset(text, area[side]) for side in ("start", "end"))
    return text[begin:end]


def applied(text: str, made: list[dict[str, Any]]) -> str:
    for edit in sorted(made, key=lambda each: offset(text, each["range"]["start"]), reverse=True):
        begin, end = (offset(text, edit["range"][side]) for side in ("start", "end"))
        text = text[:begin] + edit["newText"] + text[end:]
    return text


def offset(text: str, position: dict[str, int]) -> int:
    rows = text.splitlines(keepends=True)
    return sum(map(len, rows[: position["line"]])) + position["character"]
