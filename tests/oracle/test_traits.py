"""The traits of ops say what PyTorch does."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from tapelint.ops.traits import traits_by_op

REORDERING: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "H": lambda x: x.H,
    "T": lambda x: x.T,
    "adjoint": lambda x: x.adjoint(),
    "diagonal": lambda x: x.diagonal(),
    "expand": lambda x: x.expand(2, 3, 4),
    "expand_as": lambda x: x.expand_as(torch.empty(2, 3, 4)),
    "mH": lambda x: x.mH,
    "mT": lambda x: x.mT,
    "movedim": lambda x: x.movedim(0, 1),
    "moveaxis": lambda x: x.moveaxis(0, 1),
    "permute": lambda x: x.permute(1, 0),
    "swapaxes": lambda x: x.swapaxes(0, 1),
    "swapdims": lambda x: x.swapdims(0, 1),
    "t": lambda x: x.t(),
    "transpose": lambda x: x.transpose(0, 1),
}


def test_each_op_that_reorders_is_tried() -> None:
    assert REORDERING.keys() == {op for op, traits in traits_by_op().items() if "reorders" in traits}


@pytest.mark.parametrize("view", REORDERING.values(), ids=REORDERING)
def test_a_view_in_another_order_is_copied_by_contiguous(view: Callable[[torch.Tensor], torch.Tensor]) -> None:
    x = torch.randn(3, 4, requires_grad=True) * 1
    seen = view(x)
    assert seen.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    copied = seen.contiguous()
    assert copied.untyped_storage().data_ptr() != x.untyped_storage().data_ptr()
    assert type(copied.grad_fn).__name__ == "CloneBackward0"
