"""Rows for functions and methods that PyTorch defines in Python: torch.nn.functional, torch.functional, torch.Tensor.

Autograd sees only what they call, so they are probed like composite ops. Arguments that change which code runs
(``inplace``, ``training``, ``reduction``, the ``mode`` of ``pad``) get rows of their own where they make a difference.
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

OTHERWISE = object()
"""Whatever the samples have."""
# The values worth a row of their own, of a parameter of any function or of one.
SWITCHES: dict[str, tuple[Any, ...]] = {
    "nn.functional.pad.mode": ("constant", "reflect", "replicate", "circular"),
    "p": (OTHERWISE, 0),
    "beta": (OTHERWISE, 0),
    "log_target": (False, True),
    "log_input": (True, False),
    "inplace": (False, True),
    "training": (True, False),
    "reduction": ("mean", "sum", "none", "batchmean"),
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


def _values(op: Op, name: str) -> tuple[Any, ...]:
    """The values of a parameter that are worth a row of their own; none where it is no switch."""
    return SWITCHES.get(f"{op.name}.{name}", SWITCHES.get(name, ()))


def _switched_rows(
    stubs: Sequence[Op], functions: Sequence[Callable[..., Any]], calls: Sequence[samples.Sample]
) -> Iterator[Op]:
    for stub, function in zip(stubs, functions, strict=True):
        switches = [param.name for param in stub.params if _values(stub, param.name)]
        if not switches:
            yield from probed.rows_of([stub], [function], calls)
            continue
        yield from _merged(stub, list(_variants(stub, function, calls, switches)))


Setting = dict[str, Any]


def _variants(
    stub: Op, function: Callable[..., Any], calls: Sequence[samples.Sample], switches: Sequence[str]
) -> Iterator[tuple[Setting, Op]]:
    """One row for each setting of the switches, the samples called again with that setting."""
    for values in itertools.product(*(_values(stub, name) for name in switches)):
        setting = dict(zip(switches, values, strict=True))
        given = {name: value for name, value in setting.items() if value is not OTHERWISE}
        again = [((), {**bound, **given}) for bound in (bind(stub, *call) for call in calls) if bound is not None]
        for op in probed.rows_of([stub], [function], again):
            yield setting, replace(op, params=tuple(_switched(param, given, function) for param in op.params))


def _word(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is OTHERWISE:
        return ""
    if not isinstance(value, bool):
        return f"{name}={value}"
    return {("training", True): "training", ("training", False): "eval"}.get((name, value), name if value else "")


def _switched(param: Param, given: Setting, function: Callable[..., Any]) -> Param:
    if param.name not in given:
        return param
    value = given[param.name]
    kind = repr(value) if isinstance(value, str) else str(value).lower()
    parameters = inspect.signature(function).parameters
    default = parameters[param.name].default if param.name in parameters else False
    return replace(param, kind=kind, required=value != default)


def _without(switch: str, plain: dict[str, Param], setting: Setting, op: Op) -> tuple[Setting, Op]:
    """A variant in which ``switch`` is not set."""
    params = tuple(plain[switch] if param.name == switch else param for param in op.params)
    return {name: value for name, value in setting.items() if name != switch}, replace(op, params=params)


def _merged(stub: Op, variants: list[tuple[Setting, Op]]) -> Iterator[Op]:
    """Drops the switches that make no difference. A row for one number comes first, then the setting by default."""
    plain = {param.name: param for param in stub.params}
    for name in variants[0][0] if variants else ():
        groups: dict[str, list[Op]] = {}
        for setting, op in variants:
            groups.setdefault(repr({**setting, name: None}), []).append(op)
        if all(len({_claims(op) for op in ops}) == 1 for ops in groups.values()):
            variants = [_without(name, plain, setting, op) for setting, op in variants]
    unique: dict[tuple[Param, ...], Op] = {}
    for setting, op in [(setting, op) for setting, op in variants if not _adds_nothing(setting, op, variants)]:
        words = [stub.overload, *(_word(name, value) for name, value in setting.items())]
        unique.setdefault(op.params, replace(op, overload="_".join(filter(None, words))))
    rows = list(unique.values())
    if len(rows) == 1:
        rows = [replace(rows[0], overload="")]
    yield from sorted(rows, key=lambda op: (not _has_number(op), sum(param.required for param in op.params)))


def _adds_nothing(setting: Setting, op: Op, variants: list[tuple[Setting, Op]]) -> bool:
    """A row for one number says the same as that for all others."""
    general = {name: OTHERWISE if OTHERWISE in _values(op, name) else value for name, value in setting.items()}
    return setting != general and any(s == general and _claims(o) == _claims(op) for s, o in variants)


def _has_number(op: Op) -> bool:
    return any(param.kind == "0" for param in op.params)


def _claims(op: Op) -> Op:
    return replace(op, overload="", params=(), grad_fn="")
