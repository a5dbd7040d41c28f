"""The server's small parts on their own: rows and positions, where a comment may stand, what fits together."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from tapelint.analysis.fix_all import compatible
from tapelint.lsp.client_capabilities import ClientCapabilities
from tapelint.lsp.convert.diagnostics import Translator
from tapelint.lsp.convert.positions import LineIndex, code_points, split, units
from tapelint.lsp.documents import Snapshot
from tapelint.lsp.handlers.hover_request import plain
from tapelint.lsp.settings import SETTINGS, Settings, Shown
from tapelint.lsp.transport.framing import bodies
from tapelint.report.diagnostic import Diagnostic, Fix
from tapelint.severity import Severity
from tapelint.source import Edit, Span, apply, line_starts, parse
from tapelint.source.suppression.adding import ignore_here
from tapelint.workspace import Resolver
from tapelint.workspace.keys import SEVERITIES

ENCODINGS = ("utf-8", "utf-16", "utf-32")
TEXTS = st.text(st.sampled_from("ab\r\n\x0c\x1c\x85\u2028\u00e9\u4e2d\U0001f600\ud800"), max_size=12)


@given(TEXTS)
def test_line_ends(text: str):
    rows = split(text)
    assert "".join(rows) == text
    assert len(rows) == len(line_starts(text))


@given(TEXTS, TEXTS, st.data())
def test_incremental_text_edits(text: str, content: str, data: st.DataObject):
    rows = LineIndex(text)
    places = []
    for _ in range(2):
        row = data.draw(st.integers(1, len(rows)))
        places.append((row, data.draw(st.integers(1, len(rows.row(row)) + 1))))
    (row, column), (end_row, end_column) = sorted(places)
    span = Span(row, column, end_row, end_column)
    expected = apply(text, [Edit(span, content)])
    rows.replace(span, content)
    assert rows.text == expected and list(rows.with_endings()) == split(expected)


@given(TEXTS, st.sampled_from(ENCODINGS), st.integers(0, 40), st.integers(0, 60))
def test_positions_round_trip(text: str, encoding: str, line: int, character: int):
    rows, position = LineIndex(text), types.Position(line, character)
    row, column = rows.place(position, encoding)
    assert position == types.Position(line, character), "what the client sent is not changed"
    assert 1 <= row <= len(rows) and 1 <= column <= len(rows.row(row)) + 1
    assert rows.place(rows.position(row, column, encoding), encoding) == (row, column)


@pytest.mark.parametrize("encoding, width", list(zip(ENCODINGS, (4, 2, 1))))
def test_a_position_inside_a_character_is_its_start(encoding: str, width: int):
    assert units("\U0001f600", encoding) == width
    assert [code_points("\U0001f600b", count, encoding) for count in range(width + 2)] == [0] * width + [1, 2]


CODE = "TL201"
IGNORED = {
    "a plain line": ("x = 1\ny = 2\n", 1, "x = 1  # tapelint: ignore[TL201]\ny = 2\n"),
    "trailing blanks": ("x = 1   \n", 1, "x = 1  # tapelint: ignore[TL201]\n"),
    "CRLF": ("x = 1\r\ny\r\n", 1, "x = 1  # tapelint: ignore[TL201]\r\ny\r\n"),
    "no end": ("x = 1", 1, "x = 1  # tapelint: ignore[TL201]"),
    "a comment": ("x = 1  # why\n", 1, "x = 1  # why  # tapelint: ignore[TL201]\n"),
    "another code": (
        "x = 1  # tapelint: ignore[TL102] why\n",
        1,
        "x = 1  # tapelint: ignore[TL102, TL201] why\n",
    ),
    "another code above": (
        "# tapelint: ignore[TL102]\nx = 1\n",
        2,
        "# tapelint: ignore[TL102, TL201]\nx = 1\n",
    ),
    "another code above, as other tools write it": (
        "# noqa: TL102\nx = 1\n",
        2,
        "# noqa: TL102\nx = 1  # tapelint: ignore[TL201]\n",
    ),
    "a comment above": ("# why\nx = 1\n", 2, "# why\nx = 1  # tapelint: ignore[TL201]\n"),
    "another code below": (
        "f(a,\n  b)  # tapelint: ignore[TL102]\n",
        1,
        "f(a,\n  b)  # tapelint: ignore[TL102, TL201]\n",
    ),
    "a call over rows": ("f(a,\n  b)\n", 1, "f(a,  # tapelint: ignore[TL201]\n  b)\n"),
    "a backslash": ("x = a + \\\n  b\n", 1, "x = a + \\\n  b  # tapelint: ignore[TL201]\n"),
    "a backslash at the end": ("x = a \\\n", 1, None),
    "a long string": ('x = f("""a\nb""")\n', 1, 'x = f("""a\nb""")  # tapelint: ignore[TL201]\n'),
    "a string that looks like one": ("x = '# no'\n", 1, "x = '# no'  # tapelint: ignore[TL201]\n"),
    "a header": ("for x in (\n  y\n):\n  z\n", 2, "for x in (\n  y  # tapelint: ignore[TL201]\n):\n  z\n"),
    "inside a function": (
        "def f():\n  '''\n  a'''\n  g()\n",
        4,
        "def f():\n  '''\n  a'''\n  g()  # tapelint: ignore[TL201]\n",
    ),
    "an else": ("if x:\n  y\nelse:\n  z\n", 4, "if x:\n  y\nelse:\n  z  # tapelint: ignore[TL201]\n"),
    "one of several on a row": ("x = 1; y = 2\n", 1, "x = 1; y = 2  # tapelint: ignore[TL201]\n"),
    "outside": ("x = 1\n", 9, None),
}


@pytest.mark.parametrize("text, row, expected", IGNORED.values(), ids=IGNORED.keys())
def test_where_a_suppression_comment_is_inserted(text: str, row: int, expected: str | None):
    edit = ignore_here(parse(text), CODE, row)
    if expected is None:
        assert edit is None
        return
    changed = apply(text, [edit])
    assert changed == expected
    after = parse(changed)
    assert not after.problems and after.suppressions.covers(CODE, row)


@given(
    st.lists(
        st.sampled_from(["x = f(\n", ")\n", "'''", '"', "# c\n", "a\n", "  b \\\n", "if a:\n", "\r", "+"]), max_size=8
    )
)
def test_inserted_suppressions_keep_the_syntax(pieces: list[str]):
    text = "".join(pieces)
    before = parse(text)
    if before.problems:
        return
    for row in range(1, len(before.lines) + 1):
        edit = ignore_here(before, CODE, row)
        if edit is not None and before.lines[row - 1].strip():
            after = parse(apply(text, [edit]))
            assert not after.problems and after.suppressions.covers(CODE, row), (text, row)


def fix(*edits: Edit) -> Fix:
    return Fix("", "safe", True, edits)


def test_adjacent_fixes_are_not_combined():
    one, same = fix(Edit(Span(1, 3, 1, 5), "a")), fix(Edit(Span(1, 5, 1, 5), "b"))
    far = fix(Edit(Span(2, 1, 2, 1), "c"))
    assert compatible([one, same, far, far]) == [one, far]


def test_bodies_are_cut_out_of_a_stream():
    stream = b"Content-Length: 2\r\n\r\n{}noise\r\n\r\nContent-Type: x\r\ncontent-length:3\r\n\r\n[1]"
    assert [*bodies(BytesIO(stream + b"Content-Length: 9\r\n\r\n[1, "))] == [b"{}", b"[1]"]


def test_markdown_to_plain_text():
    assert plain("**`y`**\n\n```python\ny += 1\n```\n[why](https://x.org)") == "y\n\ny += 1\nwhy (https://x.org)"


@pytest.mark.parametrize("url", [None, "https://example.org/TL201"])
def test_only_a_rule_that_has_a_page_has_a_link(url: str | None):
    translator = Translator(
        Snapshot("file:///a.py", "/a.py", 1, "y\n"), LineIndex("y\n"), ClientCapabilities(shows_links=True), {}
    )
    finding = Diagnostic(CODE, "saved-tensor-modified", Severity.ERROR, "m", "/a.py", Span(1, 1, 1, 2), url=url)
    link = translator.translate(finding, 0).code_description
    assert (link.href if link else None) == url


def test_client_settings_match_the_server() -> None:
    """The settings of a configuration are those that package.json contributes, besides the client's own."""
    package = json.loads((Path(__file__).resolve().parents[2] / "package.json").read_text(encoding="utf-8"))
    contributed = package["contributes"]["configuration"]["properties"]
    offered = {name.removeprefix("tapelint.") for name in contributed}
    shown = {".".join(each.value) for each in Shown}
    own = {"enable", "run", "diagnosticMode", "interpreter", "importStrategy", "storyMode", "trace.server"}
    own |= {"configuration", "showNotifications"}
    assert offered == {*SETTINGS, *shown, *own}
    ordered = sorted(offered, key=lambda name: contributed[f"tapelint.{name}"]["order"])
    first = ["enable", "run", "diagnosticMode", "select", "extendSelect", "ignore", "severities", "exclude"]
    assert ordered[: len(first)] == first
    assert [each for each in ordered if each not in shown][-1] == "trace.server", "without an order: by the alphabet"
    severities = contributed["tapelint.severities"]
    assert tuple(severities["additionalProperties"]["enum"]) == tuple(SEVERITIES)


