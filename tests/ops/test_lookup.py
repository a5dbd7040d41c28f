"""From what users write to what PyTorch does: the properties here were measured, see also tests/oracle."""

from __future__ import annotations

import pytest

from tapelint import ops
from tapelint.ops.layers import bare, is_there


def saves(spelling: str, positional: str, **keywords: str) -> str:
    """What the op behind a spelling saves, in the notation of the table."""
    return notation(found(spelling, positional, **keywords))


def notation(op: ops.Op | None) -> str:
    assert op is not None
    return " ".join(sorted(s.what + ("<" + ",".join(sorted(s.gradient_of)) if s.gradient_of else "") for s in op.saves))


def found(spelling: str, positional: str, **keywords: str) -> ops.Op:
    name = ops.op_name(spelling)
    assert name is not None, spelling
    op = ops.resolve(name, positional.split(), keywords)
    assert op is not None, (name, positional, keywords)
    return op


@pytest.mark.parametrize(
    ("spelling", "positional", "expected"),
    [
        # nothing: such a graph may be walked any number of times
        ("torch.Tensor.__add__", "tensor tensor", ""),
        ("torch.Tensor.__sub__", "tensor number", ""),
        ("torch.Tensor.__rsub__", "tensor int", ""),
        ("torch.Tensor.__neg__", "tensor", ""),
        ("torch.sum", "tensor", ""),
        ("torch.Tensor.mean", "tensor int", ""),
        ("torch.Tensor.view", "tensor int int", ""),
        ("torch.Tensor.reshape", "tensor ints", ""),
        ("torch.Tensor.t", "tensor", ""),
        ("torch.Tensor.permute", "tensor int int int", ""),
        ("torch.Tensor.expand", "tensor int int", ""),
        ("torch.Tensor.repeat", "tensor int int", ""),
        ("torch.cat", "list", ""),
        ("torch.stack", "list int", ""),
        ("torch.split", "tensor int", ""),
        ("torch.Tensor.clone", "tensor", ""),
        ("torch.Tensor.float", "tensor", ""),
        ("torch.tril", "tensor", ""),
        ("torch.cumsum", "tensor int", ""),
        ("torch.flip", "tensor ints", ""),
        ("torch.roll", "tensor int", ""),
        ("torch.nn.functional.pad", "tensor ints", ""),
        ("torch.lerp", "tensor tensor float", ""),
        ("torch.nn.functional.interpolate", "tensor", ""),
        # the result
        ("torch.relu", "tensor", "result"),
        ("torch.nn.functional.relu", "tensor", "result"),
        ("torch.sigmoid", "tensor", "result"),
        ("torch.Tensor.tanh", "tensor", "result"),
        ("torch.exp", "tensor", "result"),
        ("torch.sqrt", "tensor", "result"),
        ("torch.rsqrt", "tensor", "result"),
        ("torch.reciprocal", "tensor", "result"),
        ("torch.softmax", "tensor int", "result"),
        ("torch.nn.functional.log_softmax", "tensor int", "result"),
        ("torch.linalg.inv", "tensor", "result"),
        # the input and the result
        ("torch.norm", "tensor", "result self"),
        ("torch.Tensor.norm", "tensor int", "result self"),
        ("torch.std", "tensor", "result self"),
        ("torch.logsumexp", "tensor int", "result self"),
        ("torch.amax", "tensor", "result self"),
        ("torch.max", "tensor", "result self"),
        ("torch.median", "tensor", "result self"),
        ("torch.cumprod", "tensor int", "result self"),
        ("torch.Tensor.__rpow__", "tensor int", "result self"),
        ("torch.hypot", "tensor tensor", "other<other result self<self"),
        # the input
        ("torch.nn.functional.leaky_relu", "tensor", "input"),
        ("torch.nn.functional.elu", "tensor", "input"),
        ("torch.nn.functional.gelu", "tensor", "self"),
        ("torch.nn.functional.silu", "tensor", "input"),
        ("torch.nn.functional.softplus", "tensor", "self"),
        ("torch.log", "tensor", "self"),
        ("torch.Tensor.abs", "tensor", "self"),
        ("torch.Tensor.__pow__", "tensor int", "self"),
        ("torch.clamp", "tensor number number", "self"),
        ("torch.var", "tensor", "self"),
        ("torch.nn.functional.mse_loss", "tensor tensor", "input target"),
        ("torch.nn.functional.layer_norm", "tensor ints tensor tensor", "bias input weight"),
        ("torch.nn.functional.max_pool2d", "tensor int", "input"),
        # nothing of the tensors, but something: a second backward raises, a write does no harm
        ("torch.Tensor.__mul__", "tensor number", "~"),
        ("torch.Tensor.__truediv__", "tensor int", "~"),
        ("torch.Tensor.__rtruediv__", "tensor int", "~"),
        ("torch.nn.functional.dropout", "tensor", "~"),
        ("torch.Tensor.masked_fill", "tensor tensor number", "mask"),
        ("torch.where", "tensor tensor tensor", "condition"),
        ("torch.max", "tensor int", "result1"),
        ("torch.topk", "tensor int", "result1"),
        ("torch.sort", "tensor", "result1"),
        ("torch.nn.functional.embedding", "tensor tensor", "input"),
        ("torch.nn.functional.l1_loss", "tensor tensor", "~"),
        # for whose gradient
        ("torch.Tensor.__mul__", "tensor tensor", "other<self self<other"),
        ("torch.Tensor.__truediv__", "tensor tensor", "other self<other"),
        ("torch.nn.functional.linear", "tensor tensor tensor", "input<weight weight<input"),
        ("torch.nn.functional.conv2d", "tensor tensor tensor", "input weight"),
        ("torch.matmul", "2d 2d", "other<self self<other"),
        ("torch.matmul", "tensor 2d", "other<self self<other"),
        ("torch.matmul", "2d tensor", "self<other ~"),
        ("torch.matmul", "tensor tensor", "~"),
        ("torch.einsum", "str tensor tensor", "a<b b<a"),
        ("torch.einsum", "str tensor unknown", "a<b b<a"),
        ("torch.matrix_power", "tensor -1", "result"),
        ("torch.matrix_power", "tensor number", ""),
        ("torch.nn.functional.scaled_dot_product_attention", "4d tensor tensor", "key query result value"),
        ("torch.nn.functional.scaled_dot_product_attention", "tensor tensor tensor", "value<key,query ~"),
        ("torch.nn.functional.smooth_l1_loss", "tensor tensor", "input target"),
        ("torch.Tensor.where", "tensor tensor number", "condition"),
        ("torch.Tensor.polygamma", "tensor int", "self"),
        ("torch.mm", "tensor tensor", "mat2<self self<mat2"),
        # in place: the result where it is kept, else a clone that no later write can reach
        ("torch.Tensor.relu_", "tensor", "result"),
        ("torch.Tensor.exp_", "tensor", "result"),
        ("torch.Tensor.sigmoid_", "tensor", "result"),
        ("torch.nn.functional.leaky_relu_", "tensor", "result"),
        ("torch.Tensor.__imul__", "tensor tensor", "other<self ~<other"),
        ("torch.Tensor.__iadd__", "tensor tensor", ""),
        ("torch.Tensor.pow_", "tensor int", "~"),
        ("torch.Tensor.clamp_", "tensor number", "~"),
        ("torch.Tensor.__itruediv__", "tensor tensor", "other ~<other"),
        # as old programs call them
        ("torch.Tensor.add_", "tensor float tensor", ""),
        ("torch.Tensor.addcmul_", "tensor float tensor tensor", "tensor1<tensor2 tensor2<tensor1"),
        ("torch.Tensor.copy_", "tensor 2", ""),
    ],
)
def test_saved_tensors(spelling: str, positional: str, expected: str) -> None:
    assert saves(spelling, positional) == expected


