"""Files and links that the pages about the code name exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "server" / "tapelint"
PAGES = [
    *(path for path in ROOT.glob("*.md")),
    *(path for path in (ROOT / "docs").glob("*.md")),
    *(path for path in (ROOT / "docs" / "design").glob("*.md")),
]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", page.read_text(encoding="utf-8"))
    assert not [link for link in links if not (page.parent / link).exists()]


@pytest.mark.parametrize("page", [p for p in PAGES if p.parent.name == "design" or p.name == "ARCHITECTURE.md"])
def test_named_files_exist(page: Path) -> None:
    names = re.findall(r"`((?:[a-z_]+/)+[a-z_]*(?:\.(?:py|txt))?)`", page.read_text(encoding="utf-8"))
    outside = ("client/", "docs/", "playground/", "tests/", "tools/")
    missing = [name for name in names if not (ROOT if name.startswith(outside) else PACKAGE).joinpath(name).exists()]
    assert not [name for name in missing if name != "src/"]
