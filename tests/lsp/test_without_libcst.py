"""A server in a virtual environment without libcst, as on a platform that it is not compiled for: all works but some
fixes, and why these are missing is said.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from wire import Wire

CLIENT = {
    "textDocument": {
        "publishDiagnostics": {},
        "hover": {"contentFormat": ["plaintext"]},
        "codeAction": {
            "disabledSupport": True,
            "isPreferredSupport": True,
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix", "source"]}},
        },
    },
    "workspace": {"workspaceEdit": {"documentChanges": True}},
}
HEAD = "import torch\n\nw = torch.ones(3, requires_grad=True)\n"
NEEDS_IT = HEAD + "loss = w.exp().sum()\nloss.backward()\nloss.backward()\n"
NEEDS_IT_NOT = HEAD + (
    "optimizer = torch.optim.SGD([w], lr=0.1)\nfor x in range(9):\n    (w * x).sum().backward()\n    optimizer.step()\n"
)


def environment(folder: Path, native: bool) -> Path:
    """A Python with all that this one has, but for libcst, or with a ``native`` fault only for its compiled module."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = Path(subprocess.run([python, "-c", where], capture_output=True, text=True, check=True).stdout.strip())
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if not entry.name.startswith("libcst"):
            (site / entry.name).symlink_to(entry)
        elif native and entry.name == "libcst":
            (site / "libcst").mkdir()
            for part in entry.iterdir():
                if not part.name.startswith("native."):
                    (site / "libcst" / part.name).symlink_to(part)
    return python


@pytest.fixture(scope="module", params=["no libcst", "not compiled for this platform"])
def wire(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    python = environment(tmp_path_factory.mktemp("environment"), native=request.param != "no libcst")
    wire = Wire([str(python), "-m", "tapelint", "server"])
    wire.start(CLIENT)
    yield wire
    wire.close()


def actions(wire: Wire, uri: str, found: dict[str, Any]) -> list[dict[str, Any]]:
    params = {"textDocument": {"uri": uri}, "range": found["range"], "context": {"diagnostics": [found]}}
    return wire.request("textDocument/codeAction", params)["result"]


def told(wire: Wire) -> list[str]:
    """What the server has shown to the user so far."""
    return [seen["params"]["message"] for seen in wire.seen if seen.get("method") == "window/showMessage"]


def test_findings_and_hovers_come_and_the_lightbulb_says_what_is_missing(wire: Wire) -> None:
    for number in range(2):
        uri = f"untitled:needs{number}"
        wire.open(uri, NEEDS_IT)
        (found,) = wire.published(uri)
        assert found["code"] == "TL101"
        hover = wire.request("textDocument/hover", {"textDocument": {"uri": uri}, "position": found["range"]["start"]})
        assert hover["result"]["contents"]["value"]
        offered = actions(wire, uri, found)
        (refused,) = [action for action in offered if "disabled" in action]
        assert "libcst, which cannot be imported here" in refused["disabled"]["reason"]
        assert "Ignore TL101 on this line" in [action["title"] for action in offered]
    (message,) = told(wire)  # once, not for each finding
    assert "-m pip install libcst" in message


def test_fixes_that_need_no_libcst_are_made(wire: Wire) -> None:
    uri = "untitled:needs-not"
    wire.open(uri, NEEDS_IT_NOT)
    (found,) = wire.published(uri)
    assert found["code"] == "TL401"
    (preferred,) = [action for action in actions(wire, uri, found) if action.get("isPreferred")]
    assert preferred["edit"]["documentChanges"]


def test_fix_all_does_what_can_be_done(wire: Wire) -> None:
    uri = "untitled:all"
    wire.open(uri, NEEDS_IT)
    (found,) = wire.published(uri)
    context = {"diagnostics": [], "only": ["source.fixAll"]}
    params = {"textDocument": {"uri": uri}, "range": found["range"], "context": context}
    assert wire.request("textDocument/codeAction", params)["result"] == []
    assert wire.leave() == 0
