"""The shape of the code, kept by tests: who imports whom, how long a file may be, how complex a function."""

from __future__ import annotations

import ast
import importlib
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tapelint.interpreter import MODELS
from tapelint.models.torch.registry import OVERLAYS
from tapelint.semantics.evaluator import TRANSFER_FUNCTIONS

PACKAGE = Path(__file__).resolve().parents[2] / "server" / "tapelint"
STUBS = PACKAGE / "stubs" / "programs"
"""Programs that the analyser reads in a framework's place: data, which nothing of ours imports."""

ORDER = (
    "frozen",
    *("because bounds compiled fault headline output_formats severity",),
    *("source", "ops stubs", "autograd", "domain", "engine", "modules", "models"),
    *("semantics", "checks", "drivers", "interpreter", "rules", "fixes", "report", "workspace", "analysis"),
    *("recording", "hover", "trace", "coverage", "tracebacks", "picture", "lsp cli", "__main__"),
)
LAYERS = {part: level for level, parts in enumerate(ORDER) for part in parts.split()}
"""From low to high. A part imports only from lower parts, and from itself."""
INNER = frozenset("domain engine modules models semantics checks drivers interpreter".split())
STRANGERS = {"ops": {"source"}, "rules": INNER, "fixes": INNER}
"""Lower parts that are still none of its business: a rule sees events, not the interpreter that made them."""
OWNERS = {
    **{"pygls": "lsp", "lsprotocol": "lsp", "parso": "source", "yaml": "source"},
    **{"jedi": "workspace", "rich": "report", "distributed": "cli"},
}
"""Libraries that one part alone may import."""
BANNED = {"torch", "torchgen", "numpy"}

CASES = frozenset(("how", "kind", "origin", "reason", "why"))
"""Names of fields that say which of several cases a record is."""

FINITE = frozenset(
    (
        # The arguments are files and names of ours, and of PyTorch.
        *(
            "ops/second.py gradient_needs",
            "report/facts.py _tree",
            "stubs/__init__.py _read",
        ),
        # Emptied when a configuration file changes.
        *("workspace/config.py _read", "workspace/globs.py _lines"),
        # Lives as long as a command, or a request.
        *("workspace/given.py _instead", "cli/explaining.py analyse", "lsp/handlers/explain_error.py analyse"),
    )
)
"""Functions whose results are all kept, by ``functools.cache``."""

ROWS_OF_A_FILE = 800
"""A concept has one file, which may be long if it is cohesive."""
NAMES_USED_TWICE = 3
IMPORTS_IN_FUNCTIONS = 8
"""Imports that wait until a function needs them: what a check without findings must not pay for."""
KNOT = 3
"""Modules that may import each other in a circle, directly or by others."""
COMPLEXITY = 15
TOO_COMPLEX = 0
"""Functions that are still too complex. This number may only shrink."""

MADE = PACKAGE / "_version.py"
"""Written by an installation."""

