"""What a finding looks like, for people and for programs."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapelint.report import Diagnostic, Fix, Offer, Related
from tapelint.report.as_json import as_json
from tapelint.report.full import concise, full
from tapelint.report.snippet import snippet
from tapelint.report.style import ansi, is_coloured
from tapelint.severity import Severity
from tapelint.source import Edit, Span, rows

TEXT = "import torch\n\ny = x.exp()\ny += 1\ny.sum().backward()\n"
FINDING = Diagnostic(
    "TL101",
    "saved-tensor-modified",
    Severity.ERROR,
    "backward needs what `y += 1` overwrote",
    "train.py",
    Span(5, 1, 5, 19),
    (
        Related("`exp` saves its result", "train.py", Span(3, 5, 3, 12), "saved by `exp`"),
        Related("written", "train.py", Span(4, 1, 4, 7)),
    ),
    help="write `y = y + 1`",
    url="https://example.org/TL101",
)
FIX = Fix("Make a new tensor", "safe", True, (Edit(Span(4, 1, 4, 7), "y = y + 1"),))
OTHER = Fix("Clone it first", "unsafe", False, (Edit(Span(3, 12, 3, 12), ".clone()"),))


def lines(filename: str) -> list[str]:
    return rows(TEXT) if filename == "train.py" else []


def test_full_format() -> None:
    assert full(FINDING, TEXT, lines, Offer((OTHER, FIX))) == (
        """\
error[TL101] saved-tensor-modified: backward needs what `y += 1` overwrote
 --> train.py:5:1
  |
5 | y.sum().backward()
  | ^^^^^^^^^^^^^^^^^^
  = help: write `y = y + 1`
  1. `exp` saves its result
 --> train.py:3:5
  |
3 | y = x.exp()
  |     ^^^^^^^
  2. written
 --> train.py:4:1
  |
4 | y += 1
  | ^^^^^^
  = fix: Make a new tensor
4 - y += 1
4 + y = y + 1
  = or: Clone it first
"""
    )


def test_an_error_without_a_fix_says_why() -> None:
    offer = Offer(no_fix="what backward unpacks would have to change")
    assert full(FINDING, TEXT, lines, offer).endswith("\n  = no safe fix: what backward unpacks would have to change\n")
    assert as_json(FINDING, offer)["no_fix"] == "what backward unpacks would have to change"
    assert as_json(FINDING, Offer((FIX,)))["no_fix"] is None


def test_colour_adds_nothing_but_colour() -> None:
    import re

    coloured = full(FINDING, TEXT, lines, Offer((FIX,)), ansi)
    assert "\033[1;31merror" in coloured
    assert re.sub(r"\033\[[0-9;]*m", "", coloured) == full(FINDING, TEXT, lines, Offer((FIX,)))


def test_a_story_through_a_file_that_is_gone() -> None:
    away = Diagnostic("TL101", "n", Severity.WARNING, "m", "gone.py", Span(7, 1, 7, 2))
    assert full(away, "", lambda name: ()) == "warning[TL101] n: m\n --> gone.py:7:1\n"


def test_concise_format() -> None:
    assert concise(FINDING) == "train.py:5:1: TL101 backward needs what `y += 1` overwrote"


def test_json_format() -> None:
    data = json.loads(json.dumps(as_json(FINDING, Offer((FIX,)))))
    assert data["location"] == {"row": 5, "column": 1}
    assert data["end_location"] == {"row": 5, "column": 19}
    assert data["related"][0] == {
        "message": "`exp` saves its result",
        "short": "saved by `exp`",
        "filename": "train.py",
        "location": {"row": 3, "column": 5},
        "end_location": {"row": 3, "column": 12},
    }
    assert data["fixes"] == [
        {
            "title": "Make a new tensor",
            "applicability": "safe",
            "manual": False,
            "preferred": True,
            "edits": [
                {
                    "content": "y = y + 1",
                    "filename": "train.py",
                    "location": {"row": 4, "column": 1},
                    "end_location": {"row": 4, "column": 7},
                }
            ],
        }
    ]
    assert (data["code"], data["name"], data["severity"], data["url"]) == (
        "TL101",
        "saved-tensor-modified",
        "error",
        "https://example.org/TL101",
    )


@pytest.mark.parametrize(
    ("line", "span", "expected"),
    [
        ("\ty += 1", Span(1, 2, 1, 3), "  | \t^"),
        ("日本 = é", Span(1, 6, 1, 7), "  |        ^"),
        ("日本 = é", Span(1, 1, 1, 3), "  | ^^^^"),
        ("e\u0301 = 1", Span(1, 4, 1, 5), "  |   ^"),
        ("x", Span(1, 2, 1, 2), "  |  ^"),
    ],
)
def test_carets_are_under_the_span(line: str, span: Span, expected: str) -> None:
    assert snippet([line], span, 1).splitlines()[-1] == expected


def test_several_rows() -> None:
    shown = snippet(["x = f(", "    1,", "    2,", "    3,", "    4,", ")"], Span(1, 5, 6, 2), 2)
    assert shown.splitlines() == [
        "   |",
        " 1 | x = f(",
        "   |     ^^",
        " 2 |     1,",
        "   |     ^^",
        " 3 |     2,",
        "   |     ^^",
        " 4 |     3,",
        "   |     ^^",
        "..",
    ]


def test_a_long_row_is_cropped_around_the_span() -> None:
    line = "a" * 3000 + "HERE" + "b" * 3000
    code, carets = snippet([line], Span(1, 3001, 1, 3005), 1).splitlines()[-2:]
    assert len(code) < 180
    assert code[carets.index("^") : carets.rindex("^") + 1] == "HERE"


@given(st.text(max_size=40), st.integers(1, 45), st.integers(1, 45), st.integers(1, 3))
def test_snippets_of_any_text_and_span(text: str, column: int, end: int, row: int) -> None:
    lines_of_text = rows(text)
    shown = snippet(lines_of_text, Span(row, column, row, max(column, end)), 3)
    assert all(unicodedata.category(sign) not in ("Cc", "Cs") or sign in "\t\n" for sign in shown)
    assert (shown == "") == (row > len(lines_of_text))


class Stream:
    def __init__(self, tty: bool) -> None:
        self.tty = tty

    def isatty(self) -> bool:
        return self.tty


@pytest.mark.parametrize(
    ("tty", "variables", "expected"),
    [
        (True, {"TERM": "xterm"}, True),
        (True, {"TERM": "dumb"}, False),
        (False, {}, False),
        (True, {"TERM": "xterm", "NO_COLOR": "1"}, False),
        (False, {"FORCE_COLOR": "1"}, True),
        (False, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
)
def test_colour_depends_on_terminal_and_environment(
    monkeypatch: pytest.MonkeyPatch, tty: bool, variables: dict[str, str], expected: bool
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.platform", "linux")
    assert is_coloured(Stream(tty)) is expected  # type: ignore[arg-type]
