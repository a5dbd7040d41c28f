"""Rows for functions and methods that PyTorch defines in Python: torch.nn.functional, torch.functional, torch.Tensor.

Autograd sees only what they call, so they are probed like composite ops. Arguments that change which code runs
(``inplace``, ``training``, ``reduction``) get rows of their own where they make a difference.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from tools.ops import probed, samples
from tools.ops.hand_samples import SIGNATURES
from tools.ops.kinds import python_params

from tapelint.ops.binding import bind
from tapelint.ops.schema import Op, Param

# The values worth a row of their own.
SWITCHES: dict[str, tuple[Any, ...]] = {
    "inplace": (False, True),
    "training": (True, False),
    "reduction": ("mean", "sum", "none"),
    "return_indices": (False, True),
    "is_causal": (False, True),
    "hard": (False, True),
}

# Python functions the interpreter models itself, that have nothing to do with autograd, or that only a layer calls.
NOT_OPS = frozenset(
    """backward index register_hook register_post_accumulate_grad_hook reinforce is_shared share_memory_ module_load
    storage storage_type dim_order resize resize_as solve lstsq eig symeig to_sparse_coo
    multi_head_attention_forward""".split()
)
# ``2 - x``: Tensor defines these in Python. The other operand is a number.
REFLECTED = ("rsub", "rtruediv", "rfloordiv", "rmod", "rpow")


def rows() -> Iterator[Op]:
    for name, functions in everything().items():
        if name in SIGNATURES:
            continue
        stubs = [_stub(name, overload, function) for overload, function in functions.items()]
        yield from _switched_rows(stubs, list(functions.values()), samples.for_row(name))
    for word in REFLECTED:
        name = f"__{word}__"
        stub = Op(name, "", (Param("self", "tensor"), Param("other", "number")), frozenset(), source="probe")
        yield from probed.rows_of([stub], [getattr(torch.Tensor, name)], [])


def everything() -> dict[str, dict[str, Callable[..., Any]]]:
    """Functions by the name of their rows, then by overload: ``norm`` is a function and a method."""
    found: dict[str, dict[str, Callable[..., Any]]] = {}
    for name, function in vars(F).items():
        public = not name.startswith("_") and name not in NOT_OPS
        if public and inspect.isfunction(function) and function.__module__ == F.__name__:
            found[f"nn.functional.{name}"] = {"": function}
    for name in torch.functional.__all__:
        function = getattr(torch.functional, name)
        if inspect.isfunction(function):
            found.setdefault(name, {})["function"] = function
    for name, method in vars(torch.Tensor).items():
        if not name.startswith("_") and inspect.isfunction(method) and name not in NOT_OPS:
            found.setdefault(name, {})["method"] = method
    return found


def hides_native(name: str) -> bool:
    """True where every way to call this name runs Python code, so that the rows of the native op are out of reach."""
    places = [getattr(module, name) for module in (torch, torch.Tensor) if hasattr(module, name)]
    return bool(places) and all(inspect.isfunction(place) for place in places)


def _stub(name: str, overload: str, function: Callable[..., Any]) -> Op:
    if inspect.signature(function).parameters.keys() == {"args", "kwargs"}:
        # A boolean_dispatch of two functions; the private one has the parameters.
        function = getattr(F, f"_{function.__name__}", function)
    return Op(name, overload, python_params(function), frozenset(), source="probe")


def _switched_rows(
    stubs: Sequence[Op], functions: Sequence[Callable[..., Any]], calls: Sequence[samples.Sample]
) -> Iterator[Op]:
    for stub, function in zip(stubs, functions, strict=True):
        switches = [param for param in stub.params if param.name in SWITCHES]
        if not switches:
            yield from probed.rows_of([stub], [function], calls)
            continue
        yield from _merged(list(_variants(stub, function, calls, switches)))


def _variants(
    stub: Op, function: Callable[..., Any], calls: Sequence[samples.Sample], switches: Sequence[Param]
) -> Iterator[tuple[tuple[Any, ...], Op]]:
    """One row for each setting of the switches, the samples called again with that setting."""
    for values in itertools.product(*(SWITCHES[param.name] for param in switches)):
        setting = {param.name: value for param, value in zip(switches, values, strict=True)}
        variant = replace(stub, overload="_".join(filter(None, (stub.overload, *map(_word, setting.items())))))
        again = [((), {**bound, **setting}) for bound in (bind(stub, *call) for call in calls) if bound is not None]
        for op in probed.rows_of([variant], [function], again):
            yield values, replace(op, params=tuple(_switched(param, setting, function) for param in op.params))


def _word(setting: tuple[str, Any]) -> str:
    name, value = setting
    if isinstance(value, str):
        return value
    return {("training", True): "training", ("training", False): "eval"}.get((name, value), name if value else "")


def _switched(param: Param, setting: dict[str, Any], function: Callable[..., Any]) -> Param:
    if param.name not in setting:
        return param
    value = setting[param.name]
    kind = repr(value) if isinstance(value, str) else str(value).lower()
    parameters = inspect.signature(function).parameters
    default = parameters[param.name].default if param.name in parameters else False
    return replace(param, kind=kind, required=value != default)


def _merged(variants: list[tuple[tuple[Any, ...], Op]]) -> Iterator[Op]:
    """Drops the switches that make no difference; the setting by default comes first."""
    if not variants:
        return
    count = len(variants[0][0])
    for position in range(count):
        groups: dict[tuple[Any, ...], list[Op]] = {}
        for values, op in variants:
            groups.setdefault(values[:position] + values[position + 1 :], []).append(op)
        if all(len({_claims(op) for op in ops}) == 1 for ops in groups.values()):
            variants = [(values, _unswitched(op, position)) for values, op in variants]
    unique: dict[tuple[Param, ...], Op] = {}
    for _, op in variants:
        unique.setdefault(op.params, op)
    rows = list(unique.values())
    if len(rows) == 1:
        rows = [replace(rows[0], overload="")]
    yield from sorted(rows, key=lambda op: sum(param.required for param in op.params))


def _claims(op: Op) -> Op:
    return replace(op, overload="", params=(), grad_fn="")


def _unswitched(op: Op, position: int) -> Op:
    name = [param.name for param in op.params if param.name in SWITCHES][position]
    kind = "str" if isinstance(SWITCHES[name][0], str) else "bool"
    words = {_word((name, value)) for value in SWITCHES[name]}
    overload = "_".join(word for word in op.overload.split("_") if word not in words)
    return replace(
        op,
        overload=overload,
        params=tuple(
            replace(param, kind=kind, required=param.required and False) if param.name == name else param
            for param in op.params
        ),
    )
