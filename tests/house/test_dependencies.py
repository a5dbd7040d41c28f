"""What is imported is declared, and the extension carries what is declared."""

from __future__ import annotations

import ast
import re
import sys
from functools import cache
from pathlib import Path

from tapelint.workspace.toml import read_toml

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "server" / "tapelint"
STUBS = PACKAGE / "stubs" / "programs"
NAMES = {"yaml": "pyyaml"}
"""Modules that are called otherwise than what they are installed as."""


def normal(requirement: str) -> str:
    """The name of a requirement, without versions."""
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0].lower().replace("_", "-")


def declared() -> set[str]:
    project = read_toml((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert isinstance(project, dict)
    return {normal(each) for each in project["dependencies"]}


def of_engines() -> set[str]:
    """What only an engine of `tapelint fleet` needs: who wants one installs it."""
    project = read_toml((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert isinstance(project, dict)
    extras = project["optional-dependencies"]
    return {normal(each) for each in extras["fleet"]}


def is_for_types(node: ast.AST) -> bool:
    """Whether a node is read by type checkers alone."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


@cache
def imported() -> dict[str, str]:
    """The libraries that the package imports, each with a file that does."""
    found: dict[str, str] = {}
    for path in PACKAGE.rglob("*.py"):
        if STUBS in path.parents:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for_types = {id(node) for each in ast.walk(tree) if is_for_types(each) for node in ast.walk(each)}
        for node in ast.walk(tree):
            match node:
                case _ if id(node) in for_types:
                    modules = []
                case ast.Import(names):
                    modules = [each.name for each in names]
                case ast.ImportFrom(module=str(module), level=0):
                    modules = [module]
                case _:
                    modules = []
            for module in modules:
                top = module.partition(".")[0]
                if top not in sys.stdlib_module_names and top not in ("tapelint", "tomllib"):
                    found[NAMES.get(top, top).replace("_", "-")] = str(path.relative_to(ROOT))
    return found


def test_what_is_imported_is_declared() -> None:
    known = declared() | of_engines()
    missing = {name: file for name, file in imported().items() if name not in known}
    assert not missing, f"add them to dependencies in pyproject.toml: {missing}"


def test_what_is_declared_is_imported() -> None:
    unused = declared() - imported().keys()
    assert not unused, f"nothing imports {sorted(unused)}"


def test_the_extension_carries_what_is_declared() -> None:
    text = (ROOT / "tools" / "vsix" / "requirements.txt").read_text(encoding="utf-8")
    carried = {normal(line) for line in text.splitlines() if not line.startswith("#")}
    missing = declared() - carried
    assert not missing, f"add them and what they need to tools/vsix/requirements.txt: {sorted(missing)}"
