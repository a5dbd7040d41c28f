"""What holds for all purposes: refusals, and that foreign code of any formatting keeps its meaning."""

from __future__ import annotations

import ast
import copy
import functools
import io
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from marked import fixed

from tapelint.fixes import edits_for
from tapelint.rules.support.cure import FixProposal
from tapelint.source import Source, apply, parse

CORPUS = sorted(p for p in Path(ast.__file__).parent.glob("*.py") if 2_000 < p.stat().st_size < 8_000)
"""Python's own library: long-lived code by many hands."""


# Laziness and refusals


def test_unknown_purpose_raises() -> None:
    with pytest.raises(ValueError, match="no such purpose"):
        edits_for(parse("x\n"), FixProposal("mend", "mend", ()))


def test_broken_text_is_not_changed() -> None:
    assert fixed("detach", "y = «x»\nz = = 1\n") is None


def test_parts_of_a_cure_may_not_change_the_same_text() -> None:
    source = parse("import torch\nloss = torch.tensor(total.item())\n")
    (made,) = (node for node in ast.walk(source.tree) if isinstance(node, ast.Call) and node.args)
    read = FixProposal("remove_call", "", (made.args[0],))
    assert edits_for(source, read) and edits_for(source, FixProposal("unwrap", "", (made,)))
    assert edits_for(source, FixProposal("unwrap", "", (made,), also=(read,))) is None


def test_a_node_of_another_tree_is_refused() -> None:
    assert edits_for(parse("x = y\n"), FixProposal("detach", "", (ast.parse("y").body[0].value,))) is None  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "deep",
    ["(" * 60 + "«x»" + ")" * 60, "[" * 60 + "«x»" + "]" * 60, "f(" * 60 + "«x»" + ")" * 60, "«x»" + " + 1" * 105],
    ids=["parentheses", "lists", "calls", "sum"],
)
def test_deep_expressions_are_changed(deep: str) -> None:
    made = fixed("detach", f"y = {deep}\n")
    assert made is not None and made.replace(".detach()", "") == f"y = {deep}\n".replace("«", "").replace("»", "")


def test_long_statements_are_changed() -> None:
    made = fixed("detach", "y = [" + "1, " * 10_000 + "«x»]\n")
    assert made is not None and made.endswith("1, x.detach()]\n")


# Foreign code


@functools.cache
def _source(path: Path, ending: str) -> Source:
    with tokenize.open(path) as file:
        return parse(f"import torch\n{file.read()}".replace("\n", ending), str(path))


@functools.cache
def _nodes(path: Path, ending: str) -> list[ast.AST]:
    return [n for n in ast.walk(_source(path, ending).tree) if isinstance(n, (ast.expr, ast.stmt))]


def _comments(text: str) -> Counter[str]:
    rows = text.replace("\r\n", "\n").replace("\r", "\n")
    return Counter(t.string for t in tokenize.generate_tokens(io.StringIO(rows).readline) if t.type == tokenize.COMMENT)


def _suites(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list):
                yield block


