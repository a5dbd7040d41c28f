"""Findings of files that train and are not open: pulled in parts or at once, pushed to clients that do not pull."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from programs import BAD, GOOD
from wire import Wire, without_marks

PULLS = {
    "textDocument": {"diagnostic": {}, "publishDiagnostics": {"relatedInformation": True}},
    "window": {"workDoneProgress": True},
}
PUSHED = {"textDocument": {"publishDiagnostics": {"relatedInformation": True}}}
WHOLE = {"settings": {"diagnosticMode": "workspace"}}
NETWORK = "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x * 2\n"
# What helpers.py does is wrong only for a program that walks the graph afterwards.
HELPER = "def grow(y):\n    y += 1\n    return y\n"
USER = (
    "import torch\nfrom helpers import grow\n\nx = torch.ones(3, requires_grad=True)\ngrow(x.exp()).sum().backward()\n"
)
# loop.py frees the graph that train.py walks again.
FREES = "import torch\n\n\ndef finish(loss):\n    loss.backward()\n    return loss\n"
KEEPS = FREES.replace("backward()", "backward(retain_graph=True)")
TWICE = """import torch
from loop import finish

loss = torch.ones(3, requires_grad=True).exp().sum()
finish(loss).backward()
"""
SLOW_SERVER = [sys.executable, str(Path(__file__).with_name("slow_server.py"))]


@pytest.fixture
def slow() -> Iterator[Wire]:
    wire = Wire(SLOW_SERVER)
    yield wire
    wire.close()


def project(root: Path, **files: str) -> dict[str, str]:
    """Write some modules; their URIs by name."""
    for name, text in files.items():
        (root / f"{name}.py").write_text(text, encoding="utf-8")
    return {name: (root / f"{name}.py").as_uri() for name in files}


def start(wire: Wire, root: Path, capabilities: dict[str, Any] = PULLS, options: Any = WHOLE) -> dict[str, Any]:
    return wire.start(capabilities, rootUri=root.as_uri(), initializationOptions=options)


def ask(wire: Wire, known: dict[str, str] | None = None, **more: Any) -> int:
    previous = [{"uri": uri, "value": value} for uri, value in (known or {}).items()]
    return wire.ask("workspace/diagnostic", {"previousResultIds": previous, **more})


def reported(answer: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {report["uri"]: report for report in answer["result"]["items"]}


def codes(report: dict[str, Any]) -> list[str]:
    return [item["code"] for item in without_marks(report["items"])]


def saved(wire: Wire, path: Path, text: str | None) -> None:
    """A file changes on disk."""
    kind = 3 if text is None else 2 if path.exists() else 1
    if text is None:
        path.unlink()
    else:
        path.write_text(text, encoding="utf-8")
    wire.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": path.as_uri(), "type": kind}]})


def follow(wire: Wire, known: dict[str, str], uri: str, wanted: list[str]) -> dict[str, Any]:
    """The first report for ``uri`` with these codes, asking as a client does with all that it knows."""
    while True:
        for each, report in reported(wire.answer(ask(wire, known))).items():
            known.pop(each, None)
            if report.get("resultId"):
                known[each] = report["resultId"]
            if each == uri and report["kind"] == "full" and codes(report) == wanted:
                return report


def quiet(wire: Wire, number: int) -> bool:
    """Whether a request is not answered while others are, and while there is something to do."""
    for _ in range(3):
        wire.request("tapelint/ping")
    return not any("method" not in message and message.get("id") == number for message in wire.seen)


def test_files_that_train_are_checked_and_no_others(wire: Wire, tmp_path: Path) -> None:
    for folder in ("build", ".venv", "node_modules", "generated"):
        (tmp_path / folder).mkdir()
        project(tmp_path / folder, train=BAD)
    (tmp_path / "tapelint.toml").write_text('extend-exclude = ["build"]\n', encoding="utf-8")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("/generated\n", encoding="utf-8")
    uris = project(tmp_path, train=BAD, clean=GOOD, network=NETWORK)
    provider = start(wire, tmp_path)["diagnosticProvider"]
    assert provider["workspaceDiagnostics"]
    found = reported(wire.answer(ask(wire)))
    assert {*found} == {uris["train"], uris["clean"]}
    assert codes(found[uris["train"]]) == ["TL201"] and codes(found[uris["clean"]]) == []
    (shown,) = found[uris["train"]]["items"]
    assert shown["relatedInformation"] and "data" not in shown


def test_what_is_left_out_stays_so_when_it_changes(wire: Wire, tmp_path: Path) -> None:
    for folder in (".venv", "generated"):
        (tmp_path / folder).mkdir()
        project(tmp_path / folder, train=GOOD)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("/generated\n", encoding="utf-8")
    uris = project(tmp_path, train=GOOD)
    start(wire, tmp_path)
    found = reported(wire.answer(ask(wire)))
    assert {*found} == {*uris.values()}, "with no configuration either"
    number = ask(wire, {uri: report["resultId"] for uri, report in found.items()}, partialResultToken="part")
    for folder in (".venv", "generated", "."):
        saved(wire, tmp_path / folder / "train.py", BAD)
    wire.answer(number)
    parts = [m["params"]["value"] for m in wire.seen if m.get("method") == "$/progress"]
    assert {report["uri"] for part in parts for report in part["items"]} == {*uris.values()}


def test_an_answer_waits_for_news(wire: Wire, tmp_path: Path) -> None:
    uris = project(tmp_path, train=BAD, clean=GOOD)
    start(wire, tmp_path)
    found = reported(wire.answer(ask(wire)))
    known = {uri: report["resultId"] for uri, report in found.items()}
    number = ask(wire, known)
    assert quiet(wire, number)
    saved(wire, tmp_path / "train.py", GOOD)
    found = reported(wire.answer(number))
    assert found[uris["train"]]["kind"] == "full" and codes(found[uris["train"]]) == []
    clean = found[uris["clean"]]
    assert (clean["kind"], clean["resultId"]) == ("unchanged", known[uris["clean"]])
    number = ask(wire, {uri: report["resultId"] for uri, report in found.items()})
    wire.notify("$/cancelRequest", {"id": number})
    assert wire.answer(number)["error"]["code"] == -32800


def test_each_file_is_sent_as_soon_as_it_is_checked(wire: Wire, tmp_path: Path) -> None:
    uris = project(tmp_path, a=BAD, b=BAD, c=GOOD)
    start(wire, tmp_path)
    answer = wire.answer(ask(wire, partialResultToken="part"))
    assert answer["result"]["items"] == []
    parts = [m["params"] for m in wire.seen if m.get("method") == "$/progress" and m["params"]["token"] == "part"]
    assert [[report["uri"] for report in part["value"]["items"]] for part in parts] == [[uri] for uri in uris.values()]


def test_only_where_it_is_set(wire: Wire, tmp_path: Path) -> None:
    uris = project(tmp_path, train=BAD) | {"other": (tmp_path / "other.py").as_uri()}
    start(wire, tmp_path, options={})
    assert reported(wire.answer(ask(wire))) == {}
    number = ask(wire, partialResultToken="part")
    assert quiet(wire, number)
    wire.notify("workspace/didChangeConfiguration", {"settings": {"tapelint": WHOLE["settings"]}})
    part = wire.until(lambda message: message.get("method") == "$/progress" and message["params"]["token"] == "part")
    (report,) = part["params"]["value"]["items"]
    assert report["uri"] == uris["train"] and codes(report) == ["TL201"]
    wire.answer(number)
    known = {report["uri"]: report["resultId"]}
    wire.open(uris["other"], BAD)
    follow(wire, known, uris["other"], ["TL201"])
    wire.notify("workspace/didChangeConfiguration", {"settings": {"tapelint": {"diagnosticMode": "openFilesOnly"}}})
    found = reported(wire.answer(ask(wire, known)))
    assert {uri: codes(report) for uri, report in found.items()} == {uri: [] for uri in uris.values()}


def test_an_open_file_speaks_for_itself(wire: Wire, tmp_path: Path) -> None:
    uris = project(tmp_path, train=BAD, clean=GOOD)
    start(wire, tmp_path)
    known = {uri: report["resultId"] for uri, report in reported(wire.answer(ask(wire))).items()}
    on_disk = known[uris["train"]]
    wire.open(uris["train"], GOOD)
    report = follow(wire, known, uris["train"], [])
    assert report["version"] == 1
    wire.notify("textDocument/didClose", {"textDocument": {"uri": uris["train"]}})
    report = follow(wire, known, uris["train"], ["TL201"])
    assert report["version"] is None, "what is on disk counts again"
    assert report["resultId"] != on_disk, "the client may have dropped the last result"
    pulled = wire.request("textDocument/diagnostic", {"textDocument": {"uri": uris["train"]}})["result"]
    assert pulled["items"] == report["items"]


def test_what_a_file_shows_in_another_one(wire: Wire, tmp_path: Path) -> None:
    uris = project(tmp_path, helpers=HELPER, train=USER)
    start(wire, tmp_path)
    found = reported(wire.answer(ask(wire)))
    assert {*found} == {*uris.values()}
    shown = {name: codes(found[uri]) for name, uri in uris.items()}
    assert [*shown.values()].count(["TL201"]) >= 1
    known = {uri: report["resultId"] for uri, report in found.items()}
    number = ask(wire, known)
    saved(wire, tmp_path / "helpers.py", HELPER.replace("y += 1", "y = y + 1"))
    found = reported(wire.answer(number))
    assert all(codes(report) == [] for report in found.values() if report["kind"] == "full")


def test_unsaved_text_of_an_open_file_counts(wire: Wire, tmp_path: Path) -> None:
    (tmp_path / "tapelint.toml").write_text("callers = false\n", encoding="utf-8")
    uris = project(tmp_path, loop=KEEPS, train=TWICE)
    start(wire, tmp_path)
    found = reported(wire.answer(ask(wire)))
    assert codes(found[uris["train"]]) == []
    known = {uri: report["resultId"] for uri, report in found.items()}
    wire.open(uris["loop"], KEEPS)
    wire.change(uris["loop"], 2, {"text": FREES})
    follow(wire, known, uris["train"], ["TL101"])


def test_what_open_files_have_shown_is_not_said_twice(wire: Wire, tmp_path: Path) -> None:
    """The open file's callers are looked at anyway, and what it does there is pushed."""
    uris = project(tmp_path, loop=FREES, train=TWICE)
    start(wire, tmp_path)
    found = reported(wire.answer(ask(wire)))
    assert codes(found[uris["train"]]) == ["TL101"]
    known = {uri: report["resultId"] for uri, report in found.items()}
    wire.open(uris["loop"], FREES)
    assert [found["code"] for found in wire.published(uris["train"])] == ["TL101"]
    follow(wire, known, uris["train"], [])
    wire.notify("textDocument/didClose", {"textDocument": {"uri": uris["loop"]}})
    follow(wire, known, uris["train"], ["TL101"])


