"""The commands of the Dockerfile. No image is built: tests have no daemon and no base image. What RUN says
runs here, with folders of the test's in place of those of the image.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from clones import ROOT, TAG

LINES = [line for line in (ROOT / "Dockerfile").read_text().splitlines() if line and not line.startswith("#")]
INSTRUCTIONS = [tuple(line.split(maxsplit=1)) for line in LINES]
STAGES = [at for at, (word, _) in enumerate(INSTRUCTIONS) if word == "FROM"]
HOME = "/opt/tapelint"


@pytest.fixture(scope="module")
def installed(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the first stage makes of the clone."""
    folder = tmp_path_factory.mktemp("image")
    tools = folder / "tools"
    tools.mkdir()
    (tools / "apk").write_text("#!/bin/sh\n")  # git is there
    (tools / "apk").chmod(0o755)
    environment = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    for word, text in INSTRUCTIONS[: STAGES[1]]:
        if word == "RUN":
            command = text.replace(HOME, str(folder / "tapelint"))
            subprocess.run(["sh", "-e", "-c", command], cwd=repository, env=environment, check=True)
    return folder / "tapelint"


def test_what_is_copied_into_the_image_runs(installed: Path, project: Path) -> None:
    done = subprocess.run([installed / "bin" / "tapelint", "--version"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    done = subprocess.run([installed / "bin" / "tapelint", "check"], cwd=project, capture_output=True, text=True)
    assert done.returncode == 1 and "bad.py:5:1" in done.stdout


def test_it_holds_nothing_to_install_more_with(installed: Path) -> None:
    assert not list(installed.rglob("site-packages/pip"))
    copied = [text for word, text in INSTRUCTIONS[STAGES[1] :] if word == "COPY"]
    assert copied == [f"--from=build {HOME} {HOME}"]


def test_it_does_not_run_as_root() -> None:
    last = INSTRUCTIONS[STAGES[1] :]
    users = [text for word, text in last if word == "USER"]
    assert users and users[-1] not in ("root", "0")
    added = [text for word, text in last if word == "RUN" and re.fullmatch(rf"adduser .*\b{users[-1]}", text)]
    assert added and last.index(("RUN", added[0])) < last.index(("USER", users[-1]))


def test_the_context_is_the_tree_that_has_the_tag(repository: Path, tmp_path: Path) -> None:
    """What .dockerignore leaves out is nothing that git tracks: else the version would be that of a changed tree."""
    patterns = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if not line.startswith("#")]
    listed = subprocess.run(["git", "ls-files"], cwd=repository, capture_output=True, text=True, check=True).stdout
    top = {name.split("/")[0] for name in listed.splitlines()}
    assert TAG and not [each for each in patterns if any(Path(name).match(each) for name in top)]
    parts = {part for name in listed.splitlines() for part in Path(name).parts}
    deep = [each.removeprefix("**/") for each in patterns if each.startswith("**/")]
    assert not [each for each in deep if any(Path(part).match(each) for part in parts)]
