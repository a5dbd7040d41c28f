"""The layers of ``torch.nn``, by their rows in ``ops/layers.txt``: making one, running its forward.

An unknown module is one with a single parameter that stands for all of its parameters; so is a layer with more than
its row names (``*``). No attribute of these names is in the way of a method.

nn.Linear(3, 2, params_dtype=dtype)     TypeError: unexpected keyword argument
nn.Conv2d(c / 2, c, 3)                  TypeError: sizes of tensors are ints
nn.Linear(3, 4)                         weight (4, 3), bias (4,)
nn.Conv2d(3, n, 3)                      weight (?, ?, ?, ?): four dimensions, which is what `p.ndim < 2` asks for
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from .... import ops
from ....autograd import Extent, TorchRaises, leaf, record
from ....autograd.model.recording import Arg, flatten
from ....because import NOTHING, Because, option
from ....domain import facets
from ....domain.completion import ProgramRaised
from ....domain.mro import is_module
from ....domain.opaque_values import as_data
from ....domain.state import State
from ....domain.traversal import tensors_in
from ....domain.values import (
    FALSE,
    NONE,
    TRUE,
    Const,
    External,
    HeapRef,
    Instance,
    Mapping,
    Sequence,
    SequenceKind,
    TensorRef,
    Tuple,
    Unknown,
    Value,
)
from ....engine.machine import Machine
from ....ops.layers import LAZY, bare, base_of, is_there, switches
from ....ops.module_names import is_ownless
from ....ops.schema import Layer
from .. import dispatch, dtypes
from ..composites import shorten_rows
from ..kept_aliases import measured
from ..refined_rows import REFINEMENTS
from ..registry import Call
from ..tensor_shapes import results_extents
from .module_registry import Guess, note, parameters_of
from .new_parameters import registered
from .packed_sequences import is_packed, repacked

CONTAINERS: dict[str, SequenceKind] = {
    "torch.nn.ModuleList": "ModuleList",
    "torch.nn.ParameterList": "ModuleList",
    "torch.nn.Sequential": "Sequential",
}
DICTS = ("torch.nn.ModuleDict", "torch.nn.ParameterDict")
PARALLEL = ("torch.nn.DataParallel", "torch.nn.parallel.DataParallel", "torch.nn.parallel.DistributedDataParallel")
"""Classes whose objects call the module that they are given: the base of a class of the program."""
PASSED_ON: dict[str, dict[str, Value]] = {
    "Flatten": {"start_dim": Const(1), "end_dim": Const(-1)},
    "Unflatten": {"dim": NONE, "unflattened_size": NONE},
}
"""The arguments of a layer's constructor that say what sizes it returns, with their defaults."""
REGISTERED = ("ModuleList", "Sequential", "ModuleDict")
"""The kinds of containers that are Modules."""


def new_layer(
    machine: Machine, state: State, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST
) -> Value:
    """``nn.Linear(3, 4)``: an object with its parameters."""
    if name in CONTAINERS:
        items, more = list(args), False
        names: tuple[str, ...] = ()
        if CONTAINERS[name] == "ModuleList":
            found = machine.iterate(state, args[0], node) if args else None
            items, more = (found.values, not found.exact) if found else ([], False)
            items = registered(machine, state, items, node)
        elif len(args) == 1 and isinstance(args[0], HeapRef) and isinstance(thing := state.heap[args[0].id], Mapping):
            items, more = list(thing.items.values()), thing.is_partial
            names = tuple(map(str, thing.items))
        return HeapRef(state.new(Sequence(CONTAINERS[name], items, more, names=names)))
    if name in DICTS:
        source = state.heap[args[0].id] if args and isinstance(args[0], HeapRef) else None
        known = source if isinstance(source, Mapping) else Mapping({}, bool(args))
        held = dict(zip(known.items, registered(machine, state, known.items.values(), node)))
        return HeapRef(state.new(Mapping(held, known.is_partial, "ModuleDict")))
    made = HeapRef(state.new(Instance(External(name), {})))
    machine.created_by[made.id] = node
    build_layer(machine, state, made, name, args, kwargs, node)
    return made


