"""Which other files are checked as well, and what of the findings in them is wanted.

What of a caller need not be tried out: functions that have nothing to do with the file it is executed for.

from unet import UNet

def test_unet(): ...UNet()...     executed
def make(): return UNet()         executed
def test_made(): make()           executed: it mentions `make`
def test_other(): ...             not, unless another one calls it

Functions that other files use, otherwise than a caller would that is imagined: what runs them by itself is wrong.

    validation.py    def validate(net, loader): ...          nothing in this file calls it
    images.py        def grid(images): ...
    train.py         with torch.no_grad():
                         validate(net, loader)               gradients are off
                     save(grid(batch))                       no argument requires grad

What `validate` shows where gradients are on never happens. What `grid` shows to a caller whose tensors require grad
happens only if there is one, and its callers are run as well. Other files are asked only once something was found.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field

from ..drivers.quiet_uses import ALWAYS, is_mentioned_in, is_read_in, is_unrecorded_in
from ..engine.analysis_unit import AnalysisUnit
from ..engine.syntax.syntactic_summary import syntactic_summary
from ..frozen import frozen
from ..models.torch.autograd.grad_mode import turns_off, turns_on
from ..report import Diagnostic
from ..severity import Severity
from ..source import Definition, Source, parse
from ..source.pytest_files import TestConventions
from ..stubs import stub_module_name
from ..workspace.config import Config

ConfigOf = Callable[[str], Config | None]
"""The configuration of another file of the project, by path; None where that is not checked."""


class Configs:
    """The configurations of the other files of one analysis, each asked for once."""

    def __init__(self, config_of: ConfigOf | None) -> None:
        self._config_of = config_of
        self._known: dict[str, Config | None] = {}

    def config(self, path: str) -> Config | None:
        """The configuration of a file that is checked."""
        if self._config_of is None or stub_module_name(path) is not None:
            return None
        if path not in self._known:
            self._known[path] = self._config_of(path)
        return self._known[path]

    def holds(self, path: str) -> bool:
        """Whether findings are reported of a file, and not only at the calls that lead to them."""
        return self.config(path) is not None

    def grade(self, diagnostic: Diagnostic) -> Severity | None:
        """How grave a finding in another file is to the user; None where it is not wanted."""
        config = self.config(diagnostic.filename)
        if config is None:
            return None
        return config.grade(diagnostic.code, diagnostic.severity, diagnostic.filename)


@frozen
class Part:
    """A function or a method, the words in it (and in the bases and the ``__init__`` of its class), and the names by
    which others reach it.
    """

    node: ast.AST
    words: frozenset[str]
    names: frozenset[str]


def unrelated(tree: ast.Module, names: Collection[str]) -> frozenset[ast.AST]:
    """The functions and methods of a file that mention none of ``names``, nor a function or class that does. Methods
    of a class with such a base, or whose ``__init__`` mentions one, are related to it.
    """
    parts, known = [*_parts(tree)], set(names)
    while True:
        related = {part for part in parts if not known.isdisjoint(part.words)}
        new = {name for part in related for name in part.names} - known
        if not new:
            return frozenset(part.node for part in parts if part not in related)
        known |= new


def _parts(tree: ast.Module) -> Iterator[Part]:
    for statement in tree.body:
        if isinstance(statement, ast.ClassDef):
            methods = [*_functions(statement.body)]
            shared = [*statement.bases, *(method for method in methods if method.name == "__init__")]
            common = frozenset(word for part in shared for word in _words(part))
            for method in methods:
                name = statement.name if method.name == "__init__" else method.name
                yield Part(method, common | _words(method), frozenset((name,)))
        for function in _functions([statement]):
            yield Part(function, _words(function), frozenset((function.name,)))


def _functions(body: list[ast.stmt]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    yield from (part for part in body if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)))


def _words(part: ast.AST) -> frozenset[str]:
    """The names and attributes in a piece of syntax."""
    nodes = [*ast.walk(part)]
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return frozenset(names | {node.attr for node in nodes if isinstance(node, ast.Attribute)})


Users = Callable[[str], Mapping[str, str] | None]
"""The files of the project that use what the file at a path defines, with their texts; None where not all are known."""


@dataclass(slots=True)
class UsedElsewhere:
    """How other files use the functions of ``source``; those that ``tests`` describes call them with any data."""

    source: Source
    users: Users | None
    tests: TestConventions
    _trees: dict[str, ast.Module] | None = field(default=None, init=False)

    def refutes(self, function: ast.AST, unit: AnalysisUnit) -> bool:
        """Whether the project uses a function, and only where gradients are off; or, where what it was given is
        supposed to require grad in a ``unit``, uses it at all: its callers show what they give it. Who switches
        gradients on knows that a function leaves them off.
        """
        if not isinstance(function, Definition):
            return False
        if unit.is_latent and self._shows_callers(function, unit):
            return True
        if syntactic_summary(function).backward or not (others := self._others()):
            return False
        if unit.is_latent and is_read_in((self.source.tree, *others.values()), function.name):
            return True
        if turns_off(function) and any(turns_on(tree) for tree in others.values()):
            return True
        return is_unrecorded_in((self.source.tree, *others.values()), function.name)

    def _shows_callers(self, function: Definition, unit: AnalysisUnit) -> bool:
        """Whether other files show what a function is given. They do not show what the object of a method holds, and
        run ``forward``, static methods and properties by other names.
        """
        is_method = function not in self.source.tree.body
        if is_method and (function.name in ALWAYS or function.decorator_list or unit.shows_own_graph):
            return False
        code = (tree for path, tree in self._others().items() if not self.tests.serves_tests(path, tree))
        return is_mentioned_in(code, function.name)

    def _others(self) -> dict[str, ast.Module]:
        """The files that use what the file defines, by path; none where not all are known."""
        if self._trees is None:
            found = self.users(self.source.path) if self.users is not None else None
            self._trees = {path: parse(text, path).tree for path, text in sorted((found or {}).items())}
        return self._trees
