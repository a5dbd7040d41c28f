"""Clear the gradients before something: ``opt.zero_grad()`` on a row of its own.

    for i, x in enumerate(data):
        opt.zero_grad()                 refused: it would drop what the iterations before have added
        net(x).sum().backward()
        if (i + 1) % 4 == 0:
            opt.step()

Targets: the statement (or a call in it) to insert before, and the optimizer, as the program writes it elsewhere. It
must mean the same at both places, so that calls are refused. The step that uses the gradients may be the third.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ....source import Loop
from ....source.edit import Edit
from ...text.edit_refused import EditRefused
from ...text.rows import must_stay_first, put_before
from ...text.source_editor import Place, SourceEditor
from ...text.states import steady


def edits(editor: SourceEditor, anchor: ast.AST, optimizer: ast.AST, step: ast.AST | None = None) -> list[Edit]:
    place = editor.whole(anchor)
    if must_stay_first(place):
        raise EditRefused("nothing may stand before it")
    if step is not None and _accumulates(place, editor.place(step)):
        raise EditRefused("the gradients of several iterations are used together")
    return [put_before(editor, place, f"{steady(optimizer)}.zero_grad()")]


def _accumulates(backward: Place, step: Place) -> bool:
    """Whether the step is taken in some iterations of the backward's loop only, as counted by the loop."""
    loops = [node for node in backward.parents if isinstance(node, Loop)]
    if not loops:
        return False
    counted = _counted(loops[-1])
    tests = [node.test for node in step.parents if isinstance(node, ast.If) and node not in backward.parents]
    return any(not counted.isdisjoint(_names(test)) for test in tests)


def _counted(loop: ast.For | ast.AsyncFor | ast.While) -> frozenset[str]:
    """What a loop counts with: what ``range`` or ``enumerate`` gives it, or what grows by a constant."""
    found = {ast.unparse(target) for node in ast.walk(loop) for target in _counters(node)}
    return frozenset(found)


def _counters(node: ast.AST) -> Iterator[ast.expr]:
    match node:
        case ast.For(target=ast.Tuple(elts=[target, *_]), iter=ast.Call(func=ast.Name(id="enumerate"))):
            yield target
        case ast.For(target=target, iter=ast.Call(func=ast.Name(id="range"))):
            yield target
        case ast.AugAssign(target=target, value=ast.Constant()):
            yield target


def _names(test: ast.expr) -> Sequence[str]:
    return [ast.unparse(node) for node in ast.walk(test) if isinstance(node, (ast.Name, ast.Attribute))]
