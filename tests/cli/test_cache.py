"""The cache: what is printed of files that are not checked again, and when they are."""

from __future__ import annotations

import json
import os
import random
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from plain import Plain, Tapelint
from tests.shared_programs import TWICE

from tapelint.cli import file_check
from tapelint.cli.check import run
from tapelint.cli.request import Request
from tapelint.workspace import forget, resolver

STEP = "def step(loss):\n    loss.backward()\n    loss.backward()\n"
HARMLESS = "def step(loss):\n    loss.backward()\n"
TRAIN = """\
import torch
from helper import step

w = torch.ones(3, requires_grad=True)
step((w * w).sum())
"""
FORMATS = ("full", "concise", "json", "sarif", "github", "gitlab")


def kept(folder: Path) -> list[Path]:
    return sorted(folder.glob(".tapelint_cache/*/*.jsonl"))


def shown(folder: Path, new: str, old: str = "TL101") -> None:
    """Make the cache say something else, so that one sees who speaks."""
    for file in kept(folder):
        file.write_text(file.read_text().replace(old, new))


def written(folder: Path) -> None:
    """A project with all that there is to say of files."""
    book = {"cell_type": "code", "source": TWICE.splitlines(True), "metadata": {}, "outputs": [], "execution_count": 1}
    notebook = {"cells": [book], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (folder / "a.py").write_text(TWICE)
    (folder / "book.ipynb").write_text(json.dumps(notebook))
    (folder / "train.py").write_text(TRAIN)
    (folder / "helper.py").write_text(STEP)
    (folder / "broken.py").write_text(TWICE + "def (:\n")
    (folder / "latin.py").write_bytes(b"# \xe9\nimport torch\n")
    (folder / "deep.py").write_text("import torch\nx = " + "(" * 3000 + ")" * 3000 + "\n")
    (folder / "nothing.py").write_text("print(1)\n")


def printed(tapelint: Tapelint, *arguments: str, **environment: str) -> tuple[int, str, str]:
    done = tapelint("check", *arguments, **environment)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("form", FORMATS)
def test_a_second_run_prints_the_same(tapelint: Tapelint, tmp_path: Path, form: str) -> None:
    written(tmp_path)
    wanted = printed(tapelint, "--output-format", form, "--stats", "--no-cache")
    assert not kept(tmp_path)
    assert printed(tapelint, "--output-format", form, "--stats") == wanted
    assert kept(tmp_path)
    assert printed(tapelint, "--output-format", form, "--stats") == wanted
    assert wanted[0] == 2 and "TL101" in wanted[1]


@pytest.mark.parametrize("form", [*FORMATS, "rdjson", "junit", "json-lines"])
def test_a_run_in_another_format_prints_the_same(tapelint: Tapelint, tmp_path: Path, form: str) -> None:
    written(tmp_path)
    (tmp_path / "half.py").write_text("import torch\nprint(torch.ones(3))\ndef (:\n")
    book = json.loads((tmp_path / "book.ipynb").read_text())
    book["cells"][0]["source"] = ["import torch\n", "def (:\n"]
    (tmp_path / "half.ipynb").write_text(json.dumps(book))
    wanted = printed(tapelint, "--output-format", form, "--no-cache")
    printed(tapelint, "--statistics")
    done = printed(tapelint, "--output-format", form)
    if form == "json-lines":  # the seconds differ
        done, wanted = ((status, re.sub(r'"seconds": [\d.]+', "", out), err) for status, out, err in (done, wanted))
    assert done == wanted


def test_where_nothing_was_found_another_format_checks_nothing(tapelint: Tapelint, tmp_path: Path) -> None:
    (tmp_path / "found.py").write_text(TWICE)
    (tmp_path / "half.py").write_text("import torch\nprint(torch.ones(3))\ndef (:\n")
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "helper.py").write_text(HARMLESS)
    printed(tapelint)
    for arguments in (("--write-baseline",), ("--output-format", "sarif"), ("--statistics",)):
        checked = re.findall(r"DEBUG tapelint: (\S+): begins", printed(tapelint, "-v", *arguments)[2])
        assert checked == ["found.py"]
    (tmp_path / "helper.py").write_text(STEP)
    assert "helper.py:3" in printed(tapelint, "--output-format", "concise")[1]


