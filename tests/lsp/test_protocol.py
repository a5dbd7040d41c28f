"""The protocol's corners, over raw bytes: what no client library lets you send, and the order in which things end."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from programs import BAD, GOOD
from wire import COMMAND, ENVIRONMENT, Wire, edit


@pytest.fixture
def wire() -> Iterator[Wire]:
    """A process that serves: here it is about how that ends and what it logs."""
    wire = Wire(COMMAND)
    yield wire
    wire.close()


def test_invalid_parameters_are_answered(pushed: Wire, uri: str):
    odd = {"range": "everything", "message": 3}
    context = {"diagnostics": [odd]}
    area = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}
    params = {"textDocument": {"uri": uri}, "range": area, "context": context}
    assert pushed.request("textDocument/codeAction", params)["error"]["code"] == -32602
    assert pushed.request("textDocument/hover", {"textDocument": 5})["error"]["code"] == -32602
    assert pushed.request("textDocument/hover")["error"]["code"] == -32602
    assert pushed.request("textDocument/didClose", {"textDocument": {"uri": "file:///a.py"}})["error"]["code"] == -32600
    pushed.send(id=[1], method="textDocument/hover", params={})
    assert pushed.answer(None)["error"]["code"] == -32600
    pushed.notify("textDocument/didOpen", {"textDocument": None})
    pushed.notify("textDocument/didChange", [1, 2])


@pytest.mark.parametrize("body", [b"{", b"\xff\xfe", b"[" * 50_000, b"[]", b"null", b'{"jsonrpc": "1.0"}'])
def test_invalid_messages_are_answered(pushed: Wire, body: bytes):
    pushed.body(body)
    assert pushed.answer(None)["error"]["code"] in (-32700, -32600)


def test_odd_framing(wire: Wire):
    wire.start()
    body = json.dumps({"jsonrpc": "2.0", "id": 70, "method": "shutdown"}).encode()
    for byte in b"content-LENGTH:   %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n" % len(body):
        wire.raw(bytes([byte]))
    wire.raw(body)
    assert wire.answer(70)["result"] is None


def test_unknown_methods(pushed: Wire, uri: str):
    assert pushed.request("textDocument/sing", {"textDocument": {"uri": uri}})["error"]["code"] == -32601
    pushed.notify("$/sing", {"loud": True})
    assert pushed.request("workspace/executeCommand", {"command": "rm"})["error"]["code"] == -32602


def test_nothing_is_answered_before_initialize(wire: Wire):
    assert wire.request("textDocument/hover", {})["error"]["code"] == -32002
    wire.notify("textDocument/didOpen", {})
    wire.start()
    assert wire.request("initialize", {"processId": None, "capabilities": {}})["error"]["code"] == -32600
    assert wire.leave() == 0


def test_nothing_is_answered_after_shutdown(wire: Wire):
    wire.start()
    wire.request("shutdown")
    assert wire.request("shutdown")["error"]["code"] == -32600
    assert wire.request("textDocument/hover", {})["error"]["code"] == -32600
    wire.notify("exit")
    assert wire.process.wait(10) == 0


def test_exit_without_shutdown(wire: Wire):
    wire.start()
    wire.notify("exit")
    assert wire.process.wait(10) == 1


def test_end_of_input_ends_the_server(wire: Wire):
    wire.start()
    wire.process.stdin.close()
    assert wire.process.wait(10) == 1


def test_closed_output_ends_the_server():
    pipe = subprocess.PIPE
    with subprocess.Popen(COMMAND, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=ENVIRONMENT) as server:
        server.stdout.close()
        body = b'{"jsonrpc": "2.0", "id": 1, "method": "tapelint/ping"}'
        server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        server.stdin.flush()
        assert server.wait(10) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="sends a POSIX signal")
def test_the_server_ends_with_its_parent(wire: Wire):
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as editor:
        wire.start(processId=editor.pid)
        time.sleep(0.3)
        assert wire.process.poll() is None
        editor.send_signal(signal.SIGKILL)
        assert wire.process.wait(5) == 1


GOES = """
import os, subprocess, sys
server = subprocess.Popen(sys.argv[1:], stderr=subprocess.DEVNULL)
os.read(3, 1)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="inherits POSIX descriptors")
@pytest.mark.parametrize("says", ["nothing", "its own number", "another number"])
def test_a_parent_that_is_gone_at_initialize(says: str):
    """The editor ends before the server has answered ``initialize``, or before it was sent. This process holds the
    pipes open all the while, as another child of the editor would; the server's end of its output says that it left.
    """
    source, to_server = os.pipe()
    from_server, sink = os.pipe()
    held, release = os.pipe()
    script = GOES.replace("os.read(3, 1)", f"os.read({held}, 1)")
    command = [sys.executable, "-c", script, *COMMAND]
    editor = subprocess.Popen(command, stdin=source, stdout=sink, env=ENVIRONMENT, pass_fds=[held])
    os.close(source)
    os.close(sink)

    def send(**message: object) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        os.write(to_server, b"Content-Length: %d\r\n\r\n" % len(body) + body)

    send(id=1, method="tapelint/ping")
    assert b"-32002" in os.read(from_server, 4096)  # it runs, and knows who started it
    os.write(release, b"x")
    editor.wait(10)
    if says != "nothing":
        process = editor.pid if says == "its own number" else 2**22 + 17
        send(id=2, method="initialize", params={"processId": process, "rootUri": None, "capabilities": {}})
    end = threading.Thread(target=lambda: [None for _ in iter(lambda: os.read(from_server, 65536), b"")], daemon=True)
    end.start()
    end.join(30)
    assert not end.is_alive(), "the server is still there"
    for descriptor in (to_server, from_server, held, release):
        os.close(descriptor)


