"""Rows for overloads that have no kernel of their own: they are run on samples and watched."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch
from tools.ops import derived, evidence, native, samples, synthetic
from tools.ops.hand_samples import CALLS, SIGNATURES
from tools.ops.kinds import kind_of
from tools.ops.probe import Observation, Unsuitable, max_dim, observe, tensors_of
from tools.ops.quiet import quiet
from torch import Tensor
from torch.utils._pytree import tree_leaves
from torchgen.model import SchemaKind

from tapelint.ops.binding import bind, fit
from tapelint.ops.schema import Op
from tapelint.ops.text import parse_op

# How many combinations of inputs requiring grad are tried for one overload, over all its samples.
ENOUGH = 300
ENOUGH_FOR_A_LOOK = 12

LEFT_OUT: dict[str, str] = {}


def composite_rows() -> Iterator[Op]:
    """A row for every composite overload that some sample runs."""
    by_name: dict[str, list[Op]] = {}
    for fn in native.overloads():
        f = fn.func
        op = Op(
            native.key(f),
            f.func.name.overload_name,
            native.params(f),
            frozenset(),
            view="maybe" if derived.returns_alias(f) else "",
            outputs=derived.outputs(f),
            source="probe" if derived.is_composite(fn) else "derivatives",
        )
        ops = list(derived.number_overloads(op, always=True)) if f.func.kind() is not SchemaKind.out else [op]
        by_name.setdefault(op.name, []).extend(ops)
    for name, stubs in by_name.items():
        if name not in SIGNATURES and any(stub.source == "probe" for stub in stubs):
            yield from rows_of(stubs, [next(native.callables(name))] * len(stubs), samples.for_row(name))


def described_rows() -> Iterator[Op]:
    """Rows for the overloads whose signatures are spelled out in ``hand_samples``."""
    for name, signatures in SIGNATURES.items():
        stubs = [parse_op(f"{signature}; probe") for signature in signatures]
        function = CALLS.get(name) or next(native.callables(name))
        yield from rows_of(stubs, [function] * len(stubs), samples.for_row(name))


def with_scalars(rows: Iterable[Op]) -> Iterator[Op]:
    """Marks the rows from the formulas whose result is 0-dimensional, whatever sample is run."""
    for op in rows:
        function = next(native.callables(op.name), None)
        if function is not None and op.flows and op.outputs == 1 and not op.writes and evidence.may_be_scalar(op):
            # Made up samples are quick, and settle it for nearly all ops; then the others have to agree.
            if evidence.is_scalar(_dims(function, synthetic.calls(op))):
                calls = [call for call in samples.for_row(op.name) if fit(op, *_kinds(call)) is not False]
                op = replace(op, scalar=all(result == 0 for _, result in _dims(function, calls)))
        yield op


def measured(rows: Iterable[Op]) -> Iterator[Op]:
    """Rows that have no formula, though the schema lets gradients flow, are watched where they can be run."""
    for op in rows:
        function = next(native.callables(op.name), None)
        seen: list[Observation] = []
        if op.source == "schema" and op.flows and function is not None:
            calls = [call for call in samples.for_row(op.name) if fit(op, *_kinds(call)) is not False]
            for positional, keywords in (calls or list(synthetic.calls(op)))[:ENOUGH_FOR_A_LOOK]:
                try:
                    seen.append(observe_call(op, function, positional, keywords))
                except Unsuitable as unsuitable:
                    seen += unsuitable.args[1:]
        yield evidence.row(op, seen) if seen else op


def _dims(function: Callable[..., Any], calls: Iterable[samples.Sample]) -> Iterator[tuple[int, int]]:
    """Dimensions of the input and of the result, for each sample that runs."""
    for positional, keywords in calls:
        try:
            with quiet():
                result = function(*positional, **keywords)
        except Exception:  # whatever PyTorch refuses is of no use as a sample
            continue
        if isinstance(result, Tensor):
            yield max_dim(tensors_of(dict(enumerate(positional)))), result.dim()


def _kinds(call: samples.Sample) -> tuple[list[str], dict[str, str]]:
    return [kind_of(value) for value in call[0]], {key: kind_of(value) for key, value in call[1].items()}


def _by_overload(stubs: Sequence[Op], calls: Sequence[samples.Sample]) -> list[list[samples.Sample]]:
    """For each overload the calls that run it."""
    found: list[list[samples.Sample]] = [[] for _ in stubs]
    for call in calls:
        fits = [fit(stub, *_kinds(call)) for stub in stubs]
        index = next((fits.index(verdict) for verdict in (True, None) if verdict in fits), None)
        if index is not None:
            found[index].append(call)
    return found


def rows_of(
    stubs: Sequence[Op], functions: Sequence[Callable[..., Any]], calls: Sequence[samples.Sample]
) -> Iterator[Op]:
    """Sorts sample calls to the overloads they run and turns what is seen into a row for each."""
    for stub, function, its_calls in zip(stubs, functions, _by_overload(stubs, calls), strict=True):
        if stub.source == "derivatives":
            continue
        seen: list[Observation] = []
        without_backward: list[Observation] = []
        reason = "no sample runs it"
        for positional, keywords in diverse(its_calls or synthetic.calls(stub), stub.view == "maybe"):
            try:
                seen.append(observe_call(stub, function, positional, keywords))
            except Unsuitable as unsuitable:
                reason = str(unsuitable.args[0]).partition("\n")[0]
                without_backward += unsuitable.args[1:]
            if sum(len(observation.subsets) for observation in seen) > ENOUGH:
                break
        if seen or without_backward:
            yield evidence.row(stub, seen or without_backward)
        else:
            LEFT_OUT[f"{stub.name}/{stub.overload}"] = reason


def diverse(calls: Iterable[samples.Sample], strided: bool) -> list[samples.Sample]:
    """Samples that differ in kind or dimensions, those first that pass arguments no other did."""
    shapes: set[str] = set()
    signatures: set[str] = set()
    first: list[samples.Sample] = []
    then: list[samples.Sample] = []
    for positional, keywords in calls:
        values = [*positional, *keywords.values()]
        kinds = f"{[kind_of(value) for value in positional]} {sorted(keywords)}"
        shape = f"{kinds} {[_nature(value) for value in tree_leaves(values)]}"
        if shape in shapes or any(_is_empty(value) for value in values):
            continue
        (then if kinds in signatures else first).append((positional, keywords))
        shapes.add(shape)
        signatures.add(kinds)
    chosen = first + then
    if strided:
        chosen = [*itertools.chain.from_iterable((call, (_transposed(call[0]), call[1])) for call in chosen)]
    return chosen


def _nature(value: Any) -> object:
    if isinstance(value, Tensor):
        return value.dtype, [size > 1 for size in value.shape]
    return value if isinstance(value, (str, bool, int, float, torch.dtype)) else None


def _is_empty(value: Any) -> bool:
    return isinstance(value, Tensor) and value.numel() == 0


def _transposed(positional: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same tensors, not contiguous: whether some ops return a view depends on it."""
    return tuple(
        value.transpose(0, -1).contiguous().transpose(0, -1) if isinstance(value, Tensor) and value.dim() > 1 else value
        for value in positional
    )


def observe_call(
    stub: Op, function: Callable[..., object], positional: Sequence[Any], keywords: dict[str, Any]
) -> Observation:
    """Runs one sample, its tensors known by the names of the parameters they go to."""
    values = bind(stub, positional, keywords)
    slots = bind(stub, range(len(positional)), {key: key for key in keywords})
    if values is None or slots is None:
        raise Unsuitable("does not fit")
    by_position = {slot: name for name, slot in slots.items() if isinstance(slot, int)}
    spread = next((name for name, slot in slots.items() if isinstance(slot, tuple)), None)

    def call(fresh: dict[str, Any]) -> object:
        args = [fresh[by_position[i]] for i in sorted(by_position)]
        if spread is not None:
            args += fresh[spread]
        return function(*args, **{slot: fresh[name] for name, slot in slots.items() if isinstance(slot, str)})

    return observe(call, values)