def build_layer(
    machine: Machine,
    state: State,
    receiver: Value,
    name: str,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
) -> None:
    """Give ``receiver`` what ``__init__`` of the library class ``name`` gives it."""
    if not isinstance(receiver, HeapRef) or not isinstance(state.heap[receiver.id], Instance):
        return
    thing = state.edit(receiver.id, Instance)
    thing.attributes.setdefault("training", TRUE)
    if name in CONTAINERS or name in DICTS:
        thing.attributes[facets.CONTAINER] = new_layer(machine, state, name, args, kwargs, node)
        return
    if name in PARALLEL and (args or "module" in kwargs):
        thing.attributes["module"] = args[0] if args else kwargs["module"]
        return
    row = ops.layer(name.rpartition(".")[2]) if name.startswith("torch.nn.") else None
    if row is None:
        _build_unknown(machine, state, thing, name, [*args, *kwargs.values()], node)
        return
    given = {**dict(zip(row.arguments, args)), **kwargs}
    refuse_arguments(row, kwargs, given)
    _add_tensors(machine, state, thing, row, given, node)
    thing.attributes.update(_settings(row, given))


def _build_unknown(
    machine: Machine, state: State, thing: Instance, name: str, given: list[Value], node: ast.AST
) -> None:
    """A layer without a row: the modules it was given, and one parameter that stands for those it may have."""
    for index, module in enumerate(modules_in(state, given)):
        thing.attributes[f"(given {index})"] = module
    if not is_ownless(name):
        add_unseen_parameters(machine, state, thing, name.rpartition(".")[2], node)


def add_unseen_parameters(machine: Machine, state: State, thing: Instance, name: str, node: ast.AST) -> None:
    """One parameter that stands for those which a module may have."""
    made = leaf(state, node, True, parameter=True, assumption=name, stands_for_module=True)
    machine.facts.name(made, f"the parameters of {name}")
    thing.attributes[facets.UNSEEN_PARAMETERS] = TensorRef(made)


def _add_tensors(
    machine: Machine, state: State, thing: Instance, row: ops.Layer, given: dict[str, Value], node: ast.AST
) -> None:
    """The parameters and buffers that a layer's row lists, as far as its constructor was asked for them."""
    asked = partial(_flag, given)
    for parameter in row.params:
        if is_there(parameter, asked):
            base = facets.ALL_PARAMETERS if parameter == "*" else bare(parameter)
            made = leaf(state, node, True, parameter=True, sizes=parameter_sizes(row.name, base, given))
            thing.attributes[base] = TensorRef(made)
            if "dtype" not in given:
                machine.facts.contents.float32.add(made)
            if not _is_decided(parameter, given):
                machine.facts.contents.optional.add(made)
        elif _is_none(row, parameter, given):
            thing.attributes[bare(parameter)] = NONE
    for buffer in row.buffers:
        base = bare(buffer)
        if isinstance(given.get(base), TensorRef):
            thing.attributes[base] = given[base]
        elif is_there(buffer, asked):
            thing.attributes[base] = TensorRef(leaf(state, node, False))
        elif _is_none(row, buffer, given):
            thing.attributes[base] = NONE
        note(thing, facets.BUFFER_NAMES, base)


def _is_none(row: ops.Layer, entry: str, given: dict[str, Value]) -> bool:
    """Whether a parameter or buffer that is not there is registered as None, which ``if layer.bias is not None`` asks
    for. Recurrent layers have no such attribute then (torch/nn/modules/rnn.py).
    """
    return base_of(row.name) != "RNNBase" and _is_decided(entry, given)


def _is_decided(entry: str, given: dict[str, Value]) -> bool:
    """Whether it is known if a layer has a parameter or buffer."""
    return all(isinstance(given.get(name, NONE), Const) for name in switches(entry) or [bare(entry)])


