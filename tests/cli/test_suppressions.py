"""``--fix`` takes no comment away that silences something, nor any other that it was not asked for."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.needed import HEAD, NEEDED

Tapelint = Callable[..., "subprocess.CompletedProcess[str]"]


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
    assert "fix: Remove TL201 (made by --fix with --extend-select TL901)" in tapelint("check", "a.py").stdout


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
