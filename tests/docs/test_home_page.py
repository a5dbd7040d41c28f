"""The home page shows what tapelint says, and what PyTorch raises, of the first program of README."""

from __future__ import annotations

import html
import re
from pathlib import Path

from tools.docs.site import PICTURE, UNPUBLISHED, on_page_content, with_address

from tapelint.analysis import analyse, fixes
from tapelint.source.edit import apply

ROOT = Path(__file__).resolve().parents[2]
HOME = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")


def words(markup: str) -> str:
    """What a reader sees of HTML."""
    return html.unescape(re.sub(r"<[^>]+>", "", markup.replace("<code>", "`").replace("</code>", "`")))


def test_the_squiggle_says_what_is_found() -> None:
    program = re.search(r"```py\n(.*?)```", README, re.DOTALL)
    shown = re.search(
        r'<div class="tl-squiggle">\n<pre>(.*?)</pre>\n<div class="tl-tip">\n(.*?)</div>', HOME, re.DOTALL
    )
    assert program and shown
    code, tip = words(shown[1]).strip("`"), words(shown[2])
    assert code in program[1]
    report = analyse(program[1], "train.py")
    (found,) = report.diagnostics
    marked = words(re.findall(r'<span class="tl-error">(.*?)</span>', shown[1])[0])
    assert program[1].splitlines()[found.span.row - 1].strip() == marked
    best = next(fix for fix in fixes(report, found) if fix.preferred)
    assert all(text in tip for text in (found.message, found.help or "", best.title))
    added = {*apply(program[1], best.edits).splitlines()} - {*program[1].splitlines()}
    assert {words(row) for row in re.findall(r"<ins>(.*?)</ins>", shown[2])} == added
    error = re.search(r"```text\n(.*?)\n```", HOME, re.DOTALL)
    assert error and found.raises and found.raises in error[1]


def test_the_install_line_leads_to_the_package_index_once_there_is_an_address() -> None:
    for page in ("index.md", "install.md"):
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        assert f"\n    {UNPUBLISHED}\n" in text and with_address(text, "") == text
        assert "\n    pip install tapelint\n" in with_address(text, "https://host/owner/tapelint")


def test_a_picture_is_as_large_as_what_it_shows() -> None:
    """Pictures are taken with two pixels for one."""

    class Page:
        class file:
            src_uri = "story.md"

    made = on_page_content('<p><img alt="a" src="images/story-light.png#gh-light-mode-only"></p>', page=Page)
    assert 'width="1000"' in made and made.startswith('<p><a href="images/story-light.png')
    assert not PICTURE.search('<img src="https://host/images/a.png">')


def test_the_sign_is_that_of_the_extension() -> None:
    assert (ROOT / "docs" / "images" / "icon.png").read_bytes() == (ROOT / "client" / "icon.png").read_bytes()
