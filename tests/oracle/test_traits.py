"""The traits of ops say what PyTorch does."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch.nn import functional as F

from tapelint.ops.traits import Trait, traits_by_op

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


STRAY, WHOLE = torch.rand(4, 3).t(), torch.rand(3, 4)
"""Two matrices of the same sizes, whose entries lie in memory by columns and by rows."""

LINING_UP: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "addmm": lambda x: torch.addmm(x, x, torch.eye(4)),
    "bmm": lambda x: torch.bmm(x.expand(2, 3, 4), x.t().expand(2, 4, 3)),
    "embedding": lambda x: F.embedding(torch.tensor([[0, 1], [1, 2]]).t(), x),
    "layer_norm": lambda x: torch.layer_norm(x, (4,)),
    "layernorm": lambda x: torch.nn.LayerNorm(4)(x),
    "linear": lambda x: F.linear(x, x),
    "log_softmax": lambda x: torch.log_softmax(x, 0),
    "logsoftmax": lambda x: torch.nn.LogSoftmax(1)(x),
    "matmul": lambda x: torch.stack([x, x], 2).permute(2, 0, 1) @ x.t(),
    "mm": lambda x: torch.mm(x, x.t()),
    "nn.functional.layer_norm": lambda x: F.layer_norm(x, (4,)),
    "nn.functional.log_softmax": lambda x: F.log_softmax(x, 0),
    "nn.functional.softmax": lambda x: F.softmax(x, 0),
    "softmax": lambda x: torch.softmax(x, 1),
}
KEEPING_ORDER: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "add": lambda x: x + x[:1].contiguous(),
    "cat": lambda x: torch.cat([x, x], 1),
    "clamp": lambda x: x.clamp(0.2, 0.8),
    "div": lambda x: x[:1].contiguous() / x,
    "flatten": lambda x: x.view(1, 3, 4).flatten(0, 1),
    "leakyrelu": torch.nn.LeakyReLU(),
    "masked_fill": lambda x: x.masked_fill(x[:1].contiguous() > 0.5, 0.0),
    "mean": lambda x: torch.stack([x, x, x], 1).mean(1),
    "mul": lambda x: x * x.sum(1, keepdim=True),
    "pow": lambda x: x.pow(x),
    "reshape": lambda x: x.reshape(2, 6),
    "reshape_as": lambda x: x.reshape_as(x.t().contiguous()),
    "stack": lambda x: torch.stack([x, x], 1),
    "sub": lambda x: 1 - x,
    "sum": lambda x: torch.stack([x, x, x], 1).sum(0),
    "unsqueeze": lambda x: x.unsqueeze(1),
    "view": lambda x: x.view(4, 3),
    "where": lambda x: torch.where(x > 0.5, x, x[:1].contiguous()),
}


def ops_with(trait: Trait) -> set[str]:
    return {op for op, traits in traits_by_op().items() if trait in traits}


def test_each_op_that_lines_up_is_tried() -> None:
    assert LINING_UP.keys() == ops_with("lines-up")


@pytest.mark.parametrize("op", LINING_UP.values(), ids=LINING_UP)
@pytest.mark.parametrize("x", [STRAY, WHOLE], ids=["columns", "rows"])
def test_its_entries_are_in_the_order_of_memory(op: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> None:
    assert op(x).is_contiguous()


@pytest.mark.parametrize("name", sorted(ops_with("keeps-order")))
def test_what_is_in_order_stays_in_order(name: str) -> None:
    of_one = getattr(F, name.rpartition(".")[2], None) if name.startswith("nn.") else getattr(torch, name, None)
    assert (KEEPING_ORDER.get(name) or of_one or getattr(F, name))(WHOLE).is_contiguous()


@pytest.mark.parametrize("name", ["flatten", "ravel", "reshape", "reshape_as"])
def test_what_is_in_order_is_not_copied_to_be_seen_otherwise(name: str) -> None:
    seen = KEEPING_ORDER.get(name, torch.ravel)(whole := WHOLE * 1)
    assert seen.untyped_storage().data_ptr() == whole.untyped_storage().data_ptr()


@pytest.mark.parametrize("name", sorted(ops_with("measures")))
def test_it_is_zero_between_a_tensor_and_itself(name: str) -> None:
    layers = {kind.lower(): getattr(torch.nn, kind) for kind in ("MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss")}
    measure = layers[name]() if name in layers else getattr(F, name.rpartition(".")[2])
    assert measure(WHOLE, WHOLE).item() == 0
    assert measure(WHOLE, WHOLE + 1).item() > 0
