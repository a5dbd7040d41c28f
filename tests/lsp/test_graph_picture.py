"""The picture of a graph, for every client that can send a command."""

from __future__ import annotations

from typing import Any

from wire import Wire

URI = "file:///tmp/unsaved.py"
PROGRAM = """import torch
y = torch.ones(3, requires_grad=True).exp()
y += 1
y.sum().backward()
"""


def asked(wire: Wire, line: int, uri: str = URI) -> dict[str, Any]:
    position = {"line": line, "character": 0}
    command = {"command": "tapelint.graph", "arguments": [uri, position]}
    answer: dict[str, Any] = wire.request("workspace/executeCommand", command)["result"]
    return answer


def test_the_picture_of_a_buffer_that_was_never_saved(wire: Wire) -> None:
    wire.start()
    wire.open(URI, PROGRAM)
    answer = asked(wire, 2)
    picture = answer["picture"]
    assert "in-place write add_ (line 3, part of the hazard)" in answer["text"]
    assert picture["title"].startswith("TL201")
    [write] = [node for node in picture["nodes"] if node["kind"] == "write"]
    assert write["marked"] and write["place"]["uri"] == URI and write["place"]["range"]["start"]["line"] == 2
    numbers = {node["number"] for node in picture["nodes"]}
    assert {end for edge in picture["edges"] for end in (edge["from"], edge["to"])} <= numbers


def test_where_there_is_nothing_to_draw(wire: Wire) -> None:
    wire.start()
    wire.open(URI, PROGRAM)
    assert asked(wire, 0)["picture"] is asked(wire, 0)["text"] is None and "no tensor" in asked(wire, 0)["why"]
    assert asked(wire, 0, "file:///tmp/other.py")["picture"] is None
