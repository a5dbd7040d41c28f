"""Sample calls made up from the kinds of the parameters, for overloads that no sample of ``op_db`` runs.

They need not make sense: what PyTorch refuses is dropped.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from tapelint.ops.schema import Op, Param

Sample = tuple[tuple[Any, ...], dict[str, Any]]


def _floats(*shape: int) -> Tensor:
    return torch.rand(shape, dtype=torch.float64) * 0.8 + 0.1


_SHAPES: tuple[Callable[[], Tensor], ...] = (lambda: _floats(3, 3), lambda: _floats(2, 3, 3), lambda: _floats(3))
_VALUES: dict[str, Any] = {
    "number": 2.5,
    "float": 0.5,
    "int": 1,
    "ints": [1],
    "bool": True,
    "true": True,
    "false": False,
    "dtype": torch.float64,
    "str": "mean",
}


_ODD: tuple[Callable[[], Tensor], ...] = (
    lambda: _floats(),
    lambda: _floats(2, 2, 3, 3),
    lambda: _floats(2, 1, 2, 3, 3),
)


def odd_calls(stub: Op) -> Iterator[Sample]:
    """With tensors of no dimension, and of more than most ops are tried with."""
    return calls(stub, _ODD)


def calls(stub: Op, shapes: tuple[Callable[[], Tensor], ...] = _SHAPES) -> Iterator[Sample]:
    """With the required arguments only, then with the optional tensors and numbers as well."""
    for shape, with_optional in itertools.product(shapes, (False, True)):
        params = [param for param in stub.params if param.required or (with_optional and _is_operand(param))]
        keywords = {param.name: _value(param, shape) for param in params if param.keyword}
        yield tuple(_value(param, shape) for param in params if not param.keyword), keywords


def _is_operand(param: Param) -> bool:
    return param.kind in ("tensor?", "number?")


def _value(param: Param, shape: Callable[[], Tensor]) -> Any:
    kind = param.kind.rstrip("?")
    if kind in ("tensor", "operand"):
        if param.name in ("condition", "mask"):
            return shape() > 0.5
        return torch.zeros(shape().shape, dtype=torch.int64) if param.name in ("index", "indices") else shape()
    if kind == "tensors":
        return [shape(), shape()]
    return _VALUES.get(kind)
