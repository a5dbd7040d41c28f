"""A fault of ours in one file: said, counted, and no reason to stop. The analysis is a double that fails on demand."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from tapelint import analysis
from tapelint.cli import file_coverage
from tapelint.cli.check import run
from tapelint.cli.request import Request
from tapelint.report import Diagnostic, Offer
from tapelint.severity import Severity
from tapelint.source import Span, parse


@pytest.fixture(autouse=True)
def _double(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def analyse(text: str, path: str, config: object, **rest: object) -> SimpleNamespace:
        if "crash" in text:
            raise RecursionError("too deep")
        severity = Severity.HINT if "hint" in text else Severity.ERROR
        found = Diagnostic("TL101", "double", severity, "found", path, Span(1, 1, 1, 6))
        known = {"path": path, "source": parse(text, path), "diagnostics": (found,), "elsewhere": ()}
        return SimpleNamespace(stats={"steps": 2}, others={}, notices=(), walks={}, **known)

    def offer(report: SimpleNamespace, diagnostic: Diagnostic, **how: object) -> Offer:
        if "unfixable" in report.source.text:
            raise ValueError("no fix")
        return Offer()

    monkeypatch.setattr(analysis, "analyse", analyse)
    monkeypatch.setattr(analysis, "offer", offer)
    monkeypatch.chdir(tmp_path)


def write(**files: str) -> None:
    for name, text in files.items():
        Path(f"{name}.py").write_text(f"{text}  # torch\n")


def test_a_crash_in_one_file_keeps_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    write(a="crash", b="ok")
    assert run(Request((".",), output_format="concise")) == 2
    out, err = capsys.readouterr()
    assert out == "b.py:1:1: error[TL101] found\n"
    assert "internal error in a.py" in err
    assert "please report" in err
    assert "RecursionError" in err


def test_a_fixer_that_fails_leaves_the_finding(capsys: pytest.CaptureFixture[str]) -> None:
    write(a="unfixable")
    assert run(Request(("a.py",))) == 2
    out, err = capsys.readouterr()
    assert "error[TL101]" in out
    assert "no fix for TL101" in err


def test_hints_do_not_set_the_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    write(a="hint")
    assert run(Request(("a.py",))) == 0
    assert "Found 1 hint in 1 file." in capsys.readouterr().out


def test_stats_go_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    write(a="ok", b="ok")
    assert run(Request(("a.py", "b.py", "./a.py"), output_format="json", stats=True)) == 1
    assert capsys.readouterr().err == "steps: 4\n"


def test_a_fault_while_causes_are_sought_keeps_the_finding(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(report: object) -> None:
        raise ValueError("no causes")

    monkeypatch.setattr(file_coverage, "explained", fail)
    write(a="ok")
    assert run(Request(("a.py",), output_format="concise", stats=True)) == 2
    out, err = capsys.readouterr()
    assert "error[TL101] found" in out and "what was followed is not known" in err