def _settings(row: ops.Layer, given: dict[str, Value]) -> dict[str, Value]:
    """The arguments of a layer's constructor that decide what its forward does: it keeps them as attributes."""
    kept = {name: given[name] for name in PASSED_ON.get(row.name, ()) if name in given}
    if row.eval_op is not None and "p" in given:
        kept["p"] = given["p"]
    if "inplace" in given:
        kept["inplace"] = given["inplace"]
    if row.unreduced is not None and ("reduction" in given or given.get("reduce") == FALSE):
        kept["reduction"] = given["reduction"] if "reduction" in given else Const("none")
    if row.bidirectional is not None:
        kept["bidirectional"] = given.get("bidirectional", FALSE)
    if "max_norm" in row.arguments:
        kept["max_norm"] = given.get("max_norm", NONE)
    if "output_size" in given:
        kept["output_size"] = given["output_size"]
    if "return_indices" in given:
        kept["return_indices"] = given["return_indices"]
    return kept


def modules_in(state: State, values: list[Value], depth: int = 3) -> Iterator[Value]:
    """The modules among some values, and in what they contain."""
    for value in values:
        thing = state.heap[value.id] if isinstance(value, HeapRef) else value
        if isinstance(thing, Instance):
            if is_module(state, thing.kind):
                yield value
        elif isinstance(thing, (Sequence, Mapping)) and thing.kind in REGISTERED:
            yield value
        elif depth and isinstance(thing, (Tuple, Sequence)):
            yield from modules_in(state, list(thing.items), depth - 1)
        elif depth and isinstance(thing, Mapping):
            yield from modules_in(state, list(thing.items.values()), depth - 1)


def opaque_module(machine: Machine, state: State, name: str, node: ast.AST, guess: Guess | None = None) -> HeapRef:
    """An unknown network: one parameter stands for all. That it is one may be a ``guess``."""
    thing = Instance(External("torch.nn.Module"), {}, True)
    add_unseen_parameters(machine, state, thing, name, node)
    thing.attributes["training"] = Unknown("training", False)
    if guess is not None:
        thing.attributes[facets.ASSUMED_NETWORK] = Const(guess)
    return HeapRef(state.new(thing))


def guessed_network(machine: Machine, state: State, name: str, node: ast.AST, guess: Guess | None = None) -> HeapRef:
    """The same where no code and no annotation says that it is one, but what is done with it: by a ``guess``, that it
    is called; otherwise it is asked for what networks have, or has an optimizer of its own.
    """
    network = opaque_module(machine, state, name, node, guess)
    for _, key in parameters_of(state, network):
        state.tensors[key] = replace(state.tensors[key], is_guessed=True)
        if guess in (None, Guess.PAIRED):
            machine.facts.networks.proven_networks.add(key)
    return network


def inputs_of(machine: Machine, state: State, call: Call) -> list[int]:
    values = [as_data(state, value) for value in (*call.args, *call.kwargs.values())]
    found = [t for value in values for t in tensors_in(state, value)]
    unknown = [value for value in values if isinstance(value, Unknown)]
    return found + [t for value in unknown if (t := dispatch.tensor_of(machine, state, value)) is not None]


@dataclass(slots=True)
class Operands:
    """What the op of a layer is given, by parameter: tensors and values, and the sequence that came packed."""

    tensors: dict[str, Arg | None]
    values: dict[str, Value]
    packed: Tuple | None


def run_layer(machine: Machine, state: State, row: ops.Layer, thing: Instance, call: Call) -> Value:
    """One of PyTorch's layers, by its row."""
    settings = thing.attributes
    idle = _is_idle(row, settings)
    if row.inplace is not None and not idle and settings.get("inplace", FALSE) not in (TRUE, FALSE):
        return dispatch.opaque(machine, state, inputs_of(machine, state, call), call.node, row.name)
    if row.indices is not None and settings.get("return_indices", FALSE) not in (TRUE, FALSE):
        return Unknown(row.name)
    op = _chosen_op(row, settings, idle)
    if op.name in REFINEMENTS:
        op = REFINEMENTS[op.name](machine.facts, state, op, settings)
    output = "(T,T)" if op is row.indices else row.output
    shorten_rows(state, settings.get("weight", NONE), settings.get("max_norm", NONE), call.node)
    measured(machine, state, op.name, call.args, call.node)
    operands = _operands(machine, state, row, op, thing, call)
    dispatch.note_taken(machine, op, operands.values, (), call.node)
    if operands.packed is not None:
        # What is packed goes step by step: the result is put together of what the steps have saved, biases are added.
        op = replace(op, saves=tuple(item for item in op.saves if not item.what.startswith(("result", "bias"))))
    try:
        extents = (None,) if operands.packed is not None else results_extents(state, op, operands.values)
        with dispatch.supposing(state, _premise(row, settings, idle)):
            keys = record(machine.facts, state, op, operands.tensors, call.node, output.count("T"), sizes=extents[0])
        dtypes.follow(machine, op, operands.values, flatten(operands.tensors), keys)
    except TorchRaises as refused:
        raise ProgramRaised("RuntimeError", str(refused), by_torch=True) from None
    if len(extents) > 1:
        dispatch.resize(state, keys, extents)
    result = structured(output, list(keys))
    return result if operands.packed is None else repacked(result, operands.packed)


