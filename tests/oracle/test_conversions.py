"""The table of dtypes and conversions says what PyTorch has."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from tapelint.ops.conversions import DTYPES, MOVING, OF_MODULES, OF_TENSORS, Dtype


@pytest.mark.parametrize("row", DTYPES, ids=lambda row: row.names[0])
def test_the_names_of_a_row_are_one_dtype_of_its_family(row: Dtype) -> None:
    kinds = {getattr(torch, name) for name in row.names}
    assert len(kinds) == 1
    kind = kinds.pop()
    assert isinstance(kind, torch.dtype)
    assert kind.is_complex is row.is_complex
    assert (kind.is_floating_point or kind.is_complex) is (row.family == "float")
    assert (kind is torch.bool) is (row.family == "bool")


@pytest.mark.parametrize("row", [row for row in DTYPES if row.method], ids=lambda row: row.method)
def test_the_method_of_a_row_converts_to_its_dtype(row: Dtype) -> None:
    assert getattr(torch.zeros(2), row.method)().dtype is getattr(torch, row.names[0])


@pytest.mark.parametrize("row", [row for row in DTYPES if row.elements], ids=lambda row: row.elements)
def test_the_legacy_class_of_a_row_has_its_dtype(row: Dtype) -> None:
    made = torch.zeros(2).to(getattr(torch, row.names[0]))
    assert isinstance(made, getattr(torch, f"{row.elements}Tensor"))


def test_what_converts_modules_and_tensors_is_a_method_of_theirs() -> None:
    assert all(callable(getattr(nn.Module, name)) for name in OF_MODULES)
    assert all(callable(getattr(torch.Tensor, name)) for name in OF_TENSORS)
    conversions = {name for row in DTYPES if (name := row.method) and hasattr(nn.Module, name)}
    assert OF_MODULES == MOVING | conversions


def test_what_returns_the_tensor_itself_where_there_is_nothing_to_do_does() -> None:
    x = torch.zeros(2)
    assert x.to("cpu") is x and x.cpu() is x and x.float() is x and x.contiguous() is x
    assert x.type_as(x) is x and x.type(torch.float32) is x


def test_only_the_family_of_floats_can_require_grad() -> None:
    for row in DTYPES:
        if row.family is not None:
            made = torch.zeros(2).to(getattr(torch, row.names[0]))
            if row.family == "float":
                assert made.requires_grad_().requires_grad
            else:
                with pytest.raises(RuntimeError, match="floating point dtype"):
                    made.requires_grad_()
