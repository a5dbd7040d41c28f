"""The site shows the pages of docs/, and links to nothing that it does not have."""

from pathlib import Path

from tools.docs.site import without_links_out

ROOT = Path(__file__).resolve().parents[2]


def test_a_link_out_of_the_site_becomes_a_path() -> None:
    page = "See [how to help](../CONTRIBUTING.md#tests), [`CHANGELOG.md`](../CHANGELOG.md)."
    assert without_links_out(page, "") == "See how to help (`CONTRIBUTING.md`), `CHANGELOG.md`."


def test_a_link_within_the_site_stays() -> None:
    page = "See [the output](../output.md#json)."
    assert without_links_out(page, "rules") == page


def test_a_picture_stays() -> None:
    page = "![a hover](../images/hover-light.png)"
    assert without_links_out(page, "design") == page


def test_the_navigation_names_pages_that_are_there() -> None:
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    named = [line.rpartition(" ")[2] for line in nav.splitlines() if line.endswith(".md")]
    assert named
    assert [name for name in named if not (ROOT / "docs" / name).is_file()] == []
