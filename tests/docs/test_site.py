"""The site shows the pages of docs/, and links to nothing that it does not have."""

from pathlib import Path

from tools.docs.site import as_python, boost, families, without_links_out

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


def test_every_rule_has_its_place_in_the_navigation() -> None:
    index = (ROOT / "docs" / "rules" / "README.md").read_text(encoding="utf-8")
    pages = [page for family in families(index) for named in family.values() for page in named]
    assert sorted(pages) == sorted(f"rules/{path.name}" for path in (ROOT / "docs" / "rules").glob("TL*.md"))
    assert "How long a graph lives" in families(index)[0]


def test_a_search_finds_what_users_came_for_first() -> None:
    assert boost("errors.md") > boost("rules/TL101.md") > boost("output.md") > boost("design/loops.md")


def test_programs_for_the_tests_are_shown_as_python() -> None:
    assert as_python("```py cells\nx = 1\n```\n") == "```py\nx = 1\n```\n"


def test_the_navigation_names_pages_that_are_there() -> None:
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    named = [line.rpartition(" ")[2] for line in nav.splitlines() if line.endswith(".md")]
    assert named
    assert [name for name in named if not (ROOT / "docs" / name).is_file()] == []
