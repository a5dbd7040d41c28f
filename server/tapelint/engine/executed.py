"""Whether a run of a file has shown all that it can show: then what it has not shown is not there.

    DEBUG = False
    if DEBUG:
        y += 1              not executed: nothing is known of it

    y.sum().backward()      an error: what is below was not executed on this path

    def update(h):          nothing in this file calls it, so it ran with arguments that were made up
        h += 1

Only the script counts, with the functions that it calls. A row that ran in one iteration has run, even where the next
ones were not looked at because they would only repeat it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ..source.walking import children
from .analysis_unit import AnalysisUnit
from .machine import Machine


def is_whole(machine: Machine, steps: Iterable[AnalysisUnit]) -> bool:
    """Whether the script was executed in whole: all code of the file, each statement to its end, no path cut off or
    ended by an error, and no backward from what is unknown.
    """
    holes, imports = machine.unit.stats, machine.imports
    if holes.out_of_fuel or holes.stopped or holes.faults or holes.dropped or holes.failed or holes.unknown_roots:
        return False
    if imports is not None and not imports.is_whole:
        return False
    ran = set[ast.AST]().union(*(step.completed for step in steps if step.is_script))
    return all(part in ran for part in _parts(machine.tree))


def _parts(tree: ast.AST) -> Iterator[ast.AST]:
    """The statements of a program that do anything, and what of its expressions is evaluated on a condition."""
    todo = [tree]
    while todo:
        node = todo.pop()
        todo += children(node)
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
                todo = [other for other in todo if other not in node.body]
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Pass() | ast.Raise():
                continue  # of a definition the statements inside count
            case ast.Expr(value=ast.Constant()) | ast.AnnAssign(value=None):
                continue
            case ast.stmt():
                yield node
            case ast.IfExp():
                yield from _unknown(node.body, node.orelse)
            case ast.BoolOp():
                yield from _unknown(*node.values)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                yield from _unknown(node.elt)
            case ast.DictComp():
                yield from _unknown(node.key, node.value)
            case ast.Lambda():
                yield from _unknown(node.body)


def _unknown(*parts: ast.expr) -> Iterator[ast.expr]:
    return (part for part in parts if not isinstance(part, ast.Constant))
