"""Switching the recording of gradients on or off around statements."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from ..source.edit import Edit
from .text.expressions import rename, replace
from .text.name_resolution import leaves, qualified, torch_name
from .text.rows import after_header, deepen, indent_of, indent_unit, is_elif, is_inline, must_stay_first, run
from .text.source_editor import EditRefused, SourceEditor, demand, refuse, require

_INFERENCE = ("torch.inference_mode", "torch.autograd.inference_mode")
_OFF = ("torch.no_grad", "torch.autograd.no_grad", *_INFERENCE)
_SWITCHES = ("torch.set_grad_enabled", "torch.autograd.set_grad_enabled", "torch.autograd.grad_mode.set_grad_enabled")
_SUSPENDING = (ast.Yield, ast.YieldFrom, ast.Await)
_SUSPENDING_STATEMENTS = (ast.AsyncFor, ast.AsyncWith)


# Statements in a mode


def put_under(editor: SourceEditor, *targets: ast.AST, mode: str = "no_grad") -> list[Edit]:
    """Statements in ``with torch.<mode>():``, by the name that this file has for torch; a file that has none gets no
    fix, and neither do statements that suspend (``yield``, ``await``): the mode would leak to code that runs meanwhile.

    Targets: one or more consecutive statements of one suite.
    """
    places = run([editor.whole(target) for target in targets])
    first, last = places[0], places[-1]
    refuse(
        leaves([place.statement for place in places], (*_SUSPENDING, *_SUSPENDING_STATEMENTS)),
        "the mode would leak while it is suspended",
    )
    refuse(any(map(must_stay_first, places)), "a docstring or a future import")
    refuse(is_elif(editor, first), "elif has no row of its own")
    manager = torch_name(editor, first, mode)
    refuse(manager is None, "torch is not imported by name")

    suite, eol = first.suite, editor.eol
    outer, unit = indent_of(editor, first), indent_unit(editor, first)
    enter = f"with {manager}():{eol}{outer}{unit}"
    made: list[Edit] = []
    if is_inline(editor, first):
        header_end, begin = after_header(editor, first), editor.begin(suite[0])
        made.append(editor.edit(header_end, begin, eol + outer + (enter if first.index == 0 else "")))
    elif editor.starts_row(first.statement):
        made.append(editor.insert(editor.begin(first.statement), enter))
    if first.index and editor.shares_row(suite[first.index - 1], first.statement):
        made.append(_joint(editor, first.index - 1, suite, eol + outer + enter))
    if last.index + 1 < len(suite) and editor.shares_row(last.statement, suite[last.index + 1]):
        made.append(_joint(editor, last.index, suite, eol + outer))
    if not is_inline(editor, first):
        rows = range(editor.first_row(first.statement) + 1, editor.last_row(last.statement) + 1)
        made += deepen(editor, rows, first.statement, last.statement, outer, unit)
    return made


def _joint(editor: SourceEditor, index: int, suite: list[ast.stmt], content: str) -> Edit:
    return editor.edit(editor.end(suite[index]), editor.begin(suite[index + 1]), content)


def put_writes_under(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    """The same for a statement and those right below it that write in place as well.

        self.weight.uniform_(-k, k)        with torch.no_grad():
        self.bias.zero_()            ->        self.weight.uniform_(-k, k)
                                               self.bias.zero_()

    PyTorch names the first write that it refuses; it would refuse the next one too.
    """
    place = editor.whole(target)
    last = place.index
    while last + 1 < len(place.suite) and _writes(place.suite[last + 1]):
        last += 1
    return put_under(editor, *place.suite[place.index : last + 1])


def _writes(statement: ast.stmt) -> bool:
    """``w -= 1``, ``w[0] = 1``, ``w.zero_()``: something is overwritten, and no name gets a new meaning; not
    ``w.grad.zero_()``, which no code refuses."""
    match statement:
        case ast.AugAssign():
            return True
        case ast.Assign(targets=targets):
            return all(isinstance(target, ast.Subscript) for target in targets)
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name, value=owner))):
            is_gradient = isinstance(owner, ast.Attribute) and owner.attr == "grad"
            return name.endswith("_") and not name.startswith("_") and not is_gradient
    return False


def put_rest_under(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    """``torch.set_grad_enabled(False)`` becomes ``with torch.no_grad():`` over the statements below it.

    Target: the call, a statement of a function's own.
    """
    place = editor.whole(target)
    no_grad = torch_name(editor, place, "no_grad")
    rest = place.suite[place.index + 1 :]
    if not isinstance(place.owner, (ast.FunctionDef, ast.AsyncFunctionDef)) or no_grad is None or not rest:
        raise EditRefused("not a statement of a function, or the last one")
    refuse(
        leaves(rest, _SUSPENDING) or editor.shares_row(place.statement, rest[0]),
        "the mode would leak while it is suspended",
    )
    outer, unit = indent_of(editor, place), indent_unit(editor, place)
    rows = range(editor.last_row(place.statement) + 1, editor.last_row(rest[-1]) + 1)
    deeper = deepen(editor, rows, rest[0], rest[-1], outer, unit)
    return [replace(editor, place.statement, f"with {no_grad}():"), *deeper]


def put_root_under(editor: SourceEditor, computed: ast.AST, backward: ast.AST) -> list[Edit]:
    """What computes a root in ``with torch.enable_grad():``.

    Targets: what was computed without gradients, and what goes backward. Where both stand in one suite, all from the
    first down to the second goes in, else only the statement of the first. Refused where code around it enters the
    mode: that can be changed.
    """
    refuse(
        any(_managers_around(editor, [computed], _OFF)) or _is_switched(editor, computed),
        "the mode is entered around it",
    )
    first, last = editor.whole(computed), editor.place(backward)
    end = last.index if last.suite is first.suite and last.index >= first.index else first.index
    return put_under(editor, *first.suite[first.index : end + 1], mode="enable_grad")


def _is_switched(editor: SourceEditor, node: ast.AST) -> bool:
    """Whether code around a node switches gradients by a condition."""
    managers = (item.context_expr for part in editor.path(node) if isinstance(part, ast.With) for item in part.items)
    calls = (each for each in managers if isinstance(each, ast.Call))
    return any(qualified(editor, editor.place(each), each.func) in _SWITCHES for each in calls)


# Another mode


def enable(editor: SourceEditor, *targets: ast.AST) -> list[Edit]:
    """``with torch.no_grad():`` becomes ``with torch.enable_grad():``; a decorator ``@torch.no_grad()`` goes.

    Targets: what was computed without gradients, then the calls that led there, innermost first. The mode is looked for
    in the ``with`` statements and the decorators around them.
    """
    node, expression = _manager_around(editor, targets, _OFF)
    if isinstance(node, (ast.With, ast.AsyncWith)):
        return [rename(editor, _function(expression), "enable_grad")]
    row, last = editor.bare_row(expression), editor.last_row(expression)
    before, (alone, comment) = editor.rows[row - 1].strip(), editor.tail(expression)
    require(
        row == last and before.startswith("@") and alone and comment is None,
        "a decorator that does not have a row of its own",
    )
    return [editor.edit(editor.row_start(row), editor.row_start(last + 1), "")]


def leave_inference(editor: SourceEditor, *targets: ast.AST) -> list[Edit]:
    """``torch.inference_mode()`` becomes ``torch.no_grad()``. Targets: as of :func:`enable`."""
    _, expression = _manager_around(editor, targets, _INFERENCE)
    return [rename(editor, _function(expression), "no_grad")]


def _function(manager: ast.expr) -> ast.expr:
    return manager.func if isinstance(manager, ast.Call) else manager


def _manager_around(editor: SourceEditor, targets: Sequence[ast.AST], names: Sequence[str]) -> tuple[ast.AST, ast.expr]:
    return demand(next(_managers_around(editor, targets, names), None), "the mode is not entered around it")


def _managers_around(
    editor: SourceEditor, targets: Iterable[ast.AST], names: Sequence[str]
) -> Iterator[tuple[ast.AST, ast.expr]]:
    """Those of ``names``, called without arguments or not called, around each target, innermost first: each with the
    statement it belongs to.
    """
    for node in (node for target in targets for node in reversed(editor.path(target))):
        for each in _managers(node):
            has_arguments = isinstance(each, ast.Call) and (each.args or each.keywords)
            if not has_arguments and qualified(editor, editor.place(node), _function(each)) in names:
                yield node, each


def _managers(node: ast.AST) -> list[ast.expr]:
    """The context managers in a ``with`` statement, or as decorators of a function."""
    if isinstance(node, (ast.With, ast.AsyncWith)):
        return [item.context_expr for item in node.items]
    return node.decorator_list if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else []


def enter_all(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    """Commas between context managers that are joined by ``and`` or ``or``.

    Target: the operands, which are the only expression of an item of ``with``.
    """
    if not isinstance(target, ast.BoolOp) or not isinstance(editor.path(target)[-2], ast.withitem):
        raise EditRefused("not what a with statement enters")
    refuse(editor.text[: editor.begin(target)].rstrip().endswith("("), "in parentheses, where a comma may make a tuple")
    gaps = [(editor.end(before), editor.begin(after)) for before, after in pairwise(target.values)]
    refuse(
        any(editor.text[begin:end].strip() not in ("and", "or") for begin, end in gaps), "more than a word between them"
    )
    return [editor.edit(begin, end, ", ") for begin, end in gaps]
