"""Which names a loop still needs: the others are dead, and paths that differ in nothing else are the same path.

    for x, y in loader:
        loss = criterion(net(x), y)        # bound before it is read, in every iteration
        if loss > bound:
            loss = loss + penalty(net)     # two paths with two losses: at the next iteration they are one again
        loss.backward()

A name is live at the head of a loop if some way from there, through the next iteration or out of the loop, reads it
before it is bound. What functions and classes inside the scope mention may be read at any time, so it is always live.
(What ``locals()`` and ``eval`` return is unknown to the machine, so it reads nothing that is not named.)
Found backwards over the statements of a scope, once, when two paths first meet at one of its loops.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ...bounds import BOUNDS
from ...domain.equivalence import number
from ...frozen import frozen
from ...source import cached_on_node, children, walk

Loop = (ast.For, ast.AsyncFor, ast.While)
Tries: tuple[type[ast.Try], ...] = tuple(getattr(ast, name) for name in ("Try", "TryStar") if hasattr(ast, name))
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.GeneratorExp)
_DECLARATIONS = (ast.Global, ast.Nonlocal)

Names = frozenset[str]
NO_NAMES: Names = frozenset()


@frozen
class Live:
    """The names that are live before a loop, at its head, and after it."""

    before: Names
    head: Names
    after: Names


def live(scope: ast.AST, loop: ast.AST) -> Live | None:
    """What ``loop`` needs of the names of ``scope``, the function or module it stands in; None if unknown."""
    return _live_at_loops(scope).get(loop)


@cached_on_node
def _live_at_loops(scope: ast.AST) -> dict[ast.AST, Live]:
    if not isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
        return {}
    found: dict[ast.AST, Live] = {}
    nothing = Ways(NO_NAMES, NO_NAMES, NO_NAMES, NO_NAMES, NO_NAMES)
    always = set(captured(scope))
    if not isinstance(scope, ast.Module):
        always.update(parameter.arg for parameter in scope.args.args[:1])  # `super()` reads it
    _Scope(frozenset(always), found).block(scope.body, nothing, 0)
    return found


@cached_on_node
def captured(scope: ast.AST) -> Names:
    """The names of a scope that code inside it may mean, or that belong to another scope."""
    inside = _Mentions(scope)
    return frozenset(inside.declared | inside.below)


class _Mentions:
    """The names in a scope: ``read`` and ``bound`` in itself, ``declared`` global or nonlocal, and free in the scopes
    ``below`` it.
    """

    def __init__(self, scope: ast.AST) -> None:
        self.read: set[str] = set()
        self.bound: set[str] = set()
        self.declared: set[str] = set()
        self.below: set[str] = set()
        self.own = isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        todo = children(scope)
        while todo:
            node = todo.pop()
            if isinstance(node, ast.Name):
                (self.bound if isinstance(node.ctx, ast.Store) else self.read).add(node.id)
            elif type(node) in _SCOPES:
                self.below |= _Mentions(node).free
            elif isinstance(node, _DECLARATIONS):
                self.declared.update(node.names)
            else:
                if isinstance(node, ast.arg):
                    self.bound.add(node.arg)
                todo += children(node)

    @property
    def free(self) -> set[str]:
        """What may be read of the scopes around."""
        used = self.read | self.below
        # Names bound in a class are not seen by its methods, which may mean names around it.
        return (used - self.bound if self.own else used) | self.declared


@frozen
class Ways:
    """What is live where a statement can go: to the next one, out of the loop or to its head, out of the function, or
    to the handler that catches what it raises.
    """

    out: Names
    stop: Names
    again: Names
    end: Names
    caught: Names

    def then(self, out: Names) -> Ways:
        return Ways(out, self.stop, self.again, self.end, self.caught)


class _Scope:
    """Goes backwards over the statements of one scope and notes what is live at its loops."""

    def __init__(self, always: Names, found: dict[ast.AST, Live]) -> None:
        self.always, self.found = always, found

    def block(self, body: Sequence[ast.stmt], ways: Ways, depth: int) -> Names:
        """What is live before ``body``."""
        names = set(ways.out)
        for statement in reversed(body):
            names = self.statement(statement, names, ways, depth)
        return frozenset(names)

    def statement(self, node: ast.stmt, names: set[str], ways: Ways, depth: int) -> set[str]:
        """What is live before ``node`` if ``names`` are live after it; ``names`` may be changed."""
        if isinstance(node, Loop):
            return self.loop(node, frozenset(names), ways, depth)
        if isinstance(node, ast.If):
            here = ways.then(frozenset(names))
            found = {*self.block(node.body, here, depth), *self.block(node.orelse, here, depth)}
            return _read(found, node.test)
        if isinstance(node, Tries):
            return self.trying(node, ways.then(frozenset(names)), depth)
        if isinstance(node, (ast.With, ast.AsyncWith)):
            # A context manager may swallow what is raised: then what follows is reached from anywhere inside.
            out = frozenset(names)
            inside = Ways(out, ways.stop, ways.again, ways.end, ways.caught | out)
            return _read({*self.block(node.body, inside, depth), *out}, *node.items)
        if isinstance(node, ast.Match):
            here = ways.then(frozenset(names))
            for case in node.cases:
                names |= self.block(case.body, here, depth)
            return _read(names, node.subject, *(case.guard for case in node.cases if case.guard))
        if isinstance(node, ast.Break):
            return set(ways.stop)
        if isinstance(node, ast.Continue):
            return set(ways.again)
        return self.simple(node, names, ways)

    def simple(self, node: ast.stmt, names: set[str], ways: Ways) -> set[str]:
        """As ``statement``, of one that holds no other statements and does not jump within the function."""
        if isinstance(node, ast.Return):
            names = {*ways.end, *ways.caught}
        elif isinstance(node, ast.Raise):
            names = set(ways.caught)
        elif isinstance(node, ast.Assign):
            names -= _bound(*node.targets)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            names -= _bound(node.target)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
        names |= ways.caught
        return _read(names, node)

    def loop(self, node: ast.For | ast.AsyncFor | ast.While, out: Names, ways: Ways, depth: int) -> set[str]:
        over = ways.then(out)
        ended = self.block(node.orelse, over, depth)
        if depth >= BOUNDS.loop_depth:
            head = frozenset(_read({*ended, *out, *ways.end, *ways.caught}, node))
        else:
            head = self.head(node, ended, out, ways, depth)
            head = self.head(node, head, out, ways, depth) | head
            after = out | ways.end | ways.caught  # a loop is left by what it returns and raises, too
        before = {*head, *ways.caught}
        if not isinstance(node, ast.While):
            before = _read(before, node.iter)
        if depth < BOUNDS.loop_depth:
            self.found[node] = Live(frozenset(before) | self.always, head | self.always, after | self.always)
        return before

    def head(self, node: ast.For | ast.AsyncFor | ast.While, again: Names, out: Names, ways: Ways, depth: int) -> Names:
        """What is live at the head if ``again`` is live after one more iteration."""
        body = set(self.block(node.body, Ways(again, out, again, ways.end, ways.caught), depth + 1))
        if isinstance(node, ast.While):
            return frozenset(_read(body | again, node.test))
        return frozenset(_read((body - _bound(node.target)) | again | ways.caught, node.target))

    def trying(self, node: ast.Try, ways: Ways, depth: int) -> set[str]:
        if node.finalbody:
            # It runs wherever the rest leads to.
            all_ways = ways.out | ways.stop | ways.again | ways.end | ways.caught
            last = self.block(node.finalbody, ways.then(all_ways), depth)
            ways = Ways(last, last, last, last, last)
        handled = ways.caught.union(*(self.block(handler.body, ways, depth) for handler in node.handlers))
        names = _read(set(handled), *(handler.type for handler in node.handlers if handler.type))
        other = self.block(node.orelse, ways, depth)
        inside = Ways(other, ways.stop, ways.again, ways.end, frozenset(names))
        return {*names, *self.block(node.body, inside, depth)}


def _read(names: set[str], *nodes: ast.AST) -> set[str]:
    """``names`` and what ``nodes`` read."""
    for node in nodes:
        names |= _names_read(node)
    return names


@cached_on_node
def _names_read(root: ast.AST) -> Names:
    names: set[str] = set()
    todo = [root]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Store):
                names.add(node.id)
        elif isinstance(node, ast.Call) and (name := _read_by_item(node)):
            names.add(number(name))
        else:
            todo += children(node)
    return frozenset(names)


def _read_by_item(node: ast.Call) -> str | None:
    """``x`` in ``x.item()``, which reads the number alone."""
    reader = node.func
    if isinstance(reader, ast.Attribute) and reader.attr == "item" and isinstance(reader.value, ast.Name):
        return None if node.args else reader.value.id
    return None


@cached_on_node
def bound_in(loop: ast.AST) -> Names:
    """The names that an iteration of ``loop`` may bind, and their numbers."""
    found: set[str] = set()
    for node in walk(loop):
        name = getattr(node, "asname", None) or getattr(node, "name", None)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            name = node.id
        if isinstance(name, str):
            found |= {name, number(name)}
    return frozenset(found)


def _bound(*targets: ast.expr) -> set[str]:
    """The names that an assignment to ``targets`` binds for certain, and their numbers."""
    found: set[str] = set()
    todo = list(targets)
    while todo:
        target = todo.pop()
        if isinstance(target, ast.Name):
            found |= {target.id, number(target.id)}
        elif isinstance(target, (ast.Tuple, ast.List)):
            todo += target.elts
        elif isinstance(target, ast.Starred):
            todo.append(target.value)
    return found
