"""The limits that the pages quote are those of the code."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from tapelint.bounds import BOUNDS
from tapelint.engine.limits import Limits

ROOT = Path(__file__).resolve().parents[2]
LIMITS = Limits()
QUOTED = {
    "README.md": [
        f"at most {LIMITS.import_characters:,} characters of it",
        f"a few iterations ({LIMITS.unroll}, up to {LIMITS.max_unroll} where the body counts)",
        f"at most {LIMITS.paths} paths are followed",
        f"given up after {LIMITS.script_fuel:,} evaluated expressions",
        f"a function without a caller: {LIMITS.entry_fuel:,}; all of these together: {LIMITS.all_entries_fuel:,}",
        f"those that do not train get {LIMITS.all_idle_entries_fuel:,} at most",
        f"over {BOUNDS.characters / 1e6} million characters or {BOUNDS.rows:,} lines",
        f"nested more than {BOUNDS.syntax_depth} levels",
    ],
}


@pytest.mark.parametrize("page", QUOTED)
def test_a_page_quotes_the_limits_as_they_are(page: str) -> None:
    text = " ".join((ROOT / page).read_text(encoding="utf-8").split())
    missing = [quoted for quoted in QUOTED[page] if quoted not in text]
    assert not missing, f"{page} does not say: {missing}"


def test_the_table_of_limits_is_that_of_the_code() -> None:
    text = (ROOT / "docs" / "design" / "paths.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| [^|]+ \| `(\w+)` \| ([\d,]+) \|$", text, re.MULTILINE)
    known = {field.name: f"{getattr(LIMITS, field.name):,}" for field in fields(Limits)}
    assert rows
    assert dict(rows).items() <= known.items()
