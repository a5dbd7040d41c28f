"""The command that says how far the silence about a document goes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from wire import Wire

TRAIN = """\
import torch
from lib import unet

model = torch.nn.Linear(2, 1)
model(torch.ones(1, 2)).sum().backward()
loss = unet(torch.ones(1, 2)).mean()
loss.backward()
"""


@pytest.fixture
def ask(wire: Wire, uri: str) -> Callable[..., dict[str, Any]]:
    wire.start({})
    wire.open(uri, TRAIN)

    def asked(*arguments: object) -> dict[str, Any]:
        command = {"command": "tapelint.coverage", "arguments": [*arguments]}
        answer: dict[str, Any] = wire.request("workspace/executeCommand", command)["result"]
        return answer

    return asked


def test_calls_with_their_causes(ask: Callable[..., dict[str, Any]], uri: str) -> None:
    answer = ask(uri)
    cause = "`loss` is unknown: nothing is known of `unet`, which comes from `lib`"
    assert answer["sentence"] == f"1 of 2 backward calls followed: {cause}"
    followed, unknown = answer["calls"]
    assert (followed["following"], followed["cause"]) == ("followed", None)
    assert followed["location"]["range"]["start"] == {"line": 4, "character": 0}
    assert (unknown["following"], unknown["code"], unknown["cause"]["message"]) == (
        "unknown graph",
        "loss.backward",
        cause,
    )
    start = unknown["cause"]["location"]["range"]["start"]
    assert (unknown["cause"]["location"]["uri"], start) == (uri, {"line": 5, "character": 7})
    assert "- line 7: `loss.backward` unknown graph: " in answer["text"]
    assert (answer["findings"], answer["notices"]) == (0, [])


def test_without_causes(ask: Callable[..., dict[str, Any]], uri: str) -> None:
    answer = ask(uri, False)
    assert (answer["sentence"], [call["cause"] for call in answer["calls"]]) == (
        "1 of 2 backward calls followed",
        [None] * 2,
    )


@pytest.mark.parametrize("arguments", [(), ("file:///not/open.py",), (3,)])
def test_documents_that_are_not_open(ask: Callable[..., dict[str, Any]], arguments: tuple[object, ...]) -> None:
    assert ask(*arguments) is None
