"""A configuration that cannot be read: any client hears of it, and the file shows where it is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from programs import BAD
from wire import Wire

PUSHED = {"textDocument": {"publishDiagnostics": {}}}
UNCLOSED = '[tool.tapelint]\nselect = ["TL1"\nignore = []\n'
UNKNOWN = '[project]\nname = "x"\n\n[tool.tapelint]\nselekt = ["TL1"]\n'


def told(wire: Wire) -> list[dict[str, Any]]:
    wire.request("tapelint/ping")
    return [message["params"] for message in wire.seen if message.get("method") == "window/showMessage"]


def begin(wire: Wire, root: Path, text: str, options: dict[str, Any] | None = None) -> tuple[str, str]:
    (root / "pyproject.toml").write_text(text, encoding="utf-8")
    wire.start(PUSHED, rootUri=root.as_uri(), initializationOptions=options or {})
    train = (root / "train.py").as_uri()
    wire.open(train, BAD)
    return train, (root / "pyproject.toml").as_uri()


@pytest.mark.parametrize(
    ("text", "line", "said"), [(UNCLOSED, 2, "not valid TOML"), (UNKNOWN, 4, "unknown key 'selekt'")]
)
def test_it_is_said_and_shown(wire: Wire, tmp_path: Path, text: str, line: int, said: str) -> None:
    train, configuration = begin(wire, tmp_path, text)
    (shown,) = wire.published(configuration)
    assert shown["range"]["start"]["line"] == line and said in shown["message"] and shown["severity"] == 1
    assert [found["code"] for found in wire.published(train)] == ["TL201"], "what can be used is used"
    (message,) = told(wire)
    assert message["type"] == 1 and said in message["message"] and "pyproject.toml" in message["message"]


def test_it_is_said_once_and_goes_when_it_is_mended(wire: Wire, tmp_path: Path) -> None:
    train, configuration = begin(wire, tmp_path, UNKNOWN)
    wire.open((tmp_path / "other.py").as_uri(), BAD)
    assert wire.published(configuration)
    wire.change(train, 2, {"text": BAD})
    assert wire.published(train, 2) and len(told(wire)) == 1
    (tmp_path / "pyproject.toml").write_text("[tool.tapelint]\n", encoding="utf-8")
    changed = {"uri": configuration, "type": 2}
    wire.notify("workspace/didChangeWatchedFiles", {"changes": [changed]})
    assert wire.published(configuration) == []
    (tmp_path / "pyproject.toml").write_text(UNKNOWN, encoding="utf-8")
    wire.notify("workspace/didChangeWatchedFiles", {"changes": [changed]})
    assert wire.published(configuration) and len(told(wire)) == 2


def test_who_wants_no_notifications_sees_it_in_the_file(wire: Wire, tmp_path: Path) -> None:
    _, configuration = begin(wire, tmp_path, UNKNOWN, {"settings": {"showNotifications": "off"}})
    assert wire.published(configuration)
    assert told(wire) == []
