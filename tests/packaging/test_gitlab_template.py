"""The job of the template for GitLab, run as its runner runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from clones import BAD, GOOD, ROOT

JOB: dict[str, Any] = yaml.safe_load((ROOT / "templates" / "tapelint.gitlab-ci.yml").read_text())["tapelint"]
REPORT = JOB["artifacts"]["reports"]["codequality"]


@pytest.fixture(scope="module")
def image(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What stands for the image's Python: an environment of its own, in which a job has run."""
    folder = tmp_path_factory.mktemp("image")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    done = run(folder, folder, JOB["before_script"], TAPELINT_PACKAGE=str(repository))
    assert done.returncode == 0 and "tapelint 0." in done.stdout, done.stdout
    return folder


def run(project: Path, image: Path, script: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
    """Run lines of the job; what they write to its log."""
    environment = {
        **os.environ,
        "PATH": f"{image / 'bin'}{os.pathsep}{os.environ['PATH']}",
        **{"CI": "true", "GITLAB_CI": "true", "CI_PROJECT_DIR": str(project)},
        **{**JOB["variables"], **variables},
    }
    start = ["bash", "-e", "-o", "pipefail", "-c", "\n".join(script)]
    return subprocess.run(
        start, cwd=project, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def test_findings_fail_the_job_and_are_in_its_report(project: Path, image: Path) -> None:
    done = run(project, image, JOB["script"])
    assert done.returncode == 1, done.stdout
    (found,) = json.loads((project / REPORT).read_text())
    assert found["check_name"] == "TL203"
    assert found["location"]["path"] == "bad.py"
    assert JOB["artifacts"]["when"] == "always"  # or the report of a failed job would be lost


def test_variables_choose_options_and_paths(project: Path, image: Path) -> None:
    assert run(project, image, JOB["script"], TAPELINT_ARGS="--ignore TL203").returncode == 0
    (project / "more").mkdir()
    (project / "more" / "bad.py").write_text(BAD)
    assert run(project, image, JOB["script"], TAPELINT_PATHS="good.py more").returncode == 1
    (found,) = json.loads((project / REPORT).read_text())
    assert found["location"]["path"] == "more/bad.py"


def test_a_fixed_project_passes(project: Path, image: Path) -> None:
    (project / "bad.py").write_text(GOOD)
    assert run(project, image, JOB["script"]).returncode == 0
    assert json.loads((project / REPORT).read_text()) == []
