"""CHANGELOG.md, in the format of Keep a Changelog: what is unreleased becomes a version."""

from __future__ import annotations

import re

UNRELEASED = "## [Unreleased]\n"
KINDS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")


class ReleaseError(Exception):
    """Why there can be no release now, and what to do about it."""


def unreleased(text: str) -> str:
    """What has changed since the last version; raises ReleaseError where that is nothing, or a heading is strange."""
    if UNRELEASED not in text:
        raise ReleaseError(f"CHANGELOG.md has no {UNRELEASED.strip()}")
    section = re.split(r"^## |^\[", text.split(UNRELEASED, 1)[1], maxsplit=1, flags=re.MULTILINE)[0].strip()
    strange = set(re.findall(r"^### (.+)$", section, re.MULTILINE)) - set(KINDS)
    if strange:
        raise ReleaseError(f"CHANGELOG.md: {', '.join(sorted(strange))}: the headings are {', '.join(KINDS)}")
    if not re.search(r"^- ", section, re.MULTILINE):
        raise ReleaseError("CHANGELOG.md says of nothing that it is unreleased")
    return section


def released(text: str, version: str, date: str, before: str, url: str) -> str:
    """The text in which what is unreleased is ``version`` of a ``date`` (2026-11-23). Where the project has an address,
    headings lead to what differs from the tag ``before``, empty for the first.
    """
    if f"## [{version}]" in text:
        raise ReleaseError(f"CHANGELOG.md has a version {version} already")
    unreleased(text)
    made = text.replace(UNRELEASED, f"{UNRELEASED}\n## [{version}] - {date}\n", 1)
    if not url:
        return made
    made = re.sub(r"^\[Unreleased\]: .*\n", "", made, flags=re.MULTILINE).rstrip("\n") + "\n"
    links = [f"[Unreleased]: {url}/compare/v{version}...HEAD"]
    links.append(
        f"[{version}]: {url}/compare/{before}...v{version}" if before else f"[{version}]: {url}/tree/v{version}"
    )
    has_links = re.search(r"^\[[\d.]+\S*\]: ", made, re.MULTILINE)
    return made + ("" if has_links else "\n") + "\n".join(links) + "\n"
