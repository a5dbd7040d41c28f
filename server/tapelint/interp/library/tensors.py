"""Methods and functions of tensors that are no rows of the op table: backward, detach, flags, conversions, creation."""

from __future__ import annotations

import ast
from dataclasses import replace

from ...tape import Cut, Node, Refused, State, Tensor, backward, current, fresh_id, leaf, second_order
from ..attributes import cut, set_requires_grad
from ..machine import Machine, Raised
from ..torch_ops import run, tensor_list, tensor_of
from ..values import FALSE, NONE, TRUE, Const, Ref, TensorRef, Tuple, Unknown, Value
from .registry import TENSOR_METHODS, Call, function, method


def go_backward(
    m: Machine,
    state: State,
    roots: list[int],
    node: ast.AST,
    retain: bool | None,
    create: bool | None,
    inputs: list[int] | None,
    accumulate: bool = True,
) -> list[int]:
    """A backward pass; what PyTorch raises is raised in the program."""
    m.holes.backwards += 1
    if not any(current(state, r).requires_grad for r in roots):
        m.holes.rootless += 1
    try:
        return backward(m.tape, state, roots, node, retain, create, inputs, accumulate)
    except Refused as refused:
        m.holes.raised += 1
        raise Raised("RuntimeError", str(refused), by_torch=True) from None


def retention(call: Call, retain_at: int, create_at: int) -> tuple[bool | None, bool | None]:
    """``retain_graph`` defaults to ``create_graph``."""
    create = call.flag(create_at, "create_graph", False)
    given = call.get(retain_at, "retain_graph", NONE)
    if given == NONE:
        return create, create
    return (bool(given.value) if isinstance(given, Const) else None), create


@method(TENSOR_METHODS, "backward")
def tensor_backward(m: Machine, state: State, receiver: Value, call: Call) -> Value:
    assert isinstance(receiver, TensorRef)
    retain, create = retention(call, 1, 2)
    given = call.get(3, "inputs", NONE)
    inputs = (
        None
        if given == NONE
        else tensor_list(m, state, given) or ([given.id] if isinstance(given, TensorRef) else None)
    )
    go_backward(m, state, [receiver.id], call.node, retain, create, inputs)
    return NONE


@function("torch.autograd.backward")
def autograd_backward(m: Machine, state: State, call: Call) -> Value:
    given = call.get(0, "tensors", NONE)
    roots = [given.id] if isinstance(given, TensorRef) else tensor_list(m, state, given)
    retain, create = retention(call, 2, 3)
    targets = call.get(5, "inputs", NONE)
    inputs = (
        None
        if targets == NONE
        else tensor_list(m, state, targets) or ([targets.id] if isinstance(targets, TensorRef) else None)
    )
    if roots:
        go_backward(m, state, roots, call.node, retain, create, inputs)
    return NONE


@function("torch.autograd.grad")
def autograd_grad(m: Machine, state: State, call: Call) -> Value:
    outputs = call.get(0, "outputs", NONE)
    roots = [outputs.id] if isinstance(outputs, TensorRef) else tensor_list(m, state, outputs)
    wanted = call.get(1, "inputs", NONE)
    inputs = [wanted.id] if isinstance(wanted, TensorRef) else tensor_list(m, state, wanted)
    retain, create = retention(call, 3, 4)
    if not roots or inputs is None:
        return Unknown("grad")
    go_backward(m, state, roots, call.node, retain, create, inputs, accumulate=False)
    results: list[Value] = []
    for key in inputs:
        made = leaf(state, call.node)
        if create:
            made = _graph_of_gradient(m, state, roots, key, call.node)
        elif create is None:
            state.tensors[made] = replace(state.tensors[made], requires_grad=None)
        else:
            m.tape.cuts[made] = Cut(state.moment(call.node), "create_graph")
        results.append(TensorRef(made))
    return Tuple(tuple(results))


def _graph_of_gradient(m: Machine, state: State, roots: list[int], key: int, node: ast.AST) -> int:
    """With ``create_graph`` the gradient depends on what the forward pass had saved; if nothing that needs a gradient
    is known to be, it may depend on nothing.
    """
    edges = second_order(m.tape, state, roots, [key])
    made = fresh_id()
    if not edges:
        state.tensors[made] = Tensor(made, made, made, state.moment(node), None)
        return made
    graph = Node(made, "gradient", edges, state.moment(node), keeps=True, results=(made,), grad_fn="AccumulateGrad")
    state.tensors[made] = Tensor(made, made, made, state.moment(node), True, graph)
    return made


