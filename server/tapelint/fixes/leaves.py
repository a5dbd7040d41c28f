"""Making a tensor a leaf or a parameter, and asking for the gradient of one that is none."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..bounds import BOUNDS
from ..ops import takes
from ..source import dotted
from ..source.edit import Edit
from .text.concrete_syntax import Arguments, Concrete
from .text.expressions import as_call, replace, steady
from .text.name_resolution import own_nodes, qualified, torch_name
from .text.rows import indent_of, indent_unit, owns_rows, put_after
from .text.source_editor import EditRefused, SourceEditor, demand, refuse, require

_OF_FLOATS = frozenset(
    "empty empty_like eye full full_like linspace logspace ones ones_like rand rand_like randn randn_like tensor zeros"
    " zeros_like".split()
)
"""Functions that make floating point of what is none, unless another dtype is asked for, but ``full`` and ``tensor``:
https://docs.pytorch.org/docs/stable/torch.html#creation-ops.
"""
_WITHOUT_FLAG = frozenset(
    "Tensor FloatTensor DoubleTensor as_tensor from_numpy from_dlpack normal frombuffer range sparse_bsc_tensor"
    " sparse_bsr_tensor sparse_compressed_tensor sparse_coo_tensor sparse_csc_tensor sparse_csr_tensor".split()
)
"""Functions that make a tensor, and take no ``requires_grad`` or have no row in the op table (the same page)."""
_PARAMETERS = ("torch.nn.Parameter", "torch.nn.parameter.Parameter")


def _maker(editor: SourceEditor, call: ast.Call) -> tuple[str | None, str]:
    """What a call makes its tensor with: its full name, and the part of it behind ``torch.``."""
    name = qualified(editor, editor.place(call), call.func)
    module, _, function = (name or "").rpartition(".")
    return name, function if module == "torch" else ""


def require_grad(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    """``torch.zeros(3, requires_grad=True)``.

    Target: the call that makes the tensor. Functions of torch that do not take the argument (``torch.from_numpy``) get
    ``.requires_grad_()`` behind them; calls of anything that is not torch's are refused.
    """
    call = as_call(target)
    name, function = _maker(editor, call)
    method = call.func.attr if name is None and isinstance(call.func, ast.Attribute) else ""
    maker = method if method.startswith("new_") else function
    if name == "torch.autograd.Variable" or takes(maker, "requires_grad"):
        return Arguments(editor, call).put("requires_grad", "True")
    refuse(function not in _WITHOUT_FLAG, "not known to make a tensor")
    parent = editor.path(call)[-2]
    refuse(isinstance(parent, ast.Attribute) and parent.attr == "requires_grad_", "done already")
    return Concrete(editor, call).put_behind(call, ".requires_grad_()")


def make_floats(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    """``torch.arange(3, dtype=torch.float32)``.

    Target: the call that makes the tensor. Calls of anything that is not known to take a dtype are refused.
    """
    call = as_call(target)
    dtype = demand(torch_name(editor, editor.place(call), "float32"), "torch is not imported by name")
    function = _maker(editor, call)[1]
    require(takes(function, "dtype") and takes(function, "device"), "not known to make a tensor")
    return Arguments(editor, call).put("dtype", dtype)


def replace_flag(editor: SourceEditor, target: ast.AST, *, by: str) -> list[Edit]:
    """``y.requires_grad = False`` or ``y.requires_grad_(False)`` replaced, with the tensor for ``{0}``.

    Target: the statement, or what it sets. The tensor must be a name or an attribute of names.
    """
    statement = editor.place(target).statement
    match statement:
        case ast.Assign(targets=[ast.Attribute(attr="requires_grad" | "requires_grad_", value=tensor)]):
            pass
        case ast.Expr(ast.Call(func=ast.Attribute(attr="requires_grad" | "requires_grad_", value=tensor))):
            pass
        case _:
            raise EditRefused("not a statement that only sets the flag")
    refuse(not dotted(tensor), "not a name or an attribute")
    return [replace(editor, statement, by.format(ast.unparse(tensor)))]


def retain_grad_if_tracked(editor: SourceEditor, statement: ast.AST, tensor: ast.AST) -> list[Edit]:
    """``y.retain_grad()`` only if y requires grad.

    Targets: the statement that assigns the tensor, and the tensor as it is written there: a name or an attribute of
    names.
    """
    place, name = editor.whole(statement), steady(tensor)
    require(owns_rows(editor, place.statement), "no place for an if")
    inner = indent_of(editor, place) + indent_unit(editor, place)
    return [put_after(editor, place, f"if {name}.requires_grad:{editor.eol}{inner}{name}.retain_grad()")]


def put_parameter_outside(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    """``nn.Parameter(t).to(device)`` becomes ``nn.Parameter(t.to(device))``.

    Target: the value that is assigned, in which one call of ``nn.Parameter`` stands.
    """
    place = editor.place(target)
    calls = [node for node in ast.walk(target) if isinstance(node, ast.Call)]
    made = [call for call in calls if qualified(editor, place, call.func) in _PARAMETERS]
    require(
        len(made) == 1 and made[0] is not target and made[0].args and not isinstance(made[0].args[0], ast.Starred),
        "not one Parameter inside",
    )
    data, *others = made[0].args
    options = [*map(editor.text_of, others), *(f"{each.arg}={editor.text_of(each.value)}" for each in made[0].keywords)]
    is_primary = isinstance(data, (ast.Name, ast.Attribute, ast.Call, ast.Subscript))
    inner = editor.text_of(data) if is_primary else f"({editor.text_of(data)})"
    last = "".join(f", {option}" for option in options)
    return [
        editor.insert(editor.begin(target), f"{editor.text_of(made[0].func)}("),
        replace(editor, made[0], inner),
        editor.insert(editor.end(target), f"{last})"),
    ]


# Where a root comes from


def track_source(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    """``x = torch.rand(3)`` above ``x.sum().backward()`` becomes ``x = torch.rand(3, requires_grad=True)``.

    Target: the call that goes backward. The tensor is looked for in the text: in the root's expression, then where the
    names in it were bound last, by an assignment or a loop. Tensors of integers are left alone.
    """
    call = as_call(target)
    for made in _made(editor, _root(call), call, BOUNDS.followed_assignments):
        try:
            return require_grad(editor, made)
        except EditRefused:
            continue
    raise EditRefused("no tensor is made on the way")


def _root(call: ast.Call) -> ast.expr:
    """What the backward starts from."""
    function = call.func
    is_function = dotted(function) == "torch.autograd.backward"
    if isinstance(function, ast.Attribute) and function.attr == "backward" and not is_function:
        return function.value
    refuse(not call.args, "a root that is not an argument by position")
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
    name, function = _maker(editor, call)
    if name == "torch.autograd.Variable":
        return any(isinstance(part, ast.Call) and _makes_floats(editor, part) for part in call.args)
    if function not in _OF_FLOATS or any(key.arg == "dtype" for key in call.keywords):
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
    return [
        node.value
        for node in ast.walk(editor.source.tree)
        if isinstance(node, ast.Assign)
        and any(isinstance(target, ast.Attribute) and target.attr == name.attr for target in node.targets)
    ]


def _bound(editor: SourceEditor, node: ast.AST, wanted: str) -> Iterator[tuple[int, ast.expr]]:
    """What a node binds to the ``wanted`` name, with the row from below which that is so."""
    match node:
        case ast.Assign(targets=targets, value=value):
            row = editor.last_row(node)
        case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
            targets, row = [target], editor.last_row(node)
        case ast.For(target=target, iter=value) | ast.AsyncFor(target=target, iter=value):
            targets, row = [target], editor.bare_row(node)
        case _:
            return
    yield from ((row, part) for target in targets for part in _part_for(target, value, wanted))


def _part_for(target: ast.expr, value: ast.expr, wanted: str) -> Iterator[ast.expr]:
    """What of ``value`` is bound to the ``wanted`` name: its own part of a display, else all of it."""
    if not isinstance(target, (ast.Tuple, ast.List)):
        if dotted(target) == wanted:
            yield value
        return
    parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts) else None
    for index, part in enumerate(target.elts):
        yield from _part_for(part, parts[index] if parts else value, wanted)
