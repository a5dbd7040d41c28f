"""The language server with a training file of 500 lines: how soon it answers and how much memory it takes at most."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from .edits import FILE, texts
from .generated import training_file
from .timing import tapelint

LINES = 500
_URI = "file:///nowhere/train.py"


class Editor:
    """The least an editor does: one document, and messages read until the wanted one comes."""

    def __init__(self, command: Sequence[str] = tapelint("server")) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
        assert self.process.stdin is not None and self.process.stdout is not None
        self._stdin, self._stdout = self.process.stdin, self.process.stdout

    def send(self, method: str, params: Any, **more: Any) -> None:
        self._write({"method": method, "params": params, **more})

    def until(self, **wanted: Any) -> dict[str, Any]:
        """The next message that has the ``wanted`` entries; what the server asks meanwhile is answered with nothing."""
        while True:
            message = self._read()
            if all(message.get(key) == value for key, value in wanted.items()):
                return message
            self._answer(message)

    def any_of(self, *ids: int) -> dict[str, Any]:
        """The next answer to one of these requests."""
        while True:
            message = self._read()
            if message.get("id") in ids and "method" not in message:
                return message
            self._answer(message)

    def _answer(self, message: dict[str, Any]) -> None:
        """Answer with nothing, if this is a request: no setting has a value."""
        if "id" in message and "method" in message:
            is_asked = message["method"] == "workspace/configuration"
            result = [None for _ in message["params"]["items"]] if is_asked else None
            self._write({"id": message["id"], "result": result})

    def peak(self) -> int | None:
        """The most memory the server has held so far, in bytes; None where the system does not tell."""
        return self.memory("VmHWM") if Path("/proc").exists() else None

    def memory(self, what: str) -> int:
        """What Linux knows of the memory of the server and those it started, in bytes: `VmHWM` is the most, `VmRSS`
        what it holds now.
        """
        found = 0
        for process in self._processes():
            status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
            fields = dict(line.split(":", 1) for line in status.splitlines())
            found += int(fields[what].split()[0]) * 1024
        return found

    def processor(self) -> float:
        """The processor seconds that all threads of the server, and of those it started, have used."""
        tasks = [task for process in self._processes() for task in Path(f"/proc/{process}/task").iterdir()]
        return sum(int((task / "schedstat").read_text(encoding="utf-8").split()[0]) for task in tasks) / 1e9

    def _processes(self) -> Iterator[int]:
        """The numbers of the server's process and of all below it."""
        waiting = [self.process.pid]
        while waiting:
            process = waiting.pop()
            yield process
            for task in Path(f"/proc/{process}/task").iterdir():
                waiting += map(int, (task / "children").read_text(encoding="utf-8").split())

    def close(self) -> None:
        self.send("shutdown", None, id="end")
        self.until(id="end")
        self.send("exit", None)
        self.process.wait(10)

    def _write(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._stdin.flush()

    def _read(self) -> dict[str, Any]:
        length = 0
        while (header := self._stdout.readline()).strip():
            if header.lower().startswith(b"content-length:"):
                length = int(header.split(b":")[1])
        if not header:
            raise RuntimeError("the server has gone")
        message: dict[str, Any] = json.loads(self._stdout.read(length))
        return message


def session(has_hazard: bool) -> dict[str, float | int | None]:
    """Open the file, change it, and (where there is a finding) ask for its fixes. Seconds, and bytes for the memory."""
    text = training_file(LINES, has_hazard)
    begin = time.perf_counter()
    editor = Editor()
    try:
        editor.send("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, id="start")
        editor.until(id="start")
        started = time.perf_counter()
        editor.send("initialized", {})
        document = {"uri": _URI, "languageId": "python", "version": 1, "text": text}
        editor.send("textDocument/didOpen", {"textDocument": document})
        found = editor.until(method="textDocument/publishDiagnostics")["params"]["diagnostics"]
        opened = time.perf_counter()
        if len(found) != has_hazard:
            raise RuntimeError(f"expected {int(has_hazard)} findings: {found}")
        peak = editor.peak()
        start = {"line": 0, "character": 0}
        change = {"range": {"start": start, "end": start}, "text": "\n"}
        again = time.perf_counter()
        editor.send("textDocument/didChange", {"textDocument": {"uri": _URI, "version": 2}, "contentChanges": [change]})
        found = editor.until(method="textDocument/publishDiagnostics")["params"]["diagnostics"]
        changed = time.perf_counter()
        result: dict[str, float | int | None] = {
            "lines": text.count("\n") + 1,
            "initialize": started - begin,
            "open": opened - started,
            "change": changed - again,
            "peak": peak,
        }
        if has_hazard:
            where = found[0]["range"]
            context = {"diagnostics": found}
            params = {"textDocument": {"uri": _URI}, "range": where, "context": context}
            asked = time.perf_counter()
            editor.send("textDocument/codeAction", params, id="fixes")
            editor.until(id="fixes")
            result["fixes"] = time.perf_counter() - asked
            result["peak with fixes"] = editor.peak()
        editor.close()
        return result
    finally:
        editor.process.kill()


def typing() -> dict[str, float]:
    """Seconds from didChange to publishDiagnostics for an edit at each place, in a file that the server knows."""
    text = FILE.read_text(encoding="utf-8")
    editor, found = Editor(), dict[str, float]()
    try:
        editor.send("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, id="start")
        editor.until(id="start")
        editor.send("initialized", {})
        document = {"uri": _URI, "languageId": "python", "version": 1, "text": text}
        editor.send("textDocument/didOpen", {"textDocument": document})
        editor.until(method="textDocument/publishDiagnostics")
        for version, (place, edited) in enumerate(texts(), 2):
            document, change = {"uri": _URI, "version": version}, {"text": edited}
            begin = time.perf_counter()
            editor.send("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})
            editor.until(method="textDocument/publishDiagnostics")
            found[place] = time.perf_counter() - begin
        editor.close()
        return found
    finally:
        editor.process.kill()