@method(TENSOR_METHODS, "detach")
def detach(m: Machine, state: State, receiver: Value, call: Call) -> Value:
    assert isinstance(receiver, TensorRef)
    return TensorRef(cut(m, state, current(state, receiver.id), call.node, "detach"))


@method(TENSOR_METHODS, "detach_")
def detach_in_place(m: Machine, state: State, receiver: Value, call: Call) -> Value:
    assert isinstance(receiver, TensorRef)
    tensor = current(state, receiver.id)
    if tensor.base is not None and tensor.view == "view" and tensor.requires_grad:
        return receiver
    state.changes += 1
    state.tensors[receiver.id] = replace(tensor, grad_fn=None, requires_grad=False)
    return receiver


@method(TENSOR_METHODS, "requires_grad_")
def requires_grad(m: Machine, state: State, receiver: Value, call: Call) -> Value:
    assert isinstance(receiver, TensorRef)
    set_requires_grad(m, state, current(state, receiver.id), call.get(0, "requires_grad", TRUE), strict=False)
    return receiver


@method(TENSOR_METHODS, "item", "tolist", "numpy", "__float__", "__int__", "__bool__", "__len__")
def plain(m: Machine, state: State, receiver: Value, call: Call) -> Value:
    return Unknown("item", False)


@method(
    TENSOR_METHODS,
    "size",
    "dim",
    "numel",
    "nelement",
    "stride",
    "element_size",
    "get_device",
    "data_ptr",
    "storage_offset",
    "ndimension",
    "type",
)
def measure(m: Machine, state: State, receiver: Value, call: Call) -> Value:
    if call.name == "type" and call.args:
        return conversion(m, state, receiver, call)
    return Unknown("index", False)


@method(TENSOR_METHODS, "retain_grad", "register_hook", "register_post_accumulate_grad_hook", "share_memory_")
def quiet(m: Machine, state: State, receiver: Value, call: Call) -> Value:
    return receiver if call.name == "share_memory_" else Unknown(call.name)


@method(
    TENSOR_METHODS,
    "is_floating_point",
    "is_complex",
    "is_contiguous",
    "is_cuda",
    "is_pinned",
    "equal",
    "allclose",
    "is_inference",
    "is_shared",
)
def question(m: Machine, state: State, receiver: Value, call: Call) -> Value:
    return Unknown(call.name, False)


@method(
    TENSOR_METHODS,
    "to",
    "cuda",
    "cpu",
    "float",
    "double",
    "half",
    "bfloat16",
    "contiguous",
    "type_as",
    "pin_memory",
    "int",
    "long",
    "bool",
    "short",
    "byte",
    "xpu",
)
def conversion(m: Machine, state: State, receiver: Value, call: Call) -> Value:
    """Usually the very same tensor (already there, already of that type); else a copy that depends on it and saves
    nothing.

    Treating it as the same tensor is right for the graph in both cases: a copy's node saves nothing and is never
    refused. For a leaf it is not (the copy is no leaf), so a leaf that may have been copied is known less well.
    """
    assert isinstance(receiver, TensorRef)
    tensor = current(state, receiver.id)
    if call.name in ("int", "long", "bool", "short", "byte"):
        return TensorRef(leaf(state, call.node, False, kind="int"))
    if (
        tensor.requires_grad
        and tensor.grad_fn is None
        and not tensor.parameter
        and call.name in ("cuda", "to", "double", "half")
    ):
        copied = call.name != "to" or call.args or call.kwargs
        if copied:
            made = run(m, state, "clone", [receiver], {}, call.node)
            if isinstance(made, TensorRef):
                return made
    return receiver


