"""Computing a new tensor where one was overwritten, writing to a copy, and updating in place what was computed anew."""

from __future__ import annotations

import ast

from ..source import dotted
from ..source.edit import Edit
from .text.concrete_syntax import Arguments, Concrete
from .text.expressions import is_container, put_call_behind, replace
from .text.lifetimes import assignable, base_of, in_place_calls, is_read_again, is_shared
from .text.name_resolution import is_local, qualified, torch_name
from .text.rows import deepen, indent_of, indent_unit, is_inline, owns_rows, put_before
from .text.source_editor import EditRefused, Place, SourceEditor, demand, refuse, require

METHODS = frozenset(
    "abs absolute acos acosh add addbmm addcdiv addcmul addmm addmv addr arccos arccosh arcsin arcsinh arctan arctan2"
    " arctanh asin asinh atan atan2 atanh baddbmm ceil clamp clamp_max clamp_min clip conj_physical copysign cos cosh"
    " cumprod cumsum deg2rad detach digamma div divide erf erfc erfinv exp exp2 expm1 fix floor floor_divide fmod frac"
    " heaviside hypot i0 igamma igammac index_add index_copy index_fill index_put index_reduce ldexp lerp lgamma log"
    " log10 log1p log2 logit masked_fill masked_scatter mul multiply mvlgamma nan_to_num neg negative nextafter"
    " polygamma pow put rad2deg reciprocal relu remainder renorm round rsqrt scatter scatter_add scatter_reduce"
    " sgn sigmoid sign sin sinc sinh sqrt square squeeze sub subtract swapaxes swapdims t tan tanh transpose tril triu"
    " true_divide trunc unsqueeze xlogy".split()
)
"""``x.<name>_()`` and ``x.<name>()`` compute the same, as measured with PyTorch 2.13; not so comparisons, whose
twin gives booleans, or ``resize``.
"""
FUNCTIONS = METHODS | frozenset(
    "alpha_dropout celu dropout elu feature_alpha_dropout feature_dropout hardtanh leaky_relu rrelu selu"
    " threshold".split()
)
"""``torch.<name>_(x)`` or ``torch.nn.functional.<name>_(x)`` and the same without underscore."""
FUNCTION_ARGUMENT = {
    f"torch.nn.functional.{name}": index
    for index, names in {
        1: "hardsigmoid hardswish mish relu relu6 selu silu",
        2: "celu elu leaky_relu",
        3: "alpha_dropout dropout dropout1d dropout2d dropout3d feature_alpha_dropout hardtanh threshold",
        4: "rrelu",
    }.items()
    for name in names.split()
}
LAYER_ARGUMENT = {
    f"torch.nn.{name}": index
    for index, names in {
        0: "Hardsigmoid Hardswish Mish ReLU ReLU6 SELU SiLU",
        1: "AlphaDropout CELU Dropout Dropout1d Dropout2d Dropout3d ELU FeatureAlphaDropout LeakyReLU",
        2: "Hardtanh RReLU Threshold",
    }.items()
    for name in names.split()
}
"""Where functions and layers take ``inplace`` by position."""


_TIGHTNESS: dict[type[ast.operator], int] = {
    ast.BitOr: 0,
    ast.BitXor: 1,
    ast.BitAnd: 2,
    **dict.fromkeys((ast.LShift, ast.RShift), 3),
    **dict.fromkeys((ast.Add, ast.Sub), 4),
    **dict.fromkeys((ast.Mult, ast.MatMult, ast.Div, ast.FloorDiv, ast.Mod), 5),
    ast.Pow: 6,
}
_ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant, ast.List, ast.Dict, ast.Set)
_SIGNS = {ast.Sub: "-", ast.Add: "+", ast.Mult: "*", ast.Div: "/"}


# Out of place


