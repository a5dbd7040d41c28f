"""The page of the playground is told in its own units what it asks."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tools.playground.examples import examples
from tools.playground.session import answering
from tools.playground.snapshot import Prepared, is_read

ROOT = Path(__file__).resolve().parents[2]
WRITTEN = 'import torch\ny = torch.ones(3, requires_grad=True).exp()\ns = "\U0001f600"; y += 1\ny.sum().backward()\n'


def ask(folder: Path, *questions: dict[str, Any]) -> Any:
    """The answer to the last of some questions."""
    answer = answering(str(folder))
    return [json.loads(answer(json.dumps(question))) for question in questions][-1]


def in_javascript(text: str, place: dict[str, int]) -> str:
    """What JavaScript's ``text.slice(from, to)`` would give."""
    return text.encode("utf-16-le")[2 * place["from"] : 2 * place["to"]].decode("utf-16-le")


def test_places_are_in_the_units_of_javascript(tmp_path: Path) -> None:
    found = ask(tmp_path, {"ask": "check", "text": WRITTEN})["findings"]
    assert [in_javascript(WRITTEN, finding) for finding in found] == ["y += 1"]
    assert {finding["row"] for finding in found} == {3}


def test_a_hover_is_asked_in_the_units_of_javascript(tmp_path: Path) -> None:
    behind = len(WRITTEN[: WRITTEN.index("y += 1")].encode("utf-16-le")) // 2
    hover = ask(tmp_path, {"ask": "check", "text": WRITTEN}, {"ask": "hover", "at": behind})
    assert in_javascript(WRITTEN, hover) in ("y", "y += 1")


def test_the_boxes_of_a_graph_have_places(tmp_path: Path) -> None:
    at = {"ask": "graph", "at": WRITTEN.index("y +=") + 1}
    graph = ask(tmp_path, {"ask": "check", "text": WRITTEN}, at)
    places = {box: in_javascript(WRITTEN, place) for box, place in graph["places"].items()}
    assert set(places) <= set(re.findall(r'data-node="(\d+)"', graph["svg"]))
    assert {"y += 1", "y.sum().backward()"} <= {*places.values()}


def test_a_traceback_is_of_the_program_wherever_it_ran(tmp_path: Path) -> None:
    text = next(example["text"] for example in examples() if example["rules"] == ["saved-tensor-modified"])
    traceback = (ROOT / "tests" / "site" / "traceback.txt").read_text(encoding="utf-8")
    cause = ask(tmp_path, {"ask": "check", "text": text}, {"ask": "explain", "traceback": traceback})
    assert cause["nearness"] == "RAISES_THERE"
    assert cause["findings"] == [0]
    assert text.splitlines()[cause["row"] - 1].strip() == "loss.backward()"


def test_a_text_without_a_traceback_is_said_to_have_none(tmp_path: Path) -> None:
    assert ask(tmp_path, {"ask": "explain", "traceback": "\n"})["heading"] == ""


def test_what_the_snapshot_has_lost_is_put_back(tmp_path: Path) -> None:
    lost = tmp_path / "tapelint" / "ops" / "table.txt"
    assert Prepared(str.upper, {lost: b"exp"}).woken()("a") == "A"
    assert lost.read_bytes() == b"exp"


def test_the_files_that_are_read_are_those_that_are_no_modules() -> None:
    package = ROOT / "server" / "tapelint"
    assert is_read(package / "ops" / "table.txt")
    assert is_read(package / "stubs" / "programs" / "ignite" / "engine.py")
    assert not is_read(package / "ops" / "table.py")
