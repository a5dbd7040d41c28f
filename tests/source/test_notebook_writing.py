"""Other code in the cells of a notebook: everything else stays as it is, byte for byte."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapelint.source import Cell, notebook
from tapelint.source.notebook_writing import with_code

NBFORMAT = """\
{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "a1",
   "metadata": {},
   "source": [
    "# Ein Bild ☺\\n"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 3,
   "id": "b2",
   "metadata": {"scrolled": true,   "n": 1.50e3},
   "outputs": [{"output_type": "stream", "text": ["\\u00e9 \\"source\\": []"]}],
   "source": [
    "x = 'ü'\\n",
    "y = 1"
   ]
  },
  {
   "cell_type": "code", "id": "c3", "metadata": {}, "outputs": [], "source": "z = 2\\n"
  }
 ],
 "metadata": {},
 "nbformat": 4, "nbformat_minor": 5
}
"""


def changed(file: str, *rows: str) -> str:
    """The notebook with other rows in its cells, as many as they have."""
    return with_code(file, "".join(f"{row}\n" for row in rows), notebook(file).cells)


def test_the_same_code_changes_nothing() -> None:
    book = notebook(NBFORMAT)
    assert with_code(NBFORMAT, book.text, book.cells) == NBFORMAT


def test_only_the_rows_of_the_changed_cell_differ() -> None:
    after = changed(NBFORMAT, "x = 'ü'", "y = 'é'", "z = 2")
    expected = NBFORMAT.replace('"y = 1"', "\"y = 'é'\"")
    assert after == expected


def test_a_source_that_is_a_string_stays_one() -> None:
    assert changed(NBFORMAT, "x = 'ü'", "y = 1", "z = 3") == NBFORMAT.replace('"z = 2\\n"', '"z = 3\\n"')


def test_a_cell_may_grow_and_shrink() -> None:
    cells = (Cell(2, 1, 3), Cell(3, 4, 0))
    after = with_code(NBFORMAT, "a\nb\nc\n", cells)
    assert '   "source": [\n    "a\\n",\n    "b\\n",\n    "c"\n   ]\n' in after
    assert after.endswith(NBFORMAT[NBFORMAT.index(' "metadata": {},\n "nbformat"') :])


@pytest.mark.parametrize("layout", [{"indent": 1}, {"indent": None}, {"separators": (",", ":")}, {"indent": "\t"}])
@pytest.mark.parametrize("is_ascii", [True, False])
def test_the_layout_of_the_file_stays(layout: dict[str, object], is_ascii: bool) -> None:
    def written(last: str) -> str:
        book = json.loads(NBFORMAT)
        book["cells"][1]["source"] = ["x = 'ü'\n", last]
        return json.dumps(book, ensure_ascii=is_ascii, **layout)  # type: ignore[arg-type]

    assert changed(written("y = 1"), "x = 'ü'", "y = 2", "z = 2") == written("y = 2")


def test_worksheets_of_old_versions() -> None:
    cells = [{"cell_type": "code", "input": ["a\n", "b"], "language": "python"}]
    file = json.dumps({"worksheets": [{"cells": cells}], "nbformat": 3})
    assert changed(file, "a", "c") == file.replace('"b"', '"c"')


TEXT = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=5).filter(str.strip)
SOURCES = st.lists(st.lists(TEXT, min_size=1, max_size=4), min_size=1, max_size=4)


@given(SOURCES, SOURCES, st.sampled_from([None, 1, 4]), st.booleans())
def test_what_is_written_is_read_back(
    before: list[list[str]], after: list[list[str]], indent: int | None, is_list: bool
) -> None:
    def source(rows: list[str]) -> object:
        return [*(f"{row}\n" for row in rows[:-1]), rows[-1]] if is_list else "\n".join(rows)

    after = [*after, *before][: len(before)]
    cells = [{"cell_type": "code", "outputs": [{"source": ["no"]}], "source": source(rows)} for rows in before]
    file = json.dumps({"metadata": {"cells": [1]}, "cells": cells}, indent=indent)
    first, own = 1, []
    for number, rows in enumerate(after, 1):
        own.append(Cell(number, first, len(rows)))
        first += len(rows)
    code = "".join(f"{row}\n" for rows in after for row in rows)
    written = with_code(file, code, own)
    assert notebook(written).text == code
    assert json.loads(written)["metadata"] == {"cells": [1]}
