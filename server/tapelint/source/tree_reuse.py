"""A tree after an edit that is, as far as it can be, the tree before it.

    def load(path): ...           the very nodes of the old tree, a row further down
    def train(model): ...         the old definition with its new body: code that holds the function holds the new one
    if __name__ == "__main__":    the old statement with its new sides: code that is inside it goes on with the new ones
        train(load("data"))       the old nodes again

So what was found out about the old tree (which functions a run has entered, where a hazard is) holds for the new one
wherever that is the same code, and needs no translation. What is the same is decided by syntax alone: rows that both
texts begin and end with hold the same statements, and of the rest the trees are compared, without places and
docstrings.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from .parsing import Source
from .walking import drop_cached

_Definition = (ast.FunctionDef, ast.AsyncFunctionDef)
_Entered = (ast.If, ast.For, ast.AsyncFor)
_BLOCKS = ("body", "orelse")
_PLACE = ("lineno", "col_offset", "end_lineno", "end_col_offset")


@dataclass(slots=True)
class TreeDiff:
    """What of the old tree is the same in the new one."""

    # Definitions of the old tree that have another body now.
    bodies: set[ast.AST] = field(default_factory=set)
    # Of the blocks that may have changed, each a field of a node, how many statements at their beginning are the same.
    kept: dict[tuple[ast.AST, str], int] = field(default_factory=dict)

    def keeps(self, node: ast.AST, name: str, index: int) -> bool:
        """Whether the first ``index`` statements in the field ``name`` of ``node`` are what they were."""
        return index <= self.kept.get((node, name), index)


def reuse_tree(old: Source, new: Source) -> TreeDiff | None:
    """Make ``new.tree`` of the nodes of ``old.tree``, which is not to be used any more; None where nothing is alike."""
    before, after = old.parsed_rows, new.parsed_rows
    if before is None or after is None:
        return None
    most = min(len(before), len(after))
    top = next((i for i in range(most) if before[i] != after[i]), most)
    bottom = next((i for i in range(most - top) if before[-1 - i] != after[-1 - i]), most - top)
    edit = _Edit(top, len(before) - bottom, len(after) - len(before))
    edit.revise(old.tree, new.tree, "body")
    drop_cached(old.tree)
    new.tree = old.tree
    return edit.found


class _Edit:
    """The rows after ``top`` up to ``end`` have been replaced; those below moved down by ``moved``."""

    def __init__(self, top: int, end: int, moved: int) -> None:
        self.top, self.end, self.moved = top, end, moved
        self.found = TreeDiff()

    def block(self, old: list[ast.stmt], new: list[ast.stmt]) -> int:
        """Put the old statements into ``new`` where they are the same; how many are so, from the first on."""
        shorter = min(len(old), len(new))
        head = 0
        while head < shorter and self.is_above(old[head], new[head]):
            new[head] = old[head]
            head += 1
        tail = 0
        while tail < shorter - head and self.is_below(old[-1 - tail], new[-1 - tail]):
            tail += 1
            new[-tail] = self.down(old[-tail])
        kept = head
        if len(old) == len(new):
            for index in range(head, len(new) - tail):
                if not self.revised(old[index], new[index]):
                    if self.opened(old[index], new[index]):
                        new[index] = old[index]
                    return kept
                new[index] = old[index]
                kept += 1
            kept += tail
        return kept

    def revise(self, old: ast.AST, new: ast.AST, name: str) -> int:
        """Give ``old`` the block ``name`` of ``new``, made of its own statements where they are the same."""
        kept = self.found.kept[old, name] = self.block(getattr(old, name), getattr(new, name))
        setattr(old, name, getattr(new, name))
        return kept

    def is_above(self, old: ast.stmt, new: ast.stmt) -> bool:
        return type(old) is type(new) and _place(old) == _place(new) and (old.end_lineno or 0) <= self.top

    def is_below(self, old: ast.stmt, new: ast.stmt) -> bool:
        if type(old) is not type(new) or _first(old) <= self.end:
            return False
        row, column, end_row, end_column = _place(old)
        moved = row + self.moved, column, end_row + self.moved, end_column
        return moved == _place(new) and _first(old) + self.moved == _first(new)

    def down(self, statement: ast.stmt) -> ast.stmt:
        if self.moved:
            for node in ast.walk(statement):
                if hasattr(node, "lineno") and hasattr(node, "end_lineno"):
                    node.lineno += self.moved
                    node.end_lineno += self.moved
        return statement

    def revised(self, old: ast.stmt, new: ast.stmt) -> bool:
        """Make ``old`` what ``new`` is, if code that has not looked into its body need not know."""
        if type(old) is not type(new):
            return False
        if self.is_same(old, new):
            self.move(old, new)
            return True
        if not isinstance(old, (*_Definition, ast.ClassDef)) or not _same(_head(old), _head(new)):
            return False
        if isinstance(old, ast.ClassDef) and isinstance(new, ast.ClassDef):
            if len(old.body) != len(new.body) or self.revise(old, new, "body") < len(new.body):
                return False
        else:
            self.found.bodies.add(old)
            self.revise(old, new, "body")
        _become(old, new, _head(old), _head(new))
        return True

    def is_same(self, old: ast.stmt, new: ast.stmt) -> bool:
        """Whether two statements differ in places and in docstrings at most. Of a statement with blocks only those in
        them are compared that are near the edit.
        """
        if self.is_above(old, new) or self.is_below(old, new):
            return True
        blocks = _blocks(old, new)
        if type(old) is not type(new) or not blocks:
            return _same([old], [new])
        return all(len(left) == len(right) and all(map(self.is_same, left, right)) for left, right in blocks) and _same(
            _head(old), _head(new)
        )

    def move(self, old: ast.stmt, new: ast.stmt) -> None:
        """Give ``old`` the places, and the docstrings, of ``new``, which is the same otherwise."""
        if self.is_above(old, new):
            return
        if self.is_below(old, new):
            self.down(old)
            return
        blocks = _blocks(old, new)
        if not blocks:
            _move([old], [new])
            return
        for left, right in blocks:
            for one, other in zip(left, right, strict=True):
                self.move(one, other)
        _move(_head(old), _head(new))
        for name in _PLACE:
            setattr(old, name, getattr(new, name))

    def opened(self, old: ast.stmt, new: ast.stmt) -> bool:
        """Make ``old`` what ``new`` is, if code that is inside it, above the edit, need not know."""
        if type(old) is not type(new) or not isinstance(old, _Entered) or not _same(_head(old), _head(new)):
            return False
        for name in _BLOCKS:
            self.revise(old, new, name)
        _become(old, new, _head(old), _head(new))
        return True


def _place(node: ast.stmt) -> tuple[int, int, int, int]:
    return node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0


def _first(node: ast.stmt) -> int:
    marks: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(mark.lineno for mark in marks)])


def _head(node: ast.stmt) -> list[object]:
    """All of a statement but its blocks."""
    return [getattr(node, name, None) for name in node._fields if name not in _BLOCKS]


def _blocks(old: ast.stmt, new: ast.stmt) -> list[tuple[list[ast.stmt], list[ast.stmt]]]:
    """The blocks of two statements, one beside the other; none of simple statements."""
    return [(getattr(old, name), getattr(new, name, [])) for name in _BLOCKS if hasattr(old, name)]


def _same(old: object, new: object) -> bool:
    """Whether two pieces of trees differ in places and in docstrings at most."""
    todo = [(old, new)]
    while todo:
        left, right = todo.pop()
        if type(left) is not type(right):
            return False
        if isinstance(left, list) and isinstance(right, list):
            if len(left) != len(right):
                return False
            todo += zip(left, right)
        elif isinstance(left, ast.AST):
            if not (_is_docstring(left) and _is_docstring(right)):
                todo += [(getattr(left, name, None), getattr(right, name, None)) for name in left._fields]
        elif left != right or repr(left) != repr(right):
            return False
    return True


def _is_docstring(node: object) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _move(old: object, new: object) -> None:
    """Give ``old`` the places, and the docstrings, of ``new``, which is the same otherwise."""
    for left, right in zip(_nodes(old), _nodes(new), strict=True):
        for name in _PLACE:
            if hasattr(right, name):
                setattr(left, name, getattr(right, name))
        if isinstance(left, ast.Constant) and isinstance(right, ast.Constant):
            left.value = right.value


def _nodes(piece: object) -> Iterator[ast.AST]:
    parts: Iterable[object] = piece if isinstance(piece, list) else [piece]
    for part in parts:
        if isinstance(part, list):
            yield from _nodes(part)
        elif isinstance(part, ast.AST):
            yield from ast.walk(part)


def _become(old: ast.stmt, new: ast.stmt, head: object, same: object) -> None:
    """``old`` has the blocks of ``new`` already, and what it has beside them, its ``head``, is the ``same``."""
    _move(head, same)
    for name in _PLACE:
        setattr(old, name, getattr(new, name))
    drop_cached(old)
