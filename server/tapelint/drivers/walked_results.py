"""Whose results a piece of code walks: what it calls, and then goes backward through what came out.

    def update(actor, reward, states, opt):
        loss = -(reward(states) * actor(states)).mean()     both go into the loss,
        loss.backward()                                     which is walked: what they return may have a graph
    def show(transform, image):
        plt.imshow(transform(image))                        nothing is walked here

The order of statements is not looked at, nor what is between: a name holds what anything assigned to it was made of.
What was detached or read as a number is left out.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ..source import cached_on_node, children, walk

Slot = tuple[str, str]
"""Where a value comes by: a variable of a function (its name, the variable), an attribute of ``self``, the result of a
call of a variable or of an attribute (``x()``), what a method returns."""

SELF, RESULT = "self", "return of"
WALKS = frozenset(("backward", "manual_backward", "grad"))
"""Methods and functions that walk the graphs of what they belong to or are given."""
ENDS = frozenset("detach item tolist numpy data".split())
"""What is asked for under these names has no graph."""

Definition = ast.FunctionDef | ast.AsyncFunctionDef


@cached_on_node
def walked_calls(scope: ast.AST) -> frozenset[str]:
    """The names that a function calls and whose results it walks."""
    sources = _Sources()
    sources.read(scope, "")
    return frozenset(name.removesuffix("()") for _, name in sources.reached(sources.ends) if name.endswith("()"))


@cached_on_node
def walked_attributes(owner: ast.AST) -> dict[str, frozenset[str]]:
    """The attributes of ``self`` that the methods of a class call, and whose results go into what a method returns, by
    the name of the method; under the name ``""`` those whose results the class walks itself.
    """
    sources = _Sources()
    methods = [node for node in getattr(owner, "body", ()) if isinstance(node, Definition)]
    for method in methods:
        sources.read(method, method.name)
    found = {"": sources.reached(sources.ends)}
    found |= {method.name: sources.reached([(RESULT, method.name)]) for method in methods}
    return {
        name: frozenset(slot.removesuffix("()") for kind, slot in slots if kind == SELF and slot.endswith("()"))
        for name, slots in found.items()
    }


class _Sources:
    """For each slot those that its value was made of; ``ends`` are walked."""

    def __init__(self) -> None:
        self.of: dict[Slot, set[Slot]] = {}
        self.ends: list[Slot] = []

    def read(self, scope: ast.AST, name: str) -> None:
        """Take note of what a function does; ``name`` tells its variables from those of others."""
        for node in walk(scope):
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr)) and node.value is not None:
                targets: Sequence[ast.expr] = node.targets if isinstance(node, ast.Assign) else [node.target]
                self.flow(node.value, targets, name)
            elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
                self.flow(node.iter, [node.target], name)
            elif isinstance(node, ast.Return) and node.value is not None:
                self.of.setdefault((RESULT, name), set()).update(_made_of(node.value, name))
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                if node.func.attr in WALKS:
                    self.ends += _made_of(node, name)
                else:  # losses.append(loss)
                    for argument in node.args:
                        self.flow(argument, [node.func.value], name)

    def flow(self, value: ast.expr, targets: Sequence[ast.expr], name: str) -> None:
        made_of = set(_made_of(value, name))
        for target in targets if made_of else ():
            for slot in _held_by(target, name):
                self.of.setdefault(slot, set()).update(made_of)

    def reached(self, ends: list[Slot]) -> set[Slot]:
        """All slots that go into ``ends``."""
        found: set[Slot] = set()
        todo = list(ends)
        while todo:
            slot = todo.pop()
            if slot not in found:
                found.add(slot)
                todo += self.of.get(slot, ())
                if slot[0] == SELF and slot[1].endswith("()"):
                    todo.append((RESULT, slot[1].removesuffix("()")))
        return found


def _made_of(value: ast.AST, name: str) -> Iterator[Slot]:
    """The slots that an expression is made of."""
    todo = [value]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Name):
            yield name, node.id
        elif isinstance(node, ast.Attribute) and node.attr in ENDS:
            continue
        elif (attribute := _own(node)) is not None:
            yield SELF, attribute
        elif isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name):
                yield name, f"{node.func.id}()"
            elif (attribute := _own(node.func)) is not None:
                yield SELF, f"{attribute}()"
            elif isinstance(node.func, ast.Attribute) and node.func.attr not in ENDS:
                todo.append(node.func.value)
            if not (isinstance(node.func, ast.Attribute) and node.func.attr in ENDS):
                todo += [*node.args, *(keyword.value for keyword in node.keywords)]
        elif not isinstance(node, ast.Lambda):
            todo += children(node)


def _held_by(target: ast.expr, name: str) -> Iterator[Slot]:
    """The slots that an assignment to ``target`` fills."""
    if isinstance(target, (ast.Tuple, ast.List)):
        for item in target.elts:
            yield from _held_by(item, name)
    elif isinstance(target, ast.Name):
        yield name, target.id
    elif (attribute := _own(target)) is not None:
        yield SELF, attribute
    elif isinstance(target, (ast.Starred, ast.Subscript, ast.Attribute)):
        yield from _held_by(target.value, name)


def _own(node: ast.AST) -> str | None:
    """``x`` of ``self.x``."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        return node.attr
    return None
