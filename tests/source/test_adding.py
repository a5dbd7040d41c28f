"""Where comments are put that were not there."""

from __future__ import annotations

import pytest

from tapelint.source import apply, joined, parse
from tapelint.source.suppression.adding import ignore_here, ignore_in_file

COMMENT = "# tapelint: ignore-file[TL201]"
TOPS = {
    "empty": ("", f"{COMMENT}\n"),
    "byte order mark": ("\ufeffa = 1\n", f"\ufeff{COMMENT}\na = 1\n"),
    "shebang alone": ("#!/x", f"#!/x\n{COMMENT}"),
    "encoding in the second row": ("# a\n# vim: set fileencoding=utf-8 :\na = 1\n", None),
    "docstring without an end": ('"""a"""', f'"""a"""\n{COMMENT}'),
    "docstring in brackets": ('(\n"a"\n)\nb = 1\n', f'(\n"a"\n)\n{COMMENT}\nb = 1\n'),
    "docstring over a backslash": ('"a" \\\n  "b"\nc = 1\n', f'"a" \\\n  "b"\n{COMMENT}\nc = 1\n'),
    "a future import": ("from __future__ import annotations\n", f"{COMMENT}\nfrom __future__ import annotations\n"),
    "carriage returns": ("#!/x\ra = 1\r", f"#!/x\r{COMMENT}\ra = 1\r"),
    "form feed": ("\fa = 1\n", f"{COMMENT}\n\fa = 1\n"),
    "another list": ("# tapelint: ignore-file[TL102,] why\n", "# tapelint: ignore-file[TL102, TL201,] why\n"),
}


@pytest.mark.parametrize(("text", "after"), TOPS.values(), ids=TOPS.keys())
def test_a_comment_for_the_file(text: str, after: str | None) -> None:
    edit = ignore_in_file(parse(text), "TL201")
    assert edit is not None
    made = apply(text, [edit])
    assert made == (after or text.replace("a = 1", f"{COMMENT}\na = 1"))
    assert parse(made).suppressions.covers("TL201", 1)


def test_nothing_is_added_where_all_is_ignored() -> None:
    assert ignore_in_file(parse("# tapelint: ignore-file\n"), "TL201") is None


def test_a_comment_for_a_notebook_spares_magics() -> None:
    book = joined([(1, "%%bash\nls"), (3, "%%time\na = 1"), (4, "b = 1")])
    edit = ignore_in_file(parse(book.text, "a.ipynb", book.cells), "TL201")
    assert edit is not None and (edit.span.row, edit.content) == (5, f"{COMMENT}\n")


LONGER = {
    "a range stays as it is": (
        "# tapelint: disable[TL102]\na = 1\n# tapelint: enable[TL102]\n",
        "# tapelint: disable[TL102]\na = 1  # tapelint: ignore[TL201]\n# tapelint: enable[TL102]\n",
    ),
    "the line before": (
        "b = 1  # tapelint: ignore-next-line[TL102]\na = 1\n",
        "b = 1  # tapelint: ignore-next-line[TL102, TL201]\na = 1\n",
    ),
    "without brackets": (
        "a = 1  # tapelint: ignore TL102\n",
        "a = 1  # tapelint: ignore TL102  # tapelint: ignore[TL201]\n",
    ),
    "names": ("a = 1  # tapelint: ignore[some-name]\n", "a = 1  # tapelint: ignore[some-name, TL201]\n"),
    "a comma at the end": ("a = 1  # tapelint: ignore[TL102 , ] x\n", "a = 1  # tapelint: ignore[TL102, TL201 , ] x\n"),
    "not closed": ("a = 1  # tapelint: ignore[TL102\n", "a = 1  # tapelint: ignore[TL102  # tapelint: ignore[TL201]\n"),
}


@pytest.mark.parametrize(("text", "after"), LONGER.values(), ids=LONGER.keys())
def test_comments_that_are_there(text: str, after: str) -> None:
    row = next(row for row, line in enumerate(text.split("\n"), 1) if line.startswith("a = 1"))
    edit = ignore_here(parse(text), "TL201", row)
    assert edit is not None
    made = apply(text, [edit])
    assert made == after and parse(made).suppressions.covers("TL201", row)
