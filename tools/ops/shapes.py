"""Finds the rule for the sizes of what an op returns: the first that is right for every sample of its row."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from tools.ops import native, python_functions, samples, synthetic
from tools.ops.hand_samples import CALLS
from tools.ops.kinds import kind_of
from tools.ops.probe import renewed
from tools.ops.quiet import quiet
from torch import Tensor
from torch.utils._pytree import tree_leaves

from tapelint.ops.binding import bind, fit
from tapelint.ops.schema import Op
from tapelint.ops.shapes import UNKNOWN, Sized, sizes_of

Case = tuple[dict[str, object], tuple[torch.Size, ...]]
TENSORS = ("tensor", "operand", "matrix", "tensors", "any", "3d", "4d")
ENOUGH = 60
_CONSTANTS: dict[str, object] = {"none": None, "true": True, "false": False}


def with_rules(rows: Iterable[Op]) -> Iterator[Op]:
    """The rows, each with the rule for the sizes of its results, where one holds."""
    by_name: dict[str, list[Op]] = {}
    for op in rows:
        by_name.setdefault(op.name, []).append(op)
    for name, ops in by_name.items():
        yield from (replace(op, sizes=rules(op, cases)) for op, cases in zip(ops, _cases(name, ops), strict=True))


def rules(op: Op, cases: Sequence[Case]) -> tuple[str, ...]:
    """One rule for all results, or one for each; nothing where none is right."""
    if not cases or "out" in op.writes:
        return ()
    counts = {len(results) for _, results in cases}
    if op.outputs < 0 or len(counts) > 1:
        found = _rule(op, [(given, size) for given, results in cases for size in results])
        return (found,) if found else ()
    each = [_rule(op, [(given, results[i]) for given, results in cases]) for i in range(counts.pop())]
    if len(set(each)) == 1:
        return (each[0],) if each[0] else ()
    return tuple(each_rule or "-" for each_rule in each)


def _rule(op: Op, cases: Sequence[tuple[dict[str, object], torch.Size]]) -> str:
    seen = {name for given, _ in cases for name in given}
    tensors = [p.name for p in op.params if p.kind.rstrip("?") in TENSORS and p.name in seen]
    if tensors and not _is_varied(op, cases):
        return ""
    right = _that_hold(op, tensors, cases)
    together = [rule for rule in right if rule.startswith("=")]
    if "," in "".join(together) and len(together) > 1:
        # Nothing tells the sizes of one from those of all: what is left is their number.
        right = [rule for rule in right if not rule.startswith("=")]
    return right[0] if right else ""


def _that_hold(op: Op, tensors: Sequence[str], cases: Sequence[tuple[dict[str, object], torch.Size]]) -> list[str]:
    return [rule for rule in _candidates(op, tensors) if _is_shown(rule, op, cases) and _holds(rule, cases)]


def _is_shown(rule: str, op: Op, cases: Sequence[tuple[dict[str, object], torch.Size]]) -> bool:
    """Whether the cases can show a rule: without one that keeps the dimension, only that there are fewer."""
    kept = any(given.get("keepdim") is True for given, _ in cases) or all(p.name != "keepdim" for p in op.params)
    return kept or rule.startswith("less")


def _is_varied(op: Op, cases: Sequence[tuple[dict[str, object], torch.Size]]) -> bool:
    """Whether the cases differ in dimensions. Where only one number of dimensions was accepted, the others were refused
    for it, if there was nothing else to refuse.
    """
    if len({tuple(_ranks(given)) for given, _ in cases}) > 1 or len({len(size) for _, size in cases}) > 1:
        return True
    return all(param.kind in TENSORS and param.kind != "any" for param in op.params if param.required)


def _holds(rule: str, cases: Sequence[tuple[dict[str, object], torch.Size]]) -> bool:
    told = [(sizes_of(rule, given), size) for given, size in cases]
    return all(found is not None and agree(found, size) for found, size in told)


def _ranks(given: dict[str, object]) -> Iterator[object]:
    return (len(value.sizes or ()) for value in given.values() if isinstance(value, Sized))


def agree(found: tuple[int | None, ...], size: torch.Size) -> bool:
    """Whether sizes of which some are not known are these."""
    return len(found) == len(size) and all(a in (None, b) for a, b in zip(found, size, strict=True))


def _candidates(op: Op, tensors: Sequence[str]) -> Iterator[str]:
    """The strongest claims first."""
    names = {param.name: param for param in op.params}
    yield "0"
    if len(tensors) > 1 and not op.writes:  # where nothing tells them apart, what is true of both
        yield "=" + ",".join(tensors)
    yield from (f"={name}" for name in tensors)
    if len(tensors) > 1:
        yield "max:" + ",".join(tensors)
    yield from tensors
    if len(tensors) == 2:
        yield "product:" + ",".join(tensors)
    yield from _weaker_candidates(op, tensors, names)


def _weaker_candidates(op: Op, tensors: Sequence[str], names: Collection[str]) -> Iterator[str]:
    """Claims about the number of dimensions alone."""
    if "dim" in names:
        yield from (f"less:{name}" for name in tensors[:1])
    yield from (f"less1:{name}" for name in tensors[:1])
    yield from (f"len:{p.name}" for p in op.params if p.kind.rstrip("?") in ("ints", "any"))
    yield from (f"{name}{step}" for name in tensors for step in ("+1", "-1", "+2", "-2"))
    yield from (f"flat:{name}" for name in tensors[:1] if "start_dim" in names)
    yield from (f"equation:{name}" for name in names if name == "equation")
    yield from ("1", "2", "3", "4")


def _cases(name: str, ops: Sequence[Op]) -> list[list[Case]]:
    """For each overload the arguments and the sizes of the results of the calls that run it."""
    found: list[list[Case]] = [[] for _ in ops]
    for index, op in enumerate(ops):
        function = function_of(name, op.overload)
        if function is None:
            continue
        for call in _calls(op, name):
            fits = [fit(other, *_kinds(call)) for other in ops]
            if next((i for i, verdict in enumerate(fits) if verdict is not False), -1) == index:
                found[index] += [case for case in [_case(op, function, call)] if case is not None]
            if len(found[index]) >= ENOUGH:
                break
    return found


def _calls(op: Op, name: str) -> Iterator[samples.Sample]:
    """Samples of every number of dimensions before many of one; constants as the row has them."""
    real = samples.for_row(name)
    known = [_as_row(op, call) for call in (*real, *synthetic.calls(op), *synthetic.odd_calls(op))]
    alike: dict[str, list[samples.Sample]] = {}
    for call in known:
        if call is not None:
            alike.setdefault(_nature(call), []).append(call)
    for turn in range(3):
        for calls in list(alike.values()):
            if len(calls) > turn:
                yield calls[turn]
                # Functions that are not for users do not check their arguments.
                yield from _unequal(calls[turn]) if turn == 0 and real else ()
                yield from _other_numbers(op, calls[turn]) if turn == 0 else ()


def _nature(call: samples.Sample) -> str:
    tensors = [value.dim() for value in tree_leaves(list(call)) if isinstance(value, Tensor)]
    return f"{_kinds(call)[0]} {sorted(call[1])} {tensors}"


def _unequal(call: samples.Sample) -> Iterator[samples.Sample]:
    """The same with one more dimension for one of the tensors. Not with fewer numbers: some functions do not check."""
    positional, keywords = call
    places = [place for place, value in enumerate(positional) if isinstance(value, Tensor)]
    # LAPACK's pivots, which nobody checks, are of 32 bits.
    if len(places) > 1 and all(positional[place].dtype is not torch.int32 for place in places):
        for place in places:
            yield (*positional[:place], positional[place][None], *positional[place + 1 :]), keywords


def _other_numbers(op: Op, call: samples.Sample) -> Iterator[samples.Sample]:
    """The same with each of the numbers that are no switches one larger: a window of one changes no size, and a
    dimension that is moved to where it is, none either. Not for functions that are not for users.
    """
    if op.name.startswith(("_", "unsafe_")):
        return
    positional, keywords = call
    for place, value in enumerate(positional):
        if (larger := _larger(value)) is not None:
            yield (*positional[:place], larger, *positional[place + 1 :]), keywords
    for name, value in keywords.items():
        if (larger := _larger(value)) is not None:
            yield positional, {**keywords, name: larger}


def _larger(value: object) -> object | None:
    if type(value) is int:
        return value + 1
    if isinstance(value, (list, tuple)) and value and all(type(item) is int for item in value):
        return type(value)(item + 1 for item in value)
    return None


def _as_row(op: Op, call: samples.Sample) -> samples.Sample | None:
    positional, keywords = call
    slots = bind(op, range(len(positional)), {key: key for key in keywords})
    if slots is None:
        return call if fit(op, *_kinds(call)) is not False else None
    args, named = list(positional), dict(keywords)
    for param in op.params:
        if (constant := _constant(param.kind)) is UNKNOWN:
            continue
        slot = slots.get(param.name)
        if isinstance(slot, int):
            args[slot] = constant
        elif param.required or slot is not None:
            named[param.name] = constant
    return tuple(args), named


def _constant(kind: str) -> object:
    if kind in _CONSTANTS:
        return _CONSTANTS[kind]
    if kind.startswith("'"):
        return kind[1:-1]
    return int(kind) if kind.lstrip("-").isdigit() else UNKNOWN


def function_of(name: str, overload: str = "") -> Callable[..., Any] | None:
    """What a program calls to run the overload."""
    if name in CALLS:
        return CALLS[name]
    if name.startswith("Tensor."):
        return getattr(Tensor, name.removeprefix("Tensor."), None)
    if name.startswith("nn.functional."):
        return getattr(F, name.removeprefix("nn.functional."), None)
    python = python_functions.everything().get(name, {})
    for word in ("method", "function"):
        if word in python and (overload.startswith(word) or len(python) == 1 and python_functions.hides_native(name)):
            return python[word]
    return next(native.callables(name), None)


def _kinds(call: samples.Sample) -> tuple[list[str], dict[str, str]]:
    return [kind_of(value) for value in call[0]], {key: kind_of(value) for key, value in call[1].items()}


def _case(op: Op, function: Callable[..., Any], call: samples.Sample) -> Case | None:
    bound = bind(op, *call)
    if bound is None:
        return None
    given = {name: described(value) for name, value in bound.items()}
    positional, keywords = [renewed(v, False) for v in call[0]], {k: renewed(v, False) for k, v in call[1].items()}
    torch.default_generator.manual_seed(0)
    try:
        with quiet(), torch.no_grad():
            result = function(*positional, **keywords)
    except Exception:  # whatever PyTorch refuses is of no use as a sample
        return None
    results = [result] if isinstance(result, Tensor) else result if isinstance(result, (list, tuple)) else []
    if not results or not all(isinstance(item, Tensor) and item.layout is torch.strided for item in results):
        return None
    return given, tuple(item.shape for item in results)


def described(value: Any) -> object:
    """An argument as ``tapelint.ops.shapes`` takes it."""
    if isinstance(value, Tensor):
        return Sized(tuple(value.shape))
    if isinstance(value, (list, tuple)):
        return [described(item) for item in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else UNKNOWN
