"""docs/ci.md through the shell: a repository of 200 files with 30 old findings adopts tapelint."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from plain import Plain

PAGE = Path(__file__).resolve().parents[2] / "docs" / "ci.md"
OLD = """\
import torch

y = torch.ones(3, requires_grad=True).exp()
y += 1
y.sum().backward()
"""
HARMLESS = "def add(a, b):\n    return a + b\n"


@pytest.fixture
def repository(plain: Plain) -> Plain:
    for number in range(200):
        folder = plain.folder / f"part{number % 10}"
        folder.mkdir(exist_ok=True)
        (folder / f"m{number}.py").write_text(OLD if number < 30 else HARMLESS)
    plain.run(["git", "init", "-q"])
    return plain


def test_the_first_day(repository: Plain) -> None:
    old = {path: path.read_text() for path in repository.folder.rglob("*.py")}
    commands, settings = re.findall(r"```(?:sh|toml)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    first = repository.shell(commands.replace("tapelint check", "$TAPELINT check"))
    assert first.returncode == 0, first.stderr
    assert first.stdout.startswith("30\tTL201\t")
    repository.write("pyproject.toml", settings)

    hook = repository.folder / ".git" / "hooks" / "pre-commit"
    hook.write_text("#!/bin/sh\n$TAPELINT check --force-exclude -q $(git diff --cached --name-only -- '*.py')\n")
    hook.chmod(0o755)
    commit = "git add . && git -c user.name=us -c user.email=us@localhost commit -qm"
    assert repository.shell(f"{commit} adopt").returncode == 0
    assert repository.shell("$TAPELINT check .").returncode == 0
    assert {path: path.read_text() for path in repository.folder.rglob("*.py")} == old

    repository.write("part0/m0.py", "# moved\n\n" + OLD)
    assert repository.shell(f"{commit} moved").returncode == 0
    repository.write("new.py", OLD)
    assert repository.shell(f"{commit} new").returncode != 0
    log = subprocess.run(["git", "log", "--oneline"], cwd=repository.folder, capture_output=True, text=True, check=True)
    assert len(log.stdout.splitlines()) == 2
    done = repository.shell("$TAPELINT check . --output-format concise")
    assert done.returncode == 1 and done.stdout.count("TL201") == 1 and "new.py" in done.stdout


def test_or_with_comments(repository: Plain) -> None:
    assert repository.shell("$TAPELINT check . --add-ignore").returncode == 0
    done = repository.shell("$TAPELINT check .")
    assert (done.returncode, done.stdout) == (0, "Nothing found in 200 files.\n")
