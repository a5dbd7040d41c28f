"""The user's own configuration: it counts where no project has one, and lies where ruff has its own."""

from __future__ import annotations

import pytest
from plain import Plain

BAD = """\
import torch
y = torch.ones(3, requires_grad=True).exp()
y += 1
y.sum().backward()
"""
NOT_THIS = 'ignore = ["TL201"]\n'


@pytest.fixture
def folder(plain: Plain) -> Plain:
    """A script in no project, and one in a project."""
    plain.write("a.py", BAD)
    for name in ("project", "elsewhere/tapelint", ".config/tapelint"):
        (plain.folder / name).mkdir(parents=True)
    plain.write("project/a.py", BAD)
    plain.write("project/pyproject.toml", "[tool.tapelint]\n")
    return plain


@pytest.mark.parametrize(
    ("name", "text"),
    [("tapelint.toml", NOT_THIS), ("pyproject.toml", f"[tool.tapelint]\n{NOT_THIS}")],
)
def test_it_counts_where_no_project_has_one(folder: Plain, name: str, text: str) -> None:
    folder.write(f".config/tapelint/{name}", text)
    assert folder("check", "a.py").returncode == 0
    assert folder("check", "project/a.py").returncode == 1
    assert folder("check", "--isolated", "a.py").returncode == 1
    assert folder("check", "--config", "project/pyproject.toml", "a.py").returncode == 1
    assert folder("check", "--config", 'severities = {TL201 = "hint"}', "a.py").returncode == 0
    shown = folder("check", "--show-settings", "a.py").stdout
    assert f"# from {folder.folder}/.config/tapelint/{name}\n" in shown and 'ignore = ["TL201"]' in shown


def test_where_it_is_looked_for(folder: Plain) -> None:
    folder.write("elsewhere/tapelint/tapelint.toml", NOT_THIS)
    check = "$TAPELINT check a.py"
    assert folder.shell(check).returncode == 1
    assert folder.shell(check, XDG_CONFIG_HOME=f"{folder.folder}/elsewhere").returncode == 0
    assert folder.shell(check, XDG_CONFIG_HOME="elsewhere").returncode == 1  # only absolute paths, as XDG asks for
    folder.write(".config/tapelint/tapelint.toml", NOT_THIS)
    assert folder.shell(check, XDG_CONFIG_HOME="elsewhere").returncode == 0
    assert folder.shell(check, XDG_CONFIG_HOME=f"{folder.folder}/nowhere").returncode == 1


def test_its_patterns_are_below_the_current_folder(folder: Plain) -> None:
    (folder.folder / "gen").mkdir()
    folder.write("gen/a.py", BAD)
    folder.write(".config/tapelint/tapelint.toml", 'exclude = ["gen/*.py"]\n')
    shown = folder.shell("$TAPELINT check --show-files").stdout
    assert shown == f"{folder.folder}/a.py\n{folder.folder}/project/a.py\n"
    assert folder.shell("cd gen && $TAPELINT check --show-files").stdout == f"{folder.folder}/gen/a.py\n"


def test_the_cache_stays_in_the_current_folder(folder: Plain) -> None:
    folder.write(".config/tapelint/tapelint.toml", NOT_THIS)
    folder("check", "a.py")
    assert (folder.folder / ".tapelint_cache").is_dir()
    assert not (folder.folder / ".config" / "tapelint" / ".tapelint_cache").exists()
    folder.write(".config/tapelint/tapelint.toml", "")
    assert folder("check", "a.py").returncode == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("selekt = []\n", "tapelint.toml:1: unknown key 'selekt'"),
        ('required-version = ">=99"\n', "tapelint.toml:1: required version `>=99`"),
    ],
)
def test_a_mistake_in_it(folder: Plain, text: str, words: str) -> None:
    folder.write(".config/tapelint/tapelint.toml", text)
    done = folder("check", "a.py")
    assert done.returncode == 2 and words in done.stderr
    assert folder("trace", "a.py").returncode == 2
    assert folder.shell("cd project && $TAPELINT check a.py").returncode == 1


def test_paths_in_a_configuration_may_name_variables(folder: Plain) -> None:
    folder.write("base.toml", NOT_THIS)
    folder.write("project/tapelint.toml", 'extend = "$BASE/base.toml"\ncache-dir = "${BASE}/kept"\n')
    assert folder.shell("$TAPELINT check project", BASE=str(folder.folder)).returncode == 0
    assert (folder.folder / "kept").is_dir()
    assert folder.shell("$TAPELINT check project").returncode == 2
