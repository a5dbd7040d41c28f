"""What a finding looks like, for people and for programs."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tapelint.report import Diagnostic, FileEdits, Fix, Offer, Related
from tapelint.report.block import block_of, concise
from tapelint.report.diagnostic import NO_OFFER
from tapelint.report.for_tools import as_json
from tapelint.report.full import ansi, full, printed, snippet
from tapelint.report.look import PLAIN, Look, is_coloured
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
    raises="modified by an inplace operation",
)
FIX = Fix("Make a new tensor", "safe", True, (Edit(Span(4, 1, 4, 7), "y = y + 1"),))
OTHER = Fix("Clone it first", "unsafe", False, (Edit(Span(3, 12, 3, 12), ".clone()"),))
ELSEWHERE = FileEdits("net.py", "a\n", (Edit(Span(1, 1, 1, 2), "b"),))


def lines(filename: str) -> list[str]:
    return rows(TEXT) if filename == "train.py" else []


def shown(offer: Offer = NO_OFFER, look: Look = PLAIN, finding: Diagnostic = FINDING, text: str = TEXT) -> str:
    """A finding in the format ``full``."""
    return full(block_of(finding, lambda name: rows(text) if name == "train.py" else [], offer, text), look)


def test_full_format() -> None:
    assert shown(Offer((OTHER, FIX))) == (
        """\
error[TL101] [*] backward needs what `y += 1` overwrote
 --> train.py:5:1
  |
4 | y += 1
5 | y.sum().backward()
  | ^^^^^^^^^^^^^^^^^^
  |
PyTorch: “modified by an inplace operation”
help: write `y = y + 1`
fix [--fix]: Make a new tensor
  |
3 | y = x.exp()
  - y += 1
4 + y = y + 1
  |