FILES = [path for path in sorted(PACKAGE.rglob("*.py")) if STUBS not in path.parents and path != MADE]
TOOLS = sorted((PACKAGE.parents[1] / "tools").rglob("*.py"))
NAMES = {
    ".".join(("tapelint", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in FILES
}
BRANCHES = (
    *(ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.Assert, ast.comprehension),
    ast.match_case,
)


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def part_of(path: Path) -> str:
    """The folder below the package that a file is in, or its own name at the top."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def here(path: Path, row: int) -> str:
    return f"{path.relative_to(PACKAGE)}:{row}"


@cache
def imported(path: Path) -> tuple[tuple[int, tuple[str, ...]], ...]:
    """Every module ``path`` imports, wherever in the file, as (row, absolute dotted name in parts)."""
    return tuple(sorted(set(_imported(path))))


def _imported(path: Path) -> Iterator[tuple[int, tuple[str, ...]]]:
    place = ("tapelint", *path.relative_to(PACKAGE).with_suffix("").parts)
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, tuple(alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            base = place[: -node.level] if node.level else ()
            base += tuple(node.module.split(".")) if node.module else ()
            for alias in node.names:
                is_module = ".".join((*base, alias.name)) in NAMES
                yield node.lineno, (*base, alias.name) if is_module else base


def is_rule(path: Path) -> bool:
    return re.match(r"tl\d{3}_", path.name) is not None


def test_every_package_is_in_the_layers() -> None:
    unknown = {part_of(path) for path in FILES} - LAYERS.keys() - {"__init__"}
    assert not unknown, f"give them a place in ORDER: {sorted(unknown)}"


def test_imports_point_down() -> None:
    wrong: list[str] = []
    for path in FILES:
        part = part_of(path)
        for row, name in imported(path):
            other = name[1] if len(name) > 1 and name[0] == "tapelint" else part
            if part not in LAYERS or other not in LAYERS or other == part:
                continue
            if LAYERS[other] >= LAYERS[part] or other in STRANGERS.get(part, ()):
                wrong.append(f"{here(path, row)}: {part} imports {'.'.join(name)}")
    assert not wrong, "\n".join(wrong)


def test_libraries_have_one_owner() -> None:
    wrong = [
        f"{here(path, row)}: imports {name[0]}"
        for path in FILES
        for row, name in imported(path)
        if name[0] in BANNED or OWNERS.get(name[0], part_of(path)) != part_of(path)
    ]
    assert not wrong, "\n".join(wrong)


def test_rules_do_not_know_each_other() -> None:
    wrong = [
        f"{here(path, row)}: imports {'.'.join(name)}"
        for path in filter(is_rule, FILES)
        for row, name in imported(path)
        if name[:2] == ("tapelint", "rules") and re.match(r"tl\d{3}_", name[-1])
    ]
    assert not wrong, "\n".join(wrong)


def test_fields_that_name_a_case_are_no_strings() -> None:
    """What is compared with them then is an enum or a Literal, and mypy refuses a case that there is not."""
    wrong = [
        f"{here(path, field.lineno)}: {kind.name}.{field.target.id}: {ast.unparse(field.annotation)}"
        for path in FILES
        if part_of(path) in {"autograd", "rules", *INNER}
        for kind in ast.walk(tree_of(path))
        if isinstance(kind, ast.ClassDef)
        for field in kind.body
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and field.target.id in CASES
        if any(isinstance(part, ast.Name) and part.id == "str" for part in ast.walk(field.annotation))
    ]
    assert not wrong, "\n".join(wrong)


def test_every_module_has_a_docstring() -> None:
    wrong = [
        path for path in FILES if path.read_text(encoding="utf-8").strip() and not ast.get_docstring(tree_of(path))
    ]
    assert not wrong, f"without a docstring: {wrong}"


def test_a_dotted_name_is_the_module_of_that_name() -> None:
    """``import a.b.c as x`` binds what the package has under ``c``: nothing else may stand there."""
    for name, path in NAMES.items():
        module = importlib.import_module(name)
        assert module.__file__ is not None and Path(module.__file__).resolve() == path.resolve()
        package, _, last = name.rpartition(".")
        if package:
            assert getattr(importlib.import_module(package), last) is module, f"{package} has another {last!r}"


def test_files_are_one_concept_long() -> None:
    rows = {here(path, 1): path.read_text(encoding="utf-8").count("\n") for path in FILES}
    assert not {name: count for name, count in rows.items() if count > ROWS_OF_A_FILE}


def test_file_names_are_unique() -> None:
    names = Counter(path.name for path in FILES if path.name != "__init__.py")
    twice = sorted(name for name, count in names.items() if count > 1)
    assert len(twice) <= NAMES_USED_TWICE, twice


def test_imports_stand_at_the_top() -> None:
    late = [
        here(path, node.lineno)
        for path in FILES
        for function in ast.walk(tree_of(path))
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
        for node in ast.walk(function)
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert len(set(late)) <= IMPORTS_IN_FUNCTIONS, "\n".join(sorted(set(late)))


def test_caches_have_a_bound() -> None:
    """What is remembered of the user's programs must not grow for as long as an editor is open."""
    unbounded = {
        f"{path.relative_to(PACKAGE)} {function.name}"
        for path in FILES
        for function in ast.walk(tree_of(path))
        if isinstance(function, ast.FunctionDef) and function.args.args
        if {"cache", "functools.cache"} & {ast.unparse(mark) for mark in function.decorator_list}
    }
    assert unbounded == FINITE, f"use lru_cache: {sorted(unbounded - FINITE)}, not there: {sorted(FINITE - unbounded)}"


def test_modules_do_not_import_each_other_in_circles() -> None:
    graph = {
        name: sorted({".".join(other) for _, other in imported(path)} & NAMES.keys() - {name} - _only_for_types(path))
        for name, path in NAMES.items()
        if path.name != "__init__.py"
    }
    graph = {name: [other for other in others if other in graph] for name, others in graph.items()}
    knots = [sorted(knot) for knot in _components(graph) if len(knot) > KNOT]
    assert not knots, knots


def _only_for_types(path: Path) -> set[str]:
    """The modules that a file imports below ``if TYPE_CHECKING:`` and nowhere else."""
    rows = {
        inner.lineno
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for inner in node.body
    }
    typing = {".".join(name) for row, name in imported(path) if row in rows}
    return typing - {".".join(name) for row, name in imported(path) if row not in rows}


def _components(graph: dict[str, list[str]]) -> Iterator[set[str]]:
    """The strongly connected components of a graph: those that reach each other."""
    below = {name: _reached(graph, name) for name in graph}
    seen: set[str] = set()
    for name in graph:
        if name not in seen:
            found = {name, *(other for other in below[name] if name in below[other])}
            seen |= found
            yield found


def _reached(graph: dict[str, list[str]], start: str) -> set[str]:
    found: set[str] = set()
    todo = [start]
    while todo:
        for other in graph[todo.pop()]:
            if other not in found:
                found.add(other)
                todo.append(other)
    return found


def test_functions_are_simple() -> None:
    wrong = [
        f"{path.name}:{node.lineno}: {node.name} has complexity {complexity(node)}"
        for path in (*FILES, *TOOLS)
        for node in ast.walk(tree_of(path))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and complexity(node) > COMPLEXITY
    ]
    assert len(wrong) <= TOO_COMPLEX, "\n".join(wrong)


def complexity(function: ast.AST) -> int:
    """Cyclomatic complexity, ``and``, ``or`` and conditions of comprehensions counted, nested functions apart."""
    count, todo = 1, list(ast.iter_child_nodes(function))
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            continue
        count += isinstance(node, BRANCHES) + (len(node.values) - 1 if isinstance(node, ast.BoolOp) else 0)
        count += len(node.ifs) if isinstance(node, ast.comprehension) else 0
        todo.extend(ast.iter_child_nodes(node))
    return count


def test_every_model_is_registered() -> None:
    """A module that registers what a call means does so only if it is imported: by ``interpreter``, or for a
    library.
    """
    registered = {module.__name__ for module in (*MODELS, *TRANSFER_FUNCTIONS)}
    registered |= {f"tapelint.models.{overlay}" for overlay in OVERLAYS.values()}
    decorators = re.compile(r"^@(?:function|method|expression|statement|effect|handler)\w*\(", re.MULTILINE)
    missing = {
        name
        for name, path in NAMES.items()
        if part_of(path) in ("models", "semantics") and decorators.search(path.read_text(encoding="utf-8"))
    }
    assert missing <= registered, sorted(missing - registered)
