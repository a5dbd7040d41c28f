"""The hook, run by pre-commit itself in a small repository."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from clones import BAD, FIXABLE, GOOD, TAG, git

CONFIGURATION = """repos:
- repo: file://{repository}
  rev: {tag}
  hooks:
  - id: tapelint
    args: [{arguments}]
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pre-commit keeps its environments: tapelint is installed once for all tests here."""
    return tmp_path_factory.mktemp("pre-commit")


def pre_commit(project: Path, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pre-commit in a repository; both streams are in its stdout."""
    environment = {**os.environ, "PRE_COMMIT_HOME": str(home), "PRE_COMMIT_COLOR": "never"}
    return subprocess.run(
        [sys.executable, "-m", "pre_commit", *arguments],
        cwd=project,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def configure(project: Path, repository: Path, arguments: str = "") -> None:
    text = CONFIGURATION.format(repository=repository, tag=TAG, arguments=arguments)
    (project / ".pre-commit-config.yaml").write_text(text)


def test_the_manifest_is_valid(repository: Path, home: Path) -> None:
    done = pre_commit(repository, home, "validate-manifest", ".pre-commit-hooks.yaml")
    assert done.returncode == 0, done.stdout


def test_what_is_found_fails_and_what_is_excluded_does_not(project: Path, repository: Path, home: Path) -> None:
    done = pre_commit(project, home, "try-repo", str(repository), "tapelint", "--all-files", "--verbose")
    assert done.returncode == 1, done.stdout
    assert "error[TL203]" in done.stdout
    assert "bad.py:5:1" in done.stdout
    assert "made_pb2.py" not in done.stdout
    git(project, "rm", "--quiet", "-f", "bad.py")
    done = pre_commit(project, home, "try-repo", str(repository), "tapelint", "--all-files")
    assert done.returncode == 0, done.stdout


def test_a_commit_is_refused_until_its_finding_is_gone(project: Path, repository: Path, home: Path) -> None:
    """As a team has it: installed as git's hook, with a tag, only the files of the commit."""
    configure(project, repository)
    git(project, "add", "--all")
    assert pre_commit(project, home, "install").returncode == 0
    commit = ["git", "-c", "user.name=test", "-c", "user.email=test", "commit", "--message=try"]
    environment = {**os.environ, "PRE_COMMIT_HOME": str(home)}
    refused = subprocess.run(commit, cwd=project, env=environment, capture_output=True, text=True)
    assert refused.returncode == 1 and "error[TL203]" in refused.stderr, refused.stderr
    (project / "bad.py").write_text(GOOD)
    git(project, "add", "--all")
    done = subprocess.run(commit, cwd=project, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_arguments_reach_tapelint(project: Path, repository: Path, home: Path) -> None:
    """``--fix``: what was mended stops the commit once, so that the user looks at it."""
    (project / "bad.py").write_text(FIXABLE)
    configure(project, repository, "--fix")
    git(project, "add", "--all")
    mended = pre_commit(project, home, "run", "tapelint", "--all-files")
    assert mended.returncode == 1 and "files were modified by this hook" in mended.stdout, mended.stdout
    assert "a = a + 1" in (project / "bad.py").read_text()
    assert (project / "made_pb2.py").read_text() == BAD
    git(project, "add", "--all")
    assert pre_commit(project, home, "run", "tapelint", "--all-files").returncode == 0


def test_files_that_are_no_python_are_not_given(project: Path, repository: Path, home: Path) -> None:
    configure(project, repository)
    git(project, "add", "--all")
    done = pre_commit(project, home, "run", "tapelint", "--files", "tapelint.toml")
    assert "no files to check" in done.stdout
