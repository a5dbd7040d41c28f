"""The page of a rule for every client that can send a command: no address is needed."""

from __future__ import annotations

import pytest

from tapelint.report.topics import names_by_code
from wire import Wire


def asked(wire: Wire, *arguments: str) -> str | None:
    command = {"command": "tapelint.rule", "arguments": [*arguments]}
    answer: str | None = wire.request("workspace/executeCommand", command)["result"]
    return answer


def test_every_page_is_markdown_that_claims_nothing_for_tests(wire: Wire) -> None:
    wire.start()
    for code, name in names_by_code().items():
        page = asked(wire, code)
        assert page is not None and page.startswith(f"# {code} {name}\n")
        assert page.count("```") % 2 == 0
        assert "# torch:" not in page and f"[{name}]" not in page


def test_what_pytorch_does_is_in_words(wire: Wire) -> None:
    wire.start()
    page = asked(wire, "saved-tensor-modified")
    assert page is not None and page.startswith("# TL201 ") and "# PyTorch raises “" in page


@pytest.mark.parametrize("word", ["TL999", "no-such-rule"])
def test_no_such_rule(wire: Wire, word: str) -> None:
    wire.start()
    assert asked(wire, word) is None


def test_the_list(wire: Wire) -> None:
    wire.start()
    page = asked(wire)
    assert page is not None and all(f"`{code}` {name}" in page for code, name in names_by_code().items())
