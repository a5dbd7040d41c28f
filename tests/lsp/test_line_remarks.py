"""Code lenses and inlay hints from what hovers know: where a setting asks for them, and only there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from open_notebook import BOOK, PUSHED, cell
from wire import Wire

TRAINING = """\
import torch
from torch import nn
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    loss = net(torch.randn(2, 3)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
BOUND, RUN, STEPPED = 5, 7, 8
REFRESHING = {"workspace": {"codeLens": {"refreshSupport": True}, "inlayHint": {"refreshSupport": True}}}
ALL = {"codeLens": {"backward": True, "step": True}, "inlayHints": {"tensors": True}}


def lenses(wire: Wire, uri: str) -> list[tuple[int, str]] | None:
    answer = wire.request("textDocument/codeLens", {"textDocument": {"uri": uri}})["result"]
    assert answer is None or all(lens["command"]["command"] == "" for lens in answer)
    return answer and [(lens["range"]["start"]["line"], lens["command"]["title"]) for lens in answer]


def hints(wire: Wire, uri: str) -> list[tuple[int, int, str]] | None:
    area = {"start": {"line": 0, "character": 0}, "end": {"line": 100, "character": 0}}
    answer = wire.request("textDocument/inlayHint", {"textDocument": {"uri": uri}, "range": area})["result"]
    return answer and [(hint["position"]["line"], hint["position"]["character"], hint["label"]) for hint in answer]


@pytest.fixture
def showing(wire: Wire) -> Iterator[Wire]:
    wire.start(REFRESHING, initializationOptions={"settings": ALL})
    yield wire


def test_nothing_is_shown_unless_it_is_asked_for(pushed: Wire, uri: str) -> None:
    pushed.open(uri, TRAINING)
    assert lenses(pushed, uri) is None and hints(pushed, uri) is None


def test_all_that_is_known_is_shown(showing: Wire, uri: str) -> None:
    showing.open(uri, TRAINING)
    assert lenses(showing, uri) == [
        (RUN, "frees the graph of 2 operations, fills .grad of 2 leaves"),
        (STEPPED, "writes 2 parameters"),
    ]
    end = len("    loss = net(torch.randn(2, 3)).mean()")
    assert hints(showing, uri) == [(BOUND, end, "grad_fn=MeanBackward0, version 0")]


@pytest.mark.parametrize(("name", "line"), [("backward", RUN), ("step", STEPPED)])
def test_each_has_a_setting(wire: Wire, uri: str, name: str, line: int) -> None:
    wire.start({}, initializationOptions={"settings": {"codeLens": {name: True}}})
    wire.open(uri, TRAINING)
    assert [row for row, _ in lenses(wire, uri) or ()] == [line]
    assert hints(wire, uri) is None


def test_newer_text_has_its_own(showing: Wire, uri: str) -> None:
    showing.open(uri, TRAINING)
    assert lenses(showing, uri)
    showing.change(uri, 2, {"text": "\n" + TRAINING.replace("    optimizer.step()\n", "")})
    assert [row for row, _ in lenses(showing, uri) or ()] == [RUN + 1]


def test_settings_that_change_are_followed(showing: Wire, uri: str) -> None:
    showing.open(uri, TRAINING)
    assert lenses(showing, uri)
    showing.seen.clear()
    showing.notify("workspace/didChangeConfiguration", {"settings": {"tapelint": {}}})
    showing.until(lambda message: message.get("method") == "workspace/codeLens/refresh")
    assert lenses(showing, uri) is None


def test_a_file_that_cannot_be_analysed_has_none(showing: Wire, uri: str) -> None:
    showing.open(uri, "import torch\n" + "x = (" * 3000)
    assert not lenses(showing, uri) and not hints(showing, uri)


def test_the_cells_of_a_notebook_have_their_own(wire: Wire) -> None:
    wire.start(PUSHED, initializationOptions={"settings": ALL})
    texts = ["import torch", "x = torch.ones(3, requires_grad=True)\ny = x.exp()", "y.sum().backward()"]
    cells: list[dict[str, Any]] = [{"kind": 2, "document": cell(index)} for index in range(len(texts))]
    documents = [
        {"uri": cell(index), "languageId": "python", "version": 1, "text": text} for index, text in enumerate(texts)
    ]
    book = {"uri": BOOK, "notebookType": "jupyter-notebook", "version": 1, "cells": cells}
    wire.notify("notebookDocument/didOpen", {"notebookDocument": book, "cellTextDocuments": documents})
    assert lenses(wire, cell(2)) == [(0, "frees the graph of 2 operations, fills .grad of 1 leaf")]
    assert hints(wire, cell(1)) == [(1, len("y = x.exp()"), "grad_fn=ExpBackward0, version 0")]
    assert not lenses(wire, cell(1)) and not hints(wire, cell(2))
