"""What a team needs on its first day: counts, levels at which a run fails, and a baseline of what is known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from plain import Tapelint
from tests.shared_programs import TWICE

BOTH = "    loss.backward()\n    loss.backward()\n"
WRITTEN = """\
import torch

y = torch.ones(3, requires_grad=True).exp()
y += 1
y.sum().backward()
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Three findings of two rules."""
    (tmp_path / "a.py").write_text(TWICE)
    (tmp_path / "b.py").write_text(TWICE)
    (tmp_path / "c.py").write_text(WRITTEN)
    return tmp_path


def test_statistics_are_those_of_ruff(tapelint: Tapelint, project: Path) -> None:
    done = tapelint("check", "--statistics")
    first, second, *summary = done.stdout.splitlines()
    assert first.startswith("2\tTL101\t[")
    assert second.startswith("1\tTL201\t[")
    assert summary[0].startswith("Found 3 errors")
    assert done.returncode == 1
    (one, other) = json.loads(tapelint("check", "--statistics", "--output-format", "json").stdout)
    assert [*one] == ["code", "name", "count", "fixable", "fixable_count"]
    assert (one["code"], one["count"], other["code"], other["count"]) == ("TL101", 2, "TL201", 1)
    assert tapelint("check", "--statistics", "--output-format", "sarif").returncode == 2


def test_what_is_fixable_is_what_fix_cures(tapelint: Tapelint, project: Path) -> None:
    before = json.loads(tapelint("check", "--statistics", "--output-format", "json").stdout)
    tapelint("check", "--fix")
    after = json.loads(tapelint("check", "--statistics", "--output-format", "json").stdout)
    left = {each["code"]: each["count"] for each in after}
    assert all(left.get(each["code"], 0) == each["count"] - each["fixable_count"] for each in before)
    assert any(each["fixable"] for each in before)


def test_quiet_prints_what_was_found_and_silent_nothing(tapelint: Tapelint, project: Path) -> None:
    (project / "empty").mkdir()
    full = tapelint("check", ".", "empty")
    found, _, counted = full.stdout.partition("Found 3 errors")
    assert full.stderr and counted
    quiet = tapelint("check", "-q", ".", "empty")
    assert (quiet.stdout, quiet.stderr) == (found, "")
    silent = tapelint("check", "--silent", ".", "empty")
    assert (silent.returncode, silent.stdout, silent.stderr) == (1, "", "")


def test_quiet_says_nothing_of_how_much_was_executed(tapelint: Tapelint, project: Path) -> None:
    assert "a.py: 2 of 2 backward calls followed" in tapelint("check", "--stats").stderr
    assert tapelint("check", "-q", "--stats").stderr == ""


def test_verbose_is_the_log_and_goes_not_with_quiet(tapelint: Tapelint, project: Path) -> None:
    assert "DEBUG tapelint: a.py: begins" in tapelint("check", "-v", "a.py").stderr
    for options in (("-v", "-q"), ("--verbose", "--silent"), ("-q", "-s")):
        done = tapelint("check", *options)
        assert (done.returncode, done.stdout) == (2, "")
        assert "cannot be used with" in done.stderr


def test_colours_are_those_that_are_asked_for(tapelint: Tapelint, project: Path) -> None:
    assert "\033[" in tapelint("check", "--color", "always", NO_COLOR="1").stdout
    assert "\033[" not in tapelint("check", "--color", "never", FORCE_COLOR="1").stdout
    assert "\033[" not in tapelint("check", "--color", "auto").stdout


def test_a_baseline_of_files_with_syntax_errors_is_not_whole(tapelint: Tapelint, project: Path) -> None:
    (project / "d.py").write_text("import torch\ndef f(:\n")
    done = tapelint("check", "--write-baseline")
    assert done.returncode == 2
    assert "tapelint-baseline.json has nothing of what 1 file with syntax errors will show" in done.stderr
    assert "Wrote 3 findings" in done.stderr


def test_the_output_goes_to_a_file(tapelint: Tapelint, project: Path) -> None:
    wanted = tapelint("check", "--output-format", "json").stdout
    done = tapelint("check", "--output-format", "json", "-o", "new/out.json")
    assert (done.returncode, done.stdout) == (1, "")
    assert (project / "new" / "out.json").read_text() == wanted
    assert tapelint("check", TAPELINT_OUTPUT_FILE="out.txt").stdout == ""
    assert "TL101" in (project / "out.txt").read_text()
    refused = tapelint("check", "-o", ".")
    assert refused.returncode == 2 and refused.stderr.startswith("error: .: cannot be written")


def test_levels(tapelint: Tapelint, project: Path) -> None:
    soft = ("--config", 'severities = {TL1 = "warning", TL2 = "information"}')
    assert tapelint("check", *soft).returncode == 1
    assert tapelint("check", *soft, "--fail-on", "error").returncode == 0
    assert tapelint("check", *soft, "--fail-on", "warning").returncode == 1
    assert tapelint("check", *soft, "--fail-on", "warning", "--ignore", "TL1").returncode == 0
    shown = tapelint("check", *soft, "--severity", "warning", "--output-format", "concise").stdout
    assert "TL101" in shown and "TL201" not in shown
    hints = ("--config", 'severities = {TL = "hint"}')
    assert tapelint("check", *hints).returncode == 0
    assert tapelint("check", *hints, "--fail-on", "hint").returncode == 1
    (project / "tapelint.toml").write_text('fail-on = "grave"')
    assert "fail-on must be error, warning, information or hint" in tapelint("check").stderr
    (project / "tapelint.toml").write_text('severities = {TL = "warning"}\nfail-on = "error"')
    assert tapelint("check").returncode == 0
    assert 'fail-on = "error"' in tapelint("check", "--show-settings").stdout


def test_what_is_ignored_beside_the_configuration(tapelint: Tapelint, project: Path) -> None:
    (project / "tapelint.toml").write_text('ignore = ["TL2"]')
    assert tapelint("check", "--extend-ignore", "TL1").returncode == 0
    assert tapelint("check", "--per-file-ignores", "a.py:TL1,b.py:TL101").returncode == 0
    assert tapelint("check", "--per-file-ignores", "a.py:TL1").returncode == 1
    assert tapelint("check", "--per-file-ignores", "a.py").returncode == 2


def test_status_after_fixes(tapelint: Tapelint, project: Path) -> None:
    text = (project / "c.py").read_text()
    assert tapelint("check", "c.py", "--fix").returncode == 0
    (project / "c.py").write_text(text)
    assert tapelint("check", "c.py", "--fix", "--exit-non-zero-on-fix").returncode == 1
    assert tapelint("check", "c.py", "--fix", "--exit-non-zero-on-fix").returncode == 0
    (project / "c.py").write_text(text)
    (project / "c.py").write_text(text + "import torch.nope_\nq = torch.ones(2)\nq.sum().backward()\n")
    done = tapelint("check", "c.py", "--fix-only")
    assert (done.returncode, done.stdout) == (0, "Fixed 1 finding.\n")
    assert tapelint("check", "c.py").returncode == 1


def test_a_baseline_keeps_findings_where_code_moves(tapelint: Tapelint, project: Path) -> None:
    file = "known.json"
    done = tapelint("check", "--baseline", file, "--write-baseline")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", f"Wrote 3 findings to {file}.\n")
    assert tapelint("check", "--baseline", file).returncode == 0
    (project / "a.py").write_text("\n\n# moved\n" + TWICE)
    done = tapelint("check", "--baseline", file)
    assert (done.returncode, done.stderr) == (0, "")
    one, other = (
        f"def {name}():\n    w = torch.ones(3, requires_grad=True)\n    loss = w.exp().sum()\n{BOTH}"
        for name in ("one", "other")
    )
    (project / "a.py").write_text(f"import torch\n\n{one}\n{other}")
    done = tapelint("check", "--baseline", file, "--output-format", "concise")
    assert done.returncode == 1 and done.stdout.count("TL101") == 1
    (project / "sub").mkdir()
    (project / "sub" / "tapelint.toml").write_text('baseline = "../known.json"\n')
    (project / "sub" / "d.py").write_text(WRITTEN)
    assert "TL201" in tapelint("check", "--baseline", file).stdout


def test_a_baseline_says_what_is_gone(tapelint: Tapelint, project: Path) -> None:
    (project / "tapelint.toml").write_text('baseline = "known.json"\n')
    tapelint("check", "--write-baseline")
    (project / "a.py").write_text("import torch\n")
    (project / "b.py").unlink()
    assert tapelint("check", "c.py").stderr.count("b.py TL101") == 1
    done = tapelint("check")
    assert done.returncode == 0
    assert "known.json: not found any more: a.py TL101, b.py TL101; --write-baseline drops them" in done.stderr
    tapelint("check", "--write-baseline")
    assert tapelint("check").stderr == ""


@pytest.mark.parametrize("harm", ["", "[]", '{"version": 2}', '{"version": 1}', '{"version": 1, "findings": [1]}'])
def test_a_broken_baseline_is_said(tapelint: Tapelint, project: Path, harm: str) -> None:
    (project / "known.json").write_text(harm)
    done = tapelint("check", "--baseline", "known.json")
    assert done.returncode == 2 and "known.json: is " in done.stderr and "TL101" in done.stdout
