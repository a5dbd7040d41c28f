"""What a release makes of CHANGELOG.md."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.release.changelog import ReleaseError, released, unreleased

TEXT = """# Changelog

## [Unreleased]

### Added

- One thing.

## [0.1.0]

First version.
"""
ADDRESS = "https://example.org/team/tapelint"


def test_what_is_unreleased_becomes_a_version() -> None:
    made = released(TEXT, "0.2.0", "2026-11-23", "v0.1.0", "")
    assert "## [Unreleased]\n\n## [0.2.0] - 2026-11-23\n\n### Added\n\n- One thing.\n\n## [0.1.0]" in made
    with pytest.raises(ReleaseError, match="nothing"):
        unreleased(made)


def test_with_an_address_versions_lead_to_their_changes() -> None:
    first = released(TEXT, "0.2.0", "2026-11-23", "", ADDRESS)
    assert first.endswith(f"\n\n[Unreleased]: {ADDRESS}/compare/v0.2.0...HEAD\n[0.2.0]: {ADDRESS}/tree/v0.2.0\n")
    more = first.replace("## [Unreleased]\n", "## [Unreleased]\n\n### Fixed\n\n- Another.\n")
    second = released(more, "0.3.0", "2026-12-01", "v0.2.0", ADDRESS)
    assert second.count("[Unreleased]: ") == 1
    assert f"[0.3.0]: {ADDRESS}/compare/v0.2.0...v0.3.0\n" in second and f"[0.2.0]: {ADDRESS}/tree/v0.2.0\n" in second


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (TEXT.replace("- One thing.\n", ""), "nothing"),
        (TEXT.replace("### Added", "### New"), "New: the headings are Added"),
        (TEXT.replace("[Unreleased]", "[Next]"), "has no"),
        (TEXT.replace("[0.1.0]", "[0.2.0]"), "already"),
    ],
)
def test_why_there_is_no_release(text: str, reason: str) -> None:
    with pytest.raises(ReleaseError, match=reason):
        released(text, "0.2.0", "2026-11-23", "", "")


def test_our_own_changelog_can_be_released() -> None:
    assert unreleased((Path(__file__).resolve().parents[2] / "CHANGELOG.md").read_text(encoding="utf-8"))