def test_inplace_is_a_row_of_its_own() -> None:
    plain = found("torch.nn.functional.relu", "tensor")
    written = found("torch.nn.functional.relu", "tensor", inplace="true")
    assert (plain.writes, written.writes) == ((), ("input",))
    assert found("torch.nn.functional.silu", "tensor true").saves == (ops.Saved("~"),)


def test_unknown_conditions() -> None:
    """Dropout in training or not: what both have in common, which is a gradient and nothing else."""
    op = found("torch.nn.functional.dropout", "tensor float bool")
    assert (op.flows, op.saves, op.view) == (frozenset({"input"}), (), "maybe")
    assert ops.resolve("nn.functional.relu", ["tensor", "unknown"]) is None


@pytest.mark.parametrize(
    ("spelling", "positional", "expected"),
    [
        ("torch.Tensor.view", "tensor int", "view"),
        ("torch.Tensor.reshape", "tensor int", "maybe"),
        ("torch.Tensor.contiguous", "tensor", "maybe"),
        ("torch.Tensor.to", "tensor dtype", "maybe"),
        ("torch.Tensor.float", "tensor", "maybe"),
        ("torch.Tensor.cuda", "tensor", "maybe"),
        ("torch.Tensor.detach", "tensor", "view"),
        ("torch.split", "tensor int", "multi"),
        ("torch.chunk", "tensor int", "multi"),
        ("torch.unbind", "tensor", "multi"),
        ("torch.tensor_split", "tensor int", "view"),
        ("torch.hsplit", "tensor int", "view"),
        ("torch.Tensor.add_", "tensor tensor", "same"),
        ("torch.Tensor.T", "tensor", "view"),
        ("torch.clone", "tensor", ""),
    ],
)
def test_views(spelling: str, positional: str, expected: str) -> None:
    assert found(spelling, positional).view == expected


