"""Settings that say what a run does: fix, fix-only, unsafe-fixes, show-fixes, output-format, and options over them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from plain import Tapelint, tapelint_in

WRITTEN = "import torch\n\ny = torch.ones(3, requires_grad=True).exp()\ny += 1\ny.sum().backward()\n"
FIXED = WRITTEN.replace("y += 1", "y = y + 1")
UNSAFE = (Path(__file__).resolve().parents[2] / "examples" / "tracker_prev_feature.py").read_text()
"""What only an unsafe fix cures."""
"""Its one fix changes what is computed."""


@pytest.fixture
def tapelint(tmp_path: Path) -> Tapelint:
    (tmp_path / "a.py").write_text(WRITTEN)
    return tapelint_in(tmp_path)


def settings(folder: Path, text: str) -> None:
    (folder / "tapelint.toml").write_text(text)


def test_a_setting_fixes(tapelint: Tapelint, tmp_path: Path) -> None:
    settings(tmp_path, "fix = true\nshow-fixes = true\n")
    done = tapelint("check")
    assert (done.returncode, (tmp_path / "a.py").read_text()) == (0, FIXED)
    assert "- a.py:\n    1 × TL201" in done.stdout


@pytest.mark.parametrize("options", [("--no-fix",), ("--add-ignore",), ("--write-baseline",), ("--diff",), ("-",)])
@pytest.mark.parametrize("setting", ["fix", "fix-only"])
def test_but_not_where_it_was_started_for_something_else(
    tapelint: Tapelint, tmp_path: Path, setting: str, options: tuple[str, ...]
) -> None:
    settings(tmp_path, f"{setting} = true\n")
    done = tapelint("check", *options, stdin=WRITTEN.encode())
    assert "y = y + 1" not in (tmp_path / "a.py").read_text()
    if options in (("--no-fix",), ("-",)):
        assert done.returncode == 1 and "error[TL201]" in done.stdout
    if options == ("--diff",):
        assert done.returncode == 1 and "+y = y + 1" in done.stdout


def test_it_is_that_of_the_folder_in_which_it_is_started(tapelint: Tapelint, tmp_path: Path) -> None:
    below = tmp_path / "below"
    below.mkdir()
    settings(below, "fix = true\n")
    (below / "b.py").write_text(WRITTEN)
    assert tapelint("check", "below").returncode == 1
    assert (below / "b.py").read_text() == WRITTEN


def test_fixes_go_without_what_is_left(tapelint: Tapelint, tmp_path: Path) -> None:
    settings(tmp_path, "fix-only = true\n")
    (tmp_path / "tracker.py").write_text(UNSAFE)
    done = tapelint("check")
    assert done.returncode == 0 and "TL1" not in done.stdout
    assert (tmp_path / "a.py").read_text() == FIXED
    done = tapelint("check", "--no-fix-only")
    assert done.returncode == 1 and "TL1" in done.stdout


def test_unsafe_fixes_are_counted_made_or_not_mentioned(tapelint: Tapelint, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(UNSAFE)
    hint = "can be enabled with the `--unsafe-fixes` option"
    assert hint in tapelint("check", COLUMNS="120").stdout
    settings(tmp_path, "unsafe-fixes = false\n")
    assert hint not in tapelint("check", COLUMNS="120").stdout
    assert "1 fixable with the `--fix` option" in tapelint("check", "--unsafe-fixes").stdout
    settings(tmp_path, "unsafe-fixes = true\nfix = true\n")
    assert tapelint("check", "--no-unsafe-fixes").returncode == 1
    assert (tmp_path / "a.py").read_text() == UNSAFE
    tapelint("check")
    assert (tmp_path / "a.py").read_text() != UNSAFE


def test_the_format_of_the_settings_yields_to_what_is_said(tapelint: Tapelint, tmp_path: Path) -> None:
    settings(tmp_path, 'output-format = "json"\n')
    assert json.loads(tapelint("check").stdout)[0]["code"] == "TL201"
    assert tapelint("check", TAPELINT_OUTPUT_FORMAT="concise").stdout.startswith("a.py:4:1: ")
    assert tapelint("check", "--output-format", "grouped").stdout.startswith("a.py:\n")
    settings(tmp_path, 'output-format = "sarif"\n')
    assert tapelint("check", "--statistics").stdout.startswith("1\tTL201")


def test_a_wrong_format_is_named(tapelint: Tapelint, tmp_path: Path) -> None:
    settings(tmp_path, 'output-format = "jsn"\n')
    done = tapelint("check")
    assert done.returncode == 2
    assert "tapelint.toml:1: output-format cannot be 'jsn'; did you mean 'json'?" in done.stderr


def test_what_was_found_is_kept_whatever_a_run_does_with_it(tapelint: Tapelint, tmp_path: Path) -> None:
    tapelint("check")
    before = {*(tmp_path / ".tapelint_cache").rglob("*")}
    settings(tmp_path, "show-fixes = true\nunsafe-fixes = true\n")
    assert tapelint("check").returncode == 1
    assert {*(tmp_path / ".tapelint_cache").rglob("*")} == before
