"""The shape of the code, kept by tests: who imports whom, how long a file may grow, that modules explain themselves."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "server" / "tapelint"

# From low to high. A part imports only from parts with a smaller number, and from itself.
LAYERS = {
    "fault": 0,
    "source": 0,
    "ops": 1,
    "tape": 2,
    "interp": 3,
    "rules": 4,
    "fixes": 5,
    "report": 6,
    "places": 7,
    "judged": 7,
    "unseen": 8,
    "workspace": 7,
    "analysis": 9,
    "life": 9,
    "repair": 10,
    "lsp": 11,
    "cli": 11,
    "__main__": 12,
}
# Lower parts that are still none of its business: a rule sees events, not the interpreter that made them.
STRANGERS = {
    "ops": {"source"},
    "rules": {"interp"},
    "fixes": {"interp"},
}
# Parts of one level that make up one thing: the facade, and the hovers it loads when asked for one.
TOGETHER = {"analysis": {"life"}, "life": {"analysis"}}
# Libraries that one part alone may import.
OWNERS = {"pygls": "lsp", "lsprotocol": "lsp", "libcst": "fixes", "parso": "source", "jedi": "workspace"}
BANNED = {"torch", "torchgen", "numpy"}

ENGINE_ROWS = 350
RULE_ROWS = 200

FILES = sorted(PACKAGE.rglob("*.py"))
by_path = pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
# Texts that the analyser reads as it reads the user's: nothing of ours ever imports them.
TOLD = PACKAGE / "interp" / "told" / "programs"


modules = pytest.mark.parametrize(
    "name",
    [
        ".".join(("tapelint", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
        for path in FILES
        if TOLD not in path.parents
    ],
)


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def part_of(path: Path) -> str:
    """The part of the house a file belongs to: its folder below the package, or its own name at the top."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return parts[0]


def imported(path: Path) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Every module ``path`` imports, wherever in the file, as (row, absolute dotted name in parts)."""
    here = ("tapelint", *path.relative_to(PACKAGE).with_suffix("").parts)
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, tuple(alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            base = here[: -node.level] if node.level else ()
            base += tuple(node.module.split(".")) if node.module else ()
            if len(base) == 1 and base[0] == "tapelint":
                for alias in node.names:
                    yield node.lineno, (*base, alias.name)
            else:
                yield node.lineno, base


def is_rule(path: Path) -> bool:
    """Whether a file of ``rules/`` holds a rule: it states a code of its own."""
    if part_of(path) != "rules" or path.name == "__init__.py":
        return False
    return any(
        isinstance(node, ast.Constant) and isinstance(node.value, str) and re.fullmatch(r"TL\d{3}", node.value)
        for node in ast.walk(tree_of(path))
    )


def test_every_part_has_a_place() -> None:
    unknown = {part_of(path) for path in FILES} - LAYERS.keys() - {"__init__"}
    assert not unknown, f"give them a place in LAYERS: {sorted(unknown)}"


@by_path
def test_imports_point_down(path: Path) -> None:
    part, wrong = part_of(path), []
    for row, name in imported(path):
        if name[0] != "tapelint" or len(name) < 2 or name[1] not in LAYERS or part not in LAYERS:
            continue
        other = name[1]
        if other in TOGETHER.get(part, ()):
            continue
        if other != part and (LAYERS[other] >= LAYERS[part] or other in STRANGERS.get(part, ())):
            wrong.append(f"{path}:{row}: {part} imports {other}")
    assert not wrong, "\n".join(wrong)


@by_path
def test_libraries_have_one_owner(path: Path) -> None:
    part, wrong = part_of(path), []
    for row, name in imported(path) if TOLD not in path.parents else ():
        if name[0] in BANNED or OWNERS.get(name[0], part) != part:
            wrong.append(f"{path}:{row}: {part} imports {name[0]}")
    assert not wrong, "\n".join(wrong)


@by_path
def test_rules_do_not_know_each_other(path: Path) -> None:
    if not is_rule(path):
        return
    rules = {other.stem for other in FILES if is_rule(other)}
    wrong = [
        f"{path}:{row}: imports {'.'.join(name)}"
        for row, name in imported(path)
        if name[:2] == ("tapelint", "rules") and rules.intersection(name[2:])
    ]
    assert not wrong, "\n".join(wrong)


@by_path
def test_no_file_grows_too_long(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    if "generated by" in "\n".join(text.splitlines()[:5]).lower():
        return
    limit = RULE_ROWS if is_rule(path) else ENGINE_ROWS
    assert len(text.splitlines()) <= limit, f"{path} has more than {limit} lines: split it"


@by_path
def test_every_module_explains_itself(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    if text.strip():
        assert ast.get_docstring(tree_of(path)), f"{path} has no docstring"


@modules
def test_a_dotted_name_is_the_module_of_that_name(name: str) -> None:
    """``import a.b.c as x`` binds what the package has under ``c``: nothing else may stand there."""
    module = importlib.import_module(name)
    base = PACKAGE.parent.joinpath(*name.split("."))
    assert module.__file__ is not None
    assert Path(module.__file__).resolve() in (base.with_suffix(".py"), base / "__init__.py")
    package, _, last = name.rpartition(".")
    if package:
        assert getattr(importlib.import_module(package), last) is module, f"{package} has another {last!r}"
