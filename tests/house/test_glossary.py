"""Every public class says what it is in its docstring: docs/GLOSSARY.md has only the words that several of them use."""

from __future__ import annotations

import ast

from .test_house import FILES, PACKAGE, tree_of


def test_every_public_class_has_a_docstring() -> None:
    programs = PACKAGE / "stubs" / "programs"
    wrong = [
        f"{path.relative_to(PACKAGE)}: {node.name}"
        for path in FILES
        if programs not in path.parents
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and not ast.get_docstring(node)
    ]
    assert not wrong, f"without a docstring: {wrong}"
