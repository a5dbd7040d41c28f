"""A call of the command line knows nothing of one before it in the same process: what runs it may go on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SERVER = Path(__file__).resolve().parents[2] / "server"
CALLS = """
import os, sys
from tapelint.__main__ import main
for folder, *arguments in {calls!r}:
    os.chdir(folder)
    sys.argv = ["tapelint", *arguments]
    try:
        main()
    except SystemExit as end:
        print("=>", end.code, "<=", sep="", end="", flush=True)
        print("=>", end="", file=sys.stderr, flush=True)
"""
STEP = """
import torch
from lib import activation
w = torch.ones(3, requires_grad=True)
y = activation(w)
y += 1
y.sum().backward()
"""
SAVES, SAVES_NOTHING = ("def activation(x):\n    return x.exp()\n", "def activation(x):\n    return x * 2 \n")


def answers(*calls: tuple[str, ...]) -> list[tuple[str, str, str]]:
    """Of each of the calls in one process the exit status, and what it prints to standard output and error."""
    program = CALLS.format(calls=calls)
    environment = {**os.environ, "PYTHONPATH": str(SERVER)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    printed = [part.split("=>") for part in done.stdout.split("<=")[:-1]]
    said = done.stderr.split("=>")[:-1]
    return [(status, out, err) for (out, status), err in zip(printed, said, strict=True)]


@pytest.fixture
def projects(tmp_path: Path) -> tuple[str, str]:
    """Two projects whose files have the same names; in the first PyTorch raises."""
    for name, lib in (("first", SAVES), ("second", SAVES_NOTHING)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "step.py").write_text(STEP)
        (tmp_path / name / "lib.py").write_text(lib)
        os.utime(tmp_path / name / "lib.py", ns=(1, 1))
    return str(tmp_path / "first"), str(tmp_path / "second")


def test_another_folder_with_files_of_the_same_names(projects: tuple[str, str]) -> None:
    first, second = projects
    check = ("check", "--no-cache", "--output-format", "concise", "step.py")
    (status, found, _), nothing = answers((first, *check), (second, *check))
    assert (status, "TL201" in found) == ("1", True)
    assert nothing == ("0", "", "")


def test_another_configuration(projects: tuple[str, str]) -> None:
    first, second = projects
    (Path(second) / "lib.py").write_text(SAVES)
    (Path(second) / "tapelint.toml").write_text('ignore = ["TL201"]\n')
    check = ("check", "--no-cache", "--output-format", "concise", "--config", "tapelint.toml", "step.py")
    (Path(first) / "tapelint.toml").write_text("")
    (status, found, _), nothing = answers((first, *check), (second, *check))
    assert (status, "TL201" in found) == ("1", True)
    assert nothing == ("0", "", "")


def test_the_options_of_a_call_end_with_it(projects: tuple[str, str]) -> None:
    first, _ = projects
    check = ("check", "--no-cache", "--output-format", "concise")
    calls = [(first, *check, "--verbose", "--color", "always", "step.py"), (first, *check, "step.py")]
    (_, coloured, logged), (_, plain, said) = answers(*calls)
    assert "DEBUG" in logged
    assert "\033[" in coloured
    assert said == ""
    assert "\033[" not in plain
