"""Finds what is certain of the sizes of what a layer returns: its input's own, or as many dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch
from tools.ops.layers import variants
from tools.ops.quiet import quiet
from tools.ops.shapes import agree
from torch import Tensor
from torch.utils._pytree import tree_leaves

from tapelint.ops.schema import Layer, Op
from tapelint.ops.shapes import Sized, sizes_of

Call = Callable[[dict[str, Any]], object]
Case = tuple[Sized, tuple[torch.Size, ...]]


def with_sizes(layer: Layer) -> Layer:
    """A layer whose rows have the rule for each of their results; an unreduced loss is as wide as its two inputs."""
    found = {op: _rules(op, calls) for op, calls in variants(layer)}

    def sized(op: Op | None) -> Op | None:
        return None if op is None else replace(op, sizes=found.get(op, ()))

    return replace(
        layer,
        op=replace(layer.op, sizes=found.get(layer.op, ())),
        eval_op=sized(layer.eval_op),
        inplace=sized(layer.inplace),
        indices=sized(layer.indices),
        bidirectional=sized(layer.bidirectional),
    )


def _rules(op: Op, calls: Sequence[tuple[Call, dict[str, Any]]]) -> tuple[str, ...]:
    """For each result the stronger of two claims about the first input that holds for every call; - for neither."""
    first = next((param.name for param in op.params if param.kind == "tensor" and not param.keyword), None)
    if first is None or op.scalar:
        return ()
    cases = [_case(first, call, given) for call, given in calls]
    return () if len({len(results) for _, results in cases}) != 1 else _of_each_result(op, first, cases)


def _of_each_result(op: Op, first: str, cases: Sequence[Case]) -> tuple[str, ...]:
    count = len(cases[0][1])
    each = [_rule(first, [(given, results[index]) for given, results in cases]) for index in range(count)]
    if any(param.kind == "bool" for param in op.params):
        each[1:] = ["-"] * (count - 1)  # a switch may change what comes beside the result
    if len(set(each)) > 1:
        return tuple(each)
    return tuple(rule for rule in each[:1] if rule != "-")


def _case(first: str, call: Call, given: dict[str, Any]) -> Case:
    with torch.no_grad(), quiet():
        results = call(dict(given))
    return Sized(tuple(given[first].shape)), tuple(t.shape for t in tree_leaves(results) if isinstance(t, Tensor))


def _rule(first: str, cases: Sequence[tuple[Sized, torch.Size]]) -> str:
    for rule in (f"={first}", first):
        told = [(sizes_of(rule, {first: given}), size) for given, size in cases]
        if all(sizes is not None and agree(sizes, size) for sizes, size in told):
            return rule
    return "-"
