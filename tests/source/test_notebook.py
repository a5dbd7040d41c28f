"""Notebooks become one program, cell by cell and row for row; IPython's own syntax becomes Python in its place."""

from __future__ import annotations

import ast
import json

import pytest

from tapelint.source import Cell, Edit, SourceError, Span, apply, cell_at, joined, moved, notebook, parse
from tapelint.source.magics import without_magics


def code(source: object, **more: object) -> dict[str, object]:
    return {"cell_type": "code", "source": source, "metadata": {}, "outputs": [], **more}


def book(*cells: object, **more: object) -> str:
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells, **more})


def magic(text: str) -> str:
    """What Python is given for one cell with this text."""
    program = joined([(1, text)])
    return without_magics(program.text, program.cells).removesuffix("\n")


def test_the_code_cells_are_one_program() -> None:
    text = {"cell_type": "markdown", "source": "# Title"}
    raw = {"cell_type": "raw", "source": "x = ("}
    found = notebook(book(text, code(["a = 1\n", "b = 2"]), raw, code(""), code("c = a\n\n"), code(" \n")))
    assert found.text == "a = 1\nb = 2\nc = a\n\n"
    assert found.cells == (Cell(2, 1, 2), Cell(5, 3, 2))


def test_notebooks_of_format_3() -> None:
    cells = [{"cell_type": "code", "language": "python", "input": ["a = 1\n"]}, {"cell_type": "heading", "source": "x"}]
    text = json.dumps({"nbformat": 3, "metadata": {"name": ""}, "worksheets": [{"cells": cells}]})
    assert notebook(text).text == "a = 1\n"


def test_cells_in_other_languages_are_left_out() -> None:
    other = {"vscode": {"languageId": "sql"}}
    assert notebook(book(code("select 1", metadata=other), code("a = 1"))).cells == (Cell(2, 1, 1),)
    with pytest.raises(SourceError, match="a notebook of julia, not of Python"):
        notebook(book(code("a = 1"), metadata={"language_info": {"name": "julia"}}))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not a notebook: Expecting value at 1:1"),
        ('{\n"cells": [}', "not a notebook: Expecting value at 2:11"),
        ("[]", "a JSON object is expected"),
        ("{}", "it has no list of cells"),
        ('{"cells": 3}', "it has no list of cells"),
        ("[" * 100_000, "its JSON cannot be read"),
    ],
)
def test_invalid_notebooks_are_refused_with_the_reason(text: str, words: str) -> None:
    with pytest.raises(SourceError, match=words):
        notebook(text)


@pytest.mark.parametrize("cell", [3, None, {}, {"cell_type": "code"}, code(None), code([1, None]), code(7)])
def test_odd_cells_are_skipped(cell: object) -> None:
    assert notebook(book(cell, code("a = 1"))).text == "a = 1\n"


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        ("%matplotlib inline\na = 1", "pass\na = 1"),
        ("!pip install 'x\na = 1", "pass\na = 1"),
        (" ! pip install x\na = 1", "pass\na = 1"),
        ("\n    %matplotlib inline", "\npass"),
        ("\t?torch\n\na = 1", "pass\n\na = 1"),
        ("if a:\n    !ls {a}\nb = 2", "if a:\n    pass\nb = 2"),
        ("!pip install a \\\n  b\na = 1", "pass\n\na = 1"),
        ("files = !ls\nf, g = %sx ls", "files = get_ipython()\nf, g = get_ipython()"),
        ("%time y = f(x)", "if 1: y = f(x)"),
        ("    %time y = f(x)", "    if 1: y = f(x)"),
        ("y = %time f(x)", "y =       f(x)"),
        ("%timeit f(x)\n%time\n%time for a in b: c", "pass\npass\npass"),
        ("torch.nn?\n?torch\ntorch.*Err*?\n%time??", "pass\npass\npass\npass"),
        ("%%time\ny = 1\n%matplotlib inline", "pass\ny = 1\npass"),
        ("%%bash\nls | wc\n\necho", "\n\n\n"),
        ("\n%%writefile a.py\nx = 1", "\n\n"),
        ("a = (b\n% c)\nd = '''\n%e\n!f?\n'''", "a = (b\n% c)\nd = '''\n%e\n!f?\n'''"),
        ("a = b \\\n% c", "a = b \\\n% c"),
        ("# what?\na = 5 % 3; b = a != 3", "# what?\na = 5 % 3; b = a != 3"),
    ],
)
def test_magics_are_replaced_in_place(cell: str, python: str) -> None:
    assert magic(cell) == python
    ast.parse(magic(cell).replace("    if 1: y", "if 1: y"))


def test_an_open_bracket_hides_magics_of_its_own_cell_only() -> None:
    program = joined([(1, "a = (\n%ls"), (2, "%ls\nb = 1")])
    assert without_magics(program.text, program.cells) == "a = (\n%ls\npass\nb = 1\n"


def test_a_magic_with_a_quote_hides_nothing_below() -> None:
    program = joined([(1, "!echo '''it's\nx = 1  # tapelint: ignore[TL101]")])
    source = parse(program.text, "a.ipynb", program.cells)
    assert not source.problems and source.suppressions.covers("TL101", 2)
    assert source.lines[0] == "!echo '''it's"


def test_rows_map_to_cells_after_edits() -> None:
    program = joined([(1, "a = 1\nb = 2"), (4, "c = 3")])
    assert [cell_at(program.cells, row).number for row in (1, 2, 3, 9)] == [1, 1, 4, 4]
    assert program.cells[1].own(Span(3, 1, 3, 6)) == Span(1, 1, 1, 6)
    edits = (Edit(Span(1, 1, 1, 1), "z = 0\nz = 1\n"), Edit(Span(3, 1, 4, 1), ""))
    assert apply(program.text, edits) == "z = 0\nz = 1\na = 1\nb = 2\n"
    assert moved(program.cells, edits) == (Cell(1, 1, 4), Cell(4, 5, 0))
