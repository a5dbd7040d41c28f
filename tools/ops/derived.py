"""Rows from the derivative formulas: what the generated autograd kernel of an overload saves, and for whose gradient.

This repeats, as data, the decisions of ``gen_variable_type.py``:

- a saved input is kept only for the gradients whose formula mentions it (``guard_for``); if the formula of one input
  alone uses it, the kernel checks that this input needs a gradient, otherwise it keeps it whenever there is a node;
- an in-place kernel that needs the original ``self`` clones it before the write, so no later write can spoil it;
- a formula that mentions the result keeps the result; in place, that is ``self`` after the write.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from tools.ops import native
from torchgen.api import cpp
from torchgen.api.autograd import Derivative, DifferentiabilityInfo, gen_differentiable_outputs
from torchgen.api.types import BaseCType, SpecialArgName, tensorT
from torchgen.context import native_function_manager
from torchgen.model import NativeFunction, SchemaKind
from torchgen.packaged.autograd.gen_inplace_or_view_type import VIEW_FUNCTIONS
from torchgen.packaged.autograd.gen_trace_type import MANUAL_AUTOGRAD
from torchgen.packaged.autograd.gen_variable_type import DONT_REQUIRE_DERIVATIVE

from tapelint.ops.schema import Op, Param, Saved, View

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torchgen.api.autograd import NativeFunctionWithDifferentiabilityInfo, SavedAttribute


UNCHANGED = frozenset(("record_stream",))
"""Ops that write an argument by their schema and leave its values and its version as they are."""


def rows() -> Iterator[Op]:
    """A row, sometimes two, for every overload that has a kernel of its own. Composite overloads are probed."""
    for fn in native.overloads():
        if not is_composite(fn):
            with native_function_manager(fn.func):
                op = row(fn)
                yield from number_overloads(op)
                for index, params in enumerate(native.deprecated().get(str(fn.func.func.name), ())):
                    yield from number_overloads(_deprecated(op, params, index))


def _deprecated(op: Op, params: tuple[Param, ...], index: int) -> Op:
    return replace(op, overload=f"{op.overload}_deprecated{index or ''}", params=params)


def is_composite(fn: NativeFunctionWithDifferentiabilityInfo) -> bool:
    """True where autograd sees only what the overload calls, or where its kernel is written by hand in C++.

    An overload may have both a composite kernel and formulas (``linear``): the formulas are then for other backends.
    An out= overload records nothing, whatever it calls.
    """
    f = fn.func
    if f.func.kind() is SchemaKind.out or not _tensor_inputs(f):
        return False
    return f.has_composite_implicit_autograd_kernel or str(f.func.name.name) in MANUAL_AUTOGRAD


def row(fn: NativeFunctionWithDifferentiabilityInfo) -> Op:
    f = fn.func
    info = (fn.info or {}).get("Default")
    writes = tuple(a.name for a in f.func.arguments.flat_all if a.annotation is not None and a.annotation.is_write)
    if native.key(f) in UNCHANGED:
        writes = ()
    op = Op(
        name=native.key(f),
        overload=f.func.name.overload_name,
        params=native.params(f),
        flows=frozenset(_flows(fn, info)),
        writes=("out",) if f.func.kind() is SchemaKind.out else writes,
        view=_view(f),
        outputs=outputs(f),
        constant=frozenset(_constant(fn)),
        source="derivatives" if info is not None else "schema",
    )
    if info is None or not info.has_derivatives or not op.flows:
        return op
    return replace(op, saves=tuple(dict.fromkeys(_saves(f, info))), grad_fn=info.op or "")


def _flows(fn: NativeFunctionWithDifferentiabilityInfo, info: DifferentiabilityInfo | None) -> list[str]:
    f = fn.func
    base = f.func.name.name.base
    if f.func.kind() is SchemaKind.out or {base, str(f.func.name)} & DONT_REQUIRE_DERIVATIVE:
        return []
    if not gen_differentiable_outputs(fn):
        return []
    if info is not None and info.has_derivatives:
        return [name for derivative in info.derivatives for name in derivative.var_names]
    return [name for name in _tensor_inputs(f) if info is None or name not in info.non_differentiable_arg_names]


def _tensor_inputs(f: NativeFunction) -> list[str]:
    return [a.name for a in f.func.arguments.flat_non_out if a.type.is_tensor_like()]


def _constant(fn: NativeFunctionWithDifferentiabilityInfo) -> list[int]:
    differentiable = {output.name for output in gen_differentiable_outputs(fn)}
    names = _output_names(fn.func)
    return [index for index, name in enumerate(names) if name not in differentiable] if differentiable else []


def _output_names(f: NativeFunction) -> list[str]:
    return list(cpp.return_names(f))


def outputs(f: NativeFunction) -> int:
    returns = [r.type for r in f.func.returns]
    if len(returns) == 1 and returns[0].is_list_like():
        return -1
    return sum(type_.is_tensor_like() for type_ in returns)


def _view(f: NativeFunction) -> View:
    if f.func.kind() in (SchemaKind.inplace, SchemaKind.out):
        return "same"
    if str(f.func.name.name) not in VIEW_FUNCTIONS and not returns_alias(f):
        return ""
    return "multi" if outputs(f) == -1 else "view"


def returns_alias(f: NativeFunction) -> bool:
    return any(r.annotation is not None and not r.annotation.is_write for r in f.func.returns)


def _saves(f: NativeFunction, info: DifferentiabilityInfo) -> Iterator[Saved]:
    inplace = f.func.kind() is SchemaKind.inplace
    names = _output_names(f)
    for attribute in info.all_saved_inputs:
        if _is_tensor(attribute):
            what = _name(attribute)
            if what not in {a.name for a in f.func.arguments.flat_all} or (inplace and what == "self"):
                what = "~"
            yield Saved(what, _gradient_of(f, info, attribute))
    for attribute in info.all_saved_outputs:
        if _is_tensor(attribute):
            name = _name(attribute)
            index = 0 if inplace or name == "result" else names.index(name)
            yield Saved(f"result{index}" if index else "result")


def _gradient_of(f: NativeFunction, info: DifferentiabilityInfo, attribute: SavedAttribute) -> frozenset[str]:
    """``guard_for`` of gen_variable_type: empty where the kernel saves the value whenever it makes a node."""
    if any(a.type.is_list_like() for a in f.func.arguments.flat_non_out if a.name in _differentiated(info)):
        return frozenset()
    if "backward" in info.name or len(_differentiated(info)) <= 1 or attribute.nctype.type != BaseCType(tensorT):
        return frozenset()
    used_in = [derivative for derivative in info.derivatives if attribute in derivative.saved_inputs]
    return _guard(used_in[0], _name(attribute), info) if len(used_in) == 1 else frozenset()


def _guard(derivative: Derivative, name: str, info: DifferentiabilityInfo) -> frozenset[str]:
    if len(derivative.var_names) == 1:
        return frozenset(derivative.var_names)
    # wrap_opt_if(weight, grad_input_mask[0] || ...) in a formula for several inputs names those that need the value.
    _, found, rest = derivative.formula.partition(f"wrap_opt_if({name},")
    if not found:
        return frozenset()
    condition = rest[: rest.index(")")]
    masks = condition.split("grad_input_mask[")[1:]
    return frozenset(derivative.var_names[int(part[: part.index("]")])] for part in masks)


def _differentiated(info: DifferentiabilityInfo) -> set[str]:
    return {name for derivative in info.derivatives for name in derivative.var_names}


def _name(attribute: SavedAttribute) -> str:
    name: str | SpecialArgName = attribute.nctype.name
    return name.name if isinstance(name, SpecialArgName) else name


def _is_tensor(attribute: SavedAttribute) -> bool:
    type_ = str(attribute.nctype.type)
    return "Tensor" in type_ and "TensorGeometry" not in type_ and "TensorOptions" not in type_


def number_overloads(op: Op, *, always: bool = False) -> Iterator[Op]:
    """``x * 2`` runs ``mul.Tensor`` on a tensor made from the 2: what is saved of it the program cannot reach.

    So the number gets a row of its own where it makes a difference, or ``always``.
    """
    is_operand = any(param.kind == "tensor" and param.name == "other" for param in op.params)
    if not is_operand or not torch._C._should_allow_numbers_as_tensors(op.name.rstrip("_")):
        yield op
        return
    if not always and not any("other" in {saved.what, *saved.gradient_of} for saved in op.saves):
        yield replace(op, params=_retyped(op.params, "operand"))
        return
    yield op
    kept = [saved for saved in op.saves if saved.gradient_of != frozenset({"other"})]
    yield replace(
        op,
        overload=op.overload.replace("Tensor", "Number"),
        params=_retyped(op.params, "number"),
        flows=op.flows - {"other"},
        saves=tuple(Saved("~" if saved.what == "other" else saved.what) for saved in kept),
    )


def _retyped(params: tuple[Param, ...], kind: str) -> tuple[Param, ...]:
    return tuple(replace(param, kind=kind) if param.name == "other" else param for param in params)