def test_subscripts() -> None:
    basic = ops.resolve(ops.subscript_name(write=False, has_tensor_index=False), ["tensor", "int"])
    index = ops.resolve(ops.subscript_name(write=False, has_tensor_index=True), ["tensor", "tensor"])
    part = ops.resolve(ops.subscript_name(write=True, has_tensor_index=False), ["tensor", "int", "tensor"])
    assert basic is not None and index is not None and part is not None
    assert (basic.view, basic.saves) == ("view", ())
    assert (index.view, index.saves) == ("", (ops.Saved("index"),))
    # saves no number, and yet may be walked only once
    assert (part.writes, part.saves) == (("self",), (ops.Saved("~"),))


@pytest.mark.parametrize(
    ("positional", "keywords", "scalar"),
    [
        ("tensor", {}, True),
        ("tensor", {"dtype": "dtype"}, True),
        ("tensor int", {}, False),
        ("tensor", {"axis": "int"}, False),
        ("tensor", {"dim": "ints", "keepdim": "true"}, False),
    ],
)
def test_full_reductions_are_scalars(positional: str, keywords: dict[str, str], scalar: bool) -> None:
    for name in ("torch.sum", "torch.mean"):
        assert found(name, positional, **keywords).scalar is scalar


def test_losses_are_scalars_unless_reduction_is_none() -> None:
    for name in ("cross_entropy", "mse_loss", "nll_loss", "binary_cross_entropy_with_logits", "huber_loss"):
        spelling = f"torch.nn.functional.{name}"
        assert found(spelling, "tensor tensor").scalar
        assert found(spelling, "tensor tensor", reduction="'sum'").scalar
        assert not found(spelling, "tensor tensor", reduction="'none'").scalar
        assert not found(spelling, "tensor tensor", reduction="str").scalar


def test_outputs() -> None:
    pair = found("torch.max", "tensor int")
    assert (pair.outputs, pair.constant) == (2, {1})
    assert found("torch.unbind", "tensor").outputs == -1
    for name in ("torch.argmax", "torch.Tensor.__eq__", "torch.Tensor.__lt__"):
        assert found(name, "tensor tensor" if "__" in name else "tensor").flows == frozenset()


def test_functions_that_create() -> None:
    for name, positional in (("zeros", "int int"), ("randn", "ints"), ("ones_like", "tensor"), ("tensor", "list")):
        op = found(f"torch.{name}", positional, requires_grad="true")
        assert op.flows == frozenset() and op.saves == ()


def test_out_is_written_and_has_no_gradient() -> None:
    op = found("torch.mul", "tensor tensor", out="tensor")
    assert (op.writes, op.flows) == (("out",), frozenset())


