"""What a test can check of what users read: how long pages are, for whom they are, and how they are written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tapelint.fixes.purposes import PURPOSES
from tapelint.report.topics import all_topics
from tapelint.rules import all_rules
from tapelint.workspace.all_settings import SETTINGS

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
GENERATED = {"errors.md", "settings.md", "commandline.md"}
NAVIGATION = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
FOR_USERS, _, FOR_DEVELOPERS = NAVIGATION.partition("  - Develop it:\n")
PAGES = sorted(path for path in DOCS.rglob("*.md") if path.parent.name != "rules" and path.name not in GENERATED)
MOST_WORDS = 25_000
"""May only shrink."""
LONGEST_SENTENCE = 60
LONGEST_OF_STRINGS = 45
"""Words of a sentence, on a page and in what programs show."""
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


def sentences(text: str) -> list[str]:
    """The sentences of a text; what is code or in brackets counts as a word, tables and headings as none."""
    text = re.sub(r"`[^`]*`|\([^()]*\)", "x", text)
    blocks = re.split(r"\n\s*\n|\n\s*[-*\d]+[. ] *|^\|.*$|^#.*$", text, flags=re.MULTILINE)
    return [each for block in blocks for each in re.split(r"[.!?:;](?=\s|$)", block) if each.strip()]


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
    assert not [each for each in sentences(prose(path)) if len(each.split()) > LONGEST_SENTENCE]
    if path.name not in ("messages.md", "performance.md"):
        assert not FORBIDDEN.findall(prose(path))


def strings() -> Iterator[tuple[str, str]]:
    """What users read outside of docs/: each with where it stands."""
    for rule in (*all_rules(), *all_topics()):
        yield rule.code, re.sub(r"^```.*?^```", "", rule.docs, flags=re.DOTALL | re.MULTILINE)
        yield f"{rule.code}, in short", rule.summary
    yield from ((f"the fix {name}", purpose.summary) for name, purpose in PURPOSES.items())
    yield from ((f"the setting {key}", setting.doc) for key, setting in SETTINGS.items())
    yield "the command line", re.sub(r"^(?:#.*|`.*)$|\|", "", (DOCS / "commandline.md").read_text(encoding="utf-8"))
    yield from told(json.loads((ROOT / "package.json").read_text(encoding="utf-8"))["contributes"], "package.json")
    for path in (
        ROOT / "README.md",
        ROOT / "client" / "marketplace.md",
        *(ROOT / "client" / "walkthrough").glob("*.md"),
    ):
        yield path.name, re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def told(part: object, where: str) -> Iterator[tuple[str, str]]:
    """The texts in a part of a manifest."""
    match part:
        case str(text):
            yield where, text
        case {**parts}:
            for key, value in parts.items():
                yield from told(value, f"{where}: {key}")
        case [*parts]:
            for value in parts:
                yield from told(value, where)


def test_what_programs_show_is_in_short_sentences_and_plain_words() -> None:
    shown = [*strings()]
    assert len(shown) > 200
    long = [
        (where, each) for where, text in shown for each in sentences(text) if len(each.split()) > LONGEST_OF_STRINGS
    ]
    assert not long
    assert not [(where, word) for where, text in shown for word in FORBIDDEN.findall(text)]


def test_the_check_finds_what_it_looks_for() -> None:
    assert [len(each.split()) for each in sentences("a `b c` d (e f). G\n\n- h i\n")] == [4, 1, 3]
    assert FORBIDDEN.findall("Somebody wrote it, whoever reads `nobody`.") == ["Somebody", "whoever", "nobody"]
