"""Completion in real shells, and help that is read."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from plain import Tapelint

from tapelint.cli.commands import OPTIONS

SERVER = Path(__file__).resolve().parents[2] / "server"

# What each shell is told: read the script, complete a line, print what is offered.
BASH = """
source ./script
COMP_WORDS=({line}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))
_tapelint_completion tapelint
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
FISH = """
source ./script
complete --do-complete '{line}'
"""
ZSH = """
compdef() {{ }}
compadd() {{ local -a found; zparseopts -D -E U V:=found a; print -l -- ${{(P)${{@[-1]}}}} }}
_describe() {{ print -l -- ${{completions_with_descriptions}} }}
_path_files() {{ print -l -- *(N) }}
source ./script
words=({line}); CURRENT=${{#words}}
_tapelint_completion
"""
SHELLS = {"bash": BASH, "fish": FISH, "zsh": ZSH}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with a program named tapelint that runs the tree's."""
    programs = tmp_path / "bin"
    programs.mkdir()
    program = programs / "tapelint"
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{SERVER}" exec "{sys.executable}" -m tapelint "$@"\n')
    program.chmod(0o755)
    (tmp_path / "train.py").write_text("")
    return tmp_path


def offered(shell: str, line: str, home: Path, tapelint: Tapelint) -> list[str]:
    """What a shell offers for the last word of a line."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    script = tapelint("generate-shell-completion", shell)
    assert script.returncode == 0 and script.stdout, script.stderr
    (home / "script").write_text(script.stdout)
    environment = {"PATH": f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}", "HOME": str(home), "TERM": "dumb"}
    command = [shell, *(("--no-config",) if shell == "fish" else ()), "-c", SHELLS[shell].format(line=line)]
    done = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, timeout=60)
    return [row.split("\t")[0].partition(":")[0] for row in done.stdout.splitlines() if row]


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("tapelint che", {"check"}),
        ("tapelint check --output-format git", {"github", "gitlab"}),
        ("tapelint check --extend-sel", {"--extend-select"}),
        ("tapelint rule TL20", {f"TL20{last}" for last in range(1, 10)}),
        ("tapelint config extend-s", {"extend-select"}),
    ],
)
def test_a_shell_offers_what_fits(shell: str, line: str, expected: set[str], home: Path, tapelint: Tapelint) -> None:
    assert set(offered(shell, line, home, tapelint)) == expected


@pytest.mark.parametrize("command", ["check", "trace", "explain", "graph", "debug-bundle"])
def test_arguments_that_are_files_are_completed_as_files(command: str, tapelint: Tapelint) -> None:
    asked = {"COMP_WORDS": f"tapelint {command} tr", "COMP_CWORD": "2", "_TAPELINT_COMPLETE": "bash_complete"}
    done = tapelint(**asked)
    assert (done.returncode, done.stdout) == (0, "file,tr\n")


def test_after_an_option_whose_value_may_be_left_out_files_are_completed(tapelint: Tapelint) -> None:
    line = "tapelint check --add-ignore tr"
    done = tapelint(COMP_WORDS=line, COMP_CWORD="3", _TAPELINT_COMPLETE="bash_complete")
    assert (done.returncode, done.stdout) == (0, "file,tr\n")


def test_every_option_is_told_once_below_a_heading(tapelint: Tapelint) -> None:
    text = tapelint("check", "--help").stdout
    headings = [row for row in text.splitlines() if row.endswith(":") and not row.startswith(" ")]
    assert headings == [f"{heading}:" for heading in OPTIONS]
    of_ruff = ["Options", "Rule selection", "File selection", "Miscellaneous", "Log levels", "Global options"]
    assert [heading for heading in OPTIONS if heading in of_ruff] == of_ruff
    rule_selection = text.split("Rule selection:")[1].split("File selection:")[0]
    assert "--extend-select" in rule_selection and "--exclude" not in rule_selection
    for option in ("--fix ", "--exclude ", "--isolated", "--jobs", "-h, --help"):
        assert text.count(f"\n  {option}") == 1


def test_summaries_of_commands_are_whole(tapelint: Tapelint) -> None:
    assert "..." not in tapelint("--help").stdout.split("Commands:")[1]