def _is_idle(row: ops.Layer, settings: dict[str, Value]) -> bool:
    """Whether a layer such as a dropout does what it does in evaluation, or may: a dropout that drops nothing returns
    its input, unwritten.
    """
    if _may_drop_nothing(row, settings):
        return settings.get("inplace") != TRUE or settings.get("training", TRUE) == FALSE
    return row.eval_op is not None and (settings.get("training", TRUE) == FALSE or settings.get("p") == Const(0))


def _premise(row: ops.Layer, settings: dict[str, Value], idle: bool) -> Because:
    """What it takes for a layer that works in place to write: a dropout that drops nothing does not."""
    return NOTHING if idle or not _may_drop_nothing(row, settings) else option(f"`p` of `nn.{row.name}` is not 0")


def _may_drop_nothing(row: ops.Layer, settings: dict[str, Value]) -> bool:
    """Whether it is a dropout whose rate is not known."""
    return row.inplace is not None and not isinstance(settings.get("p", TRUE), Const)


def _chosen_op(row: ops.Layer, settings: dict[str, Value], idle: bool) -> ops.Op:
    """Which op of its row a layer's forward is, by how the layer was set."""
    op = row.op
    if row.eval_op is not None and idle:
        op = row.eval_op
    if row.inplace is not None and not idle and settings.get("inplace", FALSE) != FALSE:
        op = row.inplace
    if row.unreduced is not None and settings.get("reduction", Const("mean")) == Const("none"):
        op = row.unreduced
    if row.bidirectional is not None and settings.get("bidirectional", FALSE) != FALSE:
        op = row.bidirectional
    if row.indices is not None and settings.get("return_indices", FALSE) != FALSE:
        op = row.indices
    return op


def _operands(machine: Machine, state: State, row: ops.Layer, op: ops.Op, thing: Instance, call: Call) -> Operands:
    """The arguments of a layer's call, and the layer's own tensors."""
    found = Operands({}, {}, None)
    for index, name in enumerate([param.name for param in op.params if param.name not in row.own]):
        value = call.get(index, name, NONE)
        if isinstance(value, Tuple) and is_packed(value):
            found.packed, value = value, value.items[0]
        found.values[name] = value
        several = isinstance(value, (Tuple, HeapRef))
        found.tensors[name] = (
            dispatch.tensor_list(machine, state, value) if several else dispatch.tensor_of(machine, state, value)
        )
    for name in row.own:
        own = thing.attributes.get(name)
        if isinstance(own, TensorRef):
            found.tensors[name], found.values[name] = own.id, own
    for name, default in PASSED_ON.get(row.name, {}).items():
        found.values[name] = thing.attributes.get(name, default)
    if "*" in row.params:
        found.tensors["parameters"] = [v.id for v in thing.attributes.values() if isinstance(v, TensorRef)]
    return found


def structured(shape: str, keys: list[int]) -> Value:
    """The outputs as the layer returns them: ``(T,(T,T))`` is what an LSTM gives, ``N`` stands for None."""
    if shape == "T" and keys:
        return TensorRef(keys[0])
    stack: list[list[Value]] = [[]]
    for mark in shape:
        if mark == "(":
            stack.append([])
        elif mark == ")":
            done = Tuple(tuple(stack.pop()))
            stack[-1].append(done)
        elif mark == "T":
            stack[-1].append(TensorRef(keys.pop(0)) if keys else Unknown("output"))
        elif mark == "N":
            stack[-1].append(NONE)
    return stack[0][0] if stack[0] else Unknown("output")


