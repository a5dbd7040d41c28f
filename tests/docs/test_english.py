"""What a test can check of the pages: how long they are, for whom they are, and words that the style guide forbids."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
GENERATED = {"errors.md", "settings.md", "commandline.md"}
NAVIGATION = (DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
FOR_USERS, _, FOR_DEVELOPERS = NAVIGATION.partition("  - Develop it:\n")
PAGES = sorted(path for path in DOCS.rglob("*.md") if path.parent.name != "rules" and path.name not in GENERATED)
MOST_WORDS = 25_000
"""May only shrink."""
LONGEST_SENTENCE = 60
"""Words."""
FORBIDDEN = re.compile(
    r"\b(?:nobody|somebody|anybody|whoever|premise|utilize|leverage|simply|obviously)\b", re.IGNORECASE
)
OF_DEVELOPERS = re.compile(
    r"\((?:design/[\w-]+|ARCHITECTURE|GLOSSARY|messages|editor-features|measurements|releasing)\.md"
)


def prose(path: Path) -> str:
    """A page without code, markup and what is generated."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"<!-- generated: .*?<!-- end -->|<script.*?</script>|<pre>.*?</pre>", "", text, flags=re.DOTALL)
    text = re.sub(r"^---\n.*?\n---\n|</?\w[^<>\n]*>", "", text, flags=re.DOTALL)
    return re.sub(r"^( *)```.*?^\1```$", "", text, flags=re.DOTALL | re.MULTILINE)


def named(part: str) -> set[Path]:
    return {DOCS / name for name in re.findall(r"[\w/-]+\.md", part)}


def test_what_is_written_by_hand_does_not_grow() -> None:
    assert sum(len(prose(path).split()) for path in PAGES) <= MOST_WORDS


def test_each_page_is_for_users_or_for_developers() -> None:
    assert not named(FOR_USERS) & named(FOR_DEVELOPERS)
    assert {*PAGES} <= named(NAVIGATION)


@pytest.mark.parametrize("path", sorted(named(FOR_USERS)), ids=lambda path: path.name)
def test_users_are_not_sent_to_pages_about_the_code(path: Path) -> None:
    """Once, in the last line of the page that says how tapelint decides."""
    found = OF_DEVELOPERS.findall(path.read_text(encoding="utf-8"))
    assert len(found) <= (2 if path.name == "how-it-decides.md" else 0), found


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_sentences_are_short_and_words_are_plain(path: Path) -> None:
    text = re.sub(r"`[^`]*`|\([^()]*\)", "x", prose(path))
    blocks = re.split(r"\n\s*\n|\n\s*[-*\d]+[. ] *|^\|.*$|^#.*$", text, flags=re.MULTILINE)
    sentences = [sentence for block in blocks for sentence in re.split(r"[.!?:;](?=\s|$)", block)]
    assert not [each for each in sentences if len(each.split()) > LONGEST_SENTENCE]
    if path.name not in ("messages.md", "performance.md"):
        assert not FORBIDDEN.findall(text)