def test_a_parent_on_another_host_is_not_watched(wire: Wire):
    wire.start(processId=2**22 + 17)
    time.sleep(1.5)
    assert wire.leave() == 0


METHODS = (
    *("initialized", "codeAction/resolve", "notebookDocument/didOpen", "$/cancelRequest", "$/setTrace"),
    *(f"workspace/{name}" for name in ("executeCommand", "didChangeConfiguration", "didChangeWatchedFiles")),
    *(f"textDocument/{name}" for name in ("hover", "codeAction", "diagnostic", "didOpen", "didChange", "didClose")),
)


def test_every_request_is_answered(wire: Wire):
    """Messages that are nearly right, in any order: each request has an answer, and the log holds no traceback."""
    chance = random.Random(0)

    def position() -> dict:
        return {"line": chance.choice([0, 3, 10**9, -1]), "character": chance.choice([0, 2, 10**9, -4, 1.5])}

    def params() -> object:
        if chance.random() < 0.1:
            return chance.choice([None, True, 1e9, "x", "\ud800", [], {}, [1]])
        uri, area = chance.choice(["file:///a.py", "untitled:x", "", "::", 5]), {"start": position(), "end": position()}
        change = chance.choice([{"text": BAD}, {"range": area, "text": chance.choice(["", "\r", "x", "\n"])}])
        everything = {
            "textDocument": {"uri": uri, "version": chance.choice([1, None]), "languageId": "python", "text": BAD},
            "position": position(),
            "range": area,
            "context": {"diagnostics": [], "only": chance.choice([None, ["source"], [5], "x"])},
            "contentChanges": [change],
            "title": "x",
            "data": chance.choice([None, 3, {"uri": uri, "version": 1, "kind": "fix", "index": "a"}, {"uri": [1]}]),
            "command": chance.choice(["tapelint.debugInformation", "x", None]),
            "settings": chance.choice([None, 3, {"tapelint": {"select": [1, "TL"], "enable": 0}}]),
            "event": {"added": [{"uri": uri, "name": "x"}], "removed": []},
            "id": chance.choice([1, "x", None, []]),
        }
        return {key: value for key, value in everything.items() if chance.random() < 0.9}

    wire.start({"textDocument": {"diagnostic": {}}})
    waiting = set()
    for _ in range(1200):
        method = chance.choice(METHODS)
        if chance.random() < 0.6:
            waiting.add(wire.ask(method, params()))
        else:
            wire.notify(method, params())
    while waiting:
        waiting.discard(wire.until(lambda message: "method" not in message).get("id"))
    assert wire.leave() == 0
    assert not [line for line in wire.log if line.startswith(("ERROR", "Traceback"))]


def test_documents_that_were_never_opened(pushed: Wire, uri: str):
    pushed.change("file:///nowhere.py", 2, edit(0, 0, 0, "x"))
    pushed.notify("textDocument/didClose", {"textDocument": {"uri": "file:///nowhere.py"}})
    position = {"textDocument": {"uri": "file:///nowhere.py"}, "position": {"line": 5, "character": 5}}
    assert pushed.request("textDocument/hover", position)["result"] is None


