"""The extension's manifest as it is packaged: its version is that of the tag, its addresses those of the project."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from tools.vsix.manifest import released, url, version, write_released

import tapelint

ROOT = Path(__file__).resolve().parents[2]
MANIFEST = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))
ADDRESS = "https://example.org/team/tapelint"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository with a package and a manifest."""
    package = tmp_path / "server" / "tapelint"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(f'__url__: str = "{ADDRESS}"\n')
    (tmp_path / "package.json").write_text(json.dumps(MANIFEST))
    for command in ("init --quiet", "add --all", "-c user.name=t -c user.email=t commit --quiet --message=one"):
        subprocess.run(["git", *command.split()], cwd=tmp_path, check=True)
    return tmp_path


@pytest.mark.parametrize(
    ("tag", "expected"), [("v1.2.3", "1.2.3"), ("v2.0.0rc1", "2.0.0"), ("other", "0.0.0"), (None, "0.0.0")]
)
def test_the_version_is_that_of_the_tag(tree: Path, tag: str | None, expected: str) -> None:
    if tag:
        subprocess.run(["git", "tag", tag], cwd=tree, check=True)
    assert version(tree) == expected


def test_without_an_address_nothing_leads_anywhere() -> None:
    made = released(MANIFEST, "1.2.3", "")
    assert made == {**MANIFEST, "version": "1.2.3"}
    assert "repository" not in made


def test_the_address_is_that_of_the_package() -> None:
    assert url(ROOT) == tapelint.__url__


def test_with_an_address_all_that_links_is_filled_in() -> None:
    made = released(MANIFEST, "1.2.3", ADDRESS)
    assert made["repository"]["url"] == f"{ADDRESS}.git"
    assert made["bugs"]["url"].startswith(ADDRESS) and made["homepage"] == ADDRESS
    (schema,) = made["contributes"]["tomlValidation"]
    file = schema["url"].removeprefix(f"{ADDRESS}/raw/HEAD/")
    assert schema["fileMatch"] == "tapelint.toml" and (ROOT / file).is_file()


def test_the_manifest_in_the_tree_stays(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    before, folder = (tree / "package.json").read_bytes(), tmp_path_factory.mktemp("stage")
    write_released(tree, folder)
    assert json.loads((folder / "package.json").read_text(encoding="utf-8"))["homepage"] == ADDRESS
    assert (tree / "package.json").read_bytes() == before
