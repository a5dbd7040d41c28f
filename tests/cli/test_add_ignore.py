"""``--add-ignore`` writes a comment for each finding, and changes nothing else of a file."""

from __future__ import annotations

import ast
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain import Tapelint

from tapelint.cli.baseline import ABOUT_COMMENTS
from tapelint.rules import all_rules
from tapelint.source import parse
from tapelint.source.edit import apply
from tapelint.source.suppression.adding import ignore_in_file, with_ignores

HEAD = "import torch\nw = torch.ones(3, requires_grad=True)\n"
HAZARD = "y = w.exp()\ny += 1\ny.sum().backward()\n"


def clean(tapelint: Tapelint, *names: str) -> bool:
    return tapelint("check", *names).stdout.startswith("Nothing found")


def test_each_finding_gets_a_comment(tapelint: Tapelint, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(HEAD + HAZARD)
    (tmp_path / "b.py").write_text("import torch\ntorch.ones(3).sum().backward()  # why\n")
    (tmp_path / "c.py").write_text("import torch\n")
    done = tapelint("check", "--add-ignore", ".")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "Added ignore comments for 2 findings in 2 files.\n"
    assert (tmp_path / "a.py").read_text() == HEAD + HAZARD.replace("+= 1", "+= 1  # tapelint: ignore[TL201]")
    assert (tmp_path / "b.py").read_text().endswith("backward()  # why  # tapelint: ignore[TL301]\n")
    assert clean(tapelint, ".")
    again = tapelint("check", "--add-ignore", ".")
    assert (again.returncode, again.stderr) == (0, "Added ignore comments for 0 findings in 0 files.\n")


def test_a_reason_stands_after_the_codes(tapelint: Tapelint, tmp_path: Path) -> None:
    known = HAZARD.replace("+= 1", "+= 1  # tapelint: ignore[TL102] mine")
    (tmp_path / "a.py").write_text(HEAD + HAZARD)
    (tmp_path / "b.py").write_text(HEAD + known)
    assert tapelint("check", "--add-ignore=before 2.0, see #12", ".").returncode == 0
    reasoned = HAZARD.replace("+= 1", "+= 1  # tapelint: ignore[TL201] before 2.0, see #12")
    assert (tmp_path / "a.py").read_text() == HEAD + reasoned
    assert (tmp_path / "b.py").read_text() == HEAD + known.replace("[TL102]", "[TL102, TL201]")
    assert clean(tapelint, ".")


@pytest.mark.parametrize("arguments", [("--add-ignore", "a.py"), ("--add-ignore=", "a.py"), ("a.py", "--add-ignore")])
def test_what_follows_the_option_is_no_reason(tapelint: Tapelint, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    (tmp_path / "a.py").write_text(HEAD + HAZARD)
    assert tapelint("check", *arguments).returncode == 0
    assert (tmp_path / "a.py").read_text() == HEAD + HAZARD.replace("+= 1", "+= 1  # tapelint: ignore[TL201]")


def test_a_reason_of_several_lines_is_refused(tapelint: Tapelint, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(HEAD + HAZARD)
    done = tapelint("check", "--add-ignore=one\ntwo = 2", "a.py")
    assert done.returncode == 2 and "a reason has one line" in done.stderr
    assert (tmp_path / "a.py").read_text() == HEAD + HAZARD


def test_what_is_wrong_with_comments_is_not_ignored(tapelint: Tapelint, tmp_path: Path) -> None:
    assert {rule.code for rule in all_rules() if rule.review is not None} == {*ABOUT_COMMENTS}
    text = HEAD + "a = w * 2  # tapelint: ignore[TL201, TL299]\n"
    (tmp_path / "a.py").write_text(text)
    assert tapelint("check", "--add-ignore", "a.py").returncode == 0
    assert (tmp_path / "a.py").read_text() == text


SHAPES = {
    "crlf": (HEAD + HAZARD).replace("\n", "\r\n").encode(),
    "cr": (HEAD + HAZARD).replace("\n", "\r").encode(),
    "byte order mark": b"\xef\xbb\xbf" + (HEAD + HAZARD).encode(),
    "latin-1": ("# coding: latin-1\nname = '\xe9'\n" + HEAD + HAZARD).encode("latin-1"),
    "no end": (HEAD + HAZARD + "torch.ones(3).sum().backward()").encode(),
    "backslash": (HEAD + "y = w.exp()\ny += \\\n    1\ny.sum().backward()\n").encode(),
    "backslash at the end": (HEAD + "torch.ones(3).sum() \\\n    .backward()").encode(),
    "string over rows": (HEAD + "print('''\n''', torch.ones(3).sum().backward(), '''\n# x''')\n").encode(),
    "brackets": (HEAD + "(\n    torch.ones(3)\n    .sum()\n    .backward()\n)\n").encode(),
    "tabs and form feed": (HEAD + "\fif w is not None:\n\ttorch.ones(3).sum().backward()\n").encode(),
    "one row": (HEAD + "y = w.exp(); y += 1; y.sum().backward()\n").encode(),
    "two findings in a row": (HEAD + "for i in range(3): torch.ones(3).sum().backward()\n").encode(),
    "comments of others": (HEAD + HAZARD.replace("+= 1", "+= 1  # noqa: E501  # tapelint: ignore[TL102]")).encode(),
    "a range": (HEAD + "# tapelint: disable[TL102]\n" + HAZARD + "# tapelint: enable[TL102]\n").encode(),
    "trailing blanks": (HEAD + HAZARD.replace("+= 1", "+= 1   ")).encode(),
    "decorators": (HEAD + "@torch.no_grad()\ndef f():\n    w.sum().backward()\nf()\n").encode(),
}


@pytest.mark.parametrize("data", SHAPES.values(), ids=SHAPES.keys())
def test_files_are_not_damaged(tapelint: Tapelint, tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(data)
    os.chmod(file, 0o640)
    done = tapelint("check", "--add-ignore", "a.py")
    assert done.returncode == 0 and "for 0 findings" not in done.stderr, done.stderr
    after = file.read_bytes()
    assert ast.dump(ast.parse(after)) == ast.dump(ast.parse(data)) and after != data
    ends = (b"\r\n", b"\r", b"\n")
    assert [after.count(end) for end in ends] == [data.count(end) for end in ends]
    assert after[:3] == data[:3] and file.stat().st_mode & 0o777 == 0o640
    assert b"disable[TL102]\n" in after or b"disable" not in data
    assert not [row for row in tapelint("check", "a.py").stdout.splitlines() if row.startswith("error")]


def test_findings_of_callers_are_ignored_where_they_stand(tapelint: Tapelint, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    helper = "def bump(t):\n    t += 1\n    return t\n"
    (tmp_path / "helper.py").write_text(helper)
    main = "from helper import bump\n" + HEAD + "e = w.exp()\nbump(e)\ne.sum().backward()\n"
    (tmp_path / "main.py").write_text(main)
    alone = tapelint("check", "--add-ignore", "main.py")
    assert alone.returncode == 1 and "none of the files to check" in alone.stderr and "1 finding left" in alone.stderr
    assert (tmp_path / "helper.py").read_text() == helper
    assert tapelint("check", "--add-ignore", ".").returncode == 0
    assert (tmp_path / "helper.py").read_text() == helper.replace("+= 1", "+= 1  # tapelint: ignore[TL201]")
    assert (tmp_path / "main.py").read_text() == main
    assert clean(tapelint, ".")


def book(*cells: object) -> str:
    made = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": cell} for cell in cells]
    return json.dumps({"cells": made, "metadata": {"x": "\u00e9"}, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


@pytest.mark.parametrize("output_format", ["full", "gitlab"])
def test_notebooks_keep_all_but_their_sources(tapelint: Tapelint, tmp_path: Path, output_format: str) -> None:
    cells = [
        "%matplotlib inline\n" + HEAD,
        ["y = w.exp()\n", "y += \\\n", "  1"],
        "%time torch.ones(3).sum().backward()",
    ]
    (tmp_path / "a.ipynb").write_text(book(*cells, "!ls"))
    done = tapelint("check", "--add-ignore", "--output-format", output_format, ".")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    cells[2] = cells[2] + "  # tapelint: ignore[TL301]"
    assert (tmp_path / "a.ipynb").read_text() == book(*cells, "!ls")
    assert clean(tapelint, "a.ipynb")


def test_rows_of_a_notebook(tapelint: Tapelint, tmp_path: Path) -> None:
    cells = [HEAD, ["y = w.exp()\n", "y += \\\n", "  1"], "y.sum().backward()"]
    (tmp_path / "a.ipynb").write_text(book(*cells))
    assert tapelint("check", "--add-ignore", "a.ipynb").returncode == 0
    after = json.loads((tmp_path / "a.ipynb").read_text())["cells"][1]["source"]
    assert after == ["y = w.exp()\n", "y += \\\n", "  1  # tapelint: ignore[TL201]"]
    assert "error" not in tapelint("check", "a.ipynb").stdout


def test_broken_files_stay(tapelint: Tapelint, tmp_path: Path) -> None:
    (tmp_path / "b.py").write_text(HEAD + HAZARD + "def f(:\n")
    done = tapelint("check", "--add-ignore", ".")
    assert done.returncode == 2
    assert "b.py: not changed: it has syntax errors" in done.stderr and "1 finding left" in done.stderr
    assert (tmp_path / "b.py").read_text() == HEAD + HAZARD + "def f(:\n"


@pytest.mark.parametrize("options", [("--fix", "a.py"), ("--diff", "a.py"), ("-",)])
def test_what_add_ignore_does_not_go_with(tapelint: Tapelint, tmp_path: Path, options: tuple[str, ...]) -> None:
    (tmp_path / "a.py").write_text(HEAD + HAZARD)
    done = tapelint("check", "--add-ignore", *options)
    assert done.returncode == 2 and "--add-ignore" in done.stderr
    assert (tmp_path / "a.py").read_text() == HEAD + HAZARD


def test_a_file_that_may_not_be_written_stays(plain, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(HEAD + HAZARD)
    os.chmod(tmp_path / "a.py", 0o444)
    done = plain("check", "--add-ignore", "a.py")
    assert done.returncode == 2 and "not changed: Permission denied" in done.stderr
    assert (tmp_path / "a.py").read_text() == HEAD + HAZARD


PIECES = st.lists(
    st.sampled_from(
        [
            *(
                "x = f(\n",
                ")\n",
                "'''",
                '"',
                "# c\n",
                "a\n",
                "  b \\\n",
                "if a:\n",
                "    c\n",
                "\r",
                "+",
                "; ",
                "\f",
                "\t",
            ),
            *("# tapelint: ignore[TL102]\n", "# tapelint: disable[TL102]\n", "# noqa\n", "#!x\n", "# coding: utf-8\n"),
            *("\ufeff", "'''doc'''\n", "# tapelint: ignore-file[TL102] why\n", "# tapelint: ignore TL1\n"),
        ]
    ),
    max_size=9,
)


@given(PIECES, st.sets(st.tuples(st.sampled_from(["TL201", "TL101"]), st.integers(1, 12)), max_size=4))
def test_comments_keep_the_program(pieces: list[str], findings: set[tuple[str, int]]) -> None:
    """What is added is comments, at the ends of rows; what is not left is silenced."""
    before = parse("".join(pieces))
    if before.problems or before.is_skipped:
        return
    rows = len(before.lines)
    findings = {(code, row) for code, row in findings if row <= rows}
    added = with_ignores(before, findings)
    after = parse(added.text)
    assert not after.problems and ast.dump(after.tree) == ast.dump(before.tree) and len(after.lines) == rows
    assert all(after.suppressions.covers(*each) for each in findings - set(added.left))


@given(PIECES)
def test_a_comment_for_the_file_keeps_the_program(pieces: list[str]) -> None:
    before = parse("".join(pieces))
    if before.problems or before.is_skipped or before.suppressions.covers("TL201", 10**6):
        return
    edit = ignore_in_file(before, "TL201")
    assert edit is not None
    after = parse(apply(before.text, [edit]))
    assert not after.problems and ast.dump(after.tree) == ast.dump(before.tree)
    assert after.suppressions.covers("TL201", 10**6)
    assert after.text.startswith("\ufeff") == before.text.startswith("\ufeff")
    assert before.text.removeprefix("\ufeff")[:2] != "#!" or after.text.removeprefix("\ufeff")[:2] == "#!"
