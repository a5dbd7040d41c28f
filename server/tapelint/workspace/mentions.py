"""Which names of a file another one imports: read off the syntax of its import statements, each resolved.

from nets.unet import UNet             nets/unet.py, by `UNet`
from nets import UNet                  nets/unet.py too, if nets/__init__.py says `from .unet import UNet`
import nets.unet as unet               nets/unet.py, by `unet`
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Collection, Iterator
from functools import lru_cache

from ..frozen import frozen

Locate = Callable[[str, str], str | None]
"""The absolute path of a module, by its name and the path of the file that imports it."""
ALL = "*"


@frozen
class Imported:
    """A name that a file binds: ``name`` of ``module``, or the module itself where that is empty."""

    module: str
    name: str
    bound: str


@frozen
class Outline:
    """What is looked at of a file: what its top level defines, what it imports, which names it uses, whether it does
    something when it is run as a script, and whether there is any function in which something can be wrong.
    """

    defines: frozenset[str] = frozenset()
    imports: tuple[Imported, ...] = ()
    uses: frozenset[str] = frozenset()
    is_script: bool = False
    has_functions: bool = False


@lru_cache(maxsize=128)  # each holds its text
def outline(text: str) -> Outline:
    """The outline of a text; an empty one where it does not parse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Outline()
    uses = frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    has_functions = any(isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) for node in ast.walk(tree))
    return Outline(frozenset(_defined(tree)), tuple(_imports(tree)), uses, _does_something(tree), has_functions)


def mentioned(
    own: Outline,
    path: str,
    target: str,
    words: Collection[str],
    locate: Locate,
    text_of: Callable[[str], str | None],
) -> set[str]:
    """The names by which the file at ``path``, which has the outline ``own``, knows what the file ``target`` defines;
    another file may stand between that takes it from there. Every import of it has one of the ``words``.
    """
    found: set[str] = set()
    for each in own.imports:
        if each.bound not in own.uses and each.bound != ALL:
            continue  # it only hands it on
        if each.name != ALL and each.name not in words and each.module.rpartition(".")[2] not in words:
            continue
        if target in _places(each, path, locate):
            found.add(each.bound)
        else:
            between = locate(each.module, path) if each.name else None
            if between is not None and _hands_on(between, each.name, target, locate, text_of):
                found.add(each.bound)
    return found


def _places(each: Imported, path: str, locate: Locate) -> Iterator[str | None]:
    """The files that an import may mean: the module, or one below it of the name that is imported."""
    yield locate(each.module, path)
    if each.name not in ("", ALL):
        yield locate(each.module + ("" if each.module.endswith(".") else ".") + each.name, path)


def _hands_on(between: str, name: str, target: str, locate: Locate, text_of: Callable[[str], str | None]) -> bool:
    """Whether the file ``between`` takes a name from ``target`` for those that import it from there."""
    text = text_of(between)
    if not text:
        return False
    taken = (each for each in outline(text).imports if ALL in (name, each.bound) or each.bound == name)
    return any(target in _places(each, between, locate) for each in taken)


def _imports(tree: ast.Module) -> Iterator[Imported]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            for alias in node.names:
                yield Imported(module, alias.name, alias.asname or alias.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield Imported(alias.name, "", alias.asname or alias.name.partition(".")[0])


def _defined(tree: ast.Module) -> Iterator[str]:
    for statement in _top_level(tree.body):
        match statement:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Assign(targets=targets):
                yield from (target.id for target in targets if isinstance(target, ast.Name))


def _top_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module, also those on a condition."""
    for statement in body:
        yield statement
        if isinstance(statement, (ast.If, ast.Try, ast.With)):
            yield from _top_level(statement.body)


def _does_something(tree: ast.Module) -> bool:
    """Whether a call or a loop stands at the top level, or a test of ``__name__``."""
    for statement in tree.body:
        match statement:
            case ast.For() | ast.While() | ast.With():
                return True
            case ast.Expr(value=ast.Call()):
                return True
            case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
                return True
    return False
