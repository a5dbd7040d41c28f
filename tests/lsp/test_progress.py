"""What lasts longer than a second is shown as it goes on, and what was done is logged."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from programs import BAD, GOOD
from wire import Wire, edit

SLOW = "# slow\n" + BAD
SHOWS = {
    "textDocument": {"publishDiagnostics": {"versionSupport": True}},
    "workspace": {"workspaceEdit": {"documentChanges": True}, "applyEdit": True},
    "window": {"workDoneProgress": True},
}
COMMAND = [sys.executable, str(Path(__file__).with_name("slow_server.py"))]
URI = "file:///project/train.py"


@pytest.fixture
def slow() -> Iterator[Wire]:
    wire = Wire(COMMAND)
    yield wire
    wire.close()


def shown(wire: Wire) -> list[dict[str, Any]]:
    """What the client was shown, each time with the token that it was asked to make a place for."""
    made = {m["params"]["token"] for m in wire.seen if m.get("method") == "window/workDoneProgress/create"}
    told = [m["params"] for m in wire.seen if m.get("method") == "$/progress"]
    assert all(each["token"] in made for each in told)
    return [each["value"] for each in told]


def logged(wire: Wire) -> list[tuple[int, str]]:
    found = (message["params"] for message in wire.seen if message.get("method") == "window/logMessage")
    return [(each["type"], each["message"]) for each in found]


def test_a_long_analysis_is_shown(slow: Wire) -> None:
    slow.start(SHOWS)
    slow.open(URI, SLOW)
    slow.published(URI)
    slow.request("tapelint/ping")
    assert shown(slow) == [
        {"kind": "begin", "title": "tapelint", "message": "analysing train.py"},
        {"kind": "end"},
    ]


def test_a_short_one_is_not(slow: Wire) -> None:
    slow.start(SHOWS)
    slow.open(URI, BAD)
    slow.published(URI)
    slow.request("tapelint/ping")
    assert shown(slow) == []


def test_nor_where_the_client_shows_none(slow: Wire) -> None:
    slow.start({**SHOWS, "window": {}})
    slow.open(URI, SLOW)
    slow.published(URI)
    slow.request("tapelint/ping")
    assert shown(slow) == []


def test_a_client_that_refuses_is_shown_nothing(slow: Wire) -> None:
    slow.start(SHOWS)
    slow.answers = False
    slow.open(URI, SLOW)
    asked = slow.until(lambda message: message.get("method") == "window/workDoneProgress/create")
    slow.send(id=asked["id"], error={"code": -32603, "message": "no place"})
    slow.published(URI)
    slow.request("tapelint/ping")
    assert shown(slow) == []


def test_fixing_and_explaining_are_shown(slow: Wire, tmp_path: Path) -> None:
    slow.start(SHOWS, rootUri=tmp_path.as_uri())
    path = tmp_path / "train.py"
    text = f"# slow fixes\n{SLOW}"
    path.write_text(text, encoding="utf-8")
    uri = path.as_uri()
    slow.open(uri, text)
    slow.published(uri)
    slow.seen.clear()
    command = {"command": "tapelint.explain", "arguments": ["RuntimeError: modified by an inplace operation", uri]}
    slow.request("workspace/executeCommand", command)
    slow.request("workspace/executeCommand", {"command": "tapelint.fixAll", "arguments": [uri, "TL201"]})
    messages = [value["message"] for value in shown(slow) if value["kind"] == "begin"]
    assert messages == ["explaining an error", "fixing all TL201"]


def test_what_was_analysed_is_logged(wire: Wire) -> None:
    wire.start(SHOWS)
    wire.open(URI, BAD)
    wire.published(URI, 1)
    wire.change(URI, 2, {"text": GOOD})
    wire.published(URI, 2)
    wire.notify("$/setTrace", {"value": "messages"})
    wire.change(URI, 3, {"text": BAD})
    wire.published(URI, 3)
    ((kind, first),) = logged(wire)
    assert kind == 3 and first.startswith("/project/train.py: 1 finding in 7 lines, ") and first.endswith(" s")
    (third,) = [message["params"]["message"] for message in wire.seen if message.get("method") == "$/logTrace"]
    assert third.startswith("/project/train.py: 1 finding in 7 lines, ")


def test_the_log_holds_no_text(wire: Wire) -> None:
    wire.start(SHOWS)
    wire.open(URI, BAD + "secret = 1\n")
    wire.published(URI, 1)
    wire.change(URI, 2, edit(1, 0, 0, "hidden = 2\n"))
    wire.published(URI, 2)
    assert logged(wire) and not any("secret" in said or "hidden" in said for _, said in logged(wire))