def test_closing_clears_diagnostics(pushed: Wire, uri: str):
    pushed.open(uri, BAD)
    assert pushed.published(uri, 1)
    pushed.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    assert pushed.published(uri) == []


def test_opening_twice_replaces_the_text(pushed: Wire, uri: str):
    pushed.open(uri, BAD)
    pushed.open(uri, GOOD, 7)
    assert pushed.published(uri, 7) == []


def test_deleted_file_of_an_open_document(pushed: Wire, tmp_path: Path):
    file = tmp_path / "a.py"
    file.write_text(BAD, encoding="utf-8")
    pushed.open(file.as_uri(), BAD)
    assert pushed.published(file.as_uri(), 1)
    file.unlink()
    tmp_path.rmdir()
    pushed.change(file.as_uri(), 2, edit(3, 4, 11, "x * 2"))
    assert pushed.published(file.as_uri(), 2) == []


URIS = ["untitled:Untitled-1", "file:///with%20space/%C3%A9.py", "vscode-vfs://github/a/b.py", "x"]


@pytest.mark.parametrize("uri", URIS)
def test_any_kind_of_document(pushed: Wire, uri: str):
    pushed.open(uri, BAD)
    assert pushed.published(uri, 1)


def test_files_without_torch_are_answered(pushed: Wire, uri: str):
    pushed.open(uri, BAD)
    pushed.published(uri, 1)
    pushed.open("file:///b.py", "print('hello')\n" * 20_000)
    assert pushed.published("file:///b.py", 1) == []


def test_positions_outside_the_text(pushed: Wire, uri: str):
    pushed.open(uri, "a\r\nb")
    pushed.change(uri, 2, edit(0, 99, 99, "1"))
    pushed.change(uri, 3, edit(99, 99, 99, "2"))
    pushed.change(uri, 4, edit(1, 1, 0, "3"))
    pushed.change(uri, 5, edit(0, 0, 2**31 - 1, "import torch\r\n" + BAD, end_line=2**31 - 1))
    assert pushed.published(uri, 5)


def test_a_burst_of_edits(pushed: Wire, uri: str):
    pushed.open(uri, GOOD)
    pushed.published(uri, 1)
    for version in range(2, 302):
        pushed.change(uri, version, edit(0, 0, 0, "#" if version < 301 else "#\n"))
    assert pushed.published(uri, 301) == []
    seen = [m["params"]["version"] for m in pushed.seen if m.get("method") == "textDocument/publishDiagnostics"]
    assert seen == sorted(seen) and len(seen) < 30, "stale results are not shown"


def test_every_prefix_of_a_file(pushed: Wire, uri: str):
    pushed.open(uri, "")
    for end in range(len(BAD)):
        pushed.change(uri, end + 2, edit(999, 0, 0, BAD[end]))
        if end % 8 == 0:
            pushed.published(uri, end + 2)
    assert pushed.published(uri, len(BAD) + 1)


HARD = {
    "brackets": "import torch\n" + "[" * 5000 + "]" * 5000 + "\n",
    "unclosed calls": "import torch\n" + "f(" * 3000,
    "a long sum": "import torch\nx = " + " + ".join(["1"] * 20_000) + "\n",
    "nested blocks": "import torch\n" + "".join("  " * depth + "if x:\n" for depth in range(90)) + "  " * 90 + "y\n",
    "many rows": "import torch\n" + "x = 1\n" * 50_000,
    "controls": "import torch\nx = '\x0c\x1c\x85\u2028\ufeff\ud800'\n\x00\n\ry = 1\r",
    "new syntax": "import torch\ntype X[T = int] = list[T]\nmatch x:\n  case {**rest}: pass\nlambda: (yield from *a)\n",
}


@pytest.mark.parametrize("text", HARD.values(), ids=HARD.keys())
def test_hard_texts_do_not_end_the_server(pushed: Wire, text: str, uri: str):
    pushed.open(uri, text)
    pushed.published(uri, 1, timeout=30)
    pushed.open("file:///b.py", BAD)
    assert pushed.published("file:///b.py", 1)
    assert pushed.process.poll() is None


