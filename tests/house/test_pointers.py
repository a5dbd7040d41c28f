"""What prose points at exists: files, modules, classes and their members, names of the code."""

from __future__ import annotations

import ast
import builtins
import keyword
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from .test_house import FILES, NAMES, PACKAGE, tree_of

ROOT = PACKAGE.parents[1]
PAGES = [
    *(ROOT / name for name in ("CONTRIBUTING.md", "docs/ARCHITECTURE.md", "docs/GLOSSARY.md")),
    *(ROOT / "docs" / "design").glob("*.md"),
]
"""The pages about the code."""

ELSEWHERE = frozenset(
    "main.py net.py train.py helper.py helpers.py unet.py copymem_test.py src/ click.py typing.py".split()
)
"""Files of users and of other libraries that are told of."""
OF_PYTORCH = frozenset({"Module", "Tensor"})
"""Classes of ours with the name of one of PyTorch's, whose members may be meant."""
OF_PROGRAMS = frozenset(
    (
        *("Base", "Cls", "NETS", "Net", "TL9", "attn", "fc2", "lib", "mlp", "module__width", "osp", "outs"),
        *("resnet18", "rewards", "tl1", "tlNNN_name", "totals"),
    )
)
"""Names in the users' programs that the prose tells of."""
OF_OTHERS = frozenset("future_fstrings nohup second_layers security textDocument applyEdit".split())
"""Names of other tools and protocols, and of those that generate our data."""

FILE = re.compile(r"(?:[a-z_0-9]+/)*(?:[a-z_0-9]+/|[a-z_0-9.]+\.(?:py|txt|md|mjs))")
QUOTED = re.compile(r"(?<!`)(`{1,2})([^`\n]+)\1(?!`)")
ROLE = re.compile(r":(?:func|class|meth|mod|data|attr|exc):`~?\.?([\w.]+)`")
COMMENT = re.compile(r"(?:^|\s)#\s.*$")
WORD = re.compile(r"[A-Za-z_]\w{2,}")


def of_code(path: Path) -> Iterator[tuple[int, str]]:
    """The prose of a file of the package, by row: docstrings and comments."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value
    for row, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if comment := COMMENT.search(line):
            yield row, comment[0]


def of_page(path: Path) -> Iterator[tuple[int, str]]:
    """The prose of a page, by row: what is not in a block of code."""
    is_code = False
    for row, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif not is_code:
            yield row, line


PROSE = dict.fromkeys(FILES, of_code) | dict.fromkeys(PAGES, of_page)


@cache
def quoted() -> list[tuple[Path, str, str]]:
    """All that stands in backticks: where, and what."""
    return [
        (path, f"{path.relative_to(ROOT)}:{row}: {found[2]}", found[2])
        for path, prose in PROSE.items()
        for row, text in prose(path)
        for found in QUOTED.finditer(text)
        if prose is of_page or found[1] == "``"
    ]


@cache
def file_names() -> frozenset[str]:
    """The names of all files of ours."""
    folders = [ROOT / name for name in ("server", "docs", "examples", "tests", "tools")]
    top = frozenset(path.name for path in ROOT.iterdir())
    return top.union(name for folder in folders for _, _, names in os.walk(folder) for name in names)


@cache
def defined(path: Path) -> frozenset[str]:
    """The names that a module or its classes bind, anywhere."""
    return frozenset(_bound(tree_of(path)))


def _bound(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
            case ast.arg(arg=name):
                yield name
            case ast.alias():
                yield (node.asname or node.name).split(".")[-1]


@cache
def modules() -> dict[str, list[str]]:
    """The modules of the package by their last name."""
    found: dict[str, list[str]] = {}
    for name in NAMES:
        found.setdefault(name.rpartition(".")[2], []).append(name)
    return found


@cache
def classes() -> dict[str, frozenset[str]]:
    """The classes of the package, with the names that their bodies bind and those of their bases."""
    found: dict[str, frozenset[str]] = {}
    bases: dict[str, list[str]] = {}
    for path in FILES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ClassDef):
                found[node.name] = found.get(node.name, frozenset()) | frozenset(_bound(node))
                bases.setdefault(node.name, []).extend(ast.unparse(base) for base in node.bases)
    for _ in range(3):  # levels of inheritance
        for name, above in bases.items():
            found[name] = found[name].union(*(found.get(base, frozenset()) for base in above))
    return found


def test_files_exist() -> None:
    wrong = [where for path, where, text in quoted() if FILE.fullmatch(text) and not _is_file(text, path)]
    assert not wrong, "\n".join(wrong)


def _is_file(name: str, path: Path) -> bool:
    if "/" not in name:
        return name in ELSEWHERE or name in file_names()
    return name in ELSEWHERE or any((folder / name).exists() for folder in (ROOT, PACKAGE, path.parent))


def test_roles_lead_somewhere() -> None:
    wrong: list[str] = []
    for path in FILES:
        for row, text in of_code(path):
            for name in ROLE.findall(text):
                first, _, rest = name.partition(".")
                homes = [path] if first in defined(path) else [NAMES[each] for each in modules().get(first, ())]
                last = rest.rpartition(".")[2]
                if not homes or last and not any(last in defined(home) for home in (path, *homes)):
                    wrong.append(f"{path.relative_to(ROOT)}:{row}: {name}")
    assert not wrong, "\n".join(wrong)


def test_members_exist() -> None:
    """``Class.member`` of a class of ours."""
    wrong = [
        where
        for _, where, text in quoted()
        if (found := re.match(r"([A-Z]\w+)\.(\w+)", text)) and found[1] in classes().keys() - OF_PYTORCH
        if found[2] not in classes()[found[1]]
    ]
    assert not wrong, "\n".join(wrong)


@pytest.fixture(scope="module")
def words() -> frozenset[str]:
    """All that occurs in the code and its data, but for its prose; and what Python has."""
    found = {*keyword.kwlist, *dir(builtins), *dir(str), *dir(dict), *OF_PROGRAMS, *OF_OTHERS}
    found |= {*(path.stem for path in FILES), *(path.parent.name for path in FILES)}
    for path in PACKAGE.rglob("*.py"):
        prose = {row for node in ast.walk(tree_of(path)) if _is_prose(node) for row in _rows(node)}
        for row, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if row not in prose:
                found.update(re.findall(r"\w+", COMMENT.sub("", line)))
    for path in (*PACKAGE.rglob("*.txt"), *(ROOT / "tools").rglob("*.py")):
        found.update(re.findall(r"\w+", path.read_text(encoding="utf-8")))
    return frozenset(found)


def _is_prose(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _rows(node: ast.AST) -> range:
    return range(node.lineno, node.end_lineno + 1)


def test_quoted_names_occur_in_the_code(words: frozenset[str]) -> None:
    """A name that was renamed or removed occurs nowhere but in the prose. It may also be one of a user's program."""
    wrong = [
        f"{where}: {', '.join(unknown)}"
        for path, where, text in quoted()
        if path not in PAGES and re.fullmatch(r"[\w.()]+", text)
        if (unknown := [word for word in WORD.findall(text) if word not in words])
    ]
    assert not wrong, "\n".join(wrong)
