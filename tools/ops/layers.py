"""The layers of ``torch.nn``, each constructed, called and watched in training and in eval mode."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch
from tools.ops import evidence
from tools.ops.kinds import python_params
from tools.ops.layer_samples import NOT_LAYERS, Sample, by_class
from tools.ops.probe import Call, Observation, Unsuitable, observe
from tools.ops.quiet import quiet
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from tapelint.ops.binding import bind
from tapelint.ops.schema import Layer, Op, Param, Saved

# Constructions tried for a layer.
ENOUGH = 8
# Layers with more parameters than this have them watched together: which of them is saved would fill a page.
SINGLY = 11

LEFT_OUT: dict[str, str] = {}


def layers() -> Iterator[Layer]:
    for name in sorted(_classes()):
        cls = _classes()[name]
        base = getattr(cls, "cls_to_become", None)
        found = _layer(name, base or cls, _arguments(cls))
        if found is not None:
            yield found


def _classes() -> dict[str, type[nn.Module]]:
    classes = {n: c for n, c in vars(nn).items() if inspect.isclass(c) and issubclass(c, nn.Module)}
    return {name: cls for name, cls in classes.items() if name not in NOT_LAYERS}


def _arguments(cls: type[nn.Module]) -> tuple[str, ...]:
    parameters = _constructor(cls)
    named = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    return tuple(name for name in named if name != "mode")


def _constructor(cls: type[nn.Module]) -> list[inspect.Parameter]:
    # RNN, LSTM and GRU pass everything on to their base, which is told the mode by them.
    init = nn.RNNBase.__init__ if issubclass(cls, nn.RNNBase) else cls.__init__
    return list(inspect.signature(init).parameters.values())[1:]


def _layer(name: str, cls: type[nn.Module], arguments: tuple[str, ...]) -> Layer | None:
    samples = _diverse(by_class().get(cls.__name__, []), "bias" in arguments)
    built = [(module, sample) for sample in samples if (module := _build(cls, sample, {})) is not None]
    # The construction with the fewest arguments comes first: it shows what is there by default.
    built.sort(key=lambda pair: len(pair[1].make[0]) + len(pair[1].make[1]))
    stub = _stub(cls, [module for module, _ in built])
    train = _row(stub, cls, samples, {}, training=True)
    one_way = _one_way(stub, cls, samples, train) if "bidirectional" in arguments else None
    if train is None:
        return None
    evaluated = _row(stub, cls, samples, {}, training=False) if _minds_training(stub, cls, samples[:2]) else None
    switches = _switches(cls, built[0][1])
    entries = [
        tuple(_marked([dict(tensors(module)) for module, _ in built], switches))
        for tensors in (nn.Module.named_parameters, nn.Module.named_buffers)
    ]

    def row_with(switch: str, value: object, is_wanted: bool) -> Op | None:
        return _row(stub, cls, samples, {switch: value}, training=True) if is_wanted else None

    return Layer(
        name=name,
        arguments=arguments,
        params=("*",) if _is_large(built[0][0]) else entries[0],
        buffers=entries[1],
        output=_output(*built[0]),
        op=one_way or train,
        eval_op=evaluated if evaluated is not None and _claims(evaluated) != _claims(train) else None,
        inplace=row_with("inplace", True, "inplace" in arguments),
        unreduced=row_with("reduction", "none", train.scalar),
        indices=row_with("return_indices", True, "return_indices" in arguments),
        bidirectional=train if one_way is not None else None,
    )


def _minds_training(stub: Op, cls: type[nn.Module], samples: Sequence[Sample]) -> bool:
    """A glance: most layers do the same in training and in evaluation."""
    rows = [_row(stub, cls, samples, {}, training=training) for training in (True, False)]
    claims = [_claims(row) for row in rows if row is not None]
    return len(claims) < 2 or claims[0] != claims[1]


def _one_way(stub: Op, cls: type[nn.Module], samples: Sequence[Sample], train: Op | None) -> Op | None:
    """What a recurrent layer saves that is not bidirectional, if more of its results: those of two are put together."""
    row = _row(stub, cls, [sample for sample in samples if "bidirectional" not in sample.make[1]], {}, training=True)
    if row is None or train is None or _results(row) == _results(train):
        return None
    return row


def _results(op: Op) -> list[Saved]:
    return [saved for saved in op.saves if saved.what.startswith("result")]


def _claims(op: Op) -> Op:
    return replace(op, grad_fn="")


def _diverse(samples: Sequence[Sample], has_bias: bool) -> list[Sample]:
    """Those first that use constructor arguments no other did; a loss reduced to a number, as by default."""
    seen: set[str] = set()
    first: list[Sample] = []
    then: list[Sample] = []
    for sample in samples:
        (_, keywords), (inputs, call_keywords) = sample
        if keywords.get("reduction") == "none" or keywords.get("inplace") or keywords.get("return_indices"):
            continue
        shapes = [_shape(value) for value in inputs]
        shape = f"{sorted(keywords)} {len(sample.make[0])} {shapes} {sorted(call_keywords)}"
        (then if shape in seen else first).append(sample)
        seen.add(shape)
    chosen = (first + then)[:ENOUGH]
    if has_bias and chosen:
        (arguments, keywords), call = chosen[0]
        chosen.append(Sample((arguments, {**keywords, "bias": False}), call))
    return chosen


def _shape(value: Any) -> object:
    return (value.dim(), value.dtype) if isinstance(value, Tensor) else type(value)


def _build(cls: type[nn.Module], sample: Sample, changed: dict[str, Any]) -> nn.Module | None:
    arguments, keywords = sample.make
    torch.default_generator.manual_seed(0)
    try:
        with quiet():
            module = cls(*arguments, **{**keywords, **changed})
    except (TypeError, ValueError) as error:
        LEFT_OUT[cls.__name__] = str(error)
        return None
    given = [value for value in tree_leaves(sample.call) if isinstance(value, Tensor) and value.is_floating_point()]
    return module.to(given[0].dtype if given else torch.float64)


def _is_large(module: nn.Module) -> bool:
    return sum(1 for _ in module.parameters()) > SINGLY


def _stub(cls: type[nn.Module], modules: Sequence[nn.Module]) -> Op:
    inputs = tuple(replace(param, keyword=False) for param in python_params(cls.forward)[1:])
    if modules and _is_large(modules[0]):
        tensors: tuple[Param, ...] = (Param("parameters", "tensors"),)
    else:
        names = [*_marked([{**dict(m.named_parameters()), **dict(m.named_buffers())} for m in modules])]
        tensors = tuple(Param(n.rstrip("?"), "tensor", not n.endswith("?")) for n in names)
    taken = {param.name for param in inputs}
    tensors = tuple(replace(param, keyword=True) for param in tensors if param.name not in taken)
    return Op(cls.__name__, "", inputs + tensors, frozenset())


def _marked(found: Sequence[dict[str, Tensor]], switches: dict[str, list[str]] | None = None) -> Iterator[str]:
    """All names, in order: with ? if not every construction has it, with ?? if the first, the default, has not; then
    the arguments that decide it.
    """
    for name in dict.fromkeys(name for tensors in found for name in tensors):
        deciding = ",".join((switches or {}).get(name, ()))
        missing = bool(deciding) or any(name not in tensors for tensors in found)
        yield name + ("?" if missing else "") + ("?" if name not in found[0] else "") + deciding


def _switches(cls: type[nn.Module], sample: Sample) -> dict[str, list[str]]:
    """For each parameter and buffer the arguments that must be true for it to be there, + before those that are not by
    default. Found by turning each off while all that add something are on.
    """
    flags = {p.name: p.default for p in _constructor(cls) if isinstance(p.default, bool)}

    def names(changed: dict[str, bool]) -> set[str] | None:
        arguments, keywords = sample.make
        try:
            with quiet():
                module = cls(*arguments, **{**keywords, **changed})
        except (TypeError, ValueError):  # given by position, or at odds with the others
            return None
        return {name for name, _ in (*module.named_parameters(), *module.named_buffers())}

    least = names({}) or set()
    on = {flag: True for flag, default in flags.items() if not default and (names({flag: True}) or least) - least}
    full = names(on) or least
    found: dict[str, list[str]] = {}
    for flag, default in flags.items():
        without = names({**on, flag: False}) if default or flag in on else None
        for name in sorted(full - without) if without is not None else ():
            found.setdefault(name, []).append(flag if default else "+" + flag)
    return found


def _row(
    stub: Op, cls: type[nn.Module], samples: Sequence[Sample], changed: dict[str, Any], *, training: bool
) -> Op | None:
    seen: list[Observation] = []
    for sample in samples:
        module = _build(cls, sample, changed)
        if module is None:
            continue
        try:
            seen.append(_observe(stub, module.train(training), sample))
        except Unsuitable as unsuitable:
            LEFT_OUT[cls.__name__] = str(unsuitable.args[0]).partition("\n")[0]
    if not seen:
        return None
    row = evidence.row(stub, seen)
    buffers = {name for name, _ in module.named_buffers()} if module is not None else set()
    return replace(row, writes=tuple(name for name in row.writes if name not in buffers))


def _observe(stub: Op, module: nn.Module, sample: Sample) -> Observation:
    call, arguments = as_function(stub, module, sample)
    return observe(call, arguments)


def as_function(stub: Op, module: nn.Module, sample: Sample) -> tuple[Call, dict[str, Any]]:
    """The layer as a function of its inputs, parameters and buffers, and these."""
    positional, keywords = sample.call
    inputs = bind(replace(stub, params=tuple(p for p in stub.params if not p.keyword)), positional, keywords)
    if inputs is None:
        raise Unsuitable("its inputs do not fit forward")
    parameters = {name: tensor.detach() for name, tensor in module.named_parameters()}
    buffers = {name: tensor.detach() for name, tensor in module.named_buffers()}
    large = any(param.name == "parameters" for param in stub.params)

    def call(fresh: dict[str, Any]) -> object:
        given = dict(zip(parameters, fresh["parameters"], strict=True)) if large else {n: fresh[n] for n in parameters}
        state = {**given, **{name: fresh.get(f"{name}", buffers[name]) for name in buffers}}
        if isinstance(module, nn.RNNBase):
            # It keeps a list of its weights, which functional_call does not know of.
            module._flat_weights = [state[weight] for weight in module._flat_weights_names]
        return torch.func.functional_call(module, state, (), {name: fresh[name] for name in inputs})

    watched = {"parameters": list(parameters.values())} if large else {**parameters, **buffers}
    return call, {**inputs, **watched}


def variants(layer: Layer) -> Iterator[tuple[Op, list[tuple[Call, dict[str, Any]]]]]:
    """Each row of a layer, with calls for it."""
    found = _classes()[layer.name]
    cls = getattr(found, "cls_to_become", None) or found
    samples = _diverse(by_class().get(cls.__name__, []), "bias" in layer.arguments)
    rows: list[tuple[Op | None, dict[str, Any]]] = [
        (layer.op, {"bidirectional": False} if layer.bidirectional is not None else {}),
        (layer.eval_op, {}),
        (layer.inplace, {"inplace": True}),
        (layer.unreduced, {"reduction": "none"}),
        (layer.indices, {"return_indices": True}),
        (layer.bidirectional, {}),
    ]
    for row, changed in rows:
        if row is not None:
            modules = [(module, sample) for sample in samples if (module := _build(cls, sample, changed)) is not None]
            calls = [as_function(row, module.train(row is not layer.eval_op), sample) for module, sample in modules]
            yield row, calls


def _output(module: nn.Module, sample: Sample) -> str:
    with torch.no_grad(), quiet():
        return _structure(module(*sample.call[0], **sample.call[1]))


def _structure(value: object) -> str:
    if isinstance(value, tuple):
        return f"({','.join(_structure(item) for item in value)})"
    return "T" if isinstance(value, Tensor) else "N"
