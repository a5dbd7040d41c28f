"""Which rows a comment speaks for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


@pytest.mark.parametrize(
    ("comment", "is_covered"),
    [
        ("ignore[some-name]", True),
        ("ignore[Some-Name]", True),
        ("ignore[TL102, some-name]", True),
        ("ignore[some]", False),
        ("ignore[some-names]", False),
        ("ignore[TL101,]", True),
        ("ignore[TL101] -- why", True),
        ("ignore[TL101]  # why", True),
        ("ignore[TL102] -- TL101", False),
        ("ignore[TL102]  # TL101", False),
        ("ignore -- why", True),
        ("ignore TL101", True),
        ("ignore TL102", False),
        ("ignore: TL101, TL102", True),
        ("ignore: because", False),
        ("ignore[TL101 # ]", False),
        ("ignores[TL101]", False),
        ("file-ignore[TL101]", False),
    ],
)
def test_names_and_reasons(comment: str, is_covered: bool) -> None:
    found = parse(f"y += 1  # tapelint: {comment}\n").suppressions
    assert found.covers("TL101", 1, "some-name") == is_covered


def test_names_are_not_for_noqa() -> None:
    assert not parse("y += 1  # noqa: some-name\n").suppressions.covers("TL101", 1, "some-name")


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


NEXT = {
    "the next row": ("a = 1\n# tapelint: ignore-next-line\ny += 1\nb = 1\n", [2, 3]),
    "from the end of a row": ("a = 1  # tapelint: ignore-next-line[TL101]\ny += 1\nb = 1\n", [2]),
    "all rows of the next statement": ("a = 1  # tapelint: ignore-next-line\ny = f(\n  b,\n)\nc = 1\n", [2, 3, 4]),
    "blank rows between": ("a = 1  # tapelint: ignore-next-line\n\n# why\ny += 1\nb = 1\n", [2, 3, 4]),
    "within brackets": ("y = f(\n    # tapelint: ignore-next-line\n    b,\n)\nc = 1\n", [1, 2, 3, 4]),
    "after the last bracket": ("y = f(\n    b,\n)  # tapelint: ignore-next-line\nc = 1\nd = 1\n", [4]),
    "beside a decorator": ("@f  # tapelint: ignore-next-line\n@g\ndef h():\n    a = 1\n", [2, 3]),
    "beside a header": ("for x in y:  # tapelint: ignore-next-line\n    a = 1\n    b = 1\n", [2]),
    "out of a block": ("if a:\n    b = 1  # tapelint: ignore-next-line\nc = 1\nd = 1\n", [3]),
    "nothing below": ("a = 1  # tapelint: ignore-next-line\n", []),
    "two in a row": (
        "a = 1  # tapelint: ignore-next-line\nb = 1  # tapelint: ignore-next-line\nc = 1\nd = 1\n",
        [2, 3],
    ),
}


@pytest.mark.parametrize(("text", "rows"), NEXT.values(), ids=NEXT.keys())
def test_the_next_line(text: str, rows: list[int]) -> None:
    assert covered(text) == rows


ON, OFF = "# tapelint: disable[TL101]", "# tapelint: enable[TL101]"
BOTH = "# tapelint: disable[TL101, TL102]"
RANGES = {
    "pair": (f"a = 1\n{ON}\nb = 1\n{OFF}\nc = 1\n", [2, 3, 4]),
    "to the end of the file": (f"a = 1\n{ON}\nb = 1\nc = 1", [2, 3, 4]),
    "to the end of the block": (f"def f():\n  {ON}\n  a = 1\n  if a:\n    b = 1\n  c = 1\nd = 1\n", [2, 3, 4, 5, 6]),
    "over blocks": (f"{ON}\ndef f():\n    a = 1\n{OFF}\nf()\n", [1, 2, 3, 4]),
    "another order": (f"{BOTH}\na = 1\n# tapelint: enable[TL102, TL101]\nb = 1", [1, 2, 3, 4]),
    "another list": (f"{ON}\na = 1\n# tapelint: enable[TL102]\nb = 1\n{OFF}\nc = 1", [1, 2, 3, 4, 5]),
    "part of a list": (f"{BOTH}\na = 1\n{OFF}\nb = 1", [1, 2, 3, 4]),
    "small letters": (f"{ON}\na = 1\n# tapelint: enable[tl101]\nb = 1", [1, 2, 3]),
    "another indentation": (f"{ON}\nif a:\n    {OFF}\n    b = 1\nc = 1", [1, 2, 3, 4, 5]),
    "nested": (f"{ON}\nif a:\n    {ON}\n    b = 1\n    {OFF}\n    c = 1\n{OFF}\nd = 1", [1, 2, 3, 4, 5, 6, 7]),
    "nested in one block": (f"{ON}\n{ON}\na = 1\n{OFF}\nb = 1\n{OFF}\nc = 1", [1, 2, 3, 4, 5, 6]),
    "above the first statement of a block": (f"def f():\n    {ON}\n    a = 1\n    {OFF}\n    b = 1\n", [2, 3, 4]),
    "at the indentation of the header": (f"def f():\n{ON}\n    a = 1\nb = 1\n{OFF}\nc = 1", [2, 3, 4, 5]),
    "at the end of a block": (f"def f():\n    {ON}\n    a = 1\n    {OFF}\nb = 1\n", [2, 3, 4]),
    "beside code": (f"a = 1  {ON}\nb = 1\n", []),
    "after another comment": (f"# why {ON}\nb = 1\n", []),
    "no codes": ("# tapelint: disable\nb = 1\n", []),
    "empty": ("# tapelint: disable[]\nb = 1\n", []),
    "odd indentation": (f"if a:\n    b = 1\n  {ON}\n    c = 1\n", []),
    "in a string": (f"x = '''\n{ON}\n'''\nb = 1\n", []),
    "within a statement": (f"x = f(\n{ON}\n    a,\n)\nb = 1\n{OFF}\nc = 1\n", [2, 3, 4, 5, 6]),
    "tabs": (f"if a:\n\t{ON}\n\tb = 1\n\t{OFF}\n\tc = 1\n", [2, 3, 4]),
    "tabs and spaces are not the same": (f"if a:\n\t{ON}\n\tb = 1\n        {OFF}\n\tc = 1\n", [2, 3, 4, 5]),
    "form feed": (f"\f{ON}\na = 1\n{OFF}\nb = 1\n", [1, 2, 3]),
    "byte order mark": (f"\ufeff{ON}\na = 1\n{OFF}\nb = 1\n", [1, 2, 3]),
    "as on Windows": (f"{ON}\r\na = 1\r\n{OFF}\r\nb = 1\r\n", [1, 2, 3]),
    "decorators": (f"{ON}\n@f\n@g\ndef h():\n    a = 1\n{OFF}\nb = 1\n", [1, 2, 3, 4, 5, 6]),
    "beside a header": (f"if a: {ON}\n    b = 1\n", []),
    "several blocks end at once": (f"if a:\n    if b:\n        {ON}\n        c = 1\nd = 1\n", [3, 4]),
    "an else between": (f"if a:\n    {ON}\n    b = 1\nelse:\n    c = 1\n    {OFF}\n", [2, 3]),
    "a backslash": (f"{ON}\na = 1 + \\\n    2\n{OFF}\nb = 1\n", [1, 2, 3, 4]),
    "only comments": (f"{ON}\n{OFF}\n", [1, 2]),
    "a reason": (f"{ON} -- why\na = 1\n{OFF} # so\nb = 1\n", [1, 2, 3]),
}


@pytest.mark.parametrize(("text", "rows"), RANGES.values(), ids=RANGES.keys())
def test_ranges(text: str, rows: list[int]) -> None:
    assert [row for row in covered(text) if row <= len(text.splitlines())] == rows


FLAWS = {
    "unmatched enable": (f"a = 1\n{OFF}\n", ["UNMATCHED_ENABLE"]),
    "unmatched disable": (f"{ON}\na = 1\n", ["UNMATCHED_DISABLE"]),
    "pair": (f"{ON}\na = 1\n{OFF}\n", []),
    "enable above disable": (f"{OFF}\na = 1\n{ON}\n", ["UNMATCHED_ENABLE", "UNMATCHED_DISABLE"]),
    "beside code": (f"a = 1  {ON}\nb = 1  {OFF}\n", ["BESIDE_CODE", "BESIDE_CODE"]),
    "indentation": (f"if a:\n    b = 1\n  {ON}\n    c = 1\n", ["INDENTATION"]),
    "at the end of the file, indented": (f"a = 1\n  {ON}\n", ["INDENTATION"]),
    "no codes": ("a = 1  # tapelint: ignore[]\n# tapelint: disable\n", ["NO_CODES", "NO_CODES"]),
    "no bracket": ("a = 1  # tapelint: ignore[TL101\n", ["NOT_CLOSED"]),
    "without brackets": ("a = 1  # tapelint: ignore TL101\nb = 1  # tapelint: ignore: x\n", ["NOT_IN_BRACKETS"] * 2),
    "unknown": ("a = 1  # tapelint: file-ignore[TL101]\nb = 1  # tapelint: off\n", ["UNKNOWN_FORM"] * 2),
    "sentences": ("# tapelint: nothing to see\n# tapelint: see docs\n# on tapelint: x\n# tapelint is fine\n", []),
}


@pytest.mark.parametrize(("text", "flaws"), FLAWS.values(), ids=FLAWS.keys())
def test_flaws(text: str, flaws: list[str]) -> None:
    assert [each.flaw.name for each in parse(text).suppressions.flawed] == flaws


def test_a_range_ends_with_its_cell() -> None:
    book = joined([(1, f"a = 1\n{ON}\nb = 1\n"), (2, f"y += 1\n{OFF}\nz = 1\n")])
    found = parse(book.text, "a.ipynb", book.cells).suppressions
    assert [row for row in range(1, 7) if found.covers("TL101", row)] == [2, 3]
    assert [each.flaw.name for each in found.flawed] == ["UNMATCHED_DISABLE", "UNMATCHED_ENABLE"]


def test_a_bracket_that_a_cell_leaves_open_does_not_reach_the_next() -> None:
    book = joined([(1, "a = f(\n"), (2, "y += 1  # tapelint: ignore\nz = 1\n")])
    found = parse(book.text, "a.ipynb", book.cells).suppressions
    assert [row for row in range(1, 4) if found.covers("TL101", row)] == [2]


CODE = ["a = 1", "if a:", "    b = 1", "        c = 1", "", "x = f(", "    y,", ")", "'''", "\\", "\t", "\f", "@f"]
WORDS = ["disable[TL101]", "enable[TL101]"]
MARKS = [f"{space}# tapelint: {word}" for space in ("", "  ", "    ", "\t") for word in WORDS]
OTHERS = ["a = 1  # tapelint: ignore-next-line", "# tapelint: ignore[x", "# noqa", "#", "# tapelint:", "\ufeff"]


@given(st.lists(st.sampled_from(CODE + MARKS + OTHERS), max_size=12), st.sampled_from(["\n", "\r\n", "\r"]))
def test_every_text_has_suppressions(pieces: list[str], end: str) -> None:
    """No range ends above its beginning, and each end is used once or reported."""
    source = parse(end.join(pieces))
    found = source.suppressions
    assert all(1 <= entry.first and entry.last <= len(source.lines) for entry in found.entries)
    pairs = [(entry.span, entry.end.span) for entry in found.entries if entry.end is not None]
    assert len({last for _, last in pairs}) == len(pairs) and all(first < last for first, last in pairs)
    assert not {span for pair in pairs for span in pair} & {each.says.span for each in found.flawed}
