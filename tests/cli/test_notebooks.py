"""Notebooks on the command line: one program, reported by cell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

CELLS = (
    "# A title",
    "%matplotlib inline\nimport torch",
    "y = torch.ones(2, requires_grad=True).exp()\ny += 1",
    "%time y.sum().backward()",
)


def book(*sources: str) -> str:
    cells = [{"cell_type": "markdown" if text[:1] == "#" else "code", "source": text} for text in sources]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.ipynb"
    path.write_text(book(*CELLS))
    return path


def test_concise_and_full_name_the_cell(tapelint, file: Path) -> None:
    done = tapelint("check", "a.ipynb", "--output-format", "concise")
    assert done.returncode == 1 and done.stdout.startswith("a.ipynb:cell 3:2:1: error[TL201] [*] ")
    shown = tapelint("check", "--story", "a.ipynb").stdout
    assert f" --> a.ipynb:cell 3:2:1\n  |\n1 | {CELLS[2].splitlines()[0]}\n2 | y += 1\n" in shown
    assert " --> a.ipynb:cell 4:1:7\n  |\n1 | %time y.sum().backward()\n" in shown
    assert "  - y += 1\n2 + y = y + 1\n" in shown


def test_json_has_the_cell_beside_row_and_column(tapelint, file: Path) -> None:
    done = tapelint("check", "a.ipynb", "--output-format", "json")
    (found,) = json.loads(done.stdout)
    assert found["filename"] == "a.ipynb"
    assert found["location"] == {"cell": 3, "row": 2, "column": 1}
    assert [link["location"]["cell"] for link in found["related"]] == [3, 3, 4]
    assert found["fixes"][0]["edits"][0]["location"] == {"cell": 3, "row": 2, "column": 3}


def test_plain_files_have_no_cell_in_json(tapelint, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("\n".join(text for text in CELLS if text[:1] not in "#%") + "\n" + "import torch\n")
    (tmp_path / "b.py").write_text("import torch\n" + CELLS[2] + "\ny.sum().backward()\n")
    (found,) = json.loads(tapelint("check", "b.py", "--output-format", "json").stdout)
    assert found["location"] == {"row": 3, "column": 1}


def test_notebooks_are_found_in_folders_and_read_from_stdin(tapelint, file: Path) -> None:
    assert "a.ipynb:cell 3:2:1" in tapelint("check", ".", "--output-format", "concise").stdout
    name = ("--stdin-filename", "b.ipynb")
    done = tapelint("check", "-", *name, "--output-format", "concise", stdin=file.read_bytes())
    assert done.stdout.startswith("b.ipynb:cell 3:2:1: ")


def test_a_suppression_in_a_cell(tapelint, tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_text(book(*CELLS[:2], CELLS[2] + "  # noqa: TL201", CELLS[3]))
    assert tapelint("check", "a.ipynb").returncode == 0


def test_a_broken_notebook_is_an_error(tapelint, tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_text('{"cells": [')
    done = tapelint("check", "a.ipynb")
    assert done.returncode == 2
    assert "a.ipynb: cannot be read: not a notebook: Expecting value at 1:12" in done.stderr


def test_a_broken_cell_is_named_and_the_others_are_checked(tapelint, tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_text(book("x = 1", "y = = 2", *CELLS[1:]))
    done = tapelint("check", "a.ipynb", "--output-format", "concise")
    assert done.returncode == 1 and "a.ipynb:cell 2:1:5: Syntax error: invalid syntax;" in done.stderr
    assert "a.ipynb:cell 4:2:1: error[TL201]" in done.stdout


def test_fix_changes_only_the_cell(tapelint, file: Path) -> None:
    before = file.read_text()
    diff = tapelint("check", "a.ipynb", "--diff")
    assert "--- a.ipynb:cell 3\n+++ a.ipynb:cell 3\n" in diff.stdout and "-y += 1\n+y = y + 1\n" in diff.stdout
    assert file.read_text() == before
    done = tapelint("check", "a.ipynb", "--fix")
    assert done.stderr == "" and "TL108" in done.stdout and "TL201" not in done.stdout
    assert file.read_text() == before.replace("y += 1", "y = y + 1")


def test_fix_of_a_notebook_from_stdin(tapelint, file: Path) -> None:
    done = tapelint("check", "-", "--stdin-filename", "b.ipynb", "--fix", stdin=file.read_bytes())
    assert done.stdout == file.read_text().replace("y += 1", "y = y + 1")