def test_they_are_pushed_to_a_client_that_does_not_pull(wire: Wire, tmp_path: Path) -> None:
    uris = project(tmp_path, train=BAD)
    start(wire, tmp_path, PUSHED)
    assert [found["code"] for found in wire.published(uris["train"])] == ["TL201"]
    saved(wire, tmp_path / "train.py", None)
    assert wire.published(uris["train"]) == []
    uris = project(tmp_path, other=BAD)
    saved(wire, tmp_path / "other.py", BAD)
    assert [found["code"] for found in wire.published(uris["other"])] == ["TL201"]


def test_progress(slow: Wire, tmp_path: Path) -> None:
    project(tmp_path, a=f"# slow\n{BAD}", b=f"# slow\n{BAD}", c=GOOD)
    start(slow, tmp_path)
    slow.answer(ask(slow))
    slow.request("tapelint/ping")
    made = {m["params"]["token"] for m in slow.seen if m.get("method") == "window/workDoneProgress/create"}
    told = [m["params"]["value"] for m in slow.seen if m.get("method") == "$/progress" and m["params"]["token"] in made]
    assert told[0] == {"kind": "begin", "title": "tapelint", "message": "0 of 3 files", "percentage": 0}
    assert [each.get("message") for each in told[1:]] == ["1 of 3 files", "2 of 3 files", None]
    assert told[-1] == {"kind": "end"}


