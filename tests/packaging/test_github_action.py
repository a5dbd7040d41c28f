"""The steps of action.yml, run as GitHub's runner runs them: the same shell, the same variables and files."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from clones import BAD, GOOD, ROOT, git

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
SHELL = ("bash", "--noprofile", "--norc", "-e", "-o", "pipefail")
"""GitHub's command for ``shell: bash``."""


@dataclass
class Runner:
    """One job. ``checkout`` is the repository that is checked, ``action`` the one that the action comes from."""

    action: Path
    checkout: Path
    scratch: Path
    path: str = os.environ["PATH"]
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)

    def install(self) -> None:
        """The first step."""
        done = self._step(ACTION["runs"]["steps"][0], self._given({}))
        assert done.returncode == 0, done.stdout

    def run(self, **inputs: str) -> subprocess.CompletedProcess[str]:
        """The step after it; what it printed, both streams."""
        (step,) = ACTION["runs"]["steps"][1:]
        return self._step(step, self._given(inputs))

    def _given(self, inputs: dict[str, str]) -> dict[str, str]:
        return {name: each["default"] for name, each in ACTION["inputs"].items()} | inputs

    def _step(self, step: dict[str, Any], inputs: dict[str, str]) -> subprocess.CompletedProcess[str]:
        (self.scratch / "temp").mkdir(exist_ok=True)
        script, output, path = (self.scratch / name for name in ("script.sh", "output", "path"))
        script.write_text(step["run"])
        for file in (output, path):
            file.write_text("")
        environment = {
            **{"PATH": self.path, "HOME": str(self.scratch), "CI": "true", "GITHUB_ACTIONS": "true"},
            **{"GITHUB_ACTION_PATH": str(self.action), "GITHUB_WORKSPACE": str(self.checkout)},
            **{"GITHUB_OUTPUT": str(output), "GITHUB_PATH": str(path), "RUNNER_TEMP": str(self.scratch / "temp")},
            **{name: self._value(text, inputs) for name, text in step.get("env", {}).items()},
        }
        pip = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "PYENV_"))}
        done = subprocess.run(
            [*SHELL, str(script)],
            cwd=self.checkout,
            env={**pip, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.outputs[step.get("id", "")] = dict(line.split("=", 1) for line in output.read_text().splitlines())
        self.path = os.pathsep.join([*reversed(path.read_text().splitlines()), self.path])
        return done

    def _value(self, text: str, inputs: dict[str, str]) -> str:
        """What GitHub makes of the expressions in a text."""
        return re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: inputs[found[1]], text)


@pytest.fixture(scope="module")
def installed(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """A job that has installed tapelint. The runner's own folder has a blank in its name."""
    folder = tmp_path_factory.mktemp("runner") / "_ work"
    folder.mkdir()
    runner = Runner(repository, folder, folder)
    runner.install()
    return runner


@pytest.fixture
def runner(installed: Runner, project: Path) -> Runner:
    return replace(installed, checkout=project)


def test_every_input_is_an_environment_variable() -> None:
    """An expression within a script would be run as a part of it."""
    assert not any("${{" in step["run"] for step in ACTION["runs"]["steps"])


def test_findings_are_annotations_and_fail_the_job(runner: Runner) -> None:
    done = runner.run()
    assert done.returncode == 1, done.stdout
    (annotation,) = [line for line in done.stdout.splitlines() if line.startswith("::")]
    assert annotation.startswith("::error ") and "file=bad.py,line=5," in annotation


def test_it_says_which_version_it_has_installed(runner: Runner) -> None:
    (name,) = ACTION["outputs"]
    assert ACTION["outputs"][name]["value"] == f"${{{{ steps.install.outputs.{name} }}}}"
    said = subprocess.run(["tapelint", "--version"], env={"PATH": runner.path}, capture_output=True, text=True)
    assert said.stdout == f"tapelint {runner.outputs['install'][name]}\n"


def test_later_steps_have_tapelint_and_their_own_python(runner: Runner) -> None:
    assert shutil.which("python3", path=runner.path) == shutil.which("python3")
    assert str(shutil.which("tapelint", path=runner.path)).startswith(str(runner.scratch))


@pytest.mark.parametrize(
    ("src", "status"),
    [("good.py", 0), ("good.py bad.py", 1), ("good.py\nbad.py", 1), ("**/b*.py", 1), ("b?.py", 2), ("none.py", 2)],
)
def test_sources_are_files_folders_and_patterns(runner: Runner, src: str, status: int) -> None:
    assert runner.run(src=src).returncode == status


def test_arguments_and_the_format_reach_tapelint(runner: Runner) -> None:
    assert runner.run(args="check --ignore TL203").returncode == 0
    done = runner.run(args="check --exit-zero", **{"output-format": "concise"})
    assert done.returncode == 0 and "bad.py:5:1: error[TL203] " in done.stdout, done.stdout
    assert "leaf-modified-in-place" in runner.run(args="rule", src="TL203").stdout
    assert runner.run(args="version", src="").returncode == 0


def test_inputs_are_data(runner: Runner) -> None:
    runner.run(src="$(touch broken) `touch broken` ; touch broken", args="check ; touch broken")
    assert not (runner.checkout / "broken").exists()


def test_a_fixed_project_passes(runner: Runner) -> None:
    assert (runner.checkout / "bad.py").read_text() == BAD
    (runner.checkout / "bad.py").write_text(GOOD)
    git(runner.checkout, "add", "--all")
    assert runner.run().returncode == 0
