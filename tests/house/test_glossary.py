"""docs/GLOSSARY.md has one line for each public class of the packages that the engine is made of, and no line more."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "server" / "tapelint"
GLOSSARY = (ROOT / "docs" / "GLOSSARY.md").read_text(encoding="utf-8")


def section(name: str) -> str:
    """The text below the heading of that name."""
    found = re.search(rf"^## {name}\n(.*?)(?=^## |\Z)", GLOSSARY, re.MULTILINE | re.DOTALL)
    assert found, f"docs/GLOSSARY.md has no section {name!r}"
    return found.group(1)


@pytest.mark.parametrize("package", ["autograd", "domain", "engine"])
def test_every_public_class_has_one_line(package: str) -> None:
    classes = {
        node.name
        for path in (PACKAGE / package).rglob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    }
    names = re.findall(r"^- `(\w+)`: \S", section(package), re.MULTILINE)
    lines = Counter(names)
    assert not classes - lines.keys(), f"give them a line in docs/GLOSSARY.md: {sorted(classes - lines.keys())}"
    assert not lines.keys() - classes, f"no such class any more: {sorted(lines.keys() - classes)}"
    assert set(lines.values()) == {1}, f"more than one line: {lines.most_common(3)}"
    assert names == sorted(names, key=str.casefold), "the lines are not in the order of their names"
