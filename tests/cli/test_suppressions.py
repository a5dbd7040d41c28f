"""``--fix`` takes no comment away that silences something, nor any other that it was not asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from plain import Tapelint
from tests.needed import HEAD, NEEDED


def written(folder: Path, files: dict[str, str]) -> dict[str, bytes]:
    """The files of a project as they are on disk."""
    (folder / "pyproject.toml").touch()
    for name, text in files.items():
        (folder / name).write_text(text)
    return {name: (folder / name).read_bytes() for name in files}


@pytest.mark.parametrize("files", NEEDED.values(), ids=NEEDED.keys())
@pytest.mark.parametrize("options", [(), ("--unsafe-fixes", "--extend-select", "TL901")], ids=["plain", "asked for"])
def test_needed_suppressions_stay(
    tapelint: Tapelint, tmp_path: Path, files: dict[str, str], options: tuple[str, ...]
) -> None:
    before = written(tmp_path, files)
    assert "TL901" not in tapelint("check", "--output-format", "concise", ".").stdout
    tapelint("check", "--fix", *options, ".")
    assert {name: (tmp_path / name).read_bytes() for name in files} == before


def test_unused_does_not_depend_on_which_files_are_checked(tapelint: Tapelint, tmp_path: Path) -> None:
    files = NEEDED["another file shows it"]
    before = written(tmp_path, files)
    for name in files:
        assert "TL901" not in tapelint("check", "--fix", "--output-format", "concise", name).stdout
    assert {name: (tmp_path / name).read_bytes() for name in files} == before


def test_suppressions_below_a_fixed_error_stay(tapelint: Tapelint, tmp_path: Path) -> None:
    first = "y = w.exp()\ny += 1\ny.sum().backward()\n"
    below = "a = w.exp()\na += 1  # tapelint: ignore[TL201]\na.sum().backward()\n"
    written(tmp_path, {"a.py": HEAD + first + below})
    assert tapelint("check", "--fix", ".").returncode == 0
    assert (tmp_path / "a.py").read_text() == HEAD + first.replace("y += 1", "y = y + 1") + below


UNUSED = HEAD + "b = w * 2  # tapelint: ignore[TL201]\n"


@pytest.mark.parametrize("row", ["[TL201]", "[TL299]"], ids=["unused", "unknown"])
def test_unused_suppression_is_removed_only_if_selected_by_name(tapelint: Tapelint, tmp_path: Path, row: str) -> None:
    text = UNUSED.replace("[TL201]", row)
    written(tmp_path, {"a.py": text})
    for options in ((), ("--unsafe-fixes",), ("--select", "ALL"), ("--extend-select", "TL207")):
        tapelint("check", "--fix", *options, "a.py")
        assert (tmp_path / "a.py").read_text() == text
    code = "TL901" if row == "[TL201]" else "TL902"
    for options in (("--extend-select", code), ("--select", "TL9"), ()):
        written(tmp_path, {"a.py": text})
        if not options:
            (tmp_path / "pyproject.toml").write_text(f'[tool.tapelint]\nextend-select = ["{code}"]\n')
        tapelint("check", "--fix", *options, "a.py")
        assert (tmp_path / "a.py").read_text() == HEAD + "b = w * 2\n"


def test_the_fix_line_names_the_option(tapelint: Tapelint, tmp_path: Path) -> None:
    written(tmp_path, {"a.py": UNUSED})
    assert "\nfix [--fix --extend-select TL901]: Remove TL201\n" in tapelint("check", "a.py").stdout


def test_a_fix_is_inserted_above_the_suppression_comment(tapelint: Tapelint, tmp_path: Path) -> None:
    """What is put before a statement is put before the comment that silences it, too."""
    text = (
        "import torch\nnet = torch.nn.Linear(3, 1)\nopt = torch.optim.SGD(net.parameters(), 0.1)\n"
        "for x in torch.ones(8, 3):\n    loss = net(x).sum()\n    # tapelint: ignore[TL102]\n\n    loss.backward()\n"
        "    opt.step()\n"
    )
    written(tmp_path, {"a.py": text})
    assert "[TL401]" in tapelint("check", "a.py").stdout
    tapelint("check", "--fix", "a.py")
    after = (tmp_path / "a.py").read_text()
    assert "zero_grad()" in after and "    # tapelint: ignore[TL102]\n\n    loss.backward()\n" in after


KEPT = HEAD + "n = w.sum().detach().requires_grad_()  # tapelint: ignore[TL303{}] -- why  # noqa: E501\nn.backward()\n"
REMOVED = {
    "one of a list": (KEPT.format(", TL101"), KEPT.format("")),
    "two of a list": (KEPT.format(", TL101, TL102"), KEPT.format("")),
    "a name": (KEPT.format(", backward-through-freed-graph"), KEPT.format("")),
    "the reason goes with the comment": (
        HEAD + "b = w * 2  # why  # tapelint: ignore[TL201] -- so  # noqa: E501\n",
        HEAD + "b = w * 2  # why  # noqa: E501\n",
    ),
    "a range": (HEAD + "# tapelint: disable[TL201]\nb = w * 2\n# tapelint: enable[TL201]\n", HEAD + "b = w * 2\n"),
    "one of a range": (
        HEAD + "# tapelint: disable[TL303, TL201]\nn = w.sum().detach().requires_grad_()\n"
        "# tapelint: enable[TL303, TL201]\nn.backward()\n",
        HEAD + "# tapelint: disable[TL303]\nn = w.sum().detach().requires_grad_()\n"
        "# tapelint: enable[TL303]\nn.backward()\n",
    ),
    "the next line": (HEAD + "# tapelint: ignore-next-line[TL201]\nb = w * 2\n", HEAD + "b = w * 2\n"),
    "the file": ("#!/x\n# tapelint: ignore-file[TL201]\n" + HEAD + "b = w * 2\n", "#!/x\n" + HEAD + "b = w * 2\n"),
    "nested ranges": (
        HEAD + "# tapelint: disable[TL201]\nif w is not None:\n    # tapelint: disable[TL201]\n    b = w * 2\n"
        "    # tapelint: enable[TL201]\n# tapelint: enable[TL201]\n",
        HEAD + "if w is not None:\n    b = w * 2\n",
    ),
    "at the end of the file": (HEAD + "b = w * 2\n# tapelint: ignore[TL201]", HEAD + "b = w * 2\n"),
}


@pytest.mark.parametrize(("text", "after"), REMOVED.values(), ids=REMOVED.keys())
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_what_is_unused_is_removed_and_nothing_else(
    tapelint: Tapelint, tmp_path: Path, text: str, after: str, end: str
) -> None:
    (tmp_path / "a.py").write_bytes(text.replace("\n", end).encode())
    found = json.loads(tapelint("check", "--output-format", "json", "a.py").stdout)
    unused = [each for each in found if each["code"] == "TL901"]
    assert unused and all(fix["edits"] and fix["manual"] for each in unused for fix in each["fixes"])
    tapelint("check", "--fix", "--extend-select", "TL901", "a.py")
    assert (tmp_path / "a.py").read_bytes() == after.replace("\n", end).encode()


FLAWED = {
    "file-ignore[TL201]": "ignore-file[TL201]",
    "ignored": "ignore",
    "ignore TL201": "ignore[TL201]",
    "ignore: TL201, TL101": "ignore[TL201, TL101]",
    "ignore[TL201": "ignore[TL201]",
}


@pytest.mark.parametrize(("words", "after"), FLAWED.items(), ids=FLAWED.keys())
def test_a_flawed_comment_is_put_right(tapelint: Tapelint, tmp_path: Path, words: str, after: str) -> None:
    text = HEAD + "y = w.exp()\ny += 1  # tapelint: {}\ny.sum().backward()\n"
    (tmp_path / "a.py").write_text(text.format(words))
    found = json.loads(tapelint("check", "--output-format", "json", "a.py").stdout)
    (remark,) = [each for each in found if each["code"] == "TL902"]
    assert remark["severity"] == "information" and remark["fixes"][0]["manual"]
    tapelint("check", "--fix", "--select", "TL902", "a.py")
    assert (tmp_path / "a.py").read_text() == text.format(after)
    assert tapelint("check", "--select", "TL201,TL902", "a.py").stdout.startswith("Nothing found")


def test_a_range_without_an_end_is_given_one(tapelint: Tapelint, tmp_path: Path) -> None:
    body = "def f(y):\n    # tapelint: disable[TL201]\n    z = y.exp()\n    z += 1\n    return z.sum(){}\n\n\n"
    body += "f(w).backward()\n"
    (tmp_path / "a.py").write_text(HEAD + body.format(""))
    assert tapelint("check", "a.py").returncode == 0  # a hint
    tapelint("check", "--fix", "--select", "TL902", "a.py")
    assert (tmp_path / "a.py").read_text() == HEAD + body.format("\n    # tapelint: enable[TL201]")
    assert tapelint("check", "a.py").stdout.startswith("Nothing found")


def test_a_hint_about_a_range_can_be_silenced(tapelint: Tapelint, tmp_path: Path) -> None:
    text = (
        "# tapelint: disable[TL201]  # tapelint: ignore[TL902]\n" + HEAD + "y = w.exp()\ny += 1\ny.sum().backward()\n"
    )
    (tmp_path / "a.py").write_text(text)
    assert tapelint("check", "a.py").stdout.startswith("Nothing found")