def test_a_baseline_or_other_files_change_nothing_that_is_known(tapelint: Tapelint, tmp_path: Path) -> None:
    (tmp_path / "found.py").write_text(TWICE)
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "helper.py").write_text(STEP)
    printed(tapelint, "--write-baseline")
    printed(tapelint)
    (tmp_path / "pyproject.toml").write_text(
        "[tool.tapelint]\nbaseline = 'tapelint-baseline.json'\nexclude = ['old']\n"
    )
    status, _, log = printed(tapelint, "-v")
    assert (status, "begins" in log) == (0, False)
    # what an import finds is another matter where it is excluded
    assert "helper.py" in printed(tapelint, "train.py", "--output-format", "concise", "--baseline", "none.json")[1]
    (tmp_path / "pyproject.toml").write_text("[tool.tapelint]\nextend-exclude = ['helper.py']\n")
    assert "helper.py" not in printed(tapelint, "train.py", "--output-format", "concise")[1]


def test_what_is_unchanged_is_not_checked_again(tapelint: Tapelint, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(TWICE)
    printed(tapelint)
    shown(tmp_path, "TL102")
    assert "TL102" in printed(tapelint)[1]
    assert "TL102" not in printed(tapelint, "--no-cache")[1]
    assert "TL102" not in printed(tapelint, TAPELINT_NO_CACHE="1")[1]
    assert "TL102" not in printed(tapelint, "--config", "callers = false")[1]
    os.utime(tmp_path / "a.py", (1, 1))
    assert "TL102" in printed(tapelint)[1]  # the text is what it was
    (tmp_path / "a.py").write_text(TWICE + "\n")
    assert "TL102" not in printed(tapelint)[1]


def test_a_file_with_the_same_stamp_is_not_read(tapelint: Tapelint, tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text(TWICE)
    os.utime(file, (1, 1))
    wanted = printed(tapelint)
    file.write_text(TWICE.replace("    loss.backward()", "    loss.backwarx()").replace("w * w", "w + 1"))
    os.utime(file, (1, 1))
    assert printed(tapelint) == wanted


def test_what_was_changed_a_moment_ago_is_read(tapelint: Tapelint, tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text(TWICE)
    at = file.stat().st_mtime_ns + 60 * 10**9  # the machine may be slow
    os.utime(file, ns=(at, at))
    assert printed(tapelint)[0] == 1
    file.write_text(TWICE.replace("loss.backward()\nloss.backward()", "loss.backward()\nprint(loss.sum)"))
    os.utime(file, ns=(at, at))
    assert file.stat().st_size == len(TWICE)
    assert printed(tapelint)[0] == 0


def test_an_import_that_changes_its_meaning_counts(tapelint: Tapelint, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    assert printed(tapelint, "train.py")[0] == 0
    (tmp_path / "helper.py").write_text(STEP)
    assert printed(tapelint, "train.py")[0] == 1
    (tmp_path / "helper.py").write_text(HARMLESS)
    assert printed(tapelint, "train.py")[0] == 0
    (tmp_path / "helper").mkdir()
    (tmp_path / "helper" / "__init__.py").write_text(STEP)
    assert printed(tapelint, "train.py")[0] == 1


@pytest.mark.parametrize("importer", ["train.py", "setup_path.py"])
def test_a_module_that_appears_in_a_folder_of_sys_path_counts(
    tapelint: Tapelint, tmp_path: Path, importer: str
) -> None:
    adding = "import os, sys\nsys.path.append(os.path.join(os.path.dirname(__file__), 'lib'))\n"
    texts = {"train.py": TRAIN, "setup_path.py": "from helper import step\n"}
    texts["train.py"] = texts["train.py"].replace("from helper", "from setup_path") if importer != "train.py" else TRAIN
    texts[importer] = adding + texts[importer]
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "lib").mkdir()
    assert printed(tapelint, "train.py")[0] == 0
    (tmp_path / "lib" / "helper.py").write_text(STEP)
    assert printed(tapelint, "train.py") == printed(tapelint, "train.py", "--no-cache")
    assert "helper.py" in printed(tapelint, "train.py")[1]


def test_files_are_not_read_to_look_for_modules_that_are_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a file adds to ``sys.path`` is known of its last check."""
    (tmp_path / "a.py").write_text("import torch, wandb_of_ours\nfrom helper import step\n")
    (tmp_path / "helper.py").write_text("import not_there_either\n" + HARMLESS)
    for file in tmp_path.iterdir():
        os.utime(file, (1, 1))
    monkeypatch.chdir(tmp_path)
    assert run(Request((".",))) == 0
    forget()
    monkeypatch.setattr(resolver, "read", lambda path: pytest.fail(f"{path} was read"))
    resolver._read.cache_clear()
    assert run(Request((".",))) == 0


def test_the_configuration_of_an_imported_file_counts(tapelint: Tapelint, tmp_path: Path) -> None:
    (tmp_path / "nets").mkdir()
    (tmp_path / "tapelint.toml").write_text("")
    (tmp_path / "train.py").write_text(TRAIN.replace("helper", "nets.helper"))
    (tmp_path / "nets" / "helper.py").write_text(STEP)
    assert "TL101" in printed(tapelint, "train.py")[1]
    (tmp_path / "nets" / "tapelint.toml").write_text('ignore = ["TL1"]')
    assert printed(tapelint, "train.py") == printed(tapelint, "train.py", "--no-cache")


def test_a_comment_is_judged_by_who_imports_the_file(tapelint: Tapelint, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "helper.py").write_text("import torch\n\nx = torch.ones(3)  # tapelint: ignore[TL101]\n")
    before = printed(tapelint, "helper.py")
    assert "TL901" in before[1]
    (tmp_path / "train.py").write_text("import helper\n")
    assert printed(tapelint, "helper.py") == printed(tapelint, "helper.py", "--no-cache") != before


@pytest.mark.parametrize(
    "harm",
    [
        b"",
        b"\x00\xff",
        b"[]",
        b'["x",{}]\n',
        b"[" * 100_000,
    ],
)
def test_a_broken_file_of_the_cache_is_as_none(tapelint: Tapelint, tmp_path: Path, harm: bytes) -> None:
    (tmp_path / "a.py").write_text(TWICE)
    wanted = printed(tapelint)
    (file,) = kept(tmp_path)
    lines = len(file.read_bytes().splitlines())
    file.write_bytes(harm)
    assert printed(tapelint) == wanted
    assert len(file.read_bytes().splitlines()) == lines  # written anew, and whole: the next run has all of it


@pytest.mark.parametrize("number", range(6))
def test_broken_entries_are_as_none(tapelint: Tapelint, tmp_path: Path, number: int) -> None:
    (tmp_path / "a.py").write_text(TWICE)
    wanted = printed(tapelint)
    (file,) = kept(tmp_path)
    text = file.read_text()
    chance = random.Random(number)
    for _ in range(8):
        at = chance.randrange(text.index("\n"), len(text))
        file.write_text(text[:at] + chance.choice(["", "[", "null", "9", "\\"]) + text[at + chance.randrange(1, 9) :])
        done = tapelint("check", "--output-format", "concise")
        assert done.returncode == 1 and not done.stderr
    assert printed(tapelint)[0] == wanted[0]


def test_another_version_has_another_cache(tapelint: Tapelint, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(TWICE)
    printed(tapelint)
    (file,) = kept(tmp_path)
    head, _, rows = file.read_text().partition("\n")
    (maker, stamps) = json.loads(head)
    file.write_text(json.dumps([f"9{maker}", stamps]) + "\n" + rows.replace("TL101", "TL102"))
    assert "TL102" not in printed(tapelint)[1]


def test_the_folder_is_no_concern_of_git_and_backups(tapelint: Tapelint, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(TWICE)
    printed(tapelint)
    folder = tmp_path / ".tapelint_cache"
    assert (folder / ".gitignore").read_text() == "# Automatically created by tapelint.\n*\n"
    assert (folder / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55\n")


def test_the_folder_is_that_of_the_user(tapelint: Tapelint, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text(TWICE)
    (tmp_path / "src" / "tapelint.toml").write_text('cache-dir = "../one"')
    (tmp_path / "three").mkdir()
    (tmp_path / "three" / "mine.txt").write_text("kept as it is")
    printed(tapelint)
    assert (tmp_path / "one" / "CACHEDIR.TAG").exists()
    printed(tapelint, TAPELINT_CACHE_DIR="two")
    assert (tmp_path / "two" / "CACHEDIR.TAG").exists()
    printed(tapelint, "--cache-dir", "three", TAPELINT_CACHE_DIR="four")
    assert [*(tmp_path / "three").glob("*/*.jsonl")]
    assert not (tmp_path / "three" / ".gitignore").exists()  # or git would ignore what is not ours
    assert not (tmp_path / "four").exists() and not (tmp_path / ".tapelint_cache").exists()


def test_a_read_only_folder_is_said_in_the_log_only(plain: Plain) -> None:
    plain.write("a.py", TWICE)
    plain.folder.chmod(0o555)
    try:
        done = plain("check", ".")
        assert done.returncode == 1 and not done.stderr
        logged = plain.shell("$TAPELINT check .", TAPELINT_LOG="debug")
        assert logged.stderr.count("the cache is not written") == 1 and logged.stdout == done.stdout
    finally:
        plain.folder.chmod(0o755)


def test_clean_removes_the_caches_and_nothing_else(tapelint: Tapelint, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "tapelint.toml").write_text("")
        (tmp_path / name / "a.py").write_text(TWICE)
    printed(tapelint)
    (tmp_path / "aside").mkdir()
    (tmp_path / "aside" / "mine").write_text("")
    (tmp_path / ".tapelint_cache").symlink_to(tmp_path / "aside")
    done = tapelint("clean")
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        f"Removing cache at: {name}{os.sep}.tapelint_cache" for name in sorted(("one", "two"))
    ]
    assert sorted(each.name for each in (tmp_path / "one").iterdir()) == ["a.py", "tapelint.toml"]
    assert (tmp_path / "aside" / "mine").exists()


def test_a_crash_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(TWICE)

    def crash(*_: object) -> bool:
        raise RuntimeError("boom")

    with monkeypatch.context() as harm:
        harm.setattr(file_check, "concerns_torch", crash)
        assert run(Request((".",))) == 2
    capsys.readouterr()
    assert run(Request((".",))) == 1
    assert "TL101" in capsys.readouterr().out


def test_runs_at_the_same_time_do_not_harm_each_other(tapelint: Tapelint, tmp_path: Path) -> None:
    written(tmp_path)
    wanted = printed(tapelint, "--no-cache")
    with ThreadPoolExecutor(3) as pool:
        found = [pool.submit(printed, tapelint, apart=True) for _ in range(3)]
        assert all(each.result() == wanted for each in found)
    assert printed(tapelint) == wanted
    assert len(kept(tmp_path)) == 1 and len([*kept(tmp_path)[0].parent.iterdir()]) == 1


TEXTS = (
    *(TWICE, STEP, HARMLESS, TRAIN, "", "from .helper import step\n", "from helper import step\n", "import torch\n"),
    TRAIN.replace("helper", "nets"),
    TRAIN.replace("helper", "nets.helper"),
    TWICE.replace("loss.backward()\nloss", "loss.backward()  # tapelint: ignore[TL101]\nloss"),
)
NAMES = (
    "train.py",
    "helper.py",
    "other.py",
    "nets/__init__.py",
    "nets/helper.py",
    "nets/tapelint.toml",
    "src/helper.py",
)
SETTINGS = ("", 'ignore = ["TL1"]', 'exclude = ["helper.py"]', "callers = false", 'severities = {TL101 = "hint"}')


def edit(folder: Path, chance: random.Random) -> None:
    """Change one thing in a workspace."""
    file = folder / chance.choice(NAMES)
    file.parent.mkdir(exist_ok=True)
    if file.exists() and chance.random() < 0.3:
        file.unlink()
    else:
        file.write_text(chance.choice(SETTINGS if file.suffix == ".toml" else TEXTS))
        if chance.random() < 0.5:
            os.utime(file, ns=(chance.randrange(9**18), chance.randrange(9**18)))


@pytest.mark.parametrize("seed", range(3))
def test_after_any_edits_both_print_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], seed: int
) -> None:
    monkeypatch.chdir(tmp_path)
    chance = random.Random(seed)
    (tmp_path / "pyproject.toml").write_text("[tool.tapelint]\n")

    def once(no_cache: bool, form: str) -> tuple[int, str, str]:
        forget()
        file_check._resolver.cache_clear()
        status = run(Request((".",), output_format=form, no_cache=no_cache))
        return status, *capsys.readouterr()

    for _ in range(20):
        edit(tmp_path, chance)
        form = chance.choice(FORMATS[:3])
        assert once(False, form) == once(True, form)
