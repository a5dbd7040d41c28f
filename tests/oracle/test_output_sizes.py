"""Inferred sizes and dtypes of tensors are those that PyTorch gives, or unknown."""

from __future__ import annotations

import ast

import pytest

torch = pytest.importorskip("torch")

from tapelint.analysis import run  # noqa: E402
from tapelint.autograd import Facts, Tensor  # noqa: E402
from tapelint.domain.state import State  # noqa: E402
from tapelint.domain.values import TensorRef  # noqa: E402
from tapelint.source import parse  # noqa: E402

SETTING = """
import torch
from torch import nn
import torch.nn.functional as F
torch.manual_seed(0)
x, y, v, s = torch.rand(4, 3), torch.rand(4, 1), torch.rand(3), torch.tensor(2.0)
img, ids, m = torch.rand(2, 3, 8, 8), torch.randint(0, 4, (4,)), torch.rand(5, 3, 4)
w = torch.nn.Parameter(torch.rand(2, 3))
"""
EXPRESSIONS = """
x + v; x * y; x - 1; 2 / x; x ** 2; 2 ** v; x @ v; x @ w.t(); m @ x; v @ v; x.mm(w.T); torch.bmm(m, m.transpose(1, 2))
x.sum(); x.sum(1); x.sum(dim=0, keepdim=True); x.mean((0, 1)); x.sum(dim=None, keepdim=True); x.norm(); x.norm(dim=1)
x.norm(p=2, dim=-1); x.max(); x.max(dim=1).values; torch.max(x, y); x.min(1)[0]; x.std(0); x.logsumexp(1); x.argmax(1)
x.view(-1); x.view(2, -1); x.view((6, 2)); x.view(12, 1); x.reshape(3, 4); x.reshape(-1, 2); x.flatten(); m.flatten(1)
m.flatten(0, 1); y.squeeze(); y.squeeze(1); y.squeeze(0); x.squeeze(-1); s.unsqueeze(0); x.unsqueeze(1); x.unsqueeze(-1)
m.transpose(0, 2); m.permute(2, 0, 1); x.t(); x.T; m.mT; v.t(); y.expand(4, 3); y.expand(-1, 5); v.expand(2, 3)
x[0]; x[:, 0]; x[1:]; x[:, :2]; x[..., 0]; x[None]; x[:, None, :]; x[::2]; x[-1, -1]; x[ids]; x[x > 0.5]; m[0, 1:, ...]
torch.cat([x, x]); torch.cat([x, y], dim=1); torch.stack([v, v]); torch.stack([x, x], dim=1); torch.cat((x, x), -1)
x.exp(); x.softmax(1); F.softmax(x, dim=1); F.normalize(x); F.relu(x); torch.where(x > 0, x, y); x.clamp(min=0)
torch.where(x > 0, x, s); torch.maximum(v, y); torch.zeros(3); torch.zeros(2, 3); torch.ones((2, 1))
torch.full((3,), 2.0); torch.arange(5); torch.arange(1, 5); torch.linspace(0, 1, 7); torch.eye(3); torch.eye(2, 3)
torch.randn(x.shape); torch.randn(x.size(0), 3); torch.randint(0, 9, (2, 2)); torch.tensor([[1.0, 2.0]]);
torch.tensor([v.sum(), v.sum()]); torch.tensor(3.0); torch.zeros_like(x); torch.rand(()); torch.empty(0)
nn.Linear(3, 1)(x); nn.Linear(3, 5)(m.transpose(1, 2)); nn.Linear(3, 1)(v); F.linear(x, w); nn.Conv2d(3, 4, 3)(img)
nn.Conv2d(3, 1, 8)(img); nn.ConvTranspose2d(3, 2, 2)(img); nn.Conv2d(3, 4, 3)(img[0]); nn.Embedding(9, 5)(ids)
nn.Flatten()(img); nn.BatchNorm2d(3)(img); nn.LayerNorm(3)(x); nn.Sequential(nn.Linear(3, 2), nn.ReLU())(x)
F.mse_loss(x, x); F.mse_loss(x, x, reduction="none")
nn.MSELoss(reduction="none")(x, x); nn.MSELoss(reduction="sum")(x, x)
F.cross_entropy(torch.rand(4, 4), ids); F.cross_entropy(torch.rand(4, 4), ids, reduction="none")
nn.CrossEntropyLoss(reduce=False)(torch.rand(4, 4), ids); F.nll_loss(torch.rand(4, 4), ids, reduction="none")
F.cross_entropy(torch.rand(2, 4, 8, 8), torch.randint(0, 4, (2, 8, 8)), reduction="none")
F.binary_cross_entropy(x, x, reduction="none"); F.l1_loss(x, x, reduction="none"); F.smooth_l1_loss(x, x)
x.detach(); x.clone(); x.data; w.grad; x.unbind()[0]; [row for row in x][0]; x.cumsum(0); x.prod(0); x.any(); x.all(1)
x.chunk(2)[0]; x.split(2)[0]; x.repeat(2, 1); x.gather(1, x.argmax(1, keepdim=True)); x.diag(); torch.outer(v, v)
ids + 1; ids * 2.0; ids / 2; ids.sum(); ids > 1; (ids > 1).sum(); -ids; ids.float(); x.long(); x.bool(); ids // 2; x > 0
ids ** 2; 2 * ids; 1 - ids; 1.5 - ids; x.sort()[1]; x.topk(2)[1]; x.max(1)[1]; ids.double(); ids.to(torch.float16)
x.to(torch.int32); torch.where(x > 0, 1, 0); torch.where(x > 0, 1.0, 0.0); ids.view(2, 2); ids[0]; ids[ids > 1]
torch.cat([ids, ids]); torch.stack([ids, ids]); ids.clamp(0, 2); ids.max(); x.round(); x.floor(); ids.new_zeros(2)
torch.zeros_like(ids); torch.ones_like(x); torch.rand_like(x); ids.type_as(x); ids.to(x)
x.to(ids); x.type_as(ids); x.type(torch.LongTensor); ids.abs()
nn.Conv2d(3, 4, 3).bias; nn.Conv1d(3, 4, 3).weight; nn.ConvTranspose2d(3, 2, 2).weight; nn.BatchNorm2d(3).weight
nn.ConvTranspose3d(3, 2, 2).bias; nn.InstanceNorm1d(3, affine=True).bias; nn.GroupNorm(1, 3).weight; nn.PReLU().weight
nn.LayerNorm(3).weight; nn.LayerNorm((4, 3)).bias; nn.LSTM(3, 4, 2).weight_ih_l1; nn.GRUCell(3, 4).weight_hh
nn.LSTM(3, 4, proj_size=2).weight_hr_l0; nn.RNNCell(3, 4).bias_ih; nn.EmbeddingBag(9, 5).weight; nn.Linear(3, 2).bias
nn.MultiheadAttention(4, 2).in_proj_weight; nn.MultiheadAttention(4, 2).out_proj.bias; nn.LSTM(3, 4).bias_hh_l0
nn.MultiheadAttention(4, 2, kdim=3).k_proj_weight; nn.MultiheadAttention(4, 2, add_bias_kv=True).bias_k
F.max_pool2d(img, 2); F.adaptive_avg_pool2d(img[0], 1); F.avg_pool1d(m, 2); torch.max_pool2d(img, 2)
nn.ZeroPad2d(1)(img)
nn.MaxPool2d(2)(img); nn.MaxPool2d(2, return_indices=True)(img)[1]; nn.AvgPool2d(3)(img[0])
nn.AdaptiveAvgPool2d(1)(img); nn.AdaptiveMaxPool1d(2)(m)
nn.Flatten()(nn.AdaptiveAvgPool2d(1)(img)); nn.Flatten(0)(img); nn.Flatten(2)(img)
nn.Flatten(1, 2)(img); nn.Flatten(start_dim=0, end_dim=1)(img); nn.Flatten()(x); nn.ReflectionPad2d(1)(img)
nn.LSTM(4, 6)(m)[0]; nn.LSTM(4, 6)(m)[1][0]; nn.LSTM(4, 6, 2)(m[0])[1][1]; nn.LSTM(4, 6, bidirectional=True)(m)[1][0]
nn.GRU(4, 6)(m)[1]; nn.GRU(4, 6, batch_first=True)(m)[0]; nn.RNN(4, 6, 2)(m[0])[0]; nn.GRUCell(3, 5)(x)
nn.LSTMCell(3, 5)(v)[1]
nn.MultiheadAttention(4, 2)(m, m, m)[0]; nn.MultiheadAttention(4, 2)(m, m, m)[1]; nn.Upsample(scale_factor=2)(img)
nn.MultiheadAttention(4, 2)(m, m, m, average_attn_weights=False)[1]; nn.TransformerEncoderLayer(4, 2)(m)
nn.MSELoss(reduction="none")(x, v); nn.L1Loss(reduction="none")(v, x); nn.BCELoss(reduction="none")(x, x)
nn.KLDivLoss(reduction="none")(x, x); nn.HuberLoss(reduction="none")(y, x); nn.PixelShuffle(1)(img); nn.GLU(0)(x)
nn.Dropout(0.5)(x); nn.Identity()(img); nn.GroupNorm(1, 3)(img); nn.Softmax(1)(x); nn.Bilinear(3, 3, 2)(x, x)
nn.EmbeddingBag(9, 5)(ids.view(2, 2)); nn.CosineSimilarity()(x, x); nn.PairwiseDistance()(x, x)
nn.Unflatten(1, (3, 1))(x)
torch.dot(v, v); v.dot(v); F.one_hot(ids, 4); x.type_as(v); x.float(); x.to(torch.float64); x.masked_fill(x > 0, 0)
torch.hstack([x, x]); torch.hstack([v, v]); torch.vstack([v, v]); torch.dstack([v, v]); torch.column_stack([v, v])
torch.stack([x, x], 2); torch.stack([x, x], -1); torch.stack([v, v], dim=1); x.expand(2, 4, 3); x.tile(2)
x.repeat_interleave(2, 0); x.roll(1, 0); x.flip(0); x.rot90(); x.movedim(0, 1); x.swapdims(0, 1); x.unfold(0, 2, 1)
x.narrow(0, 0, 2); x.select(0, 1); x.index_select(0, ids); torch.gather(x, 0, ids.view(1, 4)[:, :3]); x.take(ids)
x.masked_select(x > 0.5); x.nonzero(); torch.einsum("ij,kj->ik", x, x); torch.tensordot(x, x, dims=([0], [0]))
torch.kron(v, v); torch.cross(v, v, dim=0); torch.outer(v, v); x.cumsum(1); x.cumprod(0); x.cummax(0)[0]; x.diff()
x.diff(dim=0); x.kthvalue(1)[0]; x.topk(2, dim=0)[0]; x.sort(0)[0]; x.median(); x.median(0)[0]; x.mode()[0]
x.var(dim=(0, 1)); x.var(); x.std(1, keepdim=True); x.std(True); torch.var_mean(x, 0)[0]; x.amax(); x.amax(0)
x.amin((0, 1)); x.aminmax()[0]; x.any(0, keepdim=True); x.norm(2, 0); x.norm("fro"); torch.linalg.norm(x)
torch.linalg.norm(x, dim=1); torch.linalg.vector_norm(x, dim=0); x.logsumexp((0, 1)); x.argmax()
x.argmax(0, keepdim=True); x.argsort(0); torch.normal(0.0, 1.0, (2, 3)); torch.normal(x, 1.0); torch.full_like(x, 2)
torch.arange(0, 6, 2); torch.arange(5.0); torch.logspace(0, 1, 4); torch.randperm(5); torch.zeros(x.shape[1])
torch.zeros([2, 3]); torch.zeros(2, x.size(1)); torch.ones(()); torch.empty(x.size()); torch.randn(*x.shape, 2)
torch.rand(size=(2, 3)); torch.zeros(size=(2,)); torch.full((2, 3), 1); torch.full([2], 1.0); torch.tensor([])
torch.tensor([1, 2]); torch.tensor([[1], [2]]); torch.as_tensor([1.0]); torch.Tensor(2, 3); torch.Tensor([1, 2])
torch.FloatTensor(2); x.new_zeros(2, 3); x.new_ones((2,)); x.new_full((3, 1), 0.0); x.new_tensor([1.0, 2.0])
x.new_empty(2); torch.empty_like(x); torch.broadcast_to(v, (4, 3)); torch.broadcast_tensors(x, v)[1]; v.expand_as(x)
x.view_as(x); x.view(-1, 3, 1); x.reshape(-1); x.unflatten(0, (2, 2)); x.ravel(); x.reshape_as(x); F.pad(x, (1, 1))
F.pad(img, (1, 1, 1, 1), mode="reflect"); F.pad(m, (1, 1), mode="circular"); F.pad(m, (1, 1), "replicate")
F.pad(x, (1, 2, 3, 4)); F.pad(x, (0, -1)); F.interpolate(img, scale_factor=2); F.interpolate(img, size=(4, 4))
F.unfold(img, 3); F.pixel_shuffle(torch.rand(1, 4, 2, 2), 2); F.grid_sample(img, torch.rand(2, 5, 6, 2))
F.affine_grid(torch.rand(2, 2, 3), (2, 3, 8, 8)); F.max_pool2d(img, 2, return_indices=True)[0]; F.max_pool1d(m, 2)
F.max_pool3d(torch.rand(1, 2, 4, 4, 4), 2); F.avg_pool2d(img, 2); F.lp_pool2d(img, 2, 2)
F.adaptive_max_pool2d(img, 2); F.adaptive_max_pool2d(img, 2, return_indices=True)[1]; torch.max_pool1d(m, 2)
torch.avg_pool1d(m, 2); torch.adaptive_avg_pool1d(m, 2); torch.max_pool3d(torch.rand(1, 2, 4, 4, 4), 2)
F.fractional_max_pool2d(img, 2, output_size=3); F.conv1d(m, torch.rand(2, 3, 2))
F.conv2d(img, torch.rand(2, 3, 3, 3)); F.conv_transpose2d(img, torch.rand(3, 2, 2, 2))
F.conv3d(torch.rand(1, 2, 4, 4, 4), torch.rand(3, 2, 2, 2, 2)); F.conv_transpose1d(m, torch.rand(3, 2, 2))
F.embedding(ids, torch.rand(9, 5)); F.bilinear(x, x, torch.rand(2, 3, 3)); F.cosine_similarity(x, x)
F.pairwise_distance(x, x); torch.cdist(x, x); F.pdist(x); F.gumbel_softmax(x); F.glu(torch.rand(4, 6))
F.layer_norm(x, (3,)); F.group_norm(img, 3); F.scaled_dot_product_attention(m, m, m); F.one_hot(ids); F.l1_loss(x, x)
F.huber_loss(x, x, reduction="none"); F.kl_div(x, x, reduction="batchmean"); F.kl_div(x, x, reduction="none")
F.binary_cross_entropy_with_logits(x, x); F.binary_cross_entropy_with_logits(x, x, reduction="none")
F.gaussian_nll_loss(x, x, x.exp(), reduction="none"); F.poisson_nll_loss(x, x, reduction="none")
F.soft_margin_loss(x, x, reduction="none"); F.margin_ranking_loss(v, v, v, reduction="none")
F.triplet_margin_loss(x, x, x, reduction="none"); F.cosine_embedding_loss(x, x, torch.ones(4), reduction="none")
F.hinge_embedding_loss(x, x, reduction="none"); F.multi_margin_loss(x, torch.tensor([0, 1, 2, 0]), reduction="none")
F.multilabel_soft_margin_loss(x, x, reduction="none"); F.smooth_l1_loss(x, x, reduction="sum")
F.mse_loss(x, v, reduction="none")

F.cross_entropy(torch.rand(4), torch.tensor(1)); F.cross_entropy(torch.rand(4), torch.tensor(1), reduction="none")
F.cross_entropy(torch.rand(4, 4), torch.rand(4, 4), reduction="none")
F.nll_loss(torch.rand(2, 4, 3), torch.ones(2, 3, dtype=torch.long), reduction="none")
F.cross_entropy(torch.rand(4, 4), ids, reduction="sum"); nn.NLLLoss(reduction="none")(torch.rand(4, 4), ids)
nn.GaussianNLLLoss(reduction="none")(x, x, x.exp()); nn.TripletMarginLoss(reduction="none")(x, x, x)
nn.CosineEmbeddingLoss(reduction="none")(x, x, torch.ones(4))
nn.MultiMarginLoss(reduction="none")(x, torch.tensor([0, 1, 2, 0])); nn.PoissonNLLLoss(reduction="none")(x, x)
torch.cat([m, m], dim=-1); torch.cat([torch.empty(0), v]); torch.concat([x, x], axis=1); torch.chunk(x, 2, 1)[0]
x.split([1, 3])[1]; torch.tensor_split(x, 2, dim=0)[0]; torch.unbind(m, 1)[0]; torch.meshgrid(v, v)[0]
torch.cartesian_prod(v, v); torch.combinations(v); torch.block_diag(x, x); torch.squeeze(y); torch.squeeze(y, -1)
torch.unsqueeze(x, -2); torch.flatten(img, 1); torch.flatten(img, start_dim=2); torch.transpose(m, 1, 2)
torch.permute(m, (2, 1, 0)); torch.t(x); torch.diagonal(x); torch.diag(v); torch.diag_embed(v); torch.triu(x)
torch.trace(x); torch.det(torch.eye(3)); torch.inverse(torch.eye(3)); torch.linalg.inv(torch.eye(3))
torch.linalg.solve(torch.eye(3), v); torch.svd(x)[1]; torch.linalg.eigh(torch.eye(3))[0]; torch.linalg.qr(x)[0]
torch.cholesky_solve(y[:3], torch.eye(3)); torch.matrix_exp(torch.eye(3))
torch.baddbmm(torch.zeros(5, 3, 3), m, m.transpose(1, 2)); torch.addmm(torch.zeros(4, 4), x, x.t())
torch.addmv(torch.zeros(4), x, v); torch.addr(torch.zeros(3, 3), v, v); torch.mv(x, v)
torch.matmul(m, torch.rand(4, 2)); torch.matmul(v, x.t()); torch.matmul(torch.rand(4), m.transpose(1, 2))
torch.chain_matmul(x, x.t()); torch.linalg.multi_dot([x, x.t()]); torch.inner(x, v); torch.vdot(v, v)
torch.where(x > 0)[0]; torch.where(x > 0, v, 0.0); torch.clamp(x, min=v); torch.lerp(x, v, 0.5)
torch.addcmul(x, v, v); torch.hypot(x, y); torch.atan2(v, y); torch.logaddexp(x, y); torch.fmod(x, 2)
torch.remainder(v, y); torch.bucketize(x, v.sort()[0]); torch.searchsorted(v.sort()[0], x); torch.histc(x)
torch.bincount(ids); torch.unique(ids); torch.isin(x, v); torch.isclose(x, v); torch.polygamma(1, x)
torch.view_as_real(torch.fft.fft(x)); torch.real(torch.fft.fft(x)); torch.abs(torch.fft.fft(x))
torch.angle(x); x.index_add(0, ids, torch.rand(4, 3))
x.scatter(0, ids.view(4, 1) % 4, 1.0); torch.zeros(4, 5).scatter_(1, ids.view(4, 1), 1.0)
x.scatter_add(0, (ids % 4).view(4, 1).expand(4, 3), x); x.index_fill(0, ids, 0.0); x.masked_scatter(x > 0, x)
x.index_put((ids,), v); x.put(ids, torch.rand(4)); torch.take_along_dim(x, x.argmax(1, keepdim=True), 1); x[:, [0, 1]]
x[[0, 1]]; x[ids, 0]; m[:, 0]; m[:, :, None]; x[x[:, 0] > 0]; m[..., -1]; m[0, ..., 0]; x[1:3, 1:]; x[-2:]; x[:-1]
x[[0, 1], [1, 2]]; x[:, None]; x[True]; x[ids > 1, 0]; m[ids[:2]]; x[torch.tensor(0)]; x[(0, 1)]
nn.Conv1d(3, 7, 2)(m); nn.Conv3d(2, 3, 2)(torch.rand(1, 2, 4, 4, 4)); nn.ConvTranspose1d(3, 2, 2)(m)
nn.MaxPool1d(2)(m); nn.AdaptiveAvgPool1d(1)(m); nn.ConstantPad1d(1, 0.0)(m); nn.ReplicationPad2d(1)(img)
nn.CircularPad2d(1)(img); nn.UpsamplingNearest2d(scale_factor=2)(img); nn.PixelUnshuffle(2)(img); nn.Unfold(3)(img)
nn.Fold((4, 4), 1)(torch.rand(1, 2, 16)); nn.InstanceNorm2d(3)(img); nn.LocalResponseNorm(2)(img)
nn.ChannelShuffle(3)(img); nn.Embedding(9, 5)(ids.view(2, 2)); nn.EmbeddingBag(9, 5)(ids, torch.tensor([0, 2]))
nn.RNNCell(3, 5)(x); nn.LSTMCell(3, 5)(x)[0]; nn.LSTM(4, 6, batch_first=True, bidirectional=True)(m)[0]
nn.GRU(4, 6, 2, bidirectional=True)(m)[1]; nn.LSTM(4, 6, proj_size=2)(m)[0]; nn.LSTM(4, 6, proj_size=2)(m)[1][0]
nn.LSTM(4, 6, proj_size=2)(m)[1][1]; nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2), 2)(m)
nn.Transformer(4, 2)(m, m); nn.TransformerDecoderLayer(4, 2)(m, m); nn.Softmax2d()(img); nn.LogSoftmax(1)(x)
nn.CrossEntropyLoss()(torch.rand(4, 4), ids); nn.AdaptiveLogSoftmaxWithLoss(3, 4, [2])(x, ids)[0]
x.index_select(1, ids[:1]); v.index_select(0, ids[0]); torch.index_select(m, 2, ids[:2]); torch.linalg.qr(x)[0]
torch.linalg.qr(x.T)[0]; torch.qr(x.T)[1]; torch.svd(x)[2]; torch.svd(x.T)[0]; torch.pinverse(x); torch.linalg.pinv(x)
"""

