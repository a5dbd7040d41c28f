"""What compiled code takes otherwise than Python does is not in the sources: it would be seen only where it runs."""

from __future__ import annotations

import ast
from pathlib import Path

from tools.compiled.sources import PACKAGES

ROOT = Path(__file__).resolve().parents[2] / "server" / "tapelint"


def test_no_pattern_names_the_rest_of_a_sequence() -> None:
    """``case (first, *rest)``: mypyc expects a list, and is given a tuple where a tuple is matched."""
    found = [
        f"{file.relative_to(ROOT)}:{node.lineno}"
        for package in PACKAGES
        for file in sorted((ROOT / package).rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.MatchStar) and node.name is not None
    ]
    assert not found
