"""A ``torch.autograd.Function`` of the program: what its forward keeps for backward, and what backward returns."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..source.edit import Edit
from .text.expressions import as_call, replace
from .text.name_resolution import binds, qualified
from .text.rows import first_place, put_after, put_before
from .text.source_editor import EditRefused, SourceEditor, innermost, refuse, require


def _attributes(owner: ast.AST) -> list[ast.Attribute]:
    return [node for node in ast.walk(owner) if isinstance(node, ast.Attribute)]


def _parameters(method: ast.FunctionDef) -> list[str]:
    """The arguments by position."""
    return [argument.arg for argument in (*method.args.posonlyargs, *method.args.args)]


def _names(nodes: list[ast.expr]) -> list[str]:
    """The names; refused where one is more than that."""
    names = [node.id for node in nodes if isinstance(node, ast.Name)]
    refuse(len(names) < len(nodes), "more than names")
    return names


# What is kept


def save_for_backward(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    """``ctx.x = x`` becomes ``ctx.save_for_backward(x)``, and ``ctx.x`` in backward ``ctx.saved_tensors[0]``.

    Target: the assignment, in ``forward`` or ``setup_context``. Refused where something is saved already: backward
    would have to unpack it otherwise.
    """
    match (target, *editor.path(target)[-2:-4:-1]):
        case (
            ast.Assign(targets=[ast.Attribute(value=ast.Name(id=context)) as kept], value=ast.Name(id=name)),
            ast.FunctionDef(),
            ast.ClassDef() as owner,
        ):
            attributes = _attributes(owner)
        case _:
            raise EditRefused("not an attribute of the context that is given a name, directly in a method")
    refuse(
        any(node.attr in ("save_for_backward", "saved_tensors") for node in attributes), "something is saved already"
    )
    uses = (node for node in attributes if node.attr == kept.attr and node is not kept)
    saved = replace(editor, target, f"{context}.save_for_backward({name})")
    return [saved, *(_read_saved(editor, use) for use in uses)]


def _read_saved(editor: SourceEditor, use: ast.Attribute) -> Edit:
    """A read of the attribute in backward, from the saved tensors instead."""
    inside = innermost(editor.path(use), ast.FunctionDef)
    require(inside.name in ("backward", "vjp") and isinstance(use.ctx, ast.Load), "used elsewhere")
    require(
        isinstance(use.value, ast.Name) and [use.value.id] == [each.arg for each in inside.args.args[:1]],
        "an attribute of something else",
    )
    return editor.edit(editor.end(use.value), editor.end(use), ".saved_tensors[0]")


def save_unpacked(editor: SourceEditor, call: ast.AST, unpacked: ast.AST) -> list[Edit]:
    """``ctx.save_for_backward(x)`` becomes ``ctx.save_for_backward(x, w)`` where backward unpacks ``x, w``.

    Targets: the call that saves and the names that backward unpacks, a tuple or a list. Refused unless each of them is
    a variable of the method that saves.
    """
    call = as_call(call)
    if not isinstance(unpacked, (ast.Tuple, ast.List)) or not call.args or call.keywords:
        raise EditRefused("not a call with arguments and what is unpacked")
    names = _names(unpacked.elts)
    refuse(not set(names) <= set(_variables(editor, call)), "not variables of the method")
    begin, end = editor.begin(call.args[0]), editor.end(call.args[-1])
    refuse("#" in editor.text[begin:end], "a comment between the arguments")
    return [editor.edit(begin, end, ", ".join(names))]


def _variables(editor: SourceEditor, call: ast.Call) -> Iterator[str]:
    """What the function that holds the call has bound above it."""
    function = innermost(editor.path(call), ast.FunctionDef)
    yield from (argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg))
    for node in ast.walk(function):
        if getattr(node, "lineno", call.lineno) < call.lineno:
            yield from binds(node)


def unpack_saved(editor: SourceEditor, unpacked: ast.AST, call: ast.AST) -> list[Edit]:
    """``x, w = ctx.saved_tensors`` becomes ``x, w, out = ctx.saved_tensors``.

    Targets: the names that backward unpacks, a tuple or a list, and the call that saves. Refused unless forward saves
    variables, of which these are the first.
    """
    call = as_call(call)
    if not isinstance(unpacked, (ast.Tuple, ast.List)) or not unpacked.elts:
        raise EditRefused("not what is unpacked")
    saved, taken = _names(call.args), _names(unpacked.elts)
    refuse(saved[: len(taken)] != taken or len(saved) == len(taken), "other names")
    return [editor.insert(editor.end(unpacked.elts[-1]), f", {', '.join(saved[len(taken) :])}")]


def save_each(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    """``ctx.save_for_backward([x, w])`` becomes ``ctx.save_for_backward(x, w)``.

    Target: the list or tuple among the arguments. One that is kept in a variable is unpacked: ``*kept``.
    """
    if isinstance(target, (ast.Name, ast.Attribute)):
        return [editor.insert(editor.begin(target), "*")]
    if not isinstance(target, (ast.List, ast.Tuple)) or not target.elts:
        raise EditRefused("not a list of tensors")
    opening = editor.begin(target), editor.begin(target.elts[0])
    closing = editor.end(target.elts[-1]), editor.end(target)
    around = editor.text[slice(*opening)], editor.text[slice(*closing)]
    require(around[0] in ("[", "(") and around[1] in ("]", ")", ",]", ",)"), "more than brackets around them")
    return [editor.edit(*opening, ""), editor.edit(*closing, "")]


def keep_on_context(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    """``ctx.save_for_backward(x, alpha)`` becomes ``ctx.alpha = alpha`` and ``ctx.save_for_backward(x)``, and
    ``x, alpha = ctx.saved_tensors`` becomes ``(x,) = ctx.saved_tensors`` and ``alpha = ctx.alpha``.

    Target: the argument, a name, the last one of its call. Refused unless backward unpacks as many names in one
    statement.
    """
    path = editor.path(target)
    attributes = _attributes(owner := innermost(path, ast.ClassDef))
    match target, path[-2]:
        case (
            ast.Name(id=name),
            ast.Call(func=ast.Attribute(value=ast.Name(id=context)), args=[*_, before, last], keywords=[]) as call,
        ) if last is target:
            pass
        case _:
            raise EditRefused("not the last of several arguments, by name")
    refuse(any(node.attr == name for node in attributes), "an attribute that is there already")
    return [
        put_before(editor, editor.place(target), f"{context}.{name} = {name}"),
        editor.edit(editor.end(before), editor.end(target), ""),
        *_unpack_without_last(editor, owner, len(call.args), name),
    ]


def _unpack_without_last(editor: SourceEditor, owner: ast.ClassDef, count: int, name: str) -> list[Edit]:
    """The statement that unpacks the saved tensors without the last, and one below it that reads the attribute."""
    reads = [node for node in _attributes(owner) if node.attr == "saved_tensors"]
    statements = [node for node in ast.walk(owner) if isinstance(node, ast.Assign) and node.value in reads]
    match statements:
        case [
            ast.Assign(
                targets=[ast.Tuple(elts=[*_, ast.Name() as before, ast.Name() as last]) as names],
                value=ast.Attribute(value=ast.Name(id=context)),
            ) as statement
        ] if len(names.elts) == count and len(reads) == 1:
            pass
        case _:
            raise EditRefused("the saved tensors are not unpacked in one statement")
    has_parentheses = editor.text[editor.begin(names)] == "("
    kept = editor.text[editor.begin(names.elts[0]) : editor.end(before)] + ("," if count == 2 else "")
    return [
        replace(editor, names, f"({kept})" if has_parentheses or count == 2 else kept),
        put_after(editor, editor.place(statement), f"{last.id} = {context}.{name}"),
    ]


def set_on_context(editor: SourceEditor, method: ast.AST, attribute: ast.AST) -> list[Edit]:
    """``ctx.alpha = alpha`` at the beginning of ``forward``, which takes an ``alpha``.

    Targets: the method that is to set it, ``forward`` or ``setup_context``, and the attribute as it is read elsewhere.
    """
    if not isinstance(method, ast.FunctionDef) or not isinstance(attribute, ast.Attribute):
        raise EditRefused("not a method and an attribute")
    context, *own = _parameters(method) or [""]
    name, value = attribute.attr, attribute.attr
    if method.name == "setup_context":
        beside = editor.place(method).suite
        forwards = [s for s in beside if isinstance(s, ast.FunctionDef) and s.name == "forward"]
        given = _parameters(forwards[-1]) if forwards and own else []
        refuse(name not in given, "forward has no such argument")
        value = f"{own[0]}[{given.index(name)}]"
    else:
        refuse(name not in own, "forward has no such argument")
    return [put_before(editor, first_place(editor, method), f"{context}.{name} = {value}")]


def mark_dirty(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    """``ctx.mark_dirty(x)`` before an in-place write in a Function's forward.

    Target: the write: ``x.clamp_(min=0)``, ``x += 1``, ``F.relu_(x)`` or ``x[i] = y``, where ``x`` is a parameter of
    the method and its first parameter is the context.
    """
    place = editor.place(target)
    method = editor.scopes(place)[0]
    if not isinstance(method, ast.FunctionDef) or len(method.args.args) < 2:
        raise EditRefused("not in a method with a context")
    context, *names = (a.arg for a in method.args.args)
    written = _written(editor, target)
    refuse(written not in names, "not a parameter that is written")
    calls = (node.func for node in ast.walk(method) if isinstance(node, ast.Call))
    refuse(
        any(isinstance(each, ast.Attribute) and each.attr == "mark_dirty" for each in calls),
        "another call would replace the one there is",
    )
    return [put_before(editor, place, f"{context}.mark_dirty({written})")]


def _written(editor: SourceEditor, node: ast.AST) -> str | None:
    """The name of what a statement or call writes."""
    match node:
        case ast.Expr(value=ast.Call() as call):
            return _written(editor, call)
        case ast.AugAssign(target=target) | ast.Assign(targets=[target]):
            node = target
        case ast.Call(func=ast.Attribute(value=owner) as function, args=args):
            is_function = qualified(editor, editor.place(node), function) is not None
            node = args[0] if is_function and args else owner
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


# What is returned


def return_none(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    """None in place of a gradient. Target: the element of the returned tuple."""
    require(
        [type(node) for node in editor.path(target)[-3:-1]] == [ast.Return, ast.Tuple],
        "not an element of what is returned",
    )
    before, after = editor.text[: editor.begin(target)].rstrip(" \t"), editor.text[editor.end(target) :].lstrip(" \t")
    refuse(before.endswith("(") and after.startswith(")"), "in parentheses of its own")
    return [replace(editor, target, "None")]


def pad_gradients(editor: SourceEditor, target: ast.AST, forward: ast.AST) -> list[Edit]:
    """``return g`` becomes ``return g, None``.

    Targets: the ``return``, and the definition of ``forward``, whose parameters are counted.
    """
    if not isinstance(target, ast.Return) or target.value is None or not isinstance(forward, ast.FunctionDef):
        raise EditRefused("not a return of gradients")
    refuse(forward.args.vararg is not None or bool(forward.args.kwonlyargs), "the number of arguments is not known")
    beside = getattr(editor.path(forward)[-2], "body", ())
    has_setup = any(isinstance(n, ast.FunctionDef) and n.name == "setup_context" for n in beside)
    given = target.value.elts if isinstance(target.value, ast.Tuple) else [target.value]
    missing = len(_parameters(forward)) - (not has_setup) - len(given)
    refuse(missing <= 0 or not given, "as many as there are arguments")
    refuse(
        isinstance(target.value, (ast.IfExp, ast.Lambda, ast.NamedExpr, ast.Yield, ast.List)),
        "an expression that needs parentheses, or is no gradient",
    )
    return [editor.insert(editor.end(given[-1]), ", None" * missing)]
