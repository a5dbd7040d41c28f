"""docs/semantics.md is up to date and leads where it says. Its programs are judged with the specifications."""

from __future__ import annotations

import re
from pathlib import Path

from tools.docs.groups import BOTH, EVERYDAY, INPUT, NOTHING, OTHER, RESULT, group_of, grouped, twins
from tools.docs.tables import PARTS, filled

from tapelint.ops import candidates

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "semantics.md").read_text(encoding="utf-8")


def anchor(heading: str) -> str:
    """The name GitHub gives a heading: ``### `retain_graph` trades`` is ``#retain_graph-trades``."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def test_the_tables_are_those_of_the_op_table() -> None:
    assert filled(PAGE, PARTS) == PAGE, (
        "the op table has changed: run `python -m tools.docs` and look at the difference"
    )


def test_every_generated_part_has_its_place() -> None:
    assert re.findall(r"<!-- generated: (\w+) -->", PAGE) == list(PARTS)


def test_links_lead_to_headings() -> None:
    anchors = {anchor(heading) for heading in re.findall(r"^#+ (.*)$", PAGE, re.MULTILINE)}
    missing = {link for link in re.findall(r"\]\(#([^)]+)\)", PAGE) if link not in anchors}
    assert not missing


def test_names_in_the_short_table_exist() -> None:
    listed = {entry.partition("(")[0] for entries in grouped().values() for entry in entries}
    assert not EVERYDAY - listed


def test_groups_mean_what_they_say() -> None:
    found = grouped()
    assert {"exp", "tanh"} <= set(found[RESULT])
    assert {"log", "pow(exponent: number)"} <= set(found[INPUT])
    assert {"norm()", "pow(exponent: tensor)"} <= set(found[BOTH])
    assert {"matmul(other: matrix)", "mul(other: tensor)"} <= set(found[OTHER])
    assert {"add", "x[1:]"} <= set(found[NOTHING])
    assert group_of(candidates("exp")[0]) is RESULT


def test_twins_are_told_apart() -> None:
    found = twins()
    assert "relu_" in found[True] and "mul_" in found[False]
    assert not set(found[True]) & set(found[False])
