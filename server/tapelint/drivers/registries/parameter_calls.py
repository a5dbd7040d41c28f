"""Calls that are given a parameter of a network, and by the text where the callee comes from: a registry, or a type.

for name, p in net.named_parameters():
    INITS[kind](p)                        a value of ``INITS``

class Applicator:
    def __init__(self, rules: list[tuple[str, Initializer]]): self.rules = rules
    def __call__(self, net):
        for name, p in net.named_parameters():
            for pattern, rule in self.rules:
                rule(p)                   an ``Initializer``

What the callee is called says nothing. A call under ``no_grad`` does not count.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from ...frozen import frozen
from ...models.torch.autograd.grad_mode import switches_off
from ...source import Definition, cached_on_node, children, walk

ITERATED = frozenset(("parameters", "named_parameters"))
WRAPPERS = frozenset("list tuple enumerate reversed sorted zip tqdm".split())
MAX_STEPS = 6
"""How many bindings are followed from a callee to where it comes from."""


@frozen
class ParameterCall:
    """A call that is given a parameter at ``index``, in a function of a class (or of none)."""

    call: ast.Call
    index: int
    function: Definition
    owner: ast.ClassDef | None
    # The annotations that say what is called, and the expressions of the registries that it may be picked from.
    types: tuple[ast.expr, ...]
    registries: tuple[ast.expr, ...]


@cached_on_node
def parameter_calls(tree: ast.AST) -> tuple[ParameterCall, ...]:
    """The calls of a file that are given a parameter of a network, where the text says what may be called."""
    functions = {node.name: node for node in getattr(tree, "body", ()) if isinstance(node, Definition)}
    found = list[ParameterCall]()
    for function, owner in _definitions(tree):
        if _iterates(function):
            found += _Scan(function, owner, functions).calls()
    return tuple(found)


@cached_on_node
def _iterates(function: ast.AST) -> bool:
    """Whether some code asks for the parameters of a network."""
    return any(isinstance(node, ast.Attribute) and node.attr in ITERATED for node in walk(function))


def _definitions(tree: ast.AST) -> Iterator[tuple[Definition, ast.ClassDef | None]]:
    for node in getattr(tree, "body", ()):
        if isinstance(node, Definition):
            yield node, None
        elif isinstance(node, ast.ClassDef):
            yield from ((each, node) for each in node.body if isinstance(each, Definition))


@dataclass(slots=True)
class _Scan:
    """What one function does with parameters of a network."""

    function: Definition
    owner: ast.ClassDef | None
    # The functions at the top level of the file, by name.
    functions: dict[str, Definition]
    parameters: set[str] = field(default_factory=set)

    def calls(self) -> Iterator[ParameterCall]:
        if any(map(switches_off, self.function.decorator_list)):
            return
        for call in list(self._recorded(self.function.body)):
            for index, argument in enumerate(call.args):
                if isinstance(argument, ast.Name) and argument.id in self.parameters:
                    types, registries = self._origins(call.func, self.function, MAX_STEPS)
                    if types or registries:
                        yield ParameterCall(call, index, self.function, self.owner, tuple(types), tuple(registries))

    def _recorded(self, nodes: list[ast.stmt]) -> Iterator[ast.Call]:
        """The calls that are not under ``no_grad``. On the way the names of parameters are collected."""
        todo: list[ast.AST] = list(reversed(nodes))
        while todo:
            node = todo.pop()
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
                continue
            if isinstance(node, ast.With) and any(switches_off(item.context_expr) for item in node.items):
                continue
            if isinstance(node, ast.For):
                self.parameters |= _given(node)
            if isinstance(node, ast.Call):
                yield node
            todo += reversed(list(children(node)))

    def _origins(self, node: ast.expr, scope: Definition, steps: int) -> tuple[list[ast.expr], list[ast.expr]]:
        """The annotations and the registries that a value may come from."""
        types, registries = list[ast.expr](), list[ast.expr]()
        if not steps:
            return types, registries
        for kind, source, where in self._sources(node, scope):
            if kind == "type":
                types.append(source)
            elif kind == "registry":
                registries.append(source)
            else:
                more = self._origins(source, where, steps - 1)
                types += more[0]
                registries += more[1]
        return types, registries

    def _sources(self, node: ast.expr, scope: Definition) -> Iterator[tuple[str, ast.expr, Definition]]:
        """One step towards where a value comes from: a type, a registry, or a value that it is of or in."""
        match node:
            case ast.Name(name):
                yield from self._of_name(name, scope)
            case ast.Attribute(ast.Name("self"), name) if self.owner is not None:
                yield from _of_attribute(self.owner, name)
            case ast.Subscript(value):
                yield "registry", value, scope
                yield "value", value, scope
            case ast.Call(ast.Attribute(value, "get" | "values" | "items")):
                yield "registry", value, scope
                yield "value", value, scope
            case ast.Call(ast.Name(name), [first, *_]) if name in WRAPPERS:
                yield "value", first, scope
            case ast.Call(ast.Name(name)) if name in self.functions:
                looked_up = self.functions[name]
                for each in walk(looked_up):
                    if isinstance(each, ast.Return) and each.value is not None:
                        yield "value", each.value, looked_up
            case ast.Call(callee):
                yield "value", callee, scope
            case ast.BoolOp(ast.Or(), [first, *_]):
                yield "value", first, scope
            case ast.ListComp(item) | ast.GeneratorExp(item):
                yield "value", item, scope
            case ast.Tuple(items) | ast.List(items):
                for item in items:
                    yield "value", item, scope

    def _of_name(self, name: str, scope: Definition) -> Iterator[tuple[str, ast.expr, Definition]]:
        spec = scope.args
        for parameter in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs):
            if parameter.arg == name and parameter.annotation is not None:
                yield "type", parameter.annotation, scope
        for node in walk(scope):
            if isinstance(node, ast.For) and name in _names(node.target):
                yield "value", node.iter, scope
            elif isinstance(node, ast.Assign) and any(name in _names(target) for target in node.targets):
                yield "value", node.value, scope


def _of_attribute(owner: ast.ClassDef, name: str) -> Iterator[tuple[str, ast.expr, Definition]]:
    """What the methods of a class bind to an attribute of ``self``."""
    for method in owner.body:
        for node in walk(method) if isinstance(method, Definition) else ():
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if any(_is_of_self(target, name) for target in targets):
                    assert isinstance(method, Definition)
                    yield "value", node.value, method


def _is_of_self(target: ast.expr, name: str) -> bool:
    match target:
        case ast.Attribute(ast.Name("self"), attribute):
            return attribute == name
    return False


def _names(target: ast.expr) -> set[str]:
    return {node.id for node in walk(target) if isinstance(node, ast.Name)}


def _given(loop: ast.For) -> set[str]:
    """The names that a loop over the parameters of a network binds to a parameter."""
    iterated, target = loop.iter, loop.target
    if isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Name) and iterated.func.id in ("list", "tuple"):
        iterated = iterated.args[0] if iterated.args else iterated
    if not isinstance(iterated, ast.Call) or not isinstance(iterated.func, ast.Attribute):
        return set()
    if iterated.func.attr == "parameters" and isinstance(target, ast.Name):
        return {target.id}
    if iterated.func.attr == "named_parameters" and isinstance(target, ast.Tuple) and len(target.elts) == 2:
        return _names(target.elts[1])
    return set()
