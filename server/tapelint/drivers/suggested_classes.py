"""The class of an argument without annotation, as the program suggests it.

    class Agent(nn.Module):
        def reset(self): ...

    def rollout(env, agent):            the class of the file that is called like it, with all that is asked of it
        agent.reset()

    class Trainer:
        '''
        Args:
            model (:obj:`pkg.models.Seq2Seq`): what is trained
        '''
        def __init__(self, model): ...  what the docstring says, if that is a class of the program or of PyTorch

What is concluded so is a premise of all that is reported. Only networks are looked for: other objects cost too much
for what they tell.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ..autograd import Facts
from ..domain.mro import is_module, mro_of
from ..domain.state import State
from ..domain.values import Class, External, Frame, Function, HeapRef, Value
from ..engine.machine import Machine
from ..models.torch.registry import MODULE_METHODS
from ..source import cached_on_node
from .annotations import named, of_torch
from .attribute_flow import method_flow

PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
"""A part of a name in any style: ``DQNAgent``, ``dqn_agent``."""
DOTTED = re.compile(r"[A-Za-z_][\w.]*")
FEW = 3
"""So many methods that only one class has in common tell that class."""


def suggested(machine: Machine, state: State, function: Function, parameter: str, uses: set[str]) -> HeapRef | None:
    """The class that an argument is an object of."""
    return _documented(machine, state, function, parameter) or _alike(machine, state, function, parameter, uses)


def premise_of_classes(facts: Facts) -> str | None:
    """What is supposed of arguments whose class was suggested."""
    said = [f"`{name}` is an object of `{kind}`" for name, kind in facts.suggested_classes.items()]
    return " and ".join(said) or None


def _alike(machine: Machine, state: State, function: Function, parameter: str, uses: set[str]) -> HeapRef | None:
    """The class of the module that has the name of the parameter, or alone has what the parameter is asked for."""
    asked = {name for name in uses if name.isidentifier()}
    classes = list(_classes(state, state.get(function.frame, Frame).module))
    alike = [kind for kind in classes if _parts(state.get(kind.id, Class).name) == _parts(parameter)]
    if alike:
        return alike[0] if len(alike) == 1 and uses and _has(machine, state, alike[0], asked, uses) else None
    own = asked - MODULE_METHODS.keys()
    fitting = [kind for kind in classes if _has(machine, state, kind, asked, uses)] if len(own) >= FEW else []
    return fitting[0] if len(fitting) == 1 else None


def _classes(state: State, module: int) -> Iterator[HeapRef]:
    """The classes of networks that a module defines or imports, each once."""
    values = dict.fromkeys(state.get(module, Frame).variables.values())
    kinds = (value for value in values if isinstance(value, HeapRef) and isinstance(state.heap.get(value.id), Class))
    return (kind for kind in kinds if is_module(state, kind))


def _parts(name: str) -> list[str]:
    return [part.lower() for part in PARTS.findall(name)]


def _has(machine: Machine, state: State, kind: HeapRef, asked: set[str], uses: set[str]) -> bool:
    """Whether objects of a class have all that is ``asked`` of one, and can be called if it is."""
    has = set[str]()
    for owner in mro_of(state, kind):
        if isinstance(owner, HeapRef) and isinstance(thing := state.heap[owner.id], Class):
            methods = (each.node for each in thing.attributes.values() if isinstance(each, Function))
            has |= thing.attributes.keys()
            has.update(name for node in methods for name in machine.query(method_flow, node).assigned)
        elif owner == External("torch.nn.Module"):
            has |= MODULE_METHODS.keys() | {"training"}
        elif owner != External("builtins.object"):
            return False
    return asked <= has and ("()" not in uses or not has.isdisjoint(("forward", "__call__")))


def of_library(machine: Machine, state: State, function: Function, parameter: str) -> Value | None:
    """The network or the optimizer that a parameter is, if a docstring gives a class of PyTorch as its type."""
    for word in _documented_words(machine, state, function, parameter):
        kind = _resolved(machine, state, function.frame, word)
        if isinstance(kind, External) and kind.name.startswith("torch."):
            return of_torch(machine, state, kind.name, parameter, function.node)
    return None


def _documented(machine: Machine, state: State, function: Function, parameter: str) -> HeapRef | None:
    """The class of networks that a docstring gives as the type of a parameter."""
    for word in _documented_words(machine, state, function, parameter):
        kind = _resolved(machine, state, function.frame, word)
        if isinstance(kind, HeapRef):
            return kind if is_module(state, kind) else None
    return None


def _documented_words(machine: Machine, state: State, function: Function, parameter: str) -> Iterator[str]:
    """The names in the type that a docstring gives a parameter; for ``__init__`` that of its class may."""
    scopes: list[ast.AST] = [function.node]
    if function.owner is not None and getattr(function.node, "name", "") == "__init__":
        scopes.append(state.get(function.owner, Class).node)
    for scope in scopes:
        yield from DOTTED.findall(machine.query(documented_types, scope).get(parameter, ""))


def _resolved(machine: Machine, state: State, scope: int, word: str) -> HeapRef | External | None:
    """The class that a name in a docstring means: one of the file or of what it imports, or of the program, where the
    name begins with its package.
    """
    try:
        node = ast.parse(word, mode="eval").body
    except SyntaxError:
        return None
    kind = named(machine, state, scope, node)
    package, _, name = word.rpartition(".")
    if not _is_class(state, kind) and package and machine.imports is not None:
        here = machine.imports.of_scope(state.get(scope, Frame).module)
        found = machine.imports.member(state, package, here.path, name) if here is not None else None
        kind = found if _is_class(state, found) else kind
    return kind if isinstance(kind, External) or isinstance(kind, HeapRef) and _is_class(state, kind) else None


def _is_class(state: State, value: Value | None) -> bool:
    return isinstance(value, HeapRef) and isinstance(state.heap.get(value.id), Class)


GOOGLE = re.compile(r"^\s*\*{0,2}(\w+)\s?\(([^()]*(?:\([^()]*\)[^()]*)*)\)\s*:", re.M)
NUMPY = re.compile(r"^\s*(\w+)\s+:\s+(.+)$", re.M)
SPHINX = re.compile(r":param\s+([\w.]+)\s+(\w+)\s*:")
SPHINX_TYPE = re.compile(r":type\s+(\w+)\s*:\s*(.+)$", re.M)
ROLE = re.compile(r":[\w:]+:")


@cached_on_node
def documented_types(scope: ast.AST) -> dict[str, str]:
    """The types that the docstring of a function or a class gives for parameters, in any of the usual styles."""
    if not isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {}
    text = ast.get_docstring(scope) or ""
    found = [*SPHINX_TYPE.findall(text), *((name, kind) for kind, name in SPHINX.findall(text))]
    found += [*GOOGLE.findall(text), *NUMPY.findall(text)]
    return {name: ROLE.sub(" ", kind) for name, kind in reversed(found)}