def out_of_place(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    """Target, one of

    * an augmented assignment: ``y += 1`` becomes ``y = y + 1``;
    * a call of an in-place method or function: the statement ``y.add_(1)`` becomes ``y = y.add(1)``, and within an
      expression ``h = h.relu_()`` becomes ``h = h.relu()``;
    * a call with ``inplace=True``, which is taken out: ``F.relu(x, inplace=True)``, ``nn.ReLU(True)``.

    Only names and attributes can be assigned anew; ``y[0] += 1`` is refused, and so is what would be missed: a
    parameter or a loop's variable that is changed for others to see, or an operand that is read again.
    """
    if isinstance(target, ast.AugAssign):
        return _augmented(editor, target)
    place = editor.place(target)
    node = target.value if isinstance(target, (ast.Expr, ast.Assign, ast.AnnAssign, ast.Return)) else target
    if not isinstance(node, ast.Call):
        raise EditRefused("not an in-place operation")
    name = qualified(editor, place, node.func)
    if name is None and isinstance(node.func, ast.Attribute) and node.func.attr.endswith("_"):
        return _methods(editor, place, node)
    if name is not None and name.endswith("_"):
        return _function(editor, place, node, name)
    return _argument(editor, place, node, name)


def out_of_place_each(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    """The same for each of the augmented assignments to the same name in a suite.

        x += attend(x)            x = x + attend(x)
        x += think(norm(x))  ->   x = x + think(norm(x))

    Target: one of them.
    """
    place = editor.place(target)
    name = dotted(place.statement.target) if isinstance(place.statement, ast.AugAssign) else ""
    refuse(not name, "nothing with a name is added to")
    alike = [s for s in place.suite if isinstance(s, ast.AugAssign) and dotted(s.target) == name]
    return [edit for statement in alike for edit in out_of_place(editor, statement)]


def _augmented(editor: SourceEditor, statement: ast.AugAssign) -> list[Edit]:
    target = assignable(editor, editor.place(statement), statement.target, declared=True)
    concrete, value = Concrete(editor, statement), statement.value
    begin, end = concrete.operator(statement)
    made = [editor.edit(begin, end, f"= {target} {editor.text[begin : end - 1]}")]
    if not concrete.is_bracketed(value) and _needs_parentheses(value, statement.op):
        made += [editor.insert(editor.begin(value), "("), editor.insert(editor.end(value), ")")]
    return made


def _needs_parentheses(value: ast.expr, operator: ast.operator) -> bool:
    if isinstance(value, ast.BinOp):
        return _TIGHTNESS[type(value.op)] <= _TIGHTNESS[type(operator)]
    if isinstance(value, ast.UnaryOp):
        return isinstance(value.op, ast.Not)
    return not isinstance(value, (*_ATOMS, ast.JoinedStr, ast.Await, ast.ListComp))


def _methods(editor: SourceEditor, place: Place, call: ast.Call) -> list[Edit]:
    """A chain of in-place methods, all of them changed: each works on what the one before gave."""
    functions, operand = in_place_calls(call)
    require(all(function.attr[:-1] in METHODS for function in functions), "no twin that is not in place")
    return [*(_without_underscore(editor, each) for each in functions), *_kept(editor, place, call, operand)]


def _function(editor: SourceEditor, place: Place, call: ast.Call, name: str) -> list[Edit]:
    module, _, function = name.rpartition(".")
    require(module in ("torch", "torch.nn.functional") and function[:-1] in FUNCTIONS, "no twin that is not in place")
    refuse(isinstance(call.func, ast.Name), "the twin may not be imported")
    return [_without_underscore(editor, call.func), *_kept(editor, place, call, _operand(call))]


def _argument(editor: SourceEditor, place: Place, call: ast.Call, name: str | None) -> list[Edit]:
    """A function or a layer with an argument to work in place."""
    name, given = name or "", {keyword.arg: keyword.value for keyword in call.keywords}.get("inplace")
    index = FUNCTION_ARGUMENT.get(name, LAYER_ARGUMENT.get(name))
    if given is None and index is not None and index < len(call.args):
        given = call.args[index]
    refuse(isinstance(given, ast.Constant) and not given.value, "not in place")
    if index is None:
        is_layer = dotted(call.func).rpartition(".")[2][:1].isupper()
        require(is_layer and given is not None, "not known to make a layer, or not in place")
        return Arguments(editor, call).put("inplace", "False")
    made = Arguments(editor, call).remove("inplace", index)
    return made + _kept(editor, place, call, _operand(call)) if name in FUNCTION_ARGUMENT else made


def _operand(call: ast.Call) -> ast.expr:
    if call.args and not isinstance(call.args[0], ast.Starred):
        return call.args[0]
    return demand(next((each.value for each in call.keywords if each.arg == "input"), None), "no operand")


def _without_underscore(editor: SourceEditor, function: ast.expr) -> Edit:
    end = editor.end(function)
    return editor.edit(end - 1, end, "")


def _kept(editor: SourceEditor, place: Place, call: ast.Call, operand: ast.expr) -> list[Edit]:
    """What it takes for the new value to be found where the old one was: nothing, or an assignment before the call."""
    refuse(
        any(type(node).__name__ in ("JoinedStr", "TemplateStr") for node in editor.path(call)), "in a formatted string"
    )
    statement = place.statement
    if isinstance(statement, ast.Expr) and statement.value is call:
        return [editor.insert(editor.begin(statement), f"{assignable(editor, place, operand)} = ")]
    base = base_of(operand)
    name = dotted(base)
    if not name:
        refuse(isinstance(base, (ast.Subscript, ast.Attribute)), "an item or an attribute that may be read again")
        return []
    refuse(isinstance(statement, ast.Expr) and is_shared(editor, place, name), "it is changed for others to see")
    if isinstance(statement, ast.Assign) and [dotted(target) for target in statement.targets] == [name]:
        return []
    is_gone = is_local(editor, place, name) and not is_read_again(editor, place, name, call)
    refuse(not isinstance(base, ast.Name) or not is_gone, "the operand may be read again")
    return []


# A copy


def clone(editor: SourceEditor, *targets: ast.AST) -> list[Edit]:
    """``kept = x`` becomes ``kept = x.clone()``.

    Targets: as of :func:`put_call_behind`; one that something is unpacked into stands for that. A clone is left alone.
    """
    values = [_unpacked(editor, target) for target in targets]
    return put_call_behind(editor, *values, call=".clone()", unless=("clone",))


def _unpacked(editor: SourceEditor, target: ast.AST) -> ast.AST:
    """What is unpacked into the target, where it is one of an assignment."""
    parent = editor.path(target)[-2]
    is_bound = isinstance(getattr(target, "ctx", None), ast.Store)
    return parent.value if is_bound and isinstance(parent, ast.Assign) else target


def clone_before(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    """``y[0] = 1`` becomes ``y = y.clone()`` and, below, ``y[0] = 1``.

    Target: what writes a part of a tensor, or all of it: an assignment to ``y[0]``, ``y[0] += 1``, ``y.add_(1)``. Only
    what has a name can be assigned anew, and only where no code would miss the old tensor; of a container it is the
    item.
    """
    place = editor.place(target)
    written = _written(place.statement)
    while isinstance(written, ast.Subscript):
        if isinstance(written.value, (ast.Name, ast.Attribute)) and is_container(editor, written.value):
            changing = (ast.Slice, ast.Call, ast.NamedExpr, ast.Await)
            refuse(
                any(isinstance(part, changing) for part in ast.walk(written)),
                "an item that is not the same when it is asked for again",
            )
            item = editor.text_of(written)
            return [put_before(editor, place, f"{item} = {item}.clone()")]
        written = base_of(written.value)
    name = assignable(editor, place, written)
    return [put_before(editor, place, f"{name} = {name}.clone()")]


def _written(statement: ast.stmt) -> ast.expr:
    match statement:
        case ast.AugAssign(target=target):
            return base_of(target)
        case ast.Assign(targets=[ast.Subscript() as target]):
            return target
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name, value=owner))) if name.endswith("_"):
            return base_of(in_place_calls(owner)[1])
    raise EditRefused("nothing with a name is written")


