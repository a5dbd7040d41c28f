"""What is shown in a file goes when it is closed, mended on disk or deleted, as VS Code's language client has it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clients import VSCODE
from programs import BAD, GOOD
from test_closed_files import FREES, KEEPS, TWICE, project, saved
from wire import Wire, without_marks

PULL, REGISTER, UNREGISTER = "textDocument/diagnostic", "client/registerCapability", "client/unregisterCapability"
PUSH, REFRESH = "textDocument/publishDiagnostics", "workspace/diagnostic/refresh"
# Without "configuration": the settings come with the notification that they have changed.
CAPABILITIES = {**VSCODE, "workspace": {**VSCODE["workspace"], "configuration": False}}


class Problems:
    """The view of that name: what vscode-languageclient 11 keeps for each file of what it is pushed, and of what it
    pulls. The latter is kept for each registration; closing a file clears it, unless the workspace may be asked for.
    """

    def __init__(self, wire: Wire, root: Path, mode: str | None = None) -> None:
        self.wire = wire
        self.options: dict[str, Any] | None = None
        self.pushed: dict[str, list[str]] = {}
        self.pulled: dict[str, list[str]] = {}
        self.names: dict[str, str] = {}
        settings = {"settings": {"diagnosticMode": mode}} if mode else {}
        capabilities = wire.start(CAPABILITIES, rootUri=root.as_uri(), initializationOptions=settings)
        self.options = capabilities.get("diagnosticProvider")
        self.read(lambda message: message.get("method") == REGISTER and self.options is not None)

    def read(self, wanted: Any) -> dict[str, Any]:
        def seen(message: dict[str, Any]) -> bool:
            method, params = message.get("method"), message.get("params")
            if method == PUSH:
                self.pushed[params["uri"]] = [found["code"] for found in without_marks(params["diagnostics"])]
            for each in params["registrations"] if method == REGISTER else ():
                if each["method"] == PULL:
                    assert self.options is None, "each registration pulls by itself: all would be shown twice"
                    self.options = each["registerOptions"]
            for each in params["unregisterations"] if method == UNREGISTER else ():
                if each["method"] == PULL:
                    self.options = None
                    self.pulled.clear()
                    self.names.clear()
            return bool(wanted(message))

        return self.wire.until(seen)

    def request(self, method: str, params: Any) -> Any:
        number = self.wire.ask(method, params)
        return self.read(lambda message: "method" not in message and message.get("id") == number)["result"]

    def pull(self, uri: str) -> None:
        self._take(uri, self.request(PULL, {"textDocument": {"uri": uri}}))

    def pull_workspace(self) -> None:
        known = [{"uri": uri, "value": name} for uri, name in self.names.items()]
        for report in self.request("workspace/diagnostic", {"previousResultIds": known})["items"]:
            self._take(report["uri"], report)

    def _take(self, uri: str, report: dict[str, Any]) -> None:
        if report["kind"] == "full":
            self.pulled[uri] = [found["code"] for found in without_marks(report["items"])]
        self.names.pop(uri, None)
        if report.get("resultId"):
            self.names[uri] = report["resultId"]

    def close(self, uri: str) -> None:
        self.wire.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        self.names.pop(uri, None)
        if self.options and not self.options["workspaceDiagnostics"]:
            self.pulled.pop(uri, None)

    def of(self, uri: str) -> list[str]:
        return [*self.pushed.get(uri, ()), *self.pulled.get(uri, ())]

    def until(self, uri: str, wanted: list[str]) -> None:
        """Read what comes until a file shows this; something must come that changes it."""
        while self.of(uri) != wanted:
            self.read(lambda message: message.get("method") == PUSH)

    def settle(self) -> None:
        self.request("workspace/executeCommand", {"command": "tapelint.debugInformation", "arguments": []})


def test_a_closed_file_shows_nothing(wire: Wire, tmp_path: Path) -> None:
    uris = project(tmp_path, train=BAD)
    problems = Problems(wire, tmp_path)
    wire.open(uris["train"], BAD)
    problems.pull(uris["train"])
    assert problems.of(uris["train"]) == ["TL201"]
    problems.close(uris["train"])
    problems.settle()
    assert problems.of(uris["train"]) == []


@pytest.fixture
def shown(wire: Wire, tmp_path: Path) -> Iterator[tuple[Problems, dict[str, str]]]:
    """loop.py is open, and what it does in train.py is shown there, which is closed."""
    uris = project(tmp_path, loop=FREES, train=TWICE)
    problems = Problems(wire, tmp_path)
    wire.open(uris["loop"], FREES)
    problems.pull(uris["loop"])
    problems.until(uris["train"], ["TL101"])
    yield problems, uris


def test_what_it_shows_elsewhere_goes_with_it(shown: tuple[Problems, dict[str, str]]) -> None:
    problems, uris = shown
    problems.close(uris["loop"])
    problems.until(uris["train"], [])


@pytest.mark.parametrize("text", [TWICE.replace(".backward()", ""), None])
def test_a_closed_file_that_is_mended_or_deleted_on_disk(
    shown: tuple[Problems, dict[str, str]], tmp_path: Path, text: str | None
) -> None:
    problems, uris = shown
    saved(problems.wire, tmp_path / "train.py", text)
    problems.until(uris["train"], [])


@pytest.mark.parametrize("text", [GOOD, None])
def test_a_file_of_the_workspace(wire: Wire, tmp_path: Path, text: str | None) -> None:
    """Its findings stay when it is closed, and go when it is mended or deleted."""
    uris = project(tmp_path, train=BAD)
    problems = Problems(wire, tmp_path, "workspace")
    assert problems.options and problems.options["workspaceDiagnostics"]
    wire.open(uris["train"], BAD)
    problems.pull(uris["train"])
    problems.close(uris["train"])
    problems.pull_workspace()
    assert problems.of(uris["train"]) == ["TL201"]
    saved(wire, tmp_path / "train.py", text)
    problems.pull_workspace()
    assert problems.of(uris["train"]) == []


def test_the_setting_can_be_changed(wire: Wire, tmp_path: Path) -> None:
    uris = project(tmp_path, train=BAD, loop=KEEPS)
    problems = Problems(wire, tmp_path, "workspace")
    problems.pull_workspace()
    assert problems.of(uris["train"]) == ["TL201"]
    for mode, is_on in (("openFilesOnly", False), ("workspace", True)):
        wire.notify("workspace/didChangeConfiguration", {"settings": {"tapelint": {"diagnosticMode": mode}}})
        problems.read(lambda message: message.get("method") == REGISTER)
        assert problems.options and problems.options["workspaceDiagnostics"] is is_on
        assert problems.of(uris["train"]) == []
    problems.pull_workspace()
    assert problems.of(uris["train"]) == ["TL201"]