def test_the_open_file_goes_first(slow: Wire, tmp_path: Path) -> None:
    """One file takes for ever: what is typed meanwhile is answered, and the others are not checked before it."""
    uris = project(tmp_path, a=f"# endless\n{BAD}", mine=GOOD)
    start(slow, tmp_path)
    number = ask(slow, partialResultToken="part")
    slow.until(lambda message: message.get("method") == "window/workDoneProgress/create")
    slow.open(uris["mine"], GOOD)
    for version, text in enumerate((BAD, GOOD, BAD), 2):
        slow.change(uris["mine"], version, {"text": text})
        pulled = slow.request("textDocument/diagnostic", {"textDocument": {"uri": uris["mine"]}})["result"]
        assert any(item["code"] == "TL201" for item in pulled["items"]) == (text is BAD)
    assert quiet(slow, number)
    assert slow.leave() == 0


def test_what_cannot_be_read_is_no_reason_to_stop(wire: Wire, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_bytes(b"# coding: nothing\nimport torch\nx.backward()\n\xff")
    uris = project(tmp_path, syntax=BAD + "def f(:\n", train=BAD)
    start(wire, tmp_path)
    found = reported(wire.answer(ask(wire)))
    assert codes(found[uris["train"]]) == ["TL201"] and codes(found[uris["syntax"]]) == ["TL201"]
