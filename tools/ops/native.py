"""PyTorch's own description of its ops: every overload that Python can reach, with its derivative formulas.

``torchgen``, the code generator that PyTorch builds its bindings and its autograd kernels with, ships inside the wheel
together with ``native_functions.yaml`` and ``derivatives.yaml``. We read what it reads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import torch
import torchgen
from torchgen.api.autograd import NativeFunctionWithDifferentiabilityInfo, match_differentiability_info
from torchgen.api.python import (
    PythonArgument,
    PythonOutArgument,
    PythonSignature,
    PythonSignatureNativeFunctionPair,
    signature,
)
from torchgen.gen import parse_native_yaml
from torchgen.model import BaseTy, BaseType, ListType, NativeFunction, OptionalType, SchemaKind, Type
from torchgen.packaged.autograd.gen_python_functions import (
    group_overloads,
    load_deprecated_signatures,
    should_generate_py_binding,
)
from torchgen.packaged.autograd.load_derivatives import load_derivatives

from tapelint.ops.schema import Op, Param

# Bound by hand in C++, so the generator of the bindings skips them; users call them all the same.
BOUND_BY_HAND = frozenset({"contiguous", "copy_"})

_KINDS = {
    BaseTy.Tensor: "tensor",
    BaseTy.Scalar: "number",
    BaseTy.int: "int",
    BaseTy.SymInt: "int",
    BaseTy.float: "float",
    BaseTy.bool: "bool",
    BaseTy.SymBool: "bool",
    BaseTy.str: "str",
    BaseTy.ScalarType: "dtype",
}


@cache
def overloads() -> tuple[NativeFunctionWithDifferentiabilityInfo, ...]:
    """Every overload that a Python program can call, in the order in which Python's argument parser tries them."""
    packaged = os.path.join(os.path.dirname(torchgen.__file__), "packaged")
    functions = os.path.join(packaged, "ATen", "native", "native_functions.yaml")
    tags = os.path.join(packaged, "ATen", "native", "tags.yaml")
    natives = parse_native_yaml(functions, tags).native_functions
    derivatives, _ = load_derivatives(os.path.join(packaged, "autograd", "derivatives.yaml"), functions, tags)
    reachable = {
        str(fn.func.func.name): fn
        for fn in match_differentiability_info(natives, derivatives)
        if _is_reachable(fn.func)
    }
    by_name: dict[str, list[PythonSignatureNativeFunctionPair]] = {}
    for fn in reachable.values():
        pair = PythonSignatureNativeFunctionPair(signature(fn.func), fn.func)
        by_name.setdefault(key(fn.func), []).append(pair)
    ordered: list[NativeFunctionWithDifferentiabilityInfo] = []
    for name in sorted(by_name):
        for group in group_overloads(by_name[name]):
            ordered += [reachable[str(f.func.name)] for f in (group.base, group.outplace) if f is not None]
    return tuple(ordered)


@cache
def deprecated() -> dict[str, list[tuple[Param, ...]]]:
    """Other parameters that Python still takes for an overload, by its full name: ``p.add_(-lr, p.grad)``."""
    path = os.path.join(os.path.dirname(torchgen.__file__), "packaged", "autograd", "deprecated.yaml")
    pairs = [PythonSignatureNativeFunctionPair(signature(fn.func), fn.func) for fn in overloads()]
    found: dict[str, list[tuple[Param, ...]]] = {}
    for pair in load_deprecated_signatures(pairs, path, method=False, pyi=False):
        if pair.function.func.kind() is not SchemaKind.out:
            found.setdefault(str(pair.function.func.name), []).append(_as_python(pair.signature))
    return found


def _is_reachable(f: NativeFunction) -> bool:
    name = f.func.name.name
    if name.base.startswith("_") or name.dunder_method:
        return False
    if any("Dimname" in str(argument.type) for argument in f.func.arguments.flat_all):
        return False
    if not should_generate_py_binding(f) and str(name) not in BOUND_BY_HAND:
        return False
    return bool(list(callables(key(f))))


def key(f: NativeFunction) -> str:
    """The name the rows of this overload are found under: ``exp``, ``exp_``, ``linalg_norm``."""
    return str(f.func.name.name)


def callables(name: str) -> Iterator[Callable[..., Any]]:
    """What a program can call to run the op of this name."""
    for module in (torch, torch.Tensor, torch._C._nn, torch._C._linalg, torch._C._special, torch._C._fft):
        if callable(found := getattr(module, name, None)):
            yield found


def params(f: NativeFunction) -> tuple[Param, ...]:
    """The parameters as Python sees them, including dtype, device and requires_grad of the functions that create."""
    python = _as_python(signature(f))
    if f.func.kind() is not SchemaKind.out:
        return python
    return (*python, Param("out", "tensor" if len(f.func.arguments.out) == 1 else "tensors", True, True))


def _as_python(python: PythonSignature) -> tuple[Param, ...]:
    positional = {argument.name for argument in python.input_args}
    return tuple(
        Param(argument.name, kind(argument.type), _is_required(argument), argument.name not in positional)
        for argument in python.arguments(skip_outputs=True)
    )


def _is_required(argument: PythonArgument | PythonOutArgument) -> bool:
    return argument.default is None and argument.name != "requires_grad"


def kind(type_: Type) -> str:
    if isinstance(type_, OptionalType):
        return kind(type_.elem) + "?"
    if isinstance(type_, ListType):
        element = kind(type_.elem).rstrip("?")
        return {"tensor": "tensors", "int": "ints"}.get(element, "other")
    if isinstance(type_, BaseType):
        return _KINDS.get(type_.name, "other")
    return "other"


@cache
def _ranks() -> dict[tuple[str, str], int]:
    return {(key(fn.func), fn.func.func.name.overload_name): rank for rank, fn in enumerate(overloads())}


def rank(op: Op) -> int:
    """Where the argument parser has the overload; those it does not know keep their place behind the others."""
    name = op.overload.replace("Number", "Tensor")
    return _ranks().get((op.name, op.overload), _ranks().get((op.name, name), len(_ranks())))
