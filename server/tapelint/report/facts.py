"""What a rule's code says of it without being run: the severities it gives and the fixes it names.

    return Finding(point=event.point, severity=Severity.WARNING, ...)
    Cure("merge_backwards", title, (first, second))

Read from the syntax of the rule's file and of the functions that it takes from files beside it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from .. import rules
from ..fixes.purposes import PURPOSES
from ..rules import Rule
from ..severity import Severity

_SAFETY = "## Fix safety\n"
RULES = {file.stem: file for file in Path(rules.__file__).parent.rglob("*.py")}


def severities(rule: Rule) -> list[Severity]:
    """The severities a finding of ``rule`` can have, the gravest first."""
    if rule.notice:
        return [rule.notice]
    found = set(_constants(rule))
    return [severity for severity in Severity if severity.name in found]


def purposes(rule: Rule) -> dict[str, str]:
    """The fixes that ``rule`` names, each with what it does."""
    found = set() if rule.notice else set(_constants(rule))
    return {name: PURPOSES[name].summary for name in sorted(PURPOSES.keys() & found)}


def opening(rule: Rule) -> str:
    """What happens, in a sentence or two."""
    return rule.summary if rule.notice else rule.docs.strip().partition("\n\n")[0]


def story(rule: Rule) -> str:
    """What the rule's file tells behind the opening, without its fixes: sections in Markdown."""
    told = rule.docs if rule.notice else rule.docs.strip().partition("\n\n")[2]
    return told.partition(_SAFETY)[0].strip()


def fixing(rule: Rule) -> str:
    """How the hazard is mended: the list of fixes, and what is said of their safety; a section in Markdown."""
    listed = [f"- {text.replace('``', '`')}" for text in purposes(rule).values()]
    safety = rule.docs.partition(_SAFETY)[2].strip()
    return "\n".join(["## Fixes", *listed, *([""] if listed else []), safety]).strip() if safety else ""


def _constants(rule: Rule) -> Iterator[str]:
    """Every string in the code of a rule that is not text for a reader, and the name of every severity."""
    start = next(stem for stem in RULES if stem.startswith(f"{rule.code.lower()}_"))
    todo: list[tuple[str, str | None]] = [(start, None)]
    seen = set(todo)
    while todo:
        module, name = todo.pop()
        tree = _tree(RULES[module])
        parts = _functions(tree)
        taken = _taken(tree)
        for node in _nodes(parts, name):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value
            elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == Severity.__name__:
                yield node.attr
            elif isinstance(node, ast.Name):
                other = taken.get(node.id) or ((module, node.id) if node.id in parts else None)
                if other and other not in seen:
                    seen.add(other)
                    todo.append(other)


def _nodes(parts: dict[str, ast.AST], name: str | None) -> Iterator[ast.AST]:
    """Every node of the part of a file that has a ``name``; without one, of all parts."""
    for part in parts.values() if name is None else [parts[name]] if name in parts else []:
        yield from ast.walk(part)


def _functions(tree: ast.Module) -> dict[str, ast.AST]:
    """The functions of a file by name, and the tables that say which fix is for what."""
    found: dict[str, ast.AST] = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and isinstance(node.value, ast.Dict):
            found[node.targets[0].id] = ast.Tuple(node.value.values, ast.Load())
    return found


def _taken(tree: ast.Module) -> dict[str, tuple[str, str]]:
    """What a file imports from its neighbours: the name here, and the file and the name there."""
    return {
        alias.asname or alias.name: (node.module.rpartition(".")[2], alias.name)
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.level and node.module
        for alias in node.names
        if node.module.rpartition(".")[2] in RULES
    }


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))