def test_editor_settings_override_the_project(tmp_path: Path) -> None:
    (tmp_path / "tapelint.toml").write_text('select = ["TL1"]\nignore = ["TL101"]\nseverities = { TL1 = "hint" }\n')
    settings = Settings.from_client(
        {"select": [], "extendSelect": ["TL2", 3], "ignore": ["TL103"], "severities": {"TL1": "error", "TL2": 1}}
    )
    config, complaint = settings.config(str(tmp_path / "a.py"))
    assert complaint is None
    assert [code for code in ("TL101", "TL102", "TL103", "TL201", "TL301") if config.wants(code)] == ["TL102", "TL201"]
    assert config.grade("TL102", Severity.WARNING, "a.py") is Severity.ERROR
    _, complaint = Settings.from_client({"severities": {"TL1": "loud"}}).config(None)
    assert complaint and "TL1 cannot be 'loud'" in complaint


def test_an_editor_names_a_configuration_and_excludes_files(tmp_path: Path) -> None:
    """The patterns of both are below the workspace folder; the files of the project do not count then."""
    (tmp_path / "pyproject.toml").write_text('[tool.tapelint]\nignore = ["TL2"]\n')
    (tmp_path / "ci").mkdir()
    (tmp_path / "ci" / "strict.toml").write_text('ignore = ["TL1"]\nexclude = ["generated"]\n')
    chosen = {"configuration": "ci/strict.toml", "exclude": ["old/*.py"]}
    settings, others = Settings.from_client(chosen, str(tmp_path)), Settings.from_client({}, str(tmp_path))
    config, complaint = settings.config(str(tmp_path / "a.py"))
    assert complaint is None and config.wants("TL201") and not config.wants("TL101")
    assert [config.excludes(str(tmp_path / each)) for each in ("generated/a.py", "old/a.py", "a.py")] == [1, 1, 0]
    resolver, main = Resolver([str(tmp_path)]), str(tmp_path / "main.py")
    assert [each.checks(str(tmp_path / "old" / "a.py"), resolver, main) for each in (settings, others)] == [False, True]
    _, complaint = Settings.from_client({"configuration": "none.toml"}, str(tmp_path)).config(main)
    assert complaint and f"there is no file {tmp_path / 'none.toml'}" in complaint
