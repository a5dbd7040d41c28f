"""The kind of an argument of a sample, and the kinds of the parameters of a Python function, in the table's terms."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from tapelint.ops.binding import constant_kind
from tapelint.ops.schema import Param

_ANNOTATIONS: dict[object, str] = {
    Tensor: "tensor",
    int: "int",
    float: "float",
    bool: "bool",
    str: "str",
    torch.dtype: "dtype",
    # What is left of BroadcastingList2[int], the annotation TorchScript has for "an int or a pair of ints".
    None: "ints",
    types.NoneType: "ints",
}
# Annotated for TorchScript, which takes an int for a dtype, and one of several overloads only.
_BY_NAME = {"dtype": "dtype?", "size": "any?", "var": "operand"}


def kind_of(value: Any) -> str:
    """What ``tapelint.ops.resolve`` would be told about this argument."""
    if isinstance(value, Tensor):
        return f"{value.dim()}d"
    if isinstance(value, (complex, torch.dtype)):
        return "float" if isinstance(value, complex) else "dtype"
    if (kind := constant_kind(value)) is not None:
        return kind
    if isinstance(value, (list, tuple)):
        is_ints = bool(value) and all(isinstance(item, int) for item in value)
        return "ints" if is_ints or isinstance(value, torch.Size) else "list"
    return "other"


def python_params(function: Callable[..., object]) -> tuple[Param, ...]:
    """The parameters of a function written in Python."""
    params = []
    try:
        annotations = typing.get_type_hints(function)
    except (NameError, TypeError):
        annotations = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        annotation = annotations.get(parameter.name, parameter.annotation)
        params.append(
            Param(
                parameter.name,
                _kind(parameter.name, annotation, parameter.default),
                parameter.default is parameter.empty,
                parameter.kind is parameter.KEYWORD_ONLY,
                parameter.kind is parameter.VAR_POSITIONAL,
            )
        )
    return tuple(params)


def _kind(name: str, annotation: object, default: object) -> str:
    if name in _BY_NAME:
        return _BY_NAME[name]
    arguments = typing.get_args(annotation)
    if types.NoneType in arguments:
        inner = [argument for argument in arguments if argument is not types.NoneType]
        return (_kind(name, inner[0], None) if len(inner) == 1 else "any") + "?"
    if typing.get_origin(annotation) is list and arguments:
        return {int: "ints", Tensor: "tensors"}.get(arguments[0], "any")
    if annotation in (None, types.NoneType) or annotation not in (inspect.Parameter.empty,):
        try:
            return _ANNOTATIONS.get(annotation, "any")
        except TypeError:
            return "any"
    if isinstance(default, bool):
        return "bool"
    if name in ("self", "input", "tensor"):
        return "tensor"
    return "any?" if default is None else "any"
