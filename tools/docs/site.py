"""What MkDocs needs to know of the pages in docs/, which are written to be read in a checkout, too (see mkdocs.yml)."""

from __future__ import annotations

import posixpath
import re
import shutil
from pathlib import Path
from typing import Any, Protocol

import tapelint

LINK = re.compile(r"(?<!!)\[(?P<words>[^\]\n]+)\]\((?P<target>\.\./[^)\s]*)\)")
"""A link with a relative target above the page's folder."""


WIDE = {"graph.md", "story.md"}
"""Pages with pictures of a whole window: they need the room that a table of contents takes."""
UNPUBLISHED = "pip install .    # in a checkout"
PICTURE = re.compile(r'<img [^>]*src="(?P<file>(?:\.\./)*images/[^"]+\.png(?:#[^"]*)?)"[^>]*>')
"""A picture of the site's own, as HTML."""
PLAYGROUND = Path("build", "playground")
"""What docs/playground.md loads, made by ``python -m tools.playground``."""


RULES = "rules/README.md"
FOUND_FIRST = {"errors.md": 3.0, "rules/": 2.0, "faq.md": 2.0}
FOUND_LAST = {
    "design/": 0.3,
    "ecosystem.md": 0.2,
    "fuzzing.md": 0.2,
    "messages.md": 0.2,
    "commandline.md": 0.5,
    "GLOSSARY.md": 0.5,
}
"""How much the pages count in a search that begin so: what a user came for is first, what is about tapelint last."""


class _File(Protocol):
    src_uri: str


class _Page(Protocol):
    file: _File
    meta: dict[str, Any]
    parent: object | None


def on_config(config: dict[str, Any]) -> dict[str, Any]:
    """MkDocs calls this first: the rules get their places in the navigation, by family."""
    rules = families(Path(config["docs_dir"], RULES).read_text(encoding="utf-8"))
    config["nav"] = [
        {title: [RULES, *rules]} if pages == RULES else {title: pages}
        for section in config["nav"]
        for title, pages in section.items()
    ]
    return config


def families(index: str) -> list[dict[str, list[str]]]:
    """The pages of each family, as ``index``, the page of all rules, lists them."""
    found: list[dict[str, list[str]]] = []
    for heading, page in re.findall(r"^## (.+)$|^\| \[TL\d+\]\((TL\d+\.md)\)", index, re.MULTILINE):
        if heading:
            found.append({heading: []})
        else:
            found[-1][next(iter(found[-1]))].append(f"rules/{page}")
    return found


def on_page_markdown(markdown: str, *, page: _Page, **_: object) -> str:
    """MkDocs calls this for each page: ``markdown`` as the site is to show it."""
    uri = page.file.src_uri
    if page.parent is None:
        page.meta.setdefault("hide", ["navigation"])  # it would have nothing but the page itself
    if uri in WIDE:
        page.meta.setdefault("hide", ["toc"])
    page.meta["search"] = {"boost": boost(uri)}
    markdown = with_address(markdown, tapelint.__url__)
    return as_python(without_links_out(markdown, posixpath.dirname(uri)))


def as_python(markdown: str) -> str:
    """``markdown`` without the second word that says to the tests how a program is run (```` ```py cells ````)."""
    return re.sub(r"^```py \w+$", "```py", markdown, flags=re.MULTILINE)


def with_address(markdown: str, url: str) -> str:
    """``markdown`` with the line that installs from the package index once the project has an address."""
    return markdown.replace(UNPUBLISHED, "pip install tapelint") if url else markdown


def on_page_content(html: str, *, page: _Page, **_: object) -> str:
    """MkDocs calls this for each page: pictures were taken at twice their size, and are links to themselves."""
    folder = Path("docs", posixpath.dirname(page.file.src_uri))

    def sized(found: re.Match[str]) -> str:
        data = (folder / found["file"].partition("#")[0]).read_bytes()
        width = int.from_bytes(data[16:20], "big") // 2
        return f'<a href="{found["file"]}"><img width="{width}" {found[0].removeprefix("<img ")}</a>'

    return PICTURE.sub(sized, html)


def boost(uri: str) -> float:
    """How much a page counts in a search."""
    return next((by for begin, by in {**FOUND_FIRST, **FOUND_LAST}.items() if uri.startswith(begin)), 1.0)


def on_post_build(*, config: dict[str, Any], **_: object) -> None:
    """MkDocs calls this when the site is built: the playground becomes a part of it."""
    if not PLAYGROUND.is_dir():
        raise SystemExit(f"{PLAYGROUND} is missing: build the site with `make docs`")
    shutil.copytree(PLAYGROUND, Path(config["site_dir"], "playground"), dirs_exist_ok=True)


def without_links_out(markdown: str, folder: str) -> str:
    """``markdown`` with words and path in place of each link to a file of the checkout that the site does not have.

    ``folder`` is the page's, relative to docs/ ("" for docs/ itself). There is no address of the repository to link to.
    """

    def shown(found: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join("docs", folder, found["target"].partition("#")[0]))
        if path.startswith("docs/"):
            return found[0]
        words = found["words"]
        return words if path in words else f"{words} (`{path}`)"

    return LINK.sub(shown, markdown)
