"""Which rows a comment speaks for."""

from __future__ import annotations

import pytest

from tapelint.source import parse


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
def test_comments(comment: str, is_covered: bool) -> None:
    assert covered(f"x = 1\ny += 1  {comment}\nz = 1\n") == ([2] if is_covered else [])


def test_any_line_of_a_statement_speaks_for_all_of_it() -> None:
    assert covered("a = 1\nx = f(\n    b,  # tapelint: ignore\n    c,\n)\nd = 1\n") == [2, 3, 4, 5]
    assert covered("x = '''\na\n'''  # noqa\n") == [1, 2, 3]
    assert covered("x = 1 + \\\n  2  # noqa\ny = 1\n") == [1, 2]


def test_a_header_does_not_speak_for_its_block() -> None:
    assert covered("for x in y:  # tapelint: ignore\n    a = 1\nb = 2\n") == [1]
    assert covered("def f(\n    x,  # tapelint: ignore\n):\n    a = 1\n") == [1, 2, 3]


def test_whole_file() -> None:
    assert covered("a = 1\n# tapelint: ignore-file[TL101]\nb = 1") == [1, 2, 3]
    assert covered("# tapelint: ignore-file\nb = 1", "TL999") == [1, 2]
    assert covered("# tapelint: ignore-file[TL102]\nb = 1\n") == []


def test_strings_are_no_comments() -> None:
    assert covered("x = '# noqa'\ny = '''\n# tapelint: ignore\n'''\n") == []


def test_the_comment_has_a_place() -> None:
    entry = parse("é = 1  # noqa: TL101 x\n").suppressions.entries[0]
    assert (entry.span.row, entry.span.column, entry.span.end_column) == (1, 8, 21)


def test_a_broken_file_keeps_its_comments() -> None:
    assert covered("x = (\ny += 1  # noqa\n") != []
