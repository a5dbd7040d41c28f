"""Which rows a comment speaks for."""

from __future__ import annotations

import pytest

from tapelint.source import joined, parse


def covered(text: str, code: str = "TL101") -> list[int]:
    source = parse(text)
    return [row for row in range(1, len(source.lines) + 1) if source.suppressions.covers(code, row)]


@pytest.mark.parametrize(
    ("comment", "is_covered"),
    [
        ("# tapelint: ignore", True),
        ("#tapelint:ignore", True),
        ("# tapelint: ignore[TL101]", True),
        ("# tapelint: ignore[tl101]", True),
        ("# tapelint: ignore[TL102, TL101] because", True),
        ("# tapelint: ignore[TL102]", False),
        ("# tapelint: ignore[TL1]", False),
        ("# tapelint: ignore[]", False),
        ("# tapelint: ignore[TL101", False),
        ("# tapelint: ignored", False),
        ("# noqa", True),
        ("# NOQA", True),
        ("# noqa: TL101", True),
        ("# noqa:E501,TL101", True),
        ("# noqa: E501 TL101", True),
        ("# noqa: E501", False),
        ("# noqa: because", False),
        ("# type: ignore  # noqa: TL101", True),
        ("# noqa: E501  # tapelint: ignore[TL101]", True),
        ("# a comment about tapelint: nothing", False),
    ],
)
def test_comment_grammar(comment: str, is_covered: bool) -> None:
    assert covered(f"x = 1\ny += 1  {comment}\nz = 1\n") == ([2] if is_covered else [])


def test_a_comment_on_any_line_covers_its_statement() -> None:
    assert covered("a = 1\nx = f(\n    b,  # tapelint: ignore\n    c,\n)\nd = 1\n") == [2, 3, 4, 5]
    assert covered("x = '''\na\n'''  # noqa\n") == [1, 2, 3]
    assert covered("x = 1 + \\\n  2  # noqa\ny = 1\n") == [1, 2]


def test_a_comment_on_a_header_does_not_cover_the_block() -> None:
    assert covered("for x in y:  # tapelint: ignore\n    a = 1\nb = 2\n") == [1]
    assert covered("def f(\n    x,  # tapelint: ignore\n):\n    a = 1\n") == [1, 2, 3]


ABOVE = {
    "the next row": ("a = 1\n# tapelint: ignore[TL101]\ny += 1\nb = 1\n", [2, 3]),
    "all its rows": ("# tapelint: ignore\ny = f(\n    a,\n)\nb = 1\n", [1, 2, 3, 4]),
    "rows held together by a backslash": ("# tapelint: ignore\ny = a + \\\n    b\nc = 1\n", [1, 2, 3]),
    "blank rows and comments between": ("# tapelint: ignore\n\n# why\n\ny += 1\nb = 1\n", [1, 2, 3, 4, 5]),
    "a header": ("# tapelint: ignore\nfor x in y:\n    a = 1\n", [1, 2]),
    "decorators": ("# tapelint: ignore\n@f\n@g(\n  1)\n# why\ndef h():\n    a = 1\n", [1, 2, 3, 4, 5, 6]),
    "below a decorator": ("@f\n# tapelint: ignore\ndef h():\n    a = 1\n", [2, 3]),
    "beside a decorator": ("@f  # tapelint: ignore\ndef h():\n    a = 1\n", [1]),
    "the end of a block": ("if a:\n    b = 1\n    # tapelint: ignore\ny += 1\n", [3, 4]),
    "two of them": ("# tapelint: ignore[TL101]\n# tapelint: ignore[TL102]\ny += 1\nb = 1\n", [1, 2, 3]),
    "in the words of other tools": ("# noqa: TL101\ny += 1\nb = 1\n", [1, 2]),
    "a bare noqa, which means nothing there": ("# noqa\ny += 1\n", [1]),
    "inside a statement": ("y = f(\n    # tapelint: ignore\n    a,\n)\nb = 1\n", [1, 2, 3, 4]),
    "nothing below": ("y = 1\n# tapelint: ignore\n\n", [2]),
    "a text that looks like one": ("'''\n# tapelint: ignore\n'''\ny += 1\n", []),
    "a byte order mark": ("\ufeff# tapelint: ignore\ny += 1\nb = 1\n", [1, 2]),
    "rows that end as on Windows": ("# tapelint: ignore\r\n\r\ny += 1\r\nb = 1\r\n", [1, 2, 3]),
}


@pytest.mark.parametrize(("text", "rows"), ABOVE.values(), ids=ABOVE.keys())
def test_a_comment_line_covers_the_next_statement(text: str, rows: list[int]) -> None:
    assert covered(text) == rows


def test_a_comment_line_does_not_cover_the_next_cell() -> None:
    book = joined([(1, "a = 1\n# tapelint: ignore\n"), (2, "y += 1\n")])
    source = parse(book.text, "a.ipynb", book.cells)
    assert [row for row in (1, 2, 3) if source.suppressions.covers("TL101", row)] == [2]


def test_ignore_file_comments() -> None:
    assert covered("a = 1\n# tapelint: ignore-file[TL101]\nb = 1") == [1, 2, 3]
    assert covered("# tapelint: ignore-file\nb = 1", "TL999") == [1, 2]
    assert covered("# tapelint: ignore-file[TL102]\nb = 1\n") == []


def test_comments_in_strings_are_ignored() -> None:
    assert covered("x = '# noqa'\ny = '''\n# tapelint: ignore\n'''\n") == []


def test_comment_spans() -> None:
    entry = parse("é = 1  # noqa: TL101 x\n").suppressions.entries[0]
    assert (entry.span.row, entry.span.column, entry.span.end_column) == (1, 8, 21)


def test_a_broken_file_keeps_its_comments() -> None:
    assert covered("x = (\ny += 1  # noqa\n") != []
