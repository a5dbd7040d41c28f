"""The calls of a training step: its backward, what that starts from, and what clears the gradients before it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..source import Loop
from ..source.edit import Edit
from .text.concrete_syntax import Arguments, Concrete
from .text.expressions import as_call, rename, replace
from .text.name_resolution import qualified, read, written
from .text.rows import put_before, put_call, take_out
from .text.source_editor import EditRefused, Place, SourceEditor, refuse, require, siblings

_POSITIONS = {".backward": 1, "torch.autograd.backward": 2, "torch.autograd.grad": 3}
"""Where the method and the functions take ``retain_graph`` by position."""
_NAMES = ("term", "addend")
_OF_LISTS = frozenset("torch.tensor torch.as_tensor torch.asarray torch.Tensor torch.FloatTensor".split())
"""What makes a tensor of a list of numbers (https://docs.pytorch.org/docs/stable/torch.html#creation-ops)."""


def retain_graph(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    """``loss.backward(retain_graph=True)``.

    Target: the call, of ``Tensor.backward``, ``torch.autograd.backward`` or ``torch.autograd.grad``. A
    ``retain_graph`` that is there already, by name or by position, becomes ``True``.
    """
    call = as_call(target)
    return Arguments(editor, call).put("retain_graph", "True", _retain_graph_position(editor, call))


def drop_retain_graph(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    """The call without ``retain_graph``. Target: as of :func:`retain_graph`."""
    call = as_call(target)
    return Arguments(editor, call).remove("retain_graph", _retain_graph_position(editor, call))


def _retain_graph_position(editor: SourceEditor, call: ast.Call) -> int | None:
    """The index of ``retain_graph`` among the arguments of a call, None for a function that is not torch's."""
    name = qualified(editor, editor.place(call), call.func)
    is_method = isinstance(call.func, ast.Attribute) and call.func.attr == "backward" and name is None
    return _POSITIONS.get(".backward" if is_method else name or "")


def create_graph(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    """``torch.autograd.grad(y, x, create_graph=True)``; ``retain_graph`` is then true by default.

    Target: the call. A ``create_graph`` that is there already becomes ``True``.
    """
    call = as_call(target)
    require(qualified(editor, editor.place(call), call.func) == "torch.autograd.grad", "not torch.autograd.grad")
    return Arguments(editor, call).put("create_graph", "True", 4)


def stack(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    """``torch.tensor([a, b])`` becomes ``torch.stack([a, b])``.

    Target: the call that copies the numbers of a list of tensors. The device may be given, it is that of the losses.
    """
    if not isinstance(target, ast.Call) or not isinstance(target.func, ast.Attribute) or len(target.args) != 1:
        raise EditRefused("not a call with one argument")
    require(qualified(editor, editor.place(target), target.func) in _OF_LISTS, "not known to make a tensor of a list")
    refuse([keyword.arg for keyword in target.keywords] not in ([], ["device"]), "arguments that stack does not take")
    made = [rename(editor, target.func, "stack")]
    return made + Arguments(editor, target).remove("device") if target.keywords else made


def leave_out(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    """The statement is deleted. Comments above it stay.

    Target: the call, a statement of its own and not the only one of its suite.
    """
    place = editor.place(target)
    require(
        isinstance(place.statement, ast.Expr) and place.statement.value is as_call(target), "not a statement of its own"
    )
    return [take_out(editor, place)]


def backward_of_term(editor: SourceEditor, statement: ast.AST, call: ast.AST) -> list[Edit]:
    """``total += loss.detach()``, ``loss.backward()``.

    Targets: the statement that adds, ``total += loss`` or ``total = total + loss``, and the call of
    ``total.backward()`` below it in the same suite. What is no name gets one.
    """
    adds, goes = editor.place(statement), editor.place(call)
    total, term = _sum(adds.statement)
    root = _root(goes.statement, as_call(call))
    siblings([adds, goes])
    is_changed = written(adds.suite[adds.index + 1 : goes.index]) & read([term, root])
    refuse(
        goes.index < adds.index or ast.unparse(root) != total or is_changed,
        "it does not go backward from what was added",
    )
    if isinstance(term, (ast.Name, ast.Attribute)):
        detached = Concrete(editor, term).put_behind(term, ".detach()")
        return [*detached, replace(editor, root, ast.unparse(term))]
    taken = read([editor.source.tree]) | written([editor.source.tree])
    name, text = next((name for name in _NAMES if name not in taken), None), editor.text_of(term)
    refuse(name is None or "\n" in text or "\r" in text, "no name is left, or more than one row")
    named = put_before(editor, adds, f"{name} = {text}")
    return [named, replace(editor, term, f"{name}.detach()"), replace(editor, root, f"{name}")]


def _sum(statement: ast.stmt) -> tuple[str, ast.expr]:
    """What a statement adds to, as it is written, and what it adds."""
    match statement:
        case ast.AugAssign(ast.Name() | ast.Attribute() as target, ast.Add(), value):
            return ast.unparse(target), value
        case ast.Assign([ast.Name() | ast.Attribute() as target], ast.BinOp(left, ast.Add(), right)):
            for total, term in ((left, right), (right, left)):
                if ast.unparse(total) == ast.unparse(target):
                    return ast.unparse(target), term
    raise EditRefused("nothing is added")


def _root(statement: ast.stmt, call: ast.Call) -> ast.expr:
    match statement:
        case ast.Expr(ast.Call(func=ast.Attribute(attr="backward", value=root)) as whole) if whole is call:
            return root
    raise EditRefused("not a plain backward, a statement of its own")


def zero_grad_before(
    editor: SourceEditor, anchor: ast.AST, optimizer: ast.AST, step: ast.AST | None = None
) -> list[Edit]:
    """``opt.zero_grad()`` on a row of its own.

        for i, x in enumerate(data):
            opt.zero_grad()                 refused: it would drop what the iterations before have added
            net(x).sum().backward()
            if (i + 1) % 4 == 0:
                opt.step()

    Targets: the statement (or a call in it) to insert before, and the optimizer, as the program writes it elsewhere. It
    must mean the same at both places, so that calls are refused. The step that uses the gradients may be the third.
    """
    refuse(
        step is not None and _accumulates(editor.whole(anchor), editor.place(step)),
        "the gradients of several iterations are used together",
    )
    return put_call(editor, anchor, optimizer, call="{0}.zero_grad()")


def _accumulates(backward: Place, step: Place) -> bool:
    """Whether the step is taken in some iterations of the backward's loop only, as counted by the loop."""
    loops = [node for node in backward.parents if isinstance(node, Loop)]
    tests = [node.test for node in step.parents if isinstance(node, ast.If) and node not in backward.parents]
    counted = {ast.unparse(target) for loop in loops[-1:] for node in ast.walk(loop) for target in _counters(node)}
    names = {
        ast.unparse(node) for test in tests for node in ast.walk(test) if isinstance(node, (ast.Name, ast.Attribute))
    }
    return not counted.isdisjoint(names)


def _counters(node: ast.AST) -> Iterator[ast.expr]:
    """What a loop counts with: what ``range`` or ``enumerate`` gives it, or what grows by a constant."""
    match node:
        case ast.For(target=ast.Tuple(elts=[target, *_]), iter=ast.Call(func=ast.Name(id="enumerate"))):
            yield target
        case ast.For(target=target, iter=ast.Call(func=ast.Name(id="range"))):
            yield target
        case ast.AugAssign(target=target, value=ast.Constant()):
            yield target
