"""Taking comments away, or putting them right, changes nothing but these comments."""

from __future__ import annotations

import ast

from hypothesis import given
from hypothesis import strategies as st

from tapelint.rules import FileSummary, all_rules
from tapelint.rules.support.comments import without
from tapelint.rules.suppressions.tl902_unknown_suppression import flaws
from tapelint.source import Source, apply, joined, parse

NAMES = {rule.code: rule.name for rule in all_rules()}
LISTS = st.lists(st.sampled_from(["TL201", "TL101", "tl303", "saved-tensor-modified", "X1"]), max_size=4)
FORMS = st.sampled_from(["ignore", "ignore-next-line", "ignore-file", "disable", "enable", "ignored", "off", "noqa"])
SHAPES = ["# tapelint: {}[{}]", "#tapelint:{}[ {} ]", "# tapelint: {} {}", "# tapelint: {}[{}"]
REASONS = st.sampled_from(["", " why", " -- why", "  # why", "  # noqa: E501", "   "])
BEFORE = st.sampled_from(["", "a = 1  ", "if a:\n    b = 1  ", "x = f(  ", "# why  ", "\f", "\t", "é = '#'  "])
AFTER = st.sampled_from(["\n", "\nc = 1\n", "\n)\n", "\n    d = 1\n", "", "\r\ne = 1\r\n", "\n'''\n"])


@st.composite
def comments(draw: st.DrawFn) -> str:
    form, separator = draw(FORMS), draw(st.sampled_from([", ", ",", " , ", " "]))
    words = separator.join(draw(LISTS))
    shape = draw(
        st.sampled_from(["# tapelint: {}[{}]", "#tapelint:{}[ {} ]", "# tapelint: {} {}", "# tapelint: {}[{}"])
    )
    return draw(BEFORE) + shape.format(form, words) + draw(REASONS) + draw(AFTER)


TEXTS = st.lists(comments(), min_size=1, max_size=4).map("".join)


def summary(source: Source) -> FileSummary:
    seen = frozenset((code, row) for code in NAMES for row in range(1, len(source.lines) + 1))
    return FileSummary(source, seen, frozenset(NAMES), NAMES, lambda: True)


@given(TEXTS, st.data())
def test_removal_changes_only_the_comment(text: str, data: st.DataObject) -> None:
    before = parse(text)
    if before.problems or before.is_skipped or not before.suppressions.entries:
        return
    entry = data.draw(st.sampled_from(before.suppressions.entries))
    listed = entry.says.listed or ()
    words = data.draw(st.lists(st.sampled_from(listed), unique=True, min_size=1)) if listed else ()
    after = parse(apply(text, without(before, entry, words)))
    assert not after.problems and ast.dump(after.tree) == ast.dump(before.tree)
    kept = [word.text for word in listed if word not in words]
    rest = [each for each in after.suppressions.entries if [w.text for w in each.says.listed or ()] == kept]
    assert rest or not kept
    assert len(after.suppressions.entries) == len(before.suppressions.entries) - (not kept)


@given(TEXTS)
def test_flaws_are_put_right_without_touching_the_program(text: str) -> None:
    before = parse(text)
    if before.problems or before.is_skipped:
        return
    for finding in flaws(summary(before)):
        assert len(finding.message) <= 100 and finding.title
        after = parse(apply(text, finding.edits))
        assert not after.problems and ast.dump(after.tree) == ast.dump(before.tree), finding.title
        assert own_flaws(after) <= own_flaws(before), finding.title


def own_flaws(source: Source) -> int:
    """How many comments are flawed by themselves, whatever stands around them."""
    return sum(each.says.flaw is not None for each in source.suppressions.flawed)


def test_a_comment_at_the_end_of_a_cell_is_removed_within_the_cell() -> None:
    book = joined([(1, "# tapelint: ignore[TL201]"), (2, "a = 1\n# tapelint: ignore[TL201]"), (3, "b = 1")])
    source = parse(book.text, "a.ipynb", book.cells)
    assert len(source.suppressions.entries) == 2
    for entry in source.suppressions.entries:
        (edit,) = without(source, entry, entry.says.listed)
        assert edit.span.row == edit.span.end_row == entry.span.row
