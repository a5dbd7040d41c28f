"""Moving statements, and doing once what is done twice."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from ..source import Loop
from ..source.edit import Edit
from .text.concrete_syntax import Concrete
from .text.expressions import is_method, steady
from .text.name_resolution import is_local, leaves, may_swap, read, written
from .text.rows import (
    after_header,
    block,
    first_place,
    indent_of,
    is_inline,
    owns_rows,
    put_after,
    put_rows_above,
    put_rows_below,
    take_out,
)
from .text.source_editor import (
    SCOPES,
    EditRefused,
    Place,
    SourceEditor,
    demand,
    index_of,
    innermost,
    refuse,
    require,
    siblings,
    suites,
)

_LEAVING = (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal)
_JUMPS = (ast.Return, ast.Break, ast.Continue, ast.Raise, ast.Yield, ast.YieldFrom, ast.Await)
_ORDERED = ("backward", "step", "zero_grad")
_PLAIN = (ast.Name, ast.Attribute, ast.BinOp, ast.UnaryOp, ast.Constant, ast.operator, ast.unaryop, ast.expr_context)


def move(editor: SourceEditor, statement: ast.AST, anchor: ast.AST, *, after: bool) -> list[Edit]:
    """A statement next to another of its suite, refused where the statements it passes depend on it by name or may
    jump. Comments above the statement and beside it go with it.

    Targets: the statement and the one it shall follow, or precede.
    """
    moved, fixed = editor.whole(statement), editor.whole(anchor)
    siblings([moved, fixed])
    goal = fixed.index + after
    refuse(goal in (moved.index, moved.index + 1), "there already")
    _refuse_crossing(moved, moved.suite[moved.index + 1 : goal] or moved.suite[goal : moved.index])
    return [_take_along(editor, moved), _put_next_to(editor, moved, fixed, after=after)]


def move_block(editor: SourceEditor, target: ast.AST, anchor: ast.AST) -> list[Edit]:
    """A loop, a ``with`` or an ``if`` to just below another statement.

    Targets: what is done, and the statement that it shall follow. Moved is what holds the first in the suite of the
    second.
    """
    suite, path = editor.whole(anchor).suite, editor.path(target)
    holder = next((statement for statement in suite if index_of(statement, path) is not None), None)
    if not isinstance(holder, (ast.For, ast.While, ast.With, ast.If)):
        raise EditRefused("no block holds it beside the other")
    return move(editor, holder, anchor, after=True)


def relocate(editor: SourceEditor, statement: ast.AST, anchor: ast.AST, *, after: bool) -> list[Edit]:
    """A call next to a statement that may stand in another suite, further out or in. Refused where a name that it reads
    is bound between, or in a loop around one of them that the other is not in.

    Targets: the call, a statement of its own, and the statement that it shall follow, or precede.
    """
    moved, fixed = editor.whole(statement), editor.place(anchor)
    require(isinstance(moved.statement, ast.Expr), "more than a call")
    ours, theirs = (*moved.parents, moved.statement), (*fixed.parents, fixed.statement)
    shorter = min(len(ours), len(theirs)) - 1
    depth = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a is not b), shorter)
    inner = [node for node in (*ours[depth:], *theirs[depth:]) if node is not moved.statement]
    refuse(any(isinstance(node, (*SCOPES, ast.Lambda)) for node in inner[:-1]), "a name may mean something else there")
    first, last = sorted((moved.statement.lineno, fixed.statement.lineno))
    shared = [each for suite in suites(ours[depth - 1]) for each in suite if each is not moved.statement]
    crossed = [each for each in shared if each.lineno <= last and (each.end_lineno or each.lineno) >= first]
    require(may_swap([moved.statement], crossed), "the order matters")
    return [_take_along(editor, moved), _put_next_to(editor, moved, fixed, after=after)]


def compute_after(editor: SourceEditor, anchor: ast.AST, *targets: ast.AST) -> list[Edit]:
    """The statements that make a value to just after another of their suite, in the order they had; refused where what
    they pass depends on them.

    Targets: the statement they shall follow, and what they compute, in any order; what does not stand above it in its
    suite stays where it is.
    """
    fixed = editor.whole(anchor)
    moved = _above(editor, targets, fixed)
    ours = [place.statement for place in moved]
    for place in moved:
        _refuse_crossing(place, [s for s in _between(place, fixed.index + 1) if s not in ours])
    if not all(owns_rows(editor, p.statement) for p in (*moved, fixed)):
        return [e for p in moved for e in (_take_along(editor, p), _put_next_to(editor, p, fixed, after=True))]
    indent = editor.indent_of_row(editor.first_row(fixed.statement))
    texts = [block(editor, place, indent) for place in moved]
    return [*(_take_along(editor, p) for p in moved), put_rows_below(editor, fixed.statement, *texts)]


def compute_again(editor: SourceEditor, anchor: ast.AST, *targets: ast.AST) -> list[Edit]:
    """The statements that make a value once more, before it is used below what made it out of date. What only the
    second use needs, as a loss, moves along.

    Targets: the statement that made it out of date, and what computes it, in any order; what does not stand above that
    statement in its suite stays where it is.
    """
    fixed = editor.whole(anchor)
    places = _above(editor, targets, fixed)
    moved = _movable(places, fixed)
    copied = [place for place in places if place not in moved]
    require(copied and all(isinstance(place.statement, ast.Assign) for place in copied), "nothing to compute again")
    goal = _first_reader(places, fixed)
    require(all(owns_rows(editor, place.statement) for place in (*places, goal)), "statements that share a row")
    ours = [place.statement for place in places]
    for place in places:
        crossed = [s for s in _between(place, goal.index) if s not in ours]
        _refuse_crossing(place, crossed, stays=place in copied)
    indent = editor.indent_of_row(editor.first_row(goal.statement))
    texts = [
        block(editor, place, indent) if place in moved else indent + editor.text_of(place.statement) for place in places
    ]
    return [*(_take_along(editor, place) for place in moved), put_rows_above(editor, goal, *texts)]


def _above(editor: SourceEditor, targets: Iterable[ast.AST], anchor: Place) -> list[Place]:
    """The statements with a target above ``anchor`` in its suite, in their order; refused where one is compound."""
    places = [editor.place(target) for target in targets]
    above = {p.index: p for p in places if p.suite is anchor.suite and p.index < anchor.index}
    require(above and not any(hasattr(p.statement, "body") for p in above.values()), "nothing that can be moved")
    return [above[index] for index in sorted(above)]


def _between(place: Place, end: int) -> list[ast.stmt]:
    return place.suite[place.index + 1 : end]


def _movable(places: list[Place], anchor: Place) -> list[Place]:
    """Those whose results are not read before ``anchor``, but by others of them."""
    moved: list[Place] = []
    for place in reversed(places):
        gone = [other.statement for other in moved]
        between = [s for s in _between(place, anchor.index + 1) if s not in gone]
        if not written([place.statement]) & read(between):
            moved.append(place)
    return moved


def _first_reader(places: list[Place], anchor: Place) -> Place:
    """The first statement below ``anchor`` that reads a result."""
    results = written(place.statement for place in places)
    below = anchor.suite[anchor.index + 1 :]
    index = demand(next((i for i, s in enumerate(below) if results & read([s])), None), "it is not used in this suite")
    return Place(below[index], anchor.suite, anchor.index + 1 + index, anchor.owner, anchor.parents)


def _refuse_crossing(moved: Place, crossed: list[ast.stmt], *, stays: bool = False) -> None:
    """Refuse where a statement and those it passes depend on each other by name, or one of them may jump. What they
    read does not matter where the statement ``stays`` and is only made once more.
    """
    ours = [moved.statement]
    moves = not (written(ours) | read(ours)) & written(crossed) if stays else may_swap(ours, crossed)
    refuse(not moves or leaves([*ours, *crossed], _LEAVING), "the order matters")


def _take_along(editor: SourceEditor, moved: Place) -> Edit:
    return take_out(editor, moved, with_comments=owns_rows(editor, moved.statement))


def _put_next_to(editor: SourceEditor, moved: Place, anchor: Place, *, after: bool) -> Edit:
    if owns_rows(editor, anchor.statement) or (editor.starts_row(anchor.statement) and not after):
        text = block(editor, moved, editor.indent_of_row(editor.first_row(anchor.statement)))
        return put_rows_below(editor, anchor.statement, text) if after else put_rows_above(editor, anchor, text)
    text = block(editor, moved, "")
    require(
        not any(mark in text for mark in "\n\r#;") and not getattr(moved.statement, "body", None),
        "it does not fit between statements of one row",
    )
    if after:
        return editor.insert(editor.end(anchor.statement), "; " + text)
    return editor.insert(editor.begin(anchor.statement), text + "; ")


# Into a suite


def move_into_function(editor: SourceEditor, statement: ast.AST, inside: ast.AST) -> list[Edit]:
    """A statement from above a function to the beginning of its body.

    Targets: the statement, and what stands in the function. The function is defined below the statement, in its suite;
    nothing below may change what the statement reads, and nothing outside the function may read what it assigns.
    """
    moved, path = editor.whole(statement), editor.path(inside)
    function = innermost(path, ast.FunctionDef)
    demand(index_of(function, moved.suite[moved.index + 1 :]), "no function that is defined below it")
    _refuse_in_function(moved, function)
    place = first_place(editor, function)
    refuse(is_inline(editor, place), "a function without rows of its own")
    text = block(editor, moved, indent_of(editor, place))
    return [_take_along(editor, moved), put_rows_above(editor, place, text)]


def _refuse_in_function(moved: Place, function: ast.FunctionDef) -> None:
    """Refuse where the statement computes something else in the function, or others need what it assigns."""
    statement, below = moved.statement, moved.suite[moved.index + 1 :]
    if not isinstance(statement, ast.Assign) or leaves([statement], (*_LEAVING, ast.Await)):
        raise EditRefused("not an assignment")
    require(
        all(isinstance(target, (ast.Name, ast.Tuple, ast.List)) for target in statement.targets), "more than variables"
    )
    others = [other for other in below if other is not function]
    names, arguments = written([statement]), {a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)}
    refuse(names & (read(others) | written(others)), "what it assigns is needed elsewhere")
    refuse(
        read([statement]) & (written(below) | arguments) or names & (written(function.body) | arguments),
        "names that mean something else in the function",
    )


def move_into_loop(editor: SourceEditor, statement: ast.AST, loop: ast.AST) -> list[Edit]:
    """A statement from before a loop to the beginning of its body. Comments above the statement go with it.

    Targets: the statement and the loop. The statement is a sibling of the loop, or of something that holds the loop; it
    is refused where a name makes the new order compute something else.
    """
    moved = editor.whole(statement)
    if not isinstance(loop, Loop):
        raise EditRefused("not a loop")
    _refuse_in_loop(editor, moved, loop)
    body = Place(loop.body[0], loop.body, 0, loop, ())
    indent = indent_of(editor, body)
    text = block(editor, moved, indent)
    if not is_inline(editor, body):
        return [_take_along(editor, moved), put_rows_above(editor, body, text)]
    gap = after_header(editor, body), editor.begin(body.statement)
    return [_take_along(editor, moved), editor.edit(*gap, editor.eol + text + editor.eol + indent)]


def _refuse_in_loop(editor: SourceEditor, moved: Place, loop: ast.For | ast.AsyncFor | ast.While) -> None:
    path = editor.path(loop)
    holder = next((i for i, s in enumerate(moved.suite) if index_of(s, path) is not None), -1)
    refuse(holder <= moved.index, "not before the loop")
    refuse(leaves([moved.statement], _LEAVING), "it would leave the loop")
    crossed: list[ast.AST] = [*_between(moved, holder)]
    for node in path[path.index(moved.suite[holder]) :]:
        refuse(isinstance(node, SCOPES), "a loop of another function")
        if node is not loop and isinstance(node, Loop):
            crossed += node.body[: next((i for i, s in enumerate(node.body) if index_of(s, path) is not None), None)]
        # What a statement with a suite evaluates or binds before that.
        crossed += [getattr(node, field) for field in ("iter", "test", "target") if hasattr(node, field)]
        crossed += getattr(node, "items", [])
    require(may_swap([moved.statement], crossed), "what is between depends on it")


# Once, and after use


def merge_backwards(editor: SourceEditor, *targets: ast.AST) -> list[Edit]:
    """``a.backward(); b.backward()`` becomes ``(a + b).backward()``.

    Targets: two or more statements ``<expr>.backward()`` of one suite, or their calls. All but the last are deleted; a
    ``retain_graph`` of theirs goes with them, any other argument refuses the fix. So does what stands between if it
    assigns a name of the losses, jumps away, or steps or clears an optimizer: the deleted calls would have come before
    it.
    """
    places = sorted((editor.place(target) for target in targets), key=lambda place: place.index)
    siblings(places)
    refuse(len(places) < 2, "only one")
    losses = [_loss(place) for place in places]
    merged = [place.statement for place in places]
    for place, loss in zip(places[:-1], losses):
        _refuse_later(loss, [s for s in _between(place, places[-1].index) if s not in merged])
    texts = [_term(editor, loss, is_first=loss is losses[0]) for loss in losses[:-1]]
    last = Concrete(editor, losses[-1])
    begin, end = last.extent(losses[-1])
    made = [take_out(editor, place) for place in places[:-1]]
    return [*made, editor.insert(begin, f"({' + '.join(texts)} + "), editor.insert(end, ")")]


def _loss(place: Place) -> ast.expr:
    match place.statement:
        case ast.Expr(ast.Call(func=ast.Attribute(attr="backward", value=loss), args=[], keywords=keywords)):
            refuse(any(keyword.arg != "retain_graph" for keyword in keywords), "a backward with arguments")
            return loss
    raise EditRefused("not a plain backward, a statement of its own")


def _refuse_later(loss: ast.expr, between: list[ast.stmt]) -> None:
    """Refuse where a loss is another one after the statements ``between``, or they need its gradients."""
    if not between:
        return
    require(all(isinstance(node, _PLAIN) for node in ast.walk(loss)), "a loss that would be computed later")
    refuse(
        written(between) & read([loss]) or _attributes(between, ast.Store) & _attributes([loss], ast.Load),
        "a loss that would be another",
    )
    refuse(leaves(between, _JUMPS), "what is between may jump")
    refuse(
        any(is_method(node, *_ORDERED) for s in between for node in ast.walk(s)), "what is between needs the gradients"
    )


def _attributes(nodes: Sequence[ast.AST], context: type[ast.expr_context]) -> set[str]:
    walked = (inner for node in nodes for inner in ast.walk(node))
    return {n.attr for n in walked if isinstance(n, ast.Attribute) and isinstance(n.ctx, context)}


def _term(editor: SourceEditor, loss: ast.expr, *, is_first: bool) -> str:
    """A loss as a term of a sum, without parentheses it does not need there."""
    concrete = Concrete(editor, loss)
    whole, bare = concrete.text(loss), editor.text_of(loss)
    tight = (ast.Mult, ast.Div, ast.Add, ast.Sub) if is_first else (ast.Mult, ast.Div)
    is_tight = isinstance(loss, ast.BinOp) and isinstance(loss.op, tight)
    return bare if is_tight and "\n" not in bare and "\r" not in bare else whole


def clear_after(editor: SourceEditor, anchor: ast.AST, *containers: ast.AST) -> list[Edit]:
    """``losses.clear()`` right after ``sum(losses).backward()``.

    Targets: the statement (or a call in it) to insert after, and the containers as the program writes them, there or
    elsewhere.
    """
    place = editor.whole(anchor)
    names = [_name_at(editor, place, container) for container in containers]
    return [put_after(editor, place, *(f"{name}.clear()" for name in names))]


def _name_at(editor: SourceEditor, place: Place, container: ast.AST) -> str:
    """How the container is written; refused where that means something else at ``place``."""
    name, places = steady(container), (place, editor.place(container))
    root = name.partition(".")[0]
    here, there = (editor.scopes(p)[0] for p in places)
    is_own = any(not isinstance(editor.scopes(p)[0], ast.Module) and is_local(editor, p, root) for p in places)
    if here is not there and is_own:
        one, other = (next((n for n in reversed(p.parents) if isinstance(n, ast.ClassDef)), None) for p in places)
        refuse(root != "self" or one is None or one is not other, "the name means something else there")
    return name
