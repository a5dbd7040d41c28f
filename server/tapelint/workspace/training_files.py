"""Which files train: a backward, an optimizer's step or a framework's trainer stands in them.

    loss.backward()                        a method of that name, whatever has it; torch.autograd.backward and .grad
    optimizer.step()                       a method of that name that is given nothing, as environments and bars are not
    class Net(LightningModule): ...        what Lightning trains, and its Trainer
    Trainer(model, ...)                    a trainer of a framework whose program is in stubs/

Read off the syntax alone: nothing is executed, and no name of a variable counts.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from functools import lru_cache

from ..models.frameworks.training_loops import WALKS
from ..source import imported, may_use_torch
from ..stubs import find_stub
from .mentions import ALL, outline

_WORD = re.compile(r"\.[\s\\]*backward\s*\(|\.[\s\\]*step\s*\(\s*(?:\)|\w+\s*=|\*\*)|\bautograd\b")
"""What a text has that calls a backward or a step."""
_BACKWARD = re.compile(r"\.backward[ \t]*\(")
_LIGHTNING = re.compile(r"(?:pytorch_lightning|lightning)\.(?:\w+\.)*Trainer")
_WALKED = frozenset({"lightning", "pytorch_lightning", "transformers", "trl", "sentence_transformers"})
"""The packages that ``WALKS`` is about: they call their classes trainers or Lightning modules."""
_BACKWARDS = frozenset({"torch.autograd.backward", "torch.autograd.grad"})


def trains(text: str) -> bool:
    """Whether a text trains; where it does not parse, whether a backward can be read in it all the same."""
    if not may_use_torch(text) or not (
        _WORD.search(text) or any(_may_train(module, text) for module in imported(text))
    ):
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _BACKWARD.search(text) is not None
    names = dict(_imports(tree))
    return any(_trains(node, names) for node in ast.walk(tree))


def _trains(node: ast.AST, names: dict[str, str]) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr="backward")) | ast.Call(func=ast.Attribute(attr="step"), args=[]):
            return True
        case ast.Call(func=function):
            return (name := _dotted(function, names)) in _BACKWARDS or _is_trainer(name)
        case ast.ClassDef(bases=bases):
            return any(_is_trainer(_dotted(base, names)) for base in bases)
        case ast.ImportFrom(module=str(module), names=[ast.alias(name="*")], level=0):
            return find_stub(module, "") is not None
    return False


def _is_trainer(name: str) -> bool:
    """Whether the full name of a class or function is that of something which trains what it is given."""
    if not name:
        return False
    if _LIGHTNING.fullmatch(name) or any(walk.base.fullmatch(name) for walk in WALKS):
        return True
    module, _, own = name.rpartition(".")
    return own in _told(module)


@lru_cache(4096)
def _told(module: str) -> frozenset[str]:
    """What a module defines or re-exports, whose program is in stubs/."""
    stub = find_stub(module, "") if module else None
    if stub is None:
        return frozenset()
    read = outline(stub[1])
    return read.defines | {each.bound for each in read.imports}


def _may_train(module: str, text: str) -> bool:
    """Whether a text that imports a module may use a trainer of it: rather one too many than one too few."""
    if module.partition(".")[0] in _WALKED:
        return "Trainer" in text or "LightningModule" in text
    return any(name in text for name in _told(module)) or ("*" in text and find_stub(module, "") is not None)


def _imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The names that import statements bind, wherever they stand, each with the full name of what it is."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                if alias.name != ALL:
                    yield alias.asname or alias.name, f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                package = alias.name.partition(".")[0]
                yield alias.asname or package, alias.name if alias.asname else package


def _dotted(node: ast.expr, names: dict[str, str]) -> str:
    """The full name of what an expression means, as far as import statements say; empty where they do not."""
    match node:
        case ast.Name(id=name):
            return names.get(name, "")
        case ast.Attribute(value=value, attr=attr):
            return f"{of}.{attr}" if (of := _dotted(value, names)) else ""
        case ast.Subscript(value=value):  # Engine[State]
            return _dotted(value, names)
    return ""
