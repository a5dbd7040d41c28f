"""beside_ruff_and_mypy.md: each row of its tables is tried from a shell, and ruff and mypy are asked for theirs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from plain import Plain

PAGE = Path(__file__).with_name("beside_ruff_and_mypy.md")
WRITTEN = """\
import torch

y = torch.ones(3, requires_grad=True).exp()
y += 1
y.sum().backward()
"""
TWICE = """\
import torch

loss = torch.ones(3, requires_grad=True).exp().sum()
loss.backward()
loss.backward()
"""
SILENT = WRITTEN.replace("y += 1", "y += 1  # tapelint: ignore[TL201]")
CELL = '{{"cell_type": "code", "execution_count": null, "id": "a", "metadata": {{}}, "outputs": [], "source": {}}}'
BOOK = '{{"cells": [{}], "metadata": {{}}, "nbformat": 4, "nbformat_minor": 5}}'

# What a script prints, standard error included, and the status of its last command. A pattern that begins with `!` must
# not be there. The folder: written.py has TL201, twice.py TL101, silent.py a comment on its TL201.
TRIED: dict[str, tuple[str, int, tuple[str, ...]]] = {
    "choose rules": (
        "check --select TL3 --extend-select TL101,TL201 --ignore TL3 --extend-ignore TL201 .",
        1,
        ("twice.py:5", "!written.py"),
    ),
    "not in some files": (
        "check --per-file-ignores 'twice.py:TL1' --extend-per-file-ignores '*.py:TL201' .",
        0,
        ("!twice.py", "!written.py"),
    ),
    "only what is grave": (
        "check --config 'severities = {TL201=\"hint\"}' --severity error .",
        1,
        ("twice", "!written"),
    ),
    "explain a rule, or all, for people or programs": (
        "rule TL201 && $TAPELINT rule --all --output-format json",
        0,
        ("TL201 saved-tensor-modified", '"code": "TL101"'),
    ),
    "silence one finding": (
        "check silent.py && sed -i 's/tapelint.*/noqa: TL201/' silent.py && $TAPELINT check silent.py",
        0,
        ("!TL201",),
    ),
    "report without comments": ("check --ignore-noqa silent.py", 1, ("silent.py:4",)),
    "comments that silence nothing": (
        "check --extend-select TL9 ignored/unused.py",
        0,
        (r"ignored/unused.py:\d+:\d+: .*TL901",),
    ),
    "write the comments": (
        "check --add-ignore=known . && $TAPELINT check . && grep ignore written.py",
        0,
        ("Added ignore comments for 2 findings", r"ignore\[TL201\] known"),
    ),
    "leave out what is known": (
        "check --baseline known.json --write-baseline . && $TAPELINT check --baseline known.json .",
        0,
        ("Wrote 2 findings", "!twice.py:"),
    ),
    "leave out": ("check --exclude twice.py --extend-exclude written.py,below .", 0, ("!TL",)),
    "what git ignores": (
        "check --respect-gitignore . ; $TAPELINT check --no-respect-gitignore ignored",
        1,
        ("ignored/far.py:4",),
    ),
    "what is excluded, though it is named": (
        "check --extend-exclude written.py --force-exclude written.py && "
        "echo 'force-exclude = true' > tapelint.toml && "
        "$TAPELINT check --extend-exclude written.py --no-force-exclude written.py",
        1,
        ("written.py:4",),
    ),
    "arguments from a file": (
        "check @arguments",
        1,
        ("twice.py:5", "!written.py"),
    ),
    "standard input": ("check --stdin-filename piped.py - < written.py", 1, ("piped.py:4",)),
    "notebooks": ("check ignored/book.ipynb", 1, ("book.ipynb:cell 1:4",)),
    "which files would be checked": ("check --show-files", 0, ("/written.py", "!ignored")),
    "code of installed libraries": ("check --config 'follow-installed = true' written.py", 1, ("TL201",)),
    "another file, or none": (
        "check --config other.toml --select TL1 . && $TAPELINT check --isolated .",
        1,
        ("twice.py:5", "written.py:4"),
    ),
    "a setting": ("check --config 'ignore = [\"TL2\"]' written.py", 0, ("!TL201",)),
    "one file that extends another": (
        "check below && echo 'extend = \"../other.toml\"' > below/tapelint.toml && $TAPELINT check below",
        1,
        ("below/same.py:4",),
    ),
    "what holds for a file": ("check --show-settings --ignore TL2 written.py", 0, (r'ignore = \["TL2"\]',)),
    "which settings there are": ("config && $TAPELINT config fixable", 0, ("per-file-ignores", "Example usage")),
    "of the user, where no project has one": (
        "check --select TL201 written.py ; mkdir -p .config/tapelint && "
        "echo 'ignore = [\"TL2\"]' > .config/tapelint/tapelint.toml && $TAPELINT check written.py",
        0,
        ("written.py:4",),
    ),
    "which versions of the tool it is for": (
        "check --config \"required-version = '>=99'\" .",
        2,
        ("required version `>=99` does not match",),
    ),
    "a mistake in it": (
        "check --config wrong.toml .",
        2,
        ("wrong.toml:2: unknown key 'selekt'; did you mean 'select'",),
    ),
    "a JSON schema": (
        "--version && cat $(PYTHON -c 'import tapelint; print(tapelint.__path__[0])')/tapelint.schema.json",
        0,
        ('"fixable"',),
    ),
    "fix": (
        "check --fix --output-format full written.py && $TAPELINT check --fix-only --unsafe-fixes . && cat written.py",
        0,
        (r"Fixed 1 finding", r"y = y \+ 1"),
    ),
    "show what would be fixed": ("check --diff written.py", 1, (r"\+y = y \+ 1", "Would fix 1 finding")),
    "list what was fixed": ("check --fix --show-fixes written.py", 0, (r"- written.py:\n    1 × TL201 \(",)),
    "in the project's settings, and an option against them": (
        "check --config 'fix = true' --config 'show-fixes = true' --no-fix --output-format full written.py ; "
        "printf 'fix-only = true\nunsafe-fixes = true\nshow-fixes = true\n' > tapelint.toml && "
        "$TAPELINT check --no-fix-only --no-unsafe-fixes --no-show-fixes --output-format full written.py ; "
        "$TAPELINT check --quiet written.py && cat written.py",
        0,
        ("1 fixable with the `--fix` option", r"- written.py:\n    1 × TL201 \(", r"y = y \+ 1"),
    ),
    "which rules may be fixed": (
        "check --fix --fixable TL --unfixable TL2 --extend-fixable TL101 written.py",
        1,
        ("!Fixed",),
    ),
    "fail where something was fixed": (
        "check --fix --exit-non-zero-on-fix --output-format full written.py",
        1,
        ("Fixed 1 finding",),
    ),
    "formats": (
        "check --output-format junit . ; $TAPELINT check --output-format sarif . ; "
        "$TAPELINT check --output-format json .",
        1,
        ("<testsuites", '"version": "2.1.0"', '"code": "TL201"'),
    ),
    "a file": ("check --output-file found.txt . ; cat found.txt", 0, ("TL201", "TL101")),
    "counts of each rule": ("check --statistics .", 1, (r"1\tTL101\t\[", r"1\tTL201\t\[")),
    "colours": ("check --color always --output-format full written.py", 1, ("\033\\[",)),
    "say less, or more": (
        "check --silent . ; $TAPELINT check --quiet . ; $TAPELINT check --verbose --no-cache . ; "
        "$TAPELINT check --log-level info --no-cache .",
        1,
        ("DEBUG tapelint: written.py: begins", "INFO tapelint"),
    ),
    "go on while files change": (
        "check --watch . & sleep 2; kill $! && wait $!",
        143,
        ("Starting linter in watch mode", "written.py:4"),
    ),
    "what was not followed": (
        "check --stats written.py ; $TAPELINT check --output-format json-lines written.py",
        1,
        ("written.py: 1 of 1 backward call", r'"partial": \[\]'),
    ),
    "0: nothing, 1: something, 2: something failed": (
        "check silent.py && ! $TAPELINT check twice.py && $TAPELINT check nowhere.py",
        2,
        ("twice.py:5", "nowhere.py: no such file"),
    ),
    "findings that do not fail a run": (
        "check --exit-zero . && $TAPELINT check --config 'severities = {TL=\"warning\"}' --fail-on error .",
        0,
        ("written.py:4",),
    ),
    "cache": (
        "check --no-cache silent.py && test ! -e .tapelint_cache && $TAPELINT check --cache-dir kept silent.py"
        " && test -e kept && $TAPELINT check silent.py && $TAPELINT clean",
        0,
        ("Removing cache at: .tapelint_cache",),
    ),
    "several processes": ("check --jobs 2 .", 1, ("twice.py:5", "written.py:4")),
    "a language server": ("server < hello", 0, ('"capabilities"',)),
    "started as a module": ("PYTHON -m tapelint check silent.py", 0, ("!TL",)),
    "completion in shells": ("generate-shell-completion bash", 0, ("complete",)),
    "the version": ("version && $TAPELINT --version", 0, (r"tapelint \d",)),
    "when tapelint itself fails": (
        "check --log-level error silent.py && $TAPELINT debug-bundle written.py",
        0,
        ("versions.json",),
    ),
    "explain an error that a program has raised": ("explain written.py:4", 0, ("TL201",)),
    "how a file was executed, and the graph at a line": (
        "trace written.py:4 && $TAPELINT graph written.py:4",
        0,
        (r"built AddBackward0", r"needs version 0"),
    ),
    "many repositories": ("fleet list.txt -o found.jsonl ; cat found.jsonl", 0, ('"repository": "ignored"', '"TL201"')),
}
ELSEWHERE = {"how far it is": "test_progress.py"}
"""What needs a terminal, and a run that takes its time."""


def rows() -> Iterator[tuple[str, str, str, str]]:
    """What the tables of the page say: the feature, ruff, mypy, tapelint."""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("| ") and not line.startswith("| what |"):
            what, ruff, mypy, own = (cell.strip() for cell in line.strip("|").split("|"))
            yield what, ruff, mypy, own


ROWS = list(rows())
REASONED = {what for what, *_, own in ROWS if own.startswith("none: ")}


def named(cell: str) -> set[str]:
    """The options and commands that a cell names."""
    return {word for word in re.findall(r"`([^`]+)`", cell) if re.match(r"--?\w|(ruff|tapelint|python -m) ", word)}


@pytest.fixture
def folder(plain: Plain) -> Plain:
    texts = {
        "written.py": WRITTEN,
        "twice.py": TWICE,
        "silent.py": SILENT,
        "ignored/unused.py": "import torch\nx = 1  # tapelint: ignore[TL201]\n",
        "ignored/far.py": WRITTEN,
        "below/same.py": WRITTEN,
        "below/tapelint.toml": "exclude = ['same.py']\n",
        "other.toml": 'ignore = ["TL1"]\n',
        "wrong.toml": '\nselekt = ["TL1"]\n',
        "list.txt": "ignored\n",
        "arguments": "--select=TL1\ntwice.py\n",
        ".gitignore": "ignored\n",
    }
    asked: tuple[dict[str, object], ...] = (
        {"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}},
    )
    asked += ({"id": 2, "method": "shutdown"}, {"method": "exit"})
    framed = [json.dumps({"jsonrpc": "2.0", **each}) for each in asked]
    texts["hello"] = "".join(f"Content-Length: {len(each)}\r\n\r\n{each}" for each in framed)
    rows = ", ".join(f'"{row}\\n"' for row in WRITTEN.splitlines())
    texts["ignored/book.ipynb"] = BOOK.format(CELL.format(f"[{rows}]"))
    for name, text in texts.items():
        (plain.folder / name).parent.mkdir(exist_ok=True)
        plain.write(name, text)
    plain.run(["git", "init", "-q"])
    return plain


def test_each_row_is_tried_or_has_a_reason() -> None:
    features = [what for what, *_ in ROWS]
    assert len(features) == len({*features}) > 40
    assert {*features} == TRIED.keys() | REASONED | ELSEWHERE.keys()
    assert not TRIED.keys() & REASONED


@pytest.mark.parametrize(("what", "own"), [(what, own) for what, *_, own in ROWS if what in TRIED])
def test_what_is_said_of_tapelint_is_so(what: str, own: str, folder: Plain) -> None:
    script, status, printed = TRIED[what]
    command = (script if script.startswith("PYTHON") else f"$TAPELINT {script}").replace("PYTHON", sys.executable)
    missing = {each for each in named(own) if each.removeprefix("tapelint ").removeprefix("python -m ") not in command}
    assert not missing, f"not tried: {missing}"
    done = folder.shell(command, TAPELINT_OUTPUT_FORMAT="concise")
    said = done.stdout + done.stderr
    assert done.returncode == status, said
    for pattern in printed:
        assert (re.search(pattern.removeprefix("!"), said) is None) == pattern.startswith("!"), f"{pattern}\n{said}"


@cache
def helps(*command: str) -> str:
    return subprocess.run([sys.executable, "-m", *command, "--help"], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("tool", ["ruff", "mypy"])
def test_what_is_said_of_others_is_in_their_help(tool: str) -> None:
    version = subprocess.run([sys.executable, "-m", tool, "--version"], capture_output=True, text=True, check=True)
    if f"{tool} {version.stdout.split()[1]}" not in PAGE.read_text(encoding="utf-8"):
        pytest.skip(f"the page is about another version of {tool}")
    commands = (("ruff",), ("ruff", "check"), ("ruff", "rule")) if tool == "ruff" else (("mypy",),)
    known = "".join(helps(*command) for command in commands)
    for what, ruff, mypy, _ in ROWS:
        for word in named(ruff if tool == "ruff" else mypy):
            if word.startswith("-"):
                assert re.search(rf"(?<![\w-]){word}(?![\w-])", known), f"{what}: {tool} has no {word}"
            elif word.startswith("ruff "):
                helps(*word.split())