SIZES = frozenset(
    "in_features out_features in_channels out_channels num_embeddings embedding_dim input_size hidden_size "
    "num_features num_channels in1_features in2_features".split()
)
"""Arguments that are sizes of a layer's parameters (https://docs.pytorch.org/docs/stable/nn.html)."""
NOT_IN_ROWS = frozenset(("mode", "nonlinearity"))
"""Arguments of layers that a row does not list: they choose what it is a row of."""


def refuse_arguments(row: Layer, named: dict[str, Value], given: dict[str, Value]) -> None:
    """Raise the TypeError that making the layer raises. ``named`` are the arguments given by name, ``given`` are all of
    them. Layers without arguments take any (``nn.Identity(54, unused=True)``).
    """
    unexpected = [name for name in named if name.isidentifier() and name not in row.arguments]
    if row.arguments and (unknown := next((name for name in unexpected if name not in NOT_IN_ROWS), None)):
        raise ProgramRaised("TypeError", f"{row.name}.__init__() got an unexpected keyword argument '{unknown}'")
    if not any(is_there(parameter, partial(_flag, given)) for parameter in row.params):
        return
    if row.name not in LAZY and any(_is_fraction(given.get(name)) for name in SIZES):
        raise ProgramRaised(
            "TypeError", "empty(): argument 'size' must be tuple of ints, but found element of type float"
        )


def _flag(given: dict[str, Value], name: str) -> bool | None:
    value = given.get(name)
    return bool(value.value) if isinstance(value, Const) else None


def _is_fraction(value: Value | None) -> bool:
    return isinstance(value, Const) and isinstance(value.value, (float, str, type(None)))


def parameter_sizes(layer: str, name: str, given: dict[str, Value]) -> Extent:
    """The sizes of a layer's parameter, as far as they are known."""
    match layer:
        case "Linear":
            out = _number(given, "out_features")
            return (out, _number(given, "in_features")) if name == "weight" else (out,)
        case "Embedding" | "EmbeddingBag":
            return (_number(given, "num_embeddings"), _number(given, "embedding_dim"))
        case "GroupNorm":
            return (_number(given, "num_channels"),)
        case "LayerNorm":
            return _normalized(given)
        case "RNN" | "LSTM" | "GRU" | "RNNCell" | "LSTMCell" | "GRUCell":
            return (None,) * (2 if name.startswith("weight") else 1)
        case "MultiheadAttention":
            return _attention(name)
    if layer.startswith("Conv") and layer[-1] == "d":
        return _convolution(layer, name, given)
    return (_number(given, "num_features"),) if layer.startswith(("BatchNorm", "InstanceNorm")) else None


def _number(given: dict[str, Value], argument: str) -> int | None:
    """An argument of the constructor; None where it is no number, or not known."""
    value = given.get(argument)
    return value.value if isinstance(value, Const) and isinstance(value.value, int) else None


def _convolution(layer: str, name: str, given: dict[str, Value]) -> Extent:
    """Of ``Conv2d`` and its kind: channels, then one size for each dimension of the kernel."""
    if name == "bias":
        return (_number(given, "out_channels"),)
    spatial = (None,) * int(layer[-2])
    first, second = _number(given, "out_channels"), _number(given, "in_channels")
    return (second, first, *spatial) if "Transpose" in layer else (first, None, *spatial)


def _normalized(given: dict[str, Value]) -> Extent:
    """Of ``LayerNorm``: the shape it was given, or its one size."""
    shape = given.get("normalized_shape")
    if isinstance(shape, Tuple):
        return (None,) * len(shape.items)
    size = _number(given, "normalized_shape")
    return None if size is None else (size,)


def _attention(name: str) -> Extent:
    """Of ``MultiheadAttention``: how many dimensions its projections have."""
    if name.endswith(("_proj_weight", "out_proj.weight")):
        return (None, None)
    return (None,) if name.endswith(("proj_bias", "proj.bias")) else None