# In place


def update_in_place(editor: SourceEditor, target: ast.AST) -> list[Edit]:
    """``w = w - lr * w.grad`` becomes ``with torch.no_grad(): w -= lr * w.grad``.

    Target: the right side of the assignment, or the statement. Updates of the same form right above and below it go
    with it. Where gradients are off already, only the assignments change. A new tensor had no gradient; what stays the
    same tensor keeps its own, so where no code clears that, ``w.grad = None`` follows.
    """
    place = editor.place(target)
    run = _updates(editor, place)
    names, bodies = zip(*(_update(editor, statement) for statement in run))
    indent, enter = editor.indent_of_row(editor.first_row(place.statement)), ""
    made: list[Edit] = []
    if not _gradients_are_off(editor, place):
        no_grad, unit = torch_name(editor, place, "no_grad"), indent_unit(editor, place)
        refuse(
            no_grad is None or is_inline(editor, place) or not owns_rows(editor, run[0]),
            "no place for a with statement",
        )
        indent = indent_of(editor, place) + unit
        enter = f"with {no_grad}():{editor.eol}{indent}"
        rows = range(editor.first_row(run[0]) + 1, editor.last_row(run[-1]) + 1)
        made = deepen(editor, rows, run[0], run[-1], "", unit)
    made += [replace(editor, each, (enter if each is run[0] else "") + body) for each, body in zip(run, bodies)]
    if owns_rows(editor, run[-1]):
        kept = [name for name in names if not _is_cleared(editor, place, name)]
        text = "".join(f"{editor.eol}{indent}{name}.grad = None" for name in kept)
        made += [editor.insert(editor.row_end(editor.last_row(run[-1])), text)] if text else []
    return made