or [unsafe]: Clone it first
story:
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
"""
    )


def test_that_it_raises_at_its_own_place_is_the_last_step() -> None:
    """As in an editor, where each step has its number in the text."""
    raising = replace(FINDING, short="needs version 0: raises")
    assert [step.short for step in raising.steps][-1] == raising.short and len(raising.steps) == 3
    assert shown(finding=raising).endswith("\n  3. Needs version 0: raises\n --> train.py:5:1\n")
    assert "\nstory: 3 steps, first at train.py:3;" in shown(look=Look(has_story=False), finding=raising)


def test_the_story_is_folded_where_it_is_not_asked_for() -> None:
    folded = Look(has_story=False)
    assert shown(look=folded).endswith("\nstory: 2 steps, first at train.py:3; show with --story\n")
    one = replace(FINDING, related=FINDING.related[:1])
    assert shown(look=folded, finding=one).endswith("\nstory: 1 step at train.py:3; show with --story\n")
    assert "story" not in shown(look=folded, finding=replace(FINDING, related=()))


@pytest.mark.parametrize(
    ("fixes", "marked", "label"),
    [
        ((OTHER,), False, "fix [--fix --unsafe-fixes]: Clone it first\n"),
        (
            (replace(FIX, others=(FileEdits("net.py", "a\n", (Edit(Span(1, 1, 1, 2), "b"),)),)),),
            False,
            "fix: Make a new",
        ),
        ((replace(FIX, applicability="manual"),), False, "fix [--fix --extend-select TL101]: Make a new tensor\n"),
        ((FIX,), True, "fix [--fix]: Make a new tensor\n"),
    ],
    ids=["unsafe", "in another file", "by hand", "safe"],
)
def test_a_cure_says_which_option_makes_it(fixes: tuple[Fix, ...], marked: bool, label: str) -> None:
    text = shown(Offer(fixes))
    assert f"\n{label}" in text and ("[*]" in text) is marked
    assert concise(FINDING, block_of(FINDING, lines, Offer(fixes)).fixable).count("[*]") == marked


def test_a_change_stands_alone_where_what_is_around_it_was_shown() -> None:
    at = replace(FINDING, span=Span(4, 1, 4, 7))
    assert "tensor\n  |\n  - y += 1\n4 + y = y + 1\n  |\n" in shown(Offer((FIX,)), finding=at)
    inserted = replace(FIX, edits=(Edit(Span(4, 1, 4, 1), "y = y.clone()\n"),))
    where = "tensor\n  |\n3 | y = x.exp()\n4 + y = y.clone()\n5 | y += 1\n  |\n"
    assert where in shown(Offer((inserted,)), finding=at)


def test_changes_far_from_each_other_are_apart() -> None:
    edits = (Edit(Span(1, 1, 1, 1), "# "), Edit(Span(5, 1, 5, 1), "# "))
    text = shown(Offer((replace(FIX, edits=edits),)))
    assert "  |\n  - import torch\n1 + # import torch\n.\n  - y.sum" in text


WIDE = "日本語の変数 = 'こんにちは 世界 👨‍👩‍👧 👍🏽 ' * 2; y += 1; 日本 = 'ありがとう ございます'"


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize(
    "line", [f"y += {'very_long_name + ' * 12}1", "y += 1\t# " + "\tx" * 80, WIDE, "y += 1 " + WIDE * 3]
)
@pytest.mark.parametrize("has_story", [True, False])
def test_rows_fit_the_terminal(width: int, line: str, has_story: bool) -> None:
    """All words are there, and no row is wider."""
    text = TEXT.replace("y += 1", line)
    at = line.index("y += 1") + 1 if "y += 1" in line else 1
    story = (Related("what `leads` here " * 9, "train.py", Span(4, at, 4, at + 6)),)
    said = {"message": "word 日本語 " * 20, "help": "say `more words` " * 20, "raises": "is said by PyTorch " * 9}
    long = Diagnostic("TL101", "n", Severity.ERROR, filename="train.py", span=FINDING.span, related=story, **said)
    fix = replace(FIX, title="Make a new one " * 9, edits=(Edit(Span(4, at, 4, at + 6), "y = y + 1"),))
    block = shown(Offer((fix, OTHER)), Look(width, has_story), long, text)
    assert max(map(cell_len, block.splitlines())) <= width
    words = block.replace("“", "").replace("”", "").split()
    for sentence in (*said.values(), fix.title, *(story[0].message for _ in range(has_story))):
        for word in set(sentence.split()):
            assert words.count(word) >= sentence.split().count(word), word


@pytest.mark.parametrize("width", [40, 50, 80])
@pytest.mark.parametrize(
    "filler", ["a", "語", "👨‍👩‍👧", "e\u0301", "\t"], ids=["narrow", "wide", "joined", "accent", "tab"]
)
@pytest.mark.parametrize("before", [0, 1, 30, 200])
@pytest.mark.parametrize("after", [0, 1, 30, 200])
def test_the_carets_of_a_cut_row_are_below_what_they_mark(width: int, filler: str, before: int, after: int) -> None:
    line = f"{filler * before}HERE{filler * after}"
    begin = len(filler) * before + 1
    code, carets = printed(snippet({1: line}, Span(1, begin, 1, begin + 4), 1, width), PLAIN).splitlines()[-2:]
    left, right = carets.index("^"), carets.rindex("^") + 1
    assert cell_len(code) <= width and right - left == 4
    place = code.index("HERE")
    assert cell_len(code[:place]) == left


def test_an_error_without_a_fix_says_why() -> None:
    offer = Offer(no_fix="what backward unpacks would have to change")
    assert "\nno safe fix: what backward unpacks would have to change\n" in shown(offer)
    assert as_json(FINDING, offer)["no_fix"] == "what backward unpacks would have to change"
    assert as_json(FINDING, Offer((FIX,)))["no_fix"] is None


def test_colour_adds_nothing_but_colour() -> None:
    coloured = shown(Offer((FIX,)), Look(is_coloured=True))
    assert "\033[1;31merror" in coloured
    assert re.sub(r"\033\[[0-9;]*m", "", coloured) == shown(Offer((FIX,)))


@pytest.mark.parametrize("look", [PLAIN, Look(is_coloured=True)], ids=["plain", "coloured"])
def test_texts_of_the_program_change_nothing_but_what_is_read(look: Look) -> None:
    """Neither what terminals obey, nor what rich takes for markup."""
    said = "\033[2J\u202e [red]`x`[/red] :smile:"
    hostile = replace(FINDING, message=said, help=said, filename=said, related=(Related(said, said, Span(1, 1, 1, 2)),))
    for text in (shown(Offer((replace(FIX, title=said),)), look, hostile), concise(hostile)):
        assert "\033[2J" not in text and "\u202e" not in text
        assert re.sub(r"\033\[[0-9;]*m", "", text).count("\ufffd[2J\ufffd [red]`x`[/red] :smile:") >= 2


def test_codes_and_paths_are_links_where_there_is_an_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    look = Look(is_coloured=True, has_links=True)
    code = r"\033\]8;id=\d+;https://example.org/TL101\033\\.*error\[TL101\].*\033\]8;;\033"
    assert re.search(code, shown(look=look)) and "file://" not in shown(look=look)
    (tmp_path / "train.py").write_text(TEXT)
    assert f";{(tmp_path / 'train.py').as_uri()}#5\033" in shown(look=look)
    without = replace(FINDING, url=None, filename="gone.py", related=())
    assert "\033]8" not in shown(look=look, finding=without) + shown(look=Look(is_coloured=True))


def test_a_story_through_a_file_that_is_gone() -> None:
    away = Diagnostic("TL101", "n", Severity.WARNING, "m", "gone.py", Span(7, 1, 7, 2))
    assert full(block_of(away, lambda name: ())) == "warning[TL101] m\n --> gone.py:7:1\n"


def test_concise_format() -> None:
    line = "train.py:5:1: error[TL101] backward needs what `y += 1` overwrote"
    assert concise(FINDING) == line
    assert concise(FINDING, "--fix") == line.replace("[TL101]", "[TL101] [*]")
    assert "\033[1;31merror[TL101]\033[0m" in concise(FINDING, "--fix", ansi)
    assert re.sub(r"\033\[[0-9;]*m", "", concise(FINDING, "--fix", ansi)) == concise(FINDING, "--fix")


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
            "effect": None,
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


def code(text: str, span: Span, gutter: int = 1, width: int = 80, context: int = 0) -> list[str]:
    known = dict(enumerate(text.split("\n"), 1))
    return printed(snippet(known, span, gutter, width, context=context), PLAIN).splitlines()


@pytest.mark.parametrize(
    ("line", "span", "expected"),
    [
        ("\ty += 1", Span(1, 2, 1, 3), "  |     ^"),
        ("日本 = é", Span(1, 6, 1, 7), "  |        ^"),
        ("日本 = é", Span(1, 1, 1, 3), "  | ^^^^"),
        ("e\u0301 = 1", Span(1, 4, 1, 5), "  |   ^"),
        ("'👨‍👩‍👧' + x", Span(1, 11, 1, 12), "  |        ^"),
        ("x", Span(1, 2, 1, 2), "  |  ^"),
    ],
)
def test_carets_are_under_the_span(line: str, span: Span, expected: str) -> None:
    assert code(line, span)[-1] == expected


def test_rows_around_the_span_where_there_is_something_in_them() -> None:
    assert code("a\nb\nc\nd", Span(2, 1, 2, 2), context=1) == ["  |", "1 | a", "2 | b", "  | ^", "3 | c", "  |"]
    assert code("\nb\n", Span(2, 1, 2, 2), context=1) == ["  |", "2 | b", "  | ^", "  |"]


def test_several_rows() -> None:
    text = "x = f(\n    1,\n    2,\n    3,\n    4,\n    5,\n    6,\n)"
    assert code(text, Span(1, 5, 8, 2), 2) == [
        "   |",
        " 1 |   x = f(",
        "   |  _____^",
        " 2 | |     1,",
        " 3 | |     2,",
        "..   |",
        " 8 | | )",
        "   | |_^",
    ]
    assert code("  f(\n1)", Span(1, 3, 2, 3)) == ["  |", "1 | /   f(", "2 | | 1)", "  | |__^"]


@given(
    st.lists(st.text(max_size=200), max_size=3),
    st.tuples(st.integers(1, 4), st.integers(1, 205), st.integers(0, 3), st.integers(1, 205)),
    st.integers(20, 100),
)
def test_snippets_of_any_text_and_span(lines: list[str], place: tuple[int, int, int, int], width: int) -> None:
    row, column, more, end = place
    known = dict(enumerate((row_ for text in lines for row_ in rows(text)), 1))
    span = Span(row, column, row + more, end if more else max(column, end))
    text = printed(snippet(known, span, 3, width, context=1), PLAIN)
    assert all(unicodedata.category(sign) not in ("Cc", "Cs") or sign == "\n" for sign in text)
    assert (text == "") == (row not in known)
    assert all(cell_len(line) <= width for line in text.split("\n"))


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