class _Without(ast.NodeTransformer):
    """A tree without what fixes add: calls of detach, no_grad blocks, retain_graph, statements ``h = h.detach()``."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        node.keywords = [k for k in node.keywords if k.arg != "retain_graph"]
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("detach", "clone") and not node.args:
            return node.func.value
        return node

    def visit_With(self, node: ast.With) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        return node.body if ast.unparse(node.items[0]) == "torch.no_grad()" else node

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        self.generic_visit(node)
        return None if ast.unparse(node.targets[0]) == ast.unparse(node.value) else node


def _bare(tree: ast.AST) -> str:
    return ast.dump(_Without().visit(copy.deepcopy(tree)))


def _statements(tree: ast.AST) -> list[str]:
    return sorted(ast.dump(s) for suite in _suites(tree) for s in suite if not getattr(s, "body", None))


def _change(source: Source, purpose: str, *targets: ast.AST) -> str | None:
    made = edits_for(source, FixProposal(purpose, purpose, targets))
    if made is None:
        return None
    text = apply(source.text, made)
    assert _comments(text) == _comments(source.text)
    return text


places = st.tuples(st.sampled_from(CORPUS), st.sampled_from(["\n", "\r\n"]), st.integers(0, 10**9))
foreign = settings(max_examples=40, deadline=None)


def _pick(place: tuple[Path, str, int], wanted: Callable[[ast.AST], bool]) -> tuple[Source, ast.AST]:
    path, ending, number = place
    found = [n for n in _nodes(path, ending) if wanted(n)]
    assume(found)
    return _source(path, ending), found[number % len(found)]


@foreign
@given(places, st.sampled_from(["detach", "clone"]))
def test_appended_calls(place: tuple[Path, str, int], purpose: str) -> None:
    source, node = _pick(place, lambda n: isinstance(n, ast.expr))
    text = _change(source, purpose, node)
    if text is not None:
        assert _bare(ast.parse(text)) == _bare(source.tree)
        assert len(text) <= len(source.text) + 200


@foreign
@given(places, st.integers(1, 3))
def test_wrapped_statements(place: tuple[Path, str, int], count: int) -> None:
    source, node = _pick(place, lambda n: isinstance(n, ast.stmt))
    suite = next(s for s in _suites(source.tree) if any(n is node for n in s))
    at = next(i for i, n in enumerate(suite) if n is node)
    text = _change(source, "no_grad", *suite[at : at + count])
    if text is not None:
        assert _bare(ast.parse(text)) == _bare(source.tree)


@foreign
@given(places, st.integers(0, 20))
def test_inserted_statements(place: tuple[Path, str, int], number: int) -> None:
    source, node = _pick(place, lambda n: isinstance(n, ast.stmt))
    names = [n for n in ast.walk(source.tree) if isinstance(n, (ast.Name, ast.Attribute))]
    text = _change(source, "detach_state", node, names[number % len(names)])
    if text is not None:
        assert _bare(ast.parse(text)) == _bare(source.tree)


@foreign
@given(places, st.sampled_from(["move_after", "move_before"]), st.integers(0, 9))
def test_moved_statements(place: tuple[Path, str, int], purpose: str, other: int) -> None:
    source, node = _pick(place, lambda n: isinstance(n, ast.stmt))
    suite = next(s for s in _suites(source.tree) if any(n is node for n in s))
    text = _change(source, purpose, node, suite[other % len(suite)])
    if text is not None:
        assert _statements(ast.parse(text)) == _statements(source.tree)


@foreign
@given(places, st.integers(1, 4))
def test_statements_moved_into_loops(place: tuple[Path, str, int], distance: int) -> None:
    source, loop = _pick(place, lambda n: isinstance(n, (ast.For, ast.While)))
    suite = next(s for s in _suites(source.tree) if any(n is loop for n in s))
    at = next(i for i, n in enumerate(suite) if n is loop)
    assume(at >= distance)
    text = _change(source, "move_into_loop", suite[at - distance], loop)
    if text is not None:
        assert _statements(ast.parse(text)) == _statements(source.tree)


@foreign
@given(places)
def test_arguments_added_and_removed(place: tuple[Path, str, int]) -> None:
    source, call = _pick(place, lambda n: isinstance(n, ast.Call))
    text = _change(source, "retain_graph", call)
    if text is None:
        return
    tree = ast.parse(text)
    assert _bare(tree) == _bare(source.tree)
    changed = parse(text)
    added = next(n for n in ast.walk(changed.tree) if isinstance(n, ast.Call) and "retain_graph" in _keywords(n))
    back = _change(changed, "drop_retain_graph", added)
    assert back is not None
    assert ast.dump(ast.parse(back)) == ast.dump(source.tree)


def _keywords(call: ast.Call) -> list[str | None]:
    return [keyword.arg for keyword in call.keywords]


@foreign
@given(places)
def test_removed_calls(place: tuple[Path, str, int]) -> None:
    source, call = _pick(place, lambda n: isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and not n.args)
    assert isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
    text = _change(source, "remove_call", call)
    if text is not None:
        expected = ast.dump(source.tree, include_attributes=True)
        assert expected.count(ast.dump(call, include_attributes=True)) == 1
        plain = _replaced(source.tree, call, call.func.value)
        assert ast.dump(ast.parse(text)) == ast.dump(plain)


@foreign
@given(places)
def test_assignments_not_augmented(place: tuple[Path, str, int]) -> None:
    source, statement = _pick(place, lambda n: isinstance(n, ast.AugAssign))
    assert isinstance(statement, ast.AugAssign)
    text = _change(source, "out_of_place", statement)
    if text is not None:
        read = copy.deepcopy(statement.target)
        read.ctx = ast.Load()
        plain = ast.Assign([statement.target], ast.BinOp(read, statement.op, statement.value))
        assert ast.dump(ast.parse(text)) == ast.dump(_replaced(source.tree, statement, plain))


def _replaced(tree: ast.AST, old: ast.AST, new: ast.AST) -> ast.AST:
    """A copy of ``tree`` that has ``new`` for ``old``."""

    class Replace(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            return copy.deepcopy(new) if node is twins[0] else self.generic_visit(node)

    memo: dict[int, ast.AST] = {}
    copied = copy.deepcopy(tree, memo)
    twins = [memo[id(old)]]
    result: ast.AST = Replace().visit(copied)
    return result