def _updates(editor: SourceEditor, place: Place) -> list[ast.stmt]:
    """The statement, and its neighbours that update other tensors by their gradients."""
    _update(editor, place.statement)
    first = last = place.index
    if owns_rows(editor, place.statement):
        while first and _goes_with(editor, place.suite[first - 1]):
            first -= 1
        while last + 1 < len(place.suite) and _goes_with(editor, place.suite[last + 1]):
            last += 1
    return place.suite[first : last + 1]


def _goes_with(editor: SourceEditor, statement: ast.stmt) -> bool:
    try:
        name, update = _update(editor, statement)
    except EditRefused:
        return False
    return f"{name}.grad" in update and owns_rows(editor, statement)


def _update(editor: SourceEditor, statement: ast.stmt) -> tuple[str, str]:
    """What an assignment updates, and the update in place; refused where it does something else."""
    match statement:
        case ast.Assign(targets=[target], value=ast.BinOp(left=left, op=operator)):
            name, sign = dotted(target), _SIGNS.get(type(operator))
        case _:
            raise EditRefused("not an assignment of something computed")
    if not name or sign is None or _itself(left) != name:
        raise EditRefused("not a value computed from itself")
    refuse(editor.first_row(statement) != editor.last_row(statement), "more than one row")
    rest = editor.text[editor.end(left) : editor.end(statement)].strip()
    refuse(not rest.startswith(sign) or rest.count("(") != rest.count(")"), "in parentheses")
    return name, f"{name} {sign}= {rest.removeprefix(sign).strip()}"


def _itself(node: ast.AST) -> str:
    """What a tensor is called, also where its value is asked for: ``w``, ``w.data``, ``w.detach()``."""
    match node:
        case ast.Call(func=ast.Attribute(attr="detach", value=owner)) | ast.Attribute(attr="data", value=owner):
            return dotted(owner)
    return dotted(node)


def _gradients_are_off(editor: SourceEditor, place: Place) -> bool:
    managers = (item.context_expr for node in place.parents if isinstance(node, ast.With) for item in node.items)
    calls = (each for each in managers if isinstance(each, ast.Call))
    return any(qualified(editor, place, call.func) == "torch.no_grad" for call in calls)


def _is_cleared(editor: SourceEditor, place: Place, name: str) -> bool:
    """Whether code around clears gradients: of everything, of what a loop goes through, of this tensor; or whether this
    tensor's gradient is not read at all.
    """
    nodes = list(ast.walk(editor.scopes(place)[0]))
    variables = {n.target.id for n in nodes if isinstance(n, ast.For) and isinstance(n.target, ast.Name)}
    attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
    if "zero_grad" in {each.attr for each in attributes} or f"{name}.grad" not in map(dotted, attributes):
        return True
    gradients = [each for each in attributes if each.attr == "grad" and dotted(each.value) in {name, *variables}]
    return any(_is_overwritten(editor, each) for each in gradients)


def _is_overwritten(editor: SourceEditor, gradient: ast.Attribute) -> bool:
    """``w.grad = None``, ``del w.grad``, ``w.grad.zero_()``, ``w.grad.data.zero_()``."""
    attributes = {node.attr for node in editor.path(gradient) if isinstance(node, ast.Attribute)}
    return "zero_" in attributes or not isinstance(gradient.ctx, ast.Load)
