"""What compiled code takes otherwise than Python does is not in the sources: it would be seen only where it runs."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

from tools.compiled.sources import PACKAGES

ROOT = Path(__file__).resolve().parents[2] / "server" / "tapelint"


def places(is_meant: Callable[[ast.AST], bool]) -> list[str]:
    """Where in the engine such a node stands."""
    return [
        f"{file.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"
        for package in PACKAGES
        for file in sorted((ROOT / package).rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if is_meant(node)
    ]


def _meets_keys(node: ast.AST) -> bool:
    match node:
        case ast.BinOp(left=left, op=ast.BitAnd(), right=ast.Call(func=ast.Attribute(attr="keys"))):
            return not (isinstance(left, ast.Call) and getattr(left.func, "attr", "") == "keys") and not isinstance(
                left, ast.BinOp
            )
    return False


def test_no_set_meets_the_keys_of_a_dict() -> None:
    """``frozenset & dict.keys()`` is a set, and annotated as a frozenset: ``frozenset.intersection(dict)`` is one."""
    assert not places(_meets_keys)


def test_no_pattern_names_the_rest_of_a_sequence() -> None:
    """``case (first, *rest)``: mypyc expects a list, and is given a tuple where a tuple is matched."""
    assert not places(lambda node: isinstance(node, ast.MatchStar) and node.name is not None)


def _looks_in_spread(node: ast.AST) -> bool:
    if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], (ast.In, ast.NotIn)):
        return False
    looked = [part for each in node.comparators if isinstance(each, (ast.Tuple, ast.List)) for part in each.elts]
    return any(isinstance(part, ast.Starred) for part in looked)


def test_nothing_is_looked_for_in_a_tuple_that_spreads() -> None:
    """``x in ("~", *names)`` stops mypyc itself."""
    assert not places(_looks_in_spread)


def _adds_to_caught(node: ast.AST) -> bool:
    if not isinstance(node, ast.ExceptHandler) or node.name is None:
        return False
    added = [part.target for part in ast.walk(node) if isinstance(part, ast.AugAssign)]
    return any(isinstance(each, ast.Attribute) and getattr(each.value, "id", None) == node.name for each in added)


def test_nothing_is_added_to_an_attribute_of_what_is_caught() -> None:
    """``except OutOfFuel as end: end.paths += more`` stops mypyc itself: it looks for the attribute too early."""
    assert not places(_adds_to_caught)
