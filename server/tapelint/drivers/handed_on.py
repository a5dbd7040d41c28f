"""What becomes of a parameter in the functions of the program that it is passed to.

    def main(model, optimizer, batches):
        for batch in batches:
            update(model, optimizer, batch)      there `model` is called and `optimizer` steps

    def update(self, batch):
        self._step(self.optimizer, loss)         an attribute is handed to a method of the same class

Only what is passed unchanged counts, and only to a function or method that is known by name where it is called.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..domain.state import State
from ..domain.values import Function
from ..engine.machine import Machine
from ..engine.syntax.own_attributes import own_attribute
from ..frozen import frozen
from ..source import Definition, cached_on_node, walk


@frozen
class HandedOn:
    """A variable, or an attribute of ``self`` (``is_attribute``), is an argument of a call of ``callee``: the function
    of that name, or the method. ``position`` is its place among the arguments, or its keyword.
    """

    callee: str
    position: int | str
    name: str
    is_attribute: bool


def receiving(machine: Machine, state: State, function: Function, name: str) -> Iterator[tuple[Function, str]]:
    """The functions of the program that ``function`` hands its variable ``name`` on to, each with their parameter."""
    for call in machine.query(handed_to_functions, function.node):
        if call.name != name or call.is_attribute:
            continue
        outer, state.frame = state.frame, function.frame
        try:
            callee = machine.lookup(state, call.callee)
        finally:
            state.frame = outer
        if isinstance(callee, Function) and isinstance(callee.node, Definition):
            parameter = machine.query(Parameter(call.position, 0), callee.node)
            if parameter is not None:
                yield callee, parameter


@cached_on_node
def handed_to_functions(scope: ast.AST) -> tuple[HandedOn, ...]:
    """What a function hands on to functions."""
    calls = [node for node in walk(scope) if isinstance(node, ast.Call)]
    return tuple(
        found for call in calls if isinstance(call.func, ast.Name) for found in handed_arguments(call, call.func.id)
    )


@cached_on_node
def handed_to_methods(owner: ast.AST) -> tuple[HandedOn, ...]:
    """What the methods of a class hand on to methods of theirs."""
    calls = [(node, own_attribute(node.func)) for node in walk(owner) if isinstance(node, ast.Call)]
    return tuple(found for call, name in calls if name is not None for found in handed_arguments(call, name))


def handed_arguments(call: ast.Call, callee: str) -> Iterator[HandedOn]:
    """What a call of ``callee`` is given by name, up to ``*args``."""
    given: list[tuple[int | str, ast.expr]] = []
    for position, argument in enumerate(call.args):
        if isinstance(argument, ast.Starred):
            break
        given.append((position, argument))
    given += [(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg is not None]
    for place, value in given:
        if isinstance(value, ast.Name):
            yield HandedOn(callee, place, value.id, False)
        elif (attribute := own_attribute(value)) is not None:
            yield HandedOn(callee, place, attribute, True)


@frozen
class Parameter:
    """Asks a function for the name of its parameter that takes an argument at ``position``, or of that keyword;
    ``bound`` are those before it that a method is given otherwise. None where there is none.
    """

    position: int | str
    bound: int

    def __call__(self, function: ast.AST) -> str | None:
        if not isinstance(function, Definition):
            return None
        spec = function.args
        names = [parameter.arg for parameter in (*spec.posonlyargs, *spec.args)][self.bound :]
        if isinstance(self.position, str):
            named = [*names, *(parameter.arg for parameter in spec.kwonlyargs)]
            return self.position if self.position in named else None
        return names[self.position] if self.position < len(names) else None
