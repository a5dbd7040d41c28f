"""Let the first tensor that a root is computed from require grad: ``x = torch.rand(3)`` above ``x.sum().backward()``
becomes ``x = torch.rand(3, requires_grad=True)``.

Target: the call that goes backward. The tensor is looked for in the text: in the root's expression, then where the
names in it were bound last, by an assignment or a loop. Tensors of integers are left alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....source.edit import Edit
from ...text.backward_calls_text import as_call
from ...text.edit_refused import EditRefused
from ...text.name_resolution import dotted, own_nodes, qualified
from ...text.source_editor import SourceEditor
from .requires_grad import edits as tracking

_FLOATS = frozenset(
    "empty empty_like eye full full_like linspace logspace ones ones_like rand rand_like randn randn_like tensor zeros"
    " zeros_like".split()
)
_DEEP = 8
"""Assignments that are followed."""


def edits(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    call = as_call(target)
    if not isinstance(call, ast.Call):
        raise EditRefused("not a call")
    for made in _made(editor, _root(call), call, _DEEP):
        try:
            return tracking(editor, made)
        except EditRefused:
            continue
    raise EditRefused("no tensor is made on the way")


def _root(call: ast.Call) -> ast.expr:
    """What the backward starts from."""
    function = call.func
    is_method = isinstance(function, ast.Attribute) and dotted(function) not in ("torch.autograd.backward",)
    if is_method and isinstance(function, ast.Attribute) and function.attr == "backward":
        return function.value
    if not call.args:
        raise EditRefused("a root that is not an argument by position")
    return call.args[0]


def _made(editor: SourceEditor, node: ast.expr, before: ast.AST, deep: int) -> Iterator[ast.Call]:
    """The calls in an expression that make a tensor of floats, and those in what its names mean above ``before``."""
    for part in _parts(node):
        if isinstance(part, ast.Call) and _makes_floats(editor, part):
            yield part
        elif isinstance(part, (ast.Name, ast.Attribute)) and dotted(part) and deep:
            for value in _assigned(editor, part, before):
                yield from _made(editor, value, value, deep - 1)


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """The expressions inside one, in the order of the text; not those of a function that is defined there."""
    yield node
    if not isinstance(node, ast.Lambda):
        for child in ast.iter_child_nodes(node):
            yield from _parts(child)


def _makes_floats(editor: SourceEditor, call: ast.Call) -> bool:
    if qualified(editor, editor.place(call), call.func) == "torch.autograd.Variable":
        return any(isinstance(part, ast.Call) and _makes_floats(editor, part) for part in call.args)
    module, _, function = (qualified(editor, editor.place(call), call.func) or "").rpartition(".")
    if module != "torch" or function not in _FLOATS or any(key.arg == "dtype" for key in call.keywords):
        return False
    numbers = [part.value for part in ast.walk(call) if isinstance(part, ast.Constant)]
    return function not in ("tensor", "full") or not numbers or any(isinstance(number, float) for number in numbers)


def _assigned(editor: SourceEditor, name: ast.expr, before: ast.AST) -> list[ast.expr]:
    """The value that was bound last to a name or an attribute above ``before``, or around it by a loop; of an attribute
    that no code there assigns, what is assigned to that of any object.
    """
    wanted, row = dotted(name), editor.bare_row(before)
    for scope in editor.scopes(editor.place(before)):
        bound = [pair for node in own_nodes(scope) for pair in _bound(editor, node, wanted)]
        if found := [pair for pair in bound if pair[0] < row]:
            return [max(found, key=lambda pair: pair[0])[1]]
    if not isinstance(name, ast.Attribute):
        return []
    tree = ast.walk(editor.source.tree)
    return [
        node.value
        for node in tree
        if isinstance(node, ast.Assign)
        and any(isinstance(target, ast.Attribute) and target.attr == name.attr for target in node.targets)
    ]


def _bound(editor: SourceEditor, node: ast.AST, wanted: str | None) -> Iterator[tuple[int, ast.expr]]:
    """What a node binds to the ``wanted`` name, with the row from below which that is so."""
    pairs: list[tuple[ast.expr, ast.expr]] = []
    match node:
        case ast.Assign():
            pairs = [(target, node.value) for target in node.targets]
        case ast.AnnAssign(value=ast.expr() as value):
            pairs = [(node.target, value)]
        case ast.NamedExpr():
            pairs = [(node.target, node.value)]
        case ast.For() | ast.AsyncFor():
            yield from ((editor.bare_row(node), value) for value in _for(node.target, node.iter, wanted))
    last = editor.last_row(node) if pairs else 0
    yield from ((last, value) for pair in pairs for value in _for(*pair, wanted))


def _for(target: ast.expr, value: ast.expr, wanted: str | None) -> Iterator[ast.expr]:
    """What of ``value`` is bound to the ``wanted`` name: its own part of a display, else all of it."""
    if not isinstance(target, (ast.Tuple, ast.List)):
        if dotted(target) == wanted:
            yield value
        return
    parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts) else None
    for index, part in enumerate(target.elts):
        yield from _for(part, parts[index] if parts else value, wanted)
