"""A release of a clone, all but the upload."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from clones import TAG, git

NEXT = "0.2.0"


@pytest.fixture
def tree(repository: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "tapelint"
    git(tmp_path, "clone", "--quiet", str(repository), str(folder))
    git(folder, "config", "user.name", "test")
    git(folder, "config", "user.email", "test@localhost")
    return folder


def release(tree: Path, version: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tools.release", version, "--without-extensions", "--pure"]
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    return subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True)


def test_a_release_is_committed_tagged_and_built(tree: Path) -> None:
    done = release(tree, NEXT)
    assert done.returncode == 0, done.stderr
    assert git(tree, "describe", "--tags").strip() == f"v{NEXT}"
    assert git(tree, "status", "--porcelain") == ""
    names = sorted(path.name for path in (tree / "dist" / NEXT).iterdir())
    assert names == [f"tapelint-{NEXT}-py3-none-any.whl", f"tapelint-{NEXT}.tar.gz"]
    assert f"## [{NEXT}] - 20" in (tree / "CHANGELOG.md").read_text()
    assert f"rev: v{NEXT} " in (tree / "docs" / "ci.md").read_text()
    assert "twine upload" in done.stdout and "push" in done.stdout


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        ("0.0.9", "does not come after"),
        (TAG[1:], "already"),
        ("0.1.0rc1", "does not come after"),
        ("next", "no version"),
    ],
)
def test_a_version_that_cannot_be_is_refused(tree: Path, version: str, reason: str) -> None:
    before = git(tree, "rev-parse", "HEAD")
    done = release(tree, version)
    assert done.returncode == 1 and reason in done.stderr
    assert git(tree, "rev-parse", "HEAD") == before


def test_a_release_that_fails_leaves_the_tree_as_it_was(tree: Path) -> None:
    (tree / "hatch_build.py").write_text("broken = \n")
    git(tree, "commit", "--quiet", "--all", "--message=break it")
    before = git(tree, "rev-parse", "HEAD")
    done = release(tree, NEXT)
    assert done.returncode == 1 and "no release: " in done.stderr
    assert git(tree, "rev-parse", "HEAD") == before and git(tree, "tag").split() == [TAG]
    assert not (tree / "dist").exists()


def test_changes_that_are_not_committed_are_not_released(tree: Path) -> None:
    (tree / "README.md").write_text("changed")
    done = release(tree, NEXT)
    assert done.returncode == 1 and "commit or stash" in done.stderr