KNOWN = """
nn.MaxPool2d(2)(img); nn.AvgPool2d(3)(img[0]); nn.AdaptiveAvgPool2d(1)(img); nn.Flatten()(nn.MaxPool2d(2)(img))
nn.Flatten(0)(img)
nn.LSTM(4, 6)(m)[0]; nn.LSTM(4, 6)(m)[1][0]; nn.GRU(4, 6)(m)[1]; nn.GRUCell(3, 5)(x)
nn.MultiheadAttention(4, 2)(m, m, m)[0]
nn.Upsample(scale_factor=2)(img); nn.TransformerEncoderLayer(4, 2)(m); nn.ReflectionPad2d(1)(img); nn.Dropout(0.5)(x)
torch.hstack([x, x]); torch.hstack([v, v]); x.movedim(0, 1); torch.stack([x, x], 2); torch.Tensor(2, 3)
torch.FloatTensor(2)
"""


def claimed(text: str) -> list[Tensor]:
    """What the engine knows of the tensor that an expression computes."""
    found: list[Tensor] = []

    def probe(node: ast.AST, state: State, value: object) -> None:
        if isinstance(node, ast.Name) and node.id == "result" and isinstance(value, TensorRef):
            found.append(state.tensors[value.id])

    run(parse(f"{SETTING}result = {text}\n", "sizes.py"), Facts(), probe=probe)
    return found


def each(expressions: str) -> list[str]:
    return [e.strip() for line in expressions.splitlines() for e in line.split(";") if e.strip()]


@pytest.mark.parametrize("text", each(KNOWN))
def test_how_many_dimensions_a_layer_returns_is_known(text: str) -> None:
    assert [isinstance(record.sizes, tuple) for record in claimed(text)] == [True]


@pytest.mark.parametrize("text", each(EXPRESSIONS))
def test_claimed_sizes_are_the_sizes(text: str) -> None:
    program = f"{SETTING}result = {text}\n"
    space: dict[str, object] = {}
    exec(program, space)
    truth = space["result"]
    for record in claimed(text):
        sizes = record.sizes
        if record.kind not in (None, "other"):
            real = "float" if truth.is_floating_point() else "bool" if truth.dtype == torch.bool else "int"
            assert record.kind == real, (record.kind, truth.dtype)
        if isinstance(sizes, tuple):
            assert len(sizes) == truth.dim(), (sizes, truth.shape)
            assert all(c in (None, t) for c, t in zip(sizes, truth.shape)), (sizes, truth.shape)
        elif sizes is not None:
            assert truth.numel() != 1, (sizes, truth.shape)
