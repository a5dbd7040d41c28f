"""Hovers, by the page: every program of ``spec.md`` is hovered at its caret."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from tapelint.analysis import Cancelled, analyse
from tapelint.hover import Hovers, hover_at

CARET = "‸"
PAGE = Path(__file__).with_name("spec.md").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Case:
    """A program, where its caret stands, and the words of the hover."""

    name: str
    text: str
    row: int
    column: int
    words: tuple[str, ...]


def cases() -> list[Case]:
    found: list[Case] = []
    for match in re.finditer(r"^```py\n(.*?)^```\n((?:> [^\n]*\n)+)", PAGE, re.M | re.S):
        text = match[1]
        before = text.partition(CARET)[0]
        words = tuple(line[2:] for line in match[2].splitlines())
        heading = re.findall(r"^## (.*)$", PAGE[: match.start()], re.M)[-1]
        row, column = before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1
        found.append(Case(f"{heading}#{len(found) + 1}", text.replace(CARET, ""), row, column, words))
    return found


CASES = cases()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_hover_says(case: Case) -> None:
    found = hover_at(analyse(case.text), case.row, case.column)
    if case.words == ("nothing",):
        assert found is None, found
        return
    assert found is not None
    rest = found.markdown
    for words in case.words:
        if words.startswith("not: "):
            assert words[5:] not in found.markdown, found.markdown
            continue
        before, here, rest = rest.partition(words)
        assert here, f"{words!r} is missing or out of order in\n{found.markdown}"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_hover_at_every_position(case: Case) -> None:
    """Wherever the pointer goes, hover answers or says nothing; what it answers is about that place, and short."""
    hovers = Hovers(analyse(case.text))
    for row, line in enumerate(case.text.splitlines(), 1):
        for column in range(1, len(line) + 2):
            found = hovers.at(row, column)
            if found is not None:
                assert found.span.holds(row, column)
                facts = found.markdown.rpartition("\n---\n")[2]
                assert len([part for part in facts.splitlines() if part]) <= 8, found.markdown


def test_hover_can_be_cancelled() -> None:
    text = "import torch\nx = torch.ones(3)\n" + "y = x + 1\n" * 400
    report = analyse(text)
    with pytest.raises(Cancelled):
        hover_at(report, 2, 1, lambda: True)


def test_a_second_hover_executes_nothing() -> None:
    """What executes the program asks whether it is cancelled; what is kept needs not."""
    text = "import torch\nx = torch.ones(3, requires_grad=True)\n" + "y = x + 1\n" * 400
    hovers = Hovers(analyse(text))
    asked: list[bool] = []
    first = hovers.at(2, 1, lambda: bool(asked.append(True)))
    once = len(asked)
    assert first is not None and once > 0
    assert hovers.at(2, 1, lambda: bool(asked.append(True))) == first
    assert hovers.at(9, 1, lambda: bool(asked.append(True))) is not None
    assert len(asked) == once


def test_a_cancelled_hover_is_begun_again() -> None:
    text = "import torch\nx = torch.ones(3, requires_grad=True)\n" + "y = x + 1\n" * 400
    hovers = Hovers(analyse(text))
    with pytest.raises(Cancelled):
        hovers.at(2, 1, lambda: True)
    assert hovers.at(2, 1) == hover_at(analyse(text), 2, 1) is not None


def test_hover_of_files_that_are_not_analysed() -> None:
    assert hover_at(analyse("x = 1\n"), 1, 1) is None
    assert hover_at(analyse("import torch\nx = (\n"), 2, 1) is None
    assert hover_at(analyse("import torch\n"), 7, 40) is None
