"""What the server keeps of messages that it has dealt with: nothing."""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any

from tapelint.lsp.server import Server


def framed(method: str, params: Any, **more: Any) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


async def test_nothing_is_kept_of_notifications_and_requests() -> None:
    document = {"uri": "file:///nowhere/train.py", "version": 1}
    place = {"textDocument": document, "position": {"line": 0, "character": 0}}
    messages = [
        framed("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, id=1),
        framed("initialized", {}),
        framed("textDocument/didOpen", {"textDocument": {**document, "languageId": "python", "text": "x = 1"}}),
        *(
            framed("textDocument/didChange", {"textDocument": {**document, "version": n}, "contentChanges": []})
            for n in range(2, 7)
        ),
        framed("textDocument/documentHighlight", place, id=2),
        framed("textDocument/didClose", {"textDocument": document}),
        framed("exit", None),
    ]
    (source, mine), (answers, sink) = os.pipe(), os.pipe()
    server = Server("0")
    os.write(mine, b"".join(messages))
    assert await asyncio.wait_for(server.run(source, sink), 60) == 1, "it was not told to shut down first"
    waiting = {key for key, future in server.protocol._request_futures.items() if future.done()}
    for descriptor in (mine, answers, sink):  # the reader ends, and may still hold the other one
        os.close(descriptor)
    assert not waiting
