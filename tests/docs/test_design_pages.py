"""Links of the pages lead somewhere. (Files and names that are not links: ``tests/house/test_pointers.py``.)"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *(path for path in ROOT.glob("*.md")),
    *(path for path in (ROOT / "docs").glob("*.md")),
    *(path for path in (ROOT / "docs" / "design").glob("*.md")),
]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", page.read_text(encoding="utf-8"))
    assert not [link for link in links if not (page.parent / link).exists()]
