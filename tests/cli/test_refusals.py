"""What may not be read or written, and what cannot be used: said in one line, status 2, and all else is done."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

import pytest
from plain import Plain

pytestmark = pytest.mark.skipif(os.name == "nt", reason="permissions and files of Unix")

BAD = """\
import torch
x = torch.ones(3, requires_grad=True)
y = x.exp()
y += 1
y.sum().backward()
"""
FIXED = BAD.replace("y += 1", "y = y + 1")


def test_a_file_that_may_not_be_written(plain: Plain) -> None:
    kept, other = plain.write("kept.py", BAD, 0o444), plain.write("other.py", BAD)
    done = plain("check", "--fix", "--output-format=concise", ".")
    assert (done.returncode, done.stderr) == (2, "error: kept.py: not fixed: Permission denied\n")
    assert (kept.read_text(), other.read_text()) == (BAD, FIXED)
    assert stat.S_IMODE(kept.stat().st_mode) == 0o444
    assert done.stdout.count("\n") == 1 and done.stdout.startswith("kept.py:4:1: error[TL201] ")


def test_a_folder_that_may_not_be_written(plain: Plain) -> None:
    """Nothing can be put beside the file, but the file is the user's to write."""
    (plain.folder / "fixed").mkdir()
    file = plain.write("fixed/a.py", BAD)
    (plain.folder / "fixed").chmod(0o555)
    assert plain("check", "--fix", ".").returncode == 0
    assert file.read_text() == FIXED


@pytest.mark.parametrize("mode", [0o000, 0o111, 0o444])
def test_a_folder_that_may_not_be_read(plain: Plain, mode: int) -> None:
    plain.write("a.py", BAD)
    for name in ("pgdata", "pgdata/deep"):
        (plain.folder / name).mkdir()
    plain.write("pgdata/b.py", BAD)
    plain.write("z.py", BAD)
    (plain.folder / "pgdata").chmod(mode)
    for paths in ([], [".", "pgdata"]):
        done = plain("check", "--output-format=concise", *paths)
        assert done.returncode == 2
        assert [line[:4] for line in done.stdout.splitlines()] == ["a.py", "z.py"]
        told = [line for line in done.stderr.splitlines() if "no Python files" not in line]
        what = {"pgdata/b.py", "pgdata/deep"} if mode == 0o444 else {"pgdata"}
        assert set(told) == {f"error: {name}: cannot be read: Permission denied" for name in what}
    done = plain("check", "pgdata/b.py")
    assert done.returncode == (1 if mode == 0o111 else 2)
    assert done.stderr == ("" if mode == 0o111 else "error: pgdata/b.py: cannot be read: Permission denied\n")


def test_a_configuration_that_may_not_be_read(plain: Plain) -> None:
    plain.write("a.py", BAD)
    (plain.folder / "inner").mkdir()
    plain.write("inner/b.py", BAD)
    plain.write("inner/tapelint.toml", "", 0o000)
    done = plain("check", "--output-format=concise")
    assert done.returncode == 2
    assert done.stdout.startswith("a.py:4:1") and done.stdout.count("\n") == 1
    (line,) = done.stderr.splitlines()
    assert "inner/tapelint.toml: cannot be read" in line and "Permission denied" in line


def test_unreadable_and_special_files_are_refused(plain: Plain) -> None:
    plain.write("a.py", BAD)
    plain.write("secret.py", BAD, 0o000)
    (plain.folder / "broken.py").symlink_to("nowhere.py")
    (plain.folder / "circle.py").symlink_to("circle.py")
    os.mkfifo(plain.folder / "fifo.py")
    bound = socket.socket(socket.AF_UNIX)
    bound.bind(str(plain.folder / "socket.py"))
    done = plain("check", "--output-format=concise")
    bound.close()
    assert done.returncode == 2
    assert done.stdout.startswith("a.py:4:1") and done.stdout.count("\n") == 1
    assert done.stderr.splitlines() == [
        "error: broken.py: cannot be read: No such file or directory",
        "error: circle.py: cannot be read: Too many levels of symbolic links",
        "error: fifo.py: cannot be read: not a regular file",
        "error: secret.py: cannot be read: Permission denied",
        "error: socket.py: cannot be read: not a regular file",
    ]


@pytest.mark.parametrize("form", ["full", "concise", "json", "sarif", "github", "gitlab"])
def test_file_names_that_are_not_utf8(plain: Plain, form: str) -> None:
    name = b"caf\xe9.py"
    with open(os.fsencode(plain.folder) + b"/" + name, "w") as file:
        file.write(BAD)
    done = plain("check", "--output-format", form)
    assert (done.returncode, done.stderr) == (1, "")
    assert "TL201" in done.stdout
    if form == "sarif":
        assert '"uri": "caf%E9.py"' in done.stdout


def test_a_folder_deeper_than_python_recurses(plain: Plain) -> None:
    plain.write("z.py", BAD)
    here = os.getcwd()
    os.chdir(plain.folder)
    try:
        for _ in range(1100):
            os.mkdir("d")
            os.chdir("d")
        Path("a.py").write_text(BAD)
        os.chdir(here)
        done = plain("check", "--output-format=concise")
    finally:
        os.chdir(here)
        plain.run(["rm", "-rf", "d"])  # pytest, too, recurses when it removes its folders
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.count("TL201") == 2


def test_deleted_working_directory(plain: Plain) -> None:
    done = plain.shell(f"mkdir gone && cd gone && rmdir {plain.folder}/gone && $TAPELINT check .", cold=True)
    assert done.returncode == 2
    assert done.stderr == "error: the current folder cannot be used: No such file or directory\n"


@pytest.mark.parametrize("pattern", ["[z-a]", "[!]", "a[b-a].py"])
@pytest.mark.parametrize("key", ["exclude", "per-file-ignores"])
def test_invalid_exclude_pattern(plain: Plain, key: str, pattern: str) -> None:
    plain.write("a.py", BAD)
    value = f'["build", "{pattern}"]' if key == "exclude" else f'{{ "{pattern}" = ["TL1"] }}'
    plain.write("tapelint.toml", f"\n{key} = {value}\n")
    done = plain("check")
    (line,) = done.stderr.splitlines()
    assert done.returncode == 2
    assert "tapelint.toml:2: " in line and f" {key}: '{pattern}' is no pattern: " in line


@pytest.mark.parametrize("text", ["exclude = " + "[" * 100_000 + "]" * 100_000, "a = " + "9" * 5000])
@pytest.mark.parametrize("name", ["tapelint.toml", "pyproject.toml"])
def test_a_configuration_that_no_parser_can_read(plain: Plain, name: str, text: str) -> None:
    plain.write("a.py", BAD)
    plain.write(name, f"[tool.tapelint]\n{text}\n")
    done = plain("check")
    (line,) = done.stderr.splitlines()
    assert done.returncode == 2
    assert f"{name}: " in line
