"""Sample calls and signatures for what PyTorch describes neither in ``op_db`` nor in its schemas.

They say how a function is called, never what it does: that is measured.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils import rnn

Sample = tuple[tuple[Any, ...], dict[str, Any]]


def _x(*shape: int) -> Tensor:
    return torch.randn(*(shape or (3, 4)), dtype=torch.float64)


def _positive(*shape: int) -> Tensor:
    return torch.rand(*(shape or (3, 4)), dtype=torch.float64) + 0.1


def _index(*shape: int) -> Tensor:
    return torch.arange(torch.Size(shape or (3,)).numel()).reshape(shape or (3,)) % 3


def _float32(*shape: int) -> Tensor:
    return torch.randn(*(shape or (3, 4)))


def _calls(*calls: Callable[[], Any]) -> Callable[[], list[Sample]]:
    """Each makes the positional arguments of a call, with a dict at the end for keywords."""

    def make() -> list[Sample]:
        samples: list[Sample] = []
        for call in calls:
            *positional, last = made if isinstance(made := call(), tuple) else (made,)
            keywords = last if isinstance(last, dict) else {}
            samples.append((tuple(positional if keywords else (*positional, last)), keywords))
        return samples

    return make


_DROPOUTS = ("dropout", "alpha_dropout", "feature_dropout", "feature_alpha_dropout")
_DROPOUT = _calls(lambda: _x(8, 8, 8), lambda: _x(8, 8), lambda: (_x(8, 8, 8), 0.5), lambda: (_x(8, 8, 8), {"p": 0.3}))
_SWITCHED_DROPOUT = _calls(
    *(lambda p=p, train=train: (_x(8, 8, 8), p, train) for p in (0.5, 0) for train in (True, False))
)
_QKV = (_x(2, 2, 5, 4), _x(2, 2, 5, 4), _x(2, 2, 5, 4))
_QKV3 = (_x(2, 5, 4), _x(2, 5, 4), _x(2, 5, 4))
_QKV2 = (_x(5, 4), _x(5, 4), _x(5, 4))
_GATED = {"gru": 3, "lstm": 4, "rnn_tanh": 1, "rnn_relu": 1}


def _recurrent(name: str) -> Callable[[], list[Sample]]:
    """``torch.lstm(input, state, weights, has_biases, num_layers, dropout, train, bidirectional, batch_first)``."""
    gates = 4 * _GATED[name]
    weights = (_x(gates, 3), _x(gates, 4), _x(gates), _x(gates))
    state = (_x(1, 2, 4), _x(1, 2, 4)) if name == "lstm" else _x(1, 2, 4)
    return _calls(
        lambda: (_x(5, 2, 3), state, weights, True, 1, 0.0, True, False, False),
        lambda: (_x(5, 2, 3), state, weights[:2], False, 1, 0.0, True, False, False),
        lambda: (_x(2, 5, 3), state, weights, True, 1, 0.0, False, False, True),
    )


_PRODUCTS = _calls(
    lambda: (_x(3), _x(3)),
    lambda: (_x(2, 3), _x(3)),
    lambda: (_x(3), _x(3, 4)),
    lambda: (_x(2, 3), _x(3, 4)),
    lambda: (_x(3, 2).t(), _x(4, 3).t()),
    lambda: (_x(5, 2, 3), _x(3)),
    lambda: (_x(5, 2, 3), _x(3, 4)),
    lambda: (_x(5, 3, 2).mT, _x(3, 4)),
    lambda: (_x(6, 5, 2, 3), _x(3, 4)),
    lambda: (_x(3), _x(5, 3, 4)),
    lambda: (_x(2, 3), _x(5, 3, 4)),
    lambda: (_x(2, 3), _x(5, 4, 3).mT),
    lambda: (_x(3), _x(6, 5, 3, 4)),
    lambda: (_x(2, 3), _x(6, 5, 3, 4)),
    lambda: (_x(5, 2, 3), _x(5, 3, 4)),
    lambda: (_x(5, 3, 2).mT, _x(5, 4, 3).mT),
    lambda: (_x(1, 2, 3), _x(5, 3, 4)),
    lambda: (_x(5, 2, 3), _x(1, 3, 4)),
    lambda: (_x(5, 2, 3), _x(6, 5, 3, 4)),
    lambda: (_x(6, 5, 2, 3), _x(5, 3, 4)),
    lambda: (_x(6, 5, 2, 3), _x(6, 5, 3, 4)),
    lambda: (_x(6, 5, 2, 3), _x(6, 1, 3, 4)),
    lambda: (_x(6, 2, 5, 3).transpose(1, 2), _x(6, 4, 5, 3).permute(0, 2, 3, 1)),
)
_LISTS = _calls(lambda: (_x(2), _x(2)), lambda: (_x(2), _x(2), _x(2)))
_CASTS = (
    *("float", "double", "half", "bfloat16", "cfloat", "cdouble"),
    *("int", "long", "bool", "short", "char", "byte", "cpu"),
)
_CAST = _calls(lambda: _x(), lambda: _float32())


def _pad_packed(data: Tensor, batch_sizes: Tensor) -> Tensor:
    padded, _ = rnn.pad_packed_sequence(rnn.PackedSequence(data, batch_sizes))
    return padded


def _set_item(tensor: Tensor, index: Any, value: Any) -> Tensor:
    tensor[index] = value
    return tensor


# Besides those of op_db.
MORE: dict[str, Callable[[], list[Sample]]] = {
    **{
        name: _calls(lambda: (_x(), 2.5), lambda: (_x(), 3))
        for name in ("divide", "multiply", "true_divide", "subtract", "floor_divide")
    },
    "cholesky_solve": _calls(lambda: (_x(4, 1), torch.eye(4, dtype=torch.float64))),
    "corrcoef": _calls(_x),
    "cov": _calls(_x),
    "nn.functional.gaussian_nll_loss": _calls(lambda: (_x(), _x(), _positive())),
    **{name: _recurrent(name) for name in _GATED},
    "lstm_cell": _calls(lambda: (_x(2, 3), (_x(2, 4), _x(2, 4)), _x(16, 3), _x(16, 4), _x(16), _x(16))),
    "gru_cell": _calls(lambda: (_x(2, 3), _x(2, 4), _x(12, 3), _x(12, 4), _x(12), _x(12))),
    "batch_norm": _calls(
        lambda: (_x(5, 3), _x(3), _x(3), _x(3), _positive(3), True, 0.1, 1e-5, False),
        lambda: (_x(5, 3, 4), _x(3), _x(3), _x(3), _positive(3), False, 0.1, 1e-5, False),
        lambda: (_x(5, 3), None, None, None, None, True, 0.1, 1e-5, False),
    ),
    "instance_norm": _calls(lambda: (_x(5, 3, 4), _x(3), _x(3), None, None, True, 0.1, 1e-5, False)),
    "copy_": _calls(lambda: (_x(), _x()), lambda: (_x(), _x(4)), lambda: (_x(), _float32()), lambda: (_x(), 2.5)),
    "where": _calls(lambda: (_x() > 0, _x(), _x())),
    "repeat_interleave": _calls(
        lambda: (_x(), 2), lambda: (_x(), torch.tensor(2)), lambda: (_x(), torch.tensor([1, 2, 1]), 0)
    ),
    "dequantize": _calls(_x, _float32),
    "type_as": _calls(lambda: (_x(), _x()), lambda: (_x(), _float32())),
    "conj_physical": _calls(lambda: torch.complex(_x(), _x())),
    # Of other sizes than those of `op_db`, which take all rows, or are square.
    "index_select": _calls(
        lambda: (_x(), 0, _index(1)), lambda: (_x(2, 3, 4), 1, _index(5)), lambda: (_x(4), 0, _index(2))
    ),
    "slice_copy": _calls(lambda: (_x(), 0, 1, 3), lambda: (_x(2, 3, 4), 2, 0, 2)),
    **dict.fromkeys(("qr", "svd", "pinverse", "linalg_pinv", "linalg_qr"), _calls(_x, lambda: _x(2, 4, 3))),
}
# In place of those of op_db, which are for a wrapper with other parameters, or show corner cases: dropout with p=1.
INSTEAD: dict[str, Callable[[], list[Sample]]] = {
    **{
        f"{prefix}{name}": _DROPOUT
        for name in ("dropout", "alpha_dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout")
        for prefix in ("nn.functional.", "")
    },
    **dict.fromkeys(_DROPOUTS, _SWITCHED_DROPOUT),
    "scaled_dot_product_attention": _calls(
        lambda: _QKV,
        lambda: (*_QKV, {"is_causal": True}),
        lambda: (*_QKV, _x(5, 5)),
        lambda: (*_QKV, torch.ones(5, 5, dtype=torch.bool)),
        lambda: (*_QKV, {"dropout_p": 0.1}),
        lambda: (*_QKV, _x(5, 5), {"dropout_p": 0.1}),
        lambda: _QKV3,
        lambda: (*_QKV3, {"is_causal": True}),
        lambda: _QKV2,
        lambda: (_x(2, 2, 5, 4), _x(2, 2, 3, 4), _x(2, 2, 3, 6)),
        lambda: (_x(2, 5, 4), _x(2, 3, 4), _x(2, 3, 6)),
        lambda: (_x(2, 2, 5, 4), _x(2, 2, 3, 4), _x(2, 2, 3, 6), _x(5, 3)),
        lambda: (_x(2, 2, 5, 4), _x(2, 2, 3, 4), _x(2, 2, 3, 6), _x(5, 3), {"dropout_p": 0.1}),
    ),
    **dict.fromkeys(("matmul", "linalg_matmul"), _PRODUCTS),
    **{
        name: _calls(
            *(lambda n=n: (_x(3, 3), n) for n in (0, 1, 2, 3, 4, 5, -1, -2)),
            *(lambda n=n: (_x(2, 3, 3), n) for n in (0, 1, 2, 3, -1)),
        )
        for name in ("matrix_power", "linalg_matrix_power")
    },
    "nn.functional.smooth_l1_loss": _calls(lambda: (_x(), _x()), lambda: (_x(), _x(), {"beta": 0.5})),
    **{
        f"nn.functional.{name}": _calls(lambda: (_x(), _x()), lambda: (_x(4), _x(4)), lambda: (_x(1), _x(1)))
        for name in ("kl_div", "poisson_nll_loss")
    },
    "nn.functional.embedding": _calls(lambda: (_index(), _x()), lambda: (_index(2, 3), _x(), 0)),
    "nn.functional.embedding_bag": _calls(lambda: (_index(2, 3), _x()), lambda: (_index(), _x(), torch.tensor([0, 2]))),
    "nn.functional.fold": _calls(lambda: (_x(1, 12, 12), (4, 5), (2, 2))),
    "nn.functional.unfold": _calls(lambda: (_x(1, 3, 6, 6), (2, 2))),
    "nn.functional.affine_grid": _calls(lambda: (_x(2, 2, 3), [2, 3, 4, 4])),
    "nn.functional.lp_pool1d": _calls(lambda: (_positive(2, 3, 8), 2.0, 2)),
    "nn.functional.lp_pool2d": _calls(lambda: (_positive(2, 3, 8, 8), 2.0, 2)),
    "nn.functional.lp_pool3d": _calls(lambda: (_positive(2, 3, 8, 8, 8), 2.0, 2)),
    "nn.functional.upsample": _calls(lambda: (_x(2, 3, 4, 4), {"scale_factor": 2})),
    "norm": _calls(
        _x,
        lambda: (_x(), {"dim": 1}),
        lambda: (_x(), 2),
        lambda: (_x(), 1),
        lambda: (_x(), 2, 1),
        lambda: (_x(), {"p": 2, "dim": 1, "keepdim": True}),
        lambda: (_x(), float("inf")),
        lambda: (_x(), "nuc"),
    ),
    "einsum": _calls(
        lambda: ("ij,jk->ik", _x(), _x(4, 5)),
        lambda: ("bij,bjk->bik", _x(2, 3, 4), _x(2, 4, 5)),
        lambda: ("i,i->", _x(3), _x(3)),
        lambda: ("i,j->ij", _x(3), _x(4)),
        lambda: ("bij,jk->bik", _x(2, 3, 4), _x(4, 5)),
        lambda: ("ij->ji", _x()),
        lambda: ("ij->", _x()),
        lambda: ("ii->i", _x(3, 3)),
        lambda: ("ij,jk,kl->il", _x(3, 4), _x(4, 5), _x(5, 2)),
        lambda: ("ij,jk,kl,lm->im", _x(3, 4), _x(4, 5), _x(5, 2), _x(2, 3)),
        lambda: ("ij,jk->ik", [_x(3, 4), _x(4, 5)]),
        lambda: ("ij->ji", [_x(3, 4)]),
        lambda: ("ij,jk,kl->il", [_x(3, 4), _x(4, 5), _x(5, 2)]),
    ),
    "block_diag": _calls(lambda: (_x(), _x(2, 2))),
    "broadcast_tensors": _calls(lambda: (_x(3, 4), _x(4)), lambda: (_x(4), _x(3, 4)), lambda: (_x(3, 4), _x(3, 4))),
    "chain_matmul": _calls(lambda: (_x(3, 4), _x(4, 5)), lambda: (_x(3, 4), _x(4, 5), _x(5, 2))),
    "cartesian_prod": _LISTS,
    "meshgrid": _LISTS,
    "nonzero": _calls(_x, lambda: (_x(), {"as_tuple": True})),
    "unravel_index": _calls(lambda: (_index(), (3, 4))),
    "unique": _calls(_x, lambda: (_x(), {"return_inverse": True})),
    "unique_consecutive": _calls(_x),
    "one_hot": _calls(_index, lambda: (_index(), 5)),
    "adaptive_max_pool1d": _calls(lambda: (_x(2, 3, 8), 2)),
    "where": _calls(lambda: _x() > 0, lambda: (_x() > 0, _x(), _x())),
    **dict.fromkeys((*_CASTS, "T", "mT", "H", "mH", "data"), _CAST),
    "real": _calls(_x, lambda: torch.complex(_x(), _x())),
    "to": _calls(
        lambda: (_x(), torch.float32),
        lambda: (_x(), torch.float64),
        lambda: (_x(), "cpu"),
        lambda: (_x(), _float32()),
        lambda: (_x(), {"dtype": torch.float32}),
    ),
    "type": _calls(lambda: (_x(), torch.float32), lambda: (_x(), torch.float64)),
    "tensor": _calls(lambda: ([1.0, 2.0],), lambda: (2.0, {"dtype": torch.float64}), _x),
    "as_tensor": _calls(_x, lambda: ([1.0, 2.0],), lambda: (_x(), {"dtype": torch.float32})),
    "asarray": _calls(_x, lambda: ([1.0, 2.0],), lambda: (_x(), {"dtype": torch.float32})),
    "from_numpy": _calls(lambda: _x().numpy()),
    "new_tensor": _calls(lambda: (_x(), [1.0, 2.0])),
    "getitem.basic": _calls(
        lambda: (_x(), 0), lambda: (_x(), slice(0, 2)), lambda: (_x(), (slice(None), 1)), lambda: (_x(), (..., None))
    ),
    "getitem.index": _calls(
        lambda: (_x(), _index()), lambda: (_x(), (slice(None), _index())), lambda: (_x(), _x() > 0)
    ),
    "setitem.basic": _calls(
        lambda: (_x(), 0, _x(4)),
        lambda: (_x(), slice(0, 2), _x(2, 4)),
        lambda: (_x(), (0, 0), _x(1).squeeze(0)),
        lambda: (_x(), 0, 1.0),
        lambda: (_x(), (0, 1), 2),
    ),
    "setitem.index": _calls(
        lambda: (_x(), _index(), _x(3, 4)),
        lambda: (_x(), (slice(None), _index()), _x(3, 3)),
        lambda: (_x(), _index(), 1.0),
        lambda: (_x(), _x() > 0, 0.0),
    ),
    "pack_padded_sequence": _calls(
        lambda: (_x(3, 2, 4), torch.tensor([3, 2])),
        lambda: (_x(2, 3, 4), torch.tensor([3, 2]), True),
        lambda: (_x(3, 2, 4), torch.tensor([2, 3]), False, False),
    ),
    "pad_packed_sequence": _calls(lambda: (_x(5, 4), torch.tensor([2, 2, 1])), lambda: (_x(3), torch.tensor([2, 1]))),
}

# Overloads in the table's notation: for functions written in C++ without a schema, and where rows are to be told apart
# more finely than by the schema.
SIGNATURES: dict[str, tuple[str, ...]] = {
    **{
        name: (
            f"{name}/matrices(self:matrix, other:matrix)",
            f"{name}/matrix(self:tensor, other:matrix)",
            f"{name}/matrix_first(self:matrix, other:tensor)",
            f"{name}/batches(self:3d, other:3d)",
            f"{name}(self:tensor, other:tensor)",
        )
        for name in ("matmul", "linalg_matmul")
    },
    **{
        name: (*(f"{name}/n={n}(self:tensor, n:{n})" for n in (-1, 0, 1, 2, 3)), f"{name}(self:tensor, n:int)")
        for name in ("matrix_power", "linalg_matrix_power")
    },
    **{
        name: (
            f"{name}/none(input:tensor, p:0, train:true)",
            f"{name}/train(input:tensor, p:float, train:true)",
            f"{name}/eval(input:tensor, p:float, train:false)",
        )
        for name in _DROPOUTS
    },
    **{
        f"{name}_": (
            f"{name}_/none(self:tensor, p:0, train:true)",
            f"{name}_/train(self:tensor, p:float, train:true)",
            f"{name}_/eval(self:tensor, p:float, train:false)",
        )
        for name in _DROPOUTS
    },
    "copy_": (
        "copy_(self:tensor, src:tensor, non_blocking=bool)",
        "copy_/number(self:tensor, src:number, non_blocking=bool)",
    ),
    "scaled_dot_product_attention": tuple(
        f"scaled_dot_product_attention{overload}(query:{query}, key:tensor, value:tensor, {arguments}"
        "is_causal=bool, *, scale=float?, enable_gqa=bool)"
        for overload, query, arguments in (
            ("/heads", "4d", "attn_mask=none, dropout_p=0, "),
            ("", "tensor", "attn_mask=none, dropout_p=0, "),
            ("/mask", "tensor", "attn_mask:tensor, dropout_p=0, "),
            ("/dropout", "tensor", "attn_mask=tensor?, dropout_p:float, "),
        )
    ),
    "linalg_norm": tuple(
        f"linalg_norm{overload}(self:tensor, {order}, dim=ints?, keepdim=bool, *, dtype=dtype?)"
        for overload, order in (("", "ord=none"), ("/ord", "ord:number"), ("/ord_str", "ord:str"))
    ),
    "norm": tuple(
        f"norm{overload}(self:tensor, {p}, dim=any?, keepdim=bool, *, dtype=dtype?)"
        for overload, p in (("", "p='fro'"), ("/p", "p:number"), ("/nuc", "p:str"))
    ),
    "einsum": (
        "einsum/one(equation:str, a:tensor)",
        "einsum/two(equation:str, a:tensor, b:tensor)",
        "einsum/three(equation:str, a:tensor, b:tensor, c:tensor)",
        "einsum/list(equation:str, operands:tensors)",
        "einsum(equation:str, a:tensor, b:tensor, c:tensor, d:tensor, *operands:tensors)",
    ),
    "unique": ("unique(self:tensor, sorted=bool, return_inverse=bool, return_counts=bool, dim=any?)",),
    "unique_consecutive": ("unique_consecutive(self:tensor, return_inverse=bool, return_counts=bool, dim=any?)",),
    "block_diag": ("block_diag(*tensors:tensors)",),
    "broadcast_tensors": ("broadcast_tensors(*tensors:tensors)",),
    "chain_matmul": ("chain_matmul(*tensors:tensors)",),
    "cartesian_prod": ("cartesian_prod(*tensors:tensors)",),
    "meshgrid": ("meshgrid(*tensors:tensors, indexing=str?)",),
    **{name: (f"{name}(self:tensor, *, memory_format=other)",) for name in _CASTS},
    **{name: (f"{name}(self:tensor)",) for name in ("T", "mT", "H", "mH", "real", "data")},
    "to": ("to(self:tensor, *args:any, device=any?, dtype=dtype?, non_blocking=bool, copy=bool, memory_format=other)",),
    "type": ("type(self:tensor, dtype:any, non_blocking=bool)",),
    "nonzero": ("nonzero(self:tensor, *, as_tuple=false)", "nonzero/tuple(self:tensor, *, as_tuple:true)"),
    "tensor": ("tensor(data:any, *, dtype=dtype?, device=other?, requires_grad=bool, pin_memory=bool)",),
    "as_tensor": ("as_tensor(data:any, dtype=dtype?, device=other?)",),
    "asarray": ("asarray(obj:any, *, dtype=dtype?, device=other?, copy=bool?, requires_grad=bool)",),
    "from_numpy": ("from_numpy(ndarray:any)",),
    "new_tensor": ("new_tensor(self:tensor, data:any, *, dtype=dtype?, device=other?, requires_grad=bool)",),
    "getitem.basic": ("getitem.basic(self:tensor, index:any)",),
    "getitem.index": ("getitem.index(self:tensor, index:any)",),
    "setitem.basic": ("setitem.basic(self:tensor, index:any, value:any)",),
    "setitem.index": ("setitem.index(self:tensor, index:any, value:any)",),
    "pack_padded_sequence": ("pack_padded_sequence(input:tensor, lengths:any, batch_first=bool, enforce_sorted=bool)",),
    "pad_packed_sequence": ("pad_packed_sequence(data:tensor, batch_sizes:tensor)",),
}

CALLS: dict[str, Callable[..., Any]] = {
    "getitem.basic": operator.getitem,
    "getitem.index": operator.getitem,
    "setitem.basic": _set_item,
    "setitem.index": _set_item,
    "pack_padded_sequence": rnn.pack_padded_sequence,
    "pad_packed_sequence": _pad_packed,
    **{name: operator.attrgetter(name) for name in ("T", "mT", "H", "mH", "real", "data")},
}
