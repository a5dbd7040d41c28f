"""An editor reduced to bytes: sends whatever it is told to, well formed or not, and keeps what comes back in order."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests import forked
from tests.forked import SERVER

from served import Served

COMMAND = os.environ.get("TAPELINT_SERVER", f"{sys.executable}\n-m\ntapelint\nserver").splitlines()
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(SERVER), os.environ.get("PYTHONPATH", "")])}


def _started(command: list[str]) -> Any:
    match command:
        case [sys.executable, "-m", module, *arguments]:
            return forked.start(module, *arguments, env=ENVIRONMENT)
        case [sys.executable, file] if file.endswith(".py"):
            return forked.start(Path(file), env=ENVIRONMENT)
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=ENVIRONMENT)


class Wire:
    """A server and both ends of its pipes: one in this process, or a process of its own where there is a command."""

    def __init__(self, command: list[str] | None = None) -> None:
        is_here = command is None and "TAPELINT_SERVER" not in os.environ
        self.process = Served() if is_here else _started(command or COMMAND)
        self.answers = True
        self.seen: list[dict[str, Any]] = []
        self.log: list[str] = []
        self._messages: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._next = 0
        for work in (self._read, self._read_log):
            threading.Thread(target=work, daemon=True).start()

    def _read(self) -> None:
        stream = self.process.stdout
        while header := stream.readline():
            length = 0
            while header.strip():
                if header.lower().startswith(b"content-length:"):
                    length = int(header.split(b":")[1])
                header = stream.readline()
            self._messages.put(json.loads(stream.read(length)))
        self._messages.put(None)

    def _read_log(self) -> None:
        for line in self.process.stderr:
            self.log.append(line.decode(errors="replace"))

    def raw(self, data: bytes) -> None:
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def body(self, body: bytes) -> None:
        self.raw(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def send(self, **message: Any) -> None:
        self.body(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def notify(self, method: str, params: Any = None) -> None:
        self.send(method=method, params=params)

    def ask(self, method: str, params: Any = None) -> int:
        """Send a request; the answer is read with :meth:`answer`."""
        self._next += 1
        self.send(id=self._next, method=method, params=params)
        return self._next

    def until(self, wanted: Callable[[dict[str, Any]], bool], timeout: float = 30.0) -> dict[str, Any]:
        """The next message that is ``wanted``; requests of the server are answered on the way."""
        deadline = time.monotonic() + timeout
        while True:
            try:
                message = self._messages.get(timeout=max(0.001, deadline - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"nothing in {timeout} s; last seen: {self.seen[-3:]}; log: {self.log}") from None
            if message is None:
                raise AssertionError(f"the server has gone: {self.process.wait(5)}; log: {self.log}")
            self.seen.append(message)
            if self.answers and "id" in message and "method" in message:
                result = [{}] * len(message["params"]["items"]) if message["method"].endswith("configuration") else None
                self.send(id=message["id"], result=result)
            if wanted(message):
                return message

    def answer(self, number: int | None, timeout: float = 30.0) -> dict[str, Any]:
        return self.until(lambda message: "method" not in message and message.get("id") == number, timeout)

    def request(self, method: str, params: Any = None, timeout: float = 30.0) -> dict[str, Any]:
        return self.answer(self.ask(method, params), timeout)

    def published(self, uri: str, version: int | None = None, timeout: float = 30.0) -> list[dict[str, Any]]:
        """The findings pushed for ``uri``, of ``version`` if one is given, without the marks where PyTorch raises."""

        def wanted(message: dict[str, Any]) -> bool:
            if message.get("method") != "textDocument/publishDiagnostics" or message["params"]["uri"] != uri:
                return False
            return version is None or message["params"].get("version") == version

        return without_marks(self.until(wanted, timeout)["params"]["diagnostics"])

    def start(self, capabilities: dict[str, Any] | None = None, **params: Any) -> dict[str, Any]:
        """Initialize; the answer's capabilities."""
        params = {"processId": None, "rootUri": None, "capabilities": capabilities or {}, **params}
        result = self.request("initialize", params)["result"]
        self.notify("initialized", {})
        return result["capabilities"]

    def open(self, uri: str, text: str, version: int = 1) -> None:
        document = {"uri": uri, "languageId": "python", "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})

    def change(self, uri: str, version: int, *changes: dict[str, Any]) -> None:
        document = {"uri": uri, "version": version}
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": list(changes)})

    def leave(self) -> int:
        """Part as an editor should; the exit code."""
        self.request("shutdown")
        self.notify("exit")
        return self.process.wait(10)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(10)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                stream.close()
            except OSError:
                pass


def edit(line: int, start: int, end: int, text: str, end_line: int | None = None) -> dict[str, Any]:
    """One incremental change, in the client's units."""
    last = line if end_line is None else end_line
    area = {"start": {"line": line, "character": start}, "end": {"line": last, "character": end}}
    return {"range": area, "text": text}


MARK = "PyTorch raises here."


def without_marks(shown: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The findings among what is shown: not the hints in the lines at which PyTorch raises."""
    return [each for each in shown if not each["message"].startswith(MARK)]
