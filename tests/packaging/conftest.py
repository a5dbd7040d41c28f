"""What is installed from this repository, built from a clone as users get it. Needs the network: libraries come from
the package index.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from clones import BAD, GOOD, ROOT, TAG, git


@pytest.fixture(scope="session")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone of this repository as it stands, what is not committed included, with a tag on it."""
    clone = tmp_path_factory.mktemp("clone") / "tapelint"
    git(ROOT, "clone", "--quiet", "--no-local", "--depth=1", f"file://{ROOT}", str(clone))
    for name in git(ROOT, "ls-files", "--modified", "--others", "--exclude-standard", "-z").split("\0"):
        if name and (ROOT / name).is_file():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, clone / name)
        elif name:
            (clone / name).unlink()
    git(clone, "add", "--all")
    git(clone, "commit", "--quiet", "--allow-empty", "--message=as it stands")
    git(clone, "tag", TAG)
    return clone


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small repository that knows tapelint from nowhere: three files, one of them excluded by its configuration."""
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "--quiet")
    (folder / "good.py").write_text(GOOD)
    (folder / "bad.py").write_text(BAD)
    (folder / "made_pb2.py").write_text(BAD)
    (folder / "tapelint.toml").write_text('extend-exclude = ["*_pb2.py"]\n')
    git(folder, "add", "--all")
    return folder
