"""Rows are those of Python and of editors; edits change what they say and nothing else."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapelint.source import Edit, Span, apply, difference, line_starts, rows

SIGNS = st.text(alphabet=st.sampled_from("ab \t\n\r\f\v\x1c\x85\u2028é\U0001f600"), max_size=30)


@given(SIGNS)
def test_lines_join_to_the_text(text: str) -> None:
    starts = line_starts(text)
    assert "".join(text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=True)) == text
    assert all(text[start - 1] in "\r\n" for start in starts[1:])
    assert not any("\n" in row or "\r" in row for row in rows(text))


LINES = st.lists(st.sampled_from(["x = 1", "y = 'a\u2028b'", "\f", "# é", ""]), max_size=6)


@given(LINES, st.sampled_from(["\n", "\r", "\r\n"]))
def test_lines_are_those_of_the_parser(lines: list[str], end: str) -> None:
    text = end.join([*lines, "last = 1"])
    last = ast.parse(text).body[-1]
    assert rows(text)[last.lineno - 1] == "last = 1"


@given(SIGNS, st.data())
def test_an_edit_replaces_its_span_only(text: str, data: st.DataObject) -> None:
    begin = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(begin, len(text)))
    content = data.draw(SIGNS)
    starts = line_starts(text)

    def place(offset: int) -> tuple[int, int]:
        row = sum(start <= offset for start in starts)
        return row, offset - starts[row - 1] + 1

    assert apply(text, [Edit(Span(*place(begin), *place(end)), content)]) == text[:begin] + content + text[end:]


def test_edits_are_made_in_any_order() -> None:
    edits = [Edit(Span(2, 1, 2, 2), "B"), Edit(Span(1, 1, 1, 2), "A"), Edit(Span(1, 3, 1, 3), "!")]
    assert apply("a \nb", edits) == "A !\nB"


def test_overlapping_edits_are_refused() -> None:
    with pytest.raises(ValueError, match="overlap"):
        apply("abc", [Edit(Span(1, 1, 1, 3), "x"), Edit(Span(1, 2, 1, 4), "y")])


@given(SIGNS, SIGNS)
def test_a_difference_makes_the_new_text(old: str, new: str) -> None:
    edits = difference(old, new)
    assert apply(old, edits) == new
    starts = line_starts(old)
    for edit in edits:
        assert edit.span.end_row <= len(starts), "a place that every editor has"
