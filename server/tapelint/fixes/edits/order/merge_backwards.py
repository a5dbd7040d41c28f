"""Walk the graph once: ``a.backward(); b.backward()`` becomes ``(a + b).backward()``.

Targets: two or more statements ``<expr>.backward()`` of one suite, or their calls. All but the last are deleted; a
``retain_graph`` of theirs goes with them, any other argument refuses the fix. So does what stands between if it assigns
a name of the losses, jumps away, or steps or clears an optimizer: the deleted calls would have come before it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from ....source.edit import Edit
from ...text.backward_calls_text import as_call
from ...text.concrete_syntax import Concrete
from ...text.edit_refused import EditRefused
from ...text.name_resolution import leaves, read, written
from ...text.rows import take_out
from ...text.source_editor import Place, SourceEditor, siblings

_JUMPS = (ast.Return, ast.Break, ast.Continue, ast.Raise, ast.Yield, ast.YieldFrom, ast.Await)
_ORDERED = frozenset({"backward", "step", "zero_grad"})
_PLAIN = (ast.Name, ast.Attribute, ast.BinOp, ast.UnaryOp, ast.Constant, ast.operator, ast.unaryop, ast.expr_context)


def edits(editor: SourceEditor, *targets: ast.AST) -> list[Edit]:
    places = sorted((editor.place(target) for target in targets), key=lambda place: place.index)
    siblings(places)
    if len(places) < 2:
        raise EditRefused("only one")
    losses = [_loss(place) for place in places]
    _refuse_dependent(places, losses)
    *texts, _ = [_term(editor, loss, first=loss is losses[0]) for loss in losses]
    last = Concrete(editor, losses[-1])
    begin, end = last.extent(last.expression(losses[-1]))
    made = [take_out(editor, place, with_comments=False) for place in places[:-1]]
    return [*made, editor.insert(begin, f"({' + '.join(texts)} + "), editor.insert(end, ")")]


def _loss(place: Place) -> ast.expr:
    call = as_call(place.statement)
    if not isinstance(place.statement, ast.Expr) or not isinstance(call, ast.Call):
        raise EditRefused("not a statement of its own")
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "backward" or call.args:
        raise EditRefused("not a plain backward")
    if any(keyword.arg != "retain_graph" for keyword in call.keywords):
        raise EditRefused("a backward with arguments")
    return call.func.value


def _refuse_dependent(places: list[Place], losses: list[ast.expr]) -> None:
    """Refuse where summing later computes something else than walking earlier."""
    suite, merged = places[0].suite, {place.index for place in places}
    for place, loss in zip(places[:-1], losses):
        between = [s for i, s in enumerate(suite) if place.index < i < places[-1].index and i not in merged]
        if between:
            _refuse_later(loss, between)


def _refuse_later(loss: ast.expr, between: list[ast.stmt]) -> None:
    """Refuse where a loss is another one after the statements ``between``, or they need its gradients."""
    if not all(isinstance(node, _PLAIN) for node in ast.walk(loss)):
        raise EditRefused("a loss that would be computed later")
    if written(between) & read([loss]) or _attributes(between, ast.Store) & _attributes([loss], ast.Load):
        raise EditRefused("a loss that would be another")
    if leaves(between, _JUMPS):
        raise EditRefused("what is between may jump")
    calls = (node for s in between for node in ast.walk(s) if isinstance(node, ast.Call))
    if any(isinstance(call.func, ast.Attribute) and call.func.attr in _ORDERED for call in calls):
        raise EditRefused("what is between needs the gradients")


def _attributes(nodes: Iterable[ast.AST], context: type[ast.expr_context]) -> set[str]:
    walked = (inner for node in nodes for inner in ast.walk(node))
    return {n.attr for n in walked if isinstance(n, ast.Attribute) and isinstance(n.ctx, context)}


def _term(editor: SourceEditor, loss: ast.expr, *, first: bool) -> str:
    """A loss as a term of a sum, without parentheses it does not need there."""
    concrete = Concrete(editor, loss)
    found = concrete.expression(loss)
    bare = editor.text_of(loss)
    binary = isinstance(loss, ast.BinOp) and (
        isinstance(loss.op, (ast.Mult, ast.Div)) or (first and isinstance(loss.op, (ast.Add, ast.Sub)))
    )
    return bare if binary and "\n" not in bare and "\r" not in bare else concrete.text(found)
