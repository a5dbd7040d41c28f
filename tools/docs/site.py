"""What MkDocs needs to know of the pages in docs/, which are written to be read in a checkout, too (see mkdocs.yml)."""

from __future__ import annotations

import posixpath
import re
import shutil
from pathlib import Path
from typing import Any, Protocol

LINK = re.compile(r"(?<!!)\[(?P<words>[^\]\n]+)\]\((?P<target>\.\./[^)\s]*)\)")
"""A link with a relative target above the page's folder."""


PLAYGROUND = Path("build", "playground")
"""What docs/playground.md loads, made by ``python -m tools.playground``."""


class _File(Protocol):
    src_uri: str


class _Page(Protocol):
    file: _File


def on_page_markdown(markdown: str, *, page: _Page, **_: object) -> str:
    """MkDocs calls this for each page: ``markdown`` as the site is to show it."""
    return without_links_out(markdown, posixpath.dirname(page.file.src_uri))


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