def test_a_file_that_is_skipped_says_so(pushed: Wire, uri: str):
    pushed.open(uri, "import torch\n" + "x = 1\n" * 70_000)
    (finding,) = pushed.published(uri, 1)
    assert finding["severity"] == 3 and "skipped" in finding["message"]


@pytest.mark.parametrize("encoding, width", [("utf-8", 4), ("utf-16", 2), ("utf-32", 1)])
def test_positions_count_as_negotiated(wire: Wire, encoding: str, width: int, uri: str):
    capabilities = wire.start({"general": {"positionEncodings": [encoding, "utf-16"]}})
    assert capabilities["positionEncoding"] == encoding
    plain = BAD.replace("y += 1", "'ab'; y += 1")
    wire.open(uri, plain)
    (before,) = wire.published(uri, 1)
    wire.change(uri, 2, edit(4, 1, 3, "\U0001f600\u2028"))
    (after,) = wire.published(uri, 2)
    moved = width + {"utf-8": 3}.get(encoding, 1) - 2
    assert before["range"]["start"]["line"] == after["range"]["start"]["line"] == 4
    assert after["range"]["start"]["character"] == before["range"]["start"]["character"] + moved
    wire.change(uri, 3, edit(4, 1 + width, 3 + width + moved - width, "\x0c"))
    assert len(wire.published(uri, 3)) == 1


def test_clients_without_resolve_get_plain_edits(wire: Wire, uri: str):
    actions = {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}}}
    capabilities = wire.start({"textDocument": {"codeAction": actions}})
    assert "diagnosticProvider" not in capabilities and not capabilities["codeActionProvider"].get("resolveProvider")
    wire.open(uri, BAD)
    (finding,) = wire.published(uri, 1)
    assert "codeDescription" not in finding and "data" not in finding and "relatedInformation" not in finding
    assert "\n- line " in finding["message"], "the story is in the message where there is no other place for it"
    params = {"textDocument": {"uri": uri}, "range": finding["range"], "context": {"diagnostics": [finding]}}
    found = wire.request("textDocument/codeAction", params)["result"]
    assert found and all(list(action["edit"]) == ["changes"] and "isPreferred" not in action for action in found)


def test_hover_in_plain_text(pushed: Wire, uri: str):
    pushed.open(uri, BAD)
    where = {"textDocument": {"uri": uri}, "position": {"line": 3, "character": 0}}
    contents = pushed.request("textDocument/hover", where)["result"]["contents"]
    assert contents["kind"] == "plaintext" and "`" not in contents["value"]


def test_a_hover_does_not_repeat_what_the_editor_shows_beside_it(wire: Wire, uri: str):
    wire.start(
        {"textDocument": {"hover": {"contentFormat": ["markdown"]}}},
        initializationOptions={"showsFindingsBesideHovers": True},
    )
    wire.open(uri, BAD)
    (finding,) = wire.published(uri, 1)
    where = {"textDocument": {"uri": uri}, "position": finding["range"]["start"]}
    text = wire.request("textDocument/hover", where)["result"]["contents"]["value"]
    assert text.startswith("**`") and "raises" in text
    assert finding["code"] not in text and "PyTorch raises" not in text


def test_settings_that_are_pushed(wire: Wire, uri: str):
    wire.start(initializationOptions={"settings": {"enable": False}})
    wire.open(uri, BAD)
    assert wire.published(uri, 1) == []
    wire.notify("workspace/didChangeConfiguration", {"settings": {"tapelint": {"enable": True, "select": 7}}})
    assert wire.published(uri, 1)
    wire.notify("workspace/didChangeConfiguration", {"settings": {"tapelint": {"ignore": ["NO1"]}}})
    complaint = wire.until(lambda m: m.get("method") == "tapelint/status" and m["params"]["state"] == "error")
    assert "NO1" in complaint["params"]["message"]
    assert wire.published(uri, 1), "a mistake in the settings switches nothing off"


def test_a_late_configuration_answer_does_not_block(wire: Wire, uri: str):
    wire.answers = False
    wire.start({"workspace": {"configuration": True}})
    wire.open(uri, BAD)
    assert wire.published(uri, 1, timeout=6)
    (question,) = [message for message in wire.seen if message.get("method") == "workspace/configuration"]
    wire.send(id=question["id"], result=[{"enable": False}])
    assert wire.request("tapelint/ping")["error"]["code"] == -32601
    assert not [line for line in wire.log if line.startswith(("ERROR", "Traceback"))]