@function(
    "torch.tensor",
    "torch.as_tensor",
    "torch.from_numpy",
    "torch.Tensor",
    "torch.FloatTensor",
    "torch.LongTensor",
    "torch.asarray",
)
def make(m: Machine, state: State, call: Call) -> Value:
    """New data. ``as_tensor`` of a tensor is that tensor."""
    source = call.get(0, "data", NONE)
    if call.name in ("torch.as_tensor", "torch.asarray") and isinstance(source, TensorRef):
        return source
    flag = call.kwargs.get("requires_grad")
    wants = False if flag is None else bool(flag.value) if isinstance(flag, Const) else None
    kind = "int" if call.name == "torch.LongTensor" else None
    made = leaf(state, call.node, wants, kind=kind)
    if isinstance(source, TensorRef) and current(state, source.id).requires_grad:
        m.tape.cuts[made] = Cut(state.moment(call.node), "torch.tensor")
    return TensorRef(made)


@function("torch.autograd.Variable", "torch.autograd.variable.Variable", "torch.Variable")
def variable(m: Machine, state: State, call: Call) -> Value:
    """Old code. ``Variable(t)`` is an alias of t without history that shares its version counter, like
    ``t.detach()``.
    """
    source = call.get(0, "data", NONE)
    wants = call.flag(1, "requires_grad", False)
    tensor = tensor_of(m, state, source) if not isinstance(source, (Const, Ref, Tuple)) else None
    if tensor is None:
        return TensorRef(leaf(state, call.node, wants))
    made = cut(m, state, current(state, tensor), call.node, "Variable")
    state.tensors[made] = replace(state.tensors[made], requires_grad=wants)
    return TensorRef(made)


@function("torch.nn.Parameter", "torch.nn.parameter.Parameter", "torch.nn.UninitializedParameter")
def parameter(m: Machine, state: State, call: Call) -> Value:
    source = call.get(0, "data", NONE)
    wants = call.flag(1, "requires_grad", True)
    made = leaf(state, call.node, wants, parameter=True)
    if isinstance(source, TensorRef):
        origin = current(state, source.id)
        state.tensors[made] = replace(state.tensors[made], memory=origin.memory, rank=origin.rank)
    return TensorRef(made)


@function("torch.equal", "torch.allclose")
def equal(m: Machine, state: State, call: Call) -> Value:
    """True where one tensor is an unchanged copy of the other."""
    left, right = call.get(0, "input"), call.get(1, "other")
    if isinstance(left, TensorRef) and isinstance(right, TensorRef):
        pair = [(t, state.version(current(state, t).counter)) for t in (left.id, right.id)]
        if m.tape.same_values(*pair):
            return TRUE
    return Unknown("equal", False)


@function("torch.is_tensor")
def is_tensor(m: Machine, state: State, call: Call) -> Value:
    value = call.get(0, "obj", NONE)
    return TRUE if isinstance(value, TensorRef) else Unknown("is_tensor") if isinstance(value, Unknown) else FALSE


@function(
    "torch.manual_seed",
    "torch.cuda.manual_seed",
    "torch.cuda.manual_seed_all",
    "torch.set_default_dtype",
    "torch.set_printoptions",
    "torch.use_deterministic_algorithms",
    "torch.cuda.empty_cache",
    "torch.cuda.synchronize",
    "torch.set_num_threads",
    "torch.autograd.set_detect_anomaly",
)
def setting(m: Machine, state: State, call: Call) -> Value:
    return Unknown("setting")


@function("torch.device", "torch.Size", "torch.Generator", "torch.cuda.is_available", "torch.cuda.device_count")
def environment(m: Machine, state: State, call: Call) -> Value:
    return m.fact(call.name)


@function("torch.save", "torch.onnx.export")
def save(m: Machine, state: State, call: Call) -> Value:
    return NONE


@function("torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader")
def loader(m: Machine, state: State, call: Call) -> Value:
    return Unknown("loader")


@function("torch.load")
def load(m: Machine, state: State, call: Call) -> Value:
    return Unknown("load")


@function("torch.utils.checkpoint.checkpoint")
def checkpoint(m: Machine, state: State, call: Call) -> Value:
    """Non-reentrant checkpointing computes the same graph and keeps less of it; for lifetime it is a call of the
    function.
    """
    from ..calls import call_value

    known = {
        k: v
        for k, v in call.kwargs.items()
        if k not in ("use_reentrant", "preserve_rng_state", "determinism_check", "debug", "context_fn")
    }
    return (
        call_value(m, state, call.args[0], call.args[1:], known, call.node, call.key)
        if call.args
        else Unknown("checkpoint")
    )