@pytest.mark.parametrize(
    ("operator", "reflected", "inplace", "expected"),
    [
        ("Add", False, False, "add"),
        ("Add", True, False, "add"),
        ("Mult", False, True, "mul_"),
        ("Sub", True, False, "__rsub__"),
        ("Pow", True, False, "__rpow__"),
        ("Pow", False, True, "pow_"),
        ("MatMult", False, False, "matmul"),
        ("MatMult", False, True, "matmul"),
        ("USub", False, False, "neg"),
        ("Lt", False, False, "lt"),
        ("In", False, False, None),
    ],
)
def test_operators(operator: str, reflected: bool, inplace: bool, expected: str | None) -> None:
    name = ops.operator_name(operator, reflected=reflected, inplace=inplace)
    assert name == expected
    assert name is None or ops.candidates(name)


@pytest.mark.parametrize("spelling", ["torch.nonsense", "numpy.exp", "torch.nn.functional.nonsense"])
def test_unknown_ops(spelling: str) -> None:
    assert ops.op_name(spelling) is None
    assert ops.candidates("nonsense") == ()
    assert ops.resolve("nonsense", ["tensor"]) is None


def test_arguments_by_parameter() -> None:
    view = ops.candidates("reshape")[0]
    assert ops.bind(view, ["x", 2, 3], {}) == {"self": "x", "shape": (2, 3)}
    add = ops.candidates("add")[0]
    assert ops.bind(add, [], {"input": "x", "other": "y", "alpha": 2}) == {"self": "x", "other": "y", "alpha": 2}
    assert ops.bind(add, ["x", "y", "z"], {}) is None


def layer(name: str) -> ops.Layer:
    found_layer = ops.layer(name)
    assert found_layer is not None
    return found_layer


@pytest.mark.parametrize(
    ("name", "params", "expected"),
    [
        ("Linear", ("weight", "bias?bias"), "input<weight weight<input"),
        ("Conv2d", ("weight", "bias?bias"), "input weight"),
        ("LayerNorm", ("weight?elementwise_affine", "bias?elementwise_affine,bias"), "bias input weight"),
        ("BatchNorm2d", ("weight?affine", "bias?affine,bias"), "input running_mean running_var weight"),
        ("Embedding", ("weight",), "input"),
        ("ReLU", (), "result"),
        ("Sigmoid", (), "result"),
        ("GELU", (), "input"),
        ("Dropout", (), "~"),
        ("MSELoss", (), "input target"),
        ("Identity", (), ""),
        ("Flatten", (), ""),
    ],
)
def test_layers(name: str, params: tuple[str, ...], expected: str) -> None:
    assert layer(name).params == params
    assert notation(layer(name).op) == expected


def test_outputs_of_layers() -> None:
    assert layer("Linear").output == "T"
    assert layer("GRU").output == "(T,T)"
    assert layer("LSTM").output == "(T,(T,T))"
    assert layer("MultiheadAttention").output == "(T,T)"


def test_layers_in_other_modes() -> None:
    dropout = layer("Dropout")
    assert dropout.eval_op is not None and dropout.eval_op.view == "same"
    inplace = layer("ReLU").inplace
    assert inplace is not None and inplace.writes == ("input",)
    assert notation(layer("SiLU").inplace) == "~"
    loss = layer("CrossEntropyLoss")
    assert loss.op.scalar and loss.unreduced is not None and not loss.unreduced.scalar


def test_parameters_there_by_default() -> None:
    assert {"weight_ih_l0", "bias_ih_l0?bias", "weight_ih_l1??"} <= set(layer("LSTM").params)
    assert layer("InstanceNorm2d").params == ("weight??+affine", "bias??+affine,bias")
    assert ops.layer("Sequential") is None


@pytest.mark.parametrize(
    ("entry", "given", "expected"),
    [
        ("weight", {}, True),
        ("weight_ih_l1??", {}, False),
        ("bias?affine,bias", {}, True),
        ("bias?affine,bias", {"bias": False}, False),
        ("bias?affine,bias", {"affine": None}, True),
        ("bias??+affine,bias", {}, False),
        ("bias??+affine,bias", {"affine": True}, True),
        ("bias??+affine,bias", {"affine": True, "bias": False}, False),
    ],
)
def test_conditions_on_constructor_arguments(entry: str, given: dict[str, bool | None], expected: bool) -> None:
    assert is_there(entry, given.get) is expected
    assert bare(entry) == entry.split("?")[0]
