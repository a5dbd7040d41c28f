"""Sample calls: PyTorch's own, with which it tests every op (``op_db``), and ours where it has none."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache
from typing import Any
from unittest import mock

import torch
from tools.ops.hand_samples import INSTEAD, MORE
from tools.ops.quiet import quiet

Sample = tuple[tuple[Any, ...], dict[str, Any]]

# op_db has thousands of samples for some ops.
PER_OPINFO = 100


@cache
def _infos() -> dict[str, list[Any]]:
    from torch.testing._internal.common_methods_invocations import op_db

    found: dict[str, list[Any]] = {}
    for info in op_db:
        for name in {row_name(info.name), *(row_name(alias.name) for alias in info.aliases)}:
            found.setdefault(name, []).append(info)
    return found


@cache
def _samples(name: str) -> tuple[Sample, ...]:
    """Samples under the name of the rows they are for. Those of ``op_db`` are in double precision where they can."""
    torch.default_generator.manual_seed(0)
    if name in INSTEAD:
        return tuple(INSTEAD[name]())
    # op_db seeds every device before every sample, which takes longer than all the rest.
    seed = mock.patch.object(torch, "manual_seed", torch.default_generator.manual_seed)
    with seed, quiet():
        described = [sample for info in _infos().get(name, ()) for sample in _samples_of(info)]
    return (*(MORE[name]() if name in MORE else ()), *described)


def for_row(name: str) -> tuple[Sample, ...]:
    """Samples for the rows of this name; an in-place op takes those of the op it is the twin of."""
    twin = name.removesuffix("_")
    names = (name, twin, f"nn.functional.{name}", f"nn.functional.{twin}")
    return next((samples for n in names if (samples := _samples(n))), ())


def row_name(dotted: str) -> str:
    for module in ("linalg", "special", "fft"):
        dotted = dotted.replace(f"{module}.", f"{module}_")
    return dotted


def _samples_of(info: Any) -> Iterator[Sample]:
    dtype = next((d for d in (torch.float64, torch.float32, torch.complex128) if d in info.dtypes), None)
    if dtype is None:
        return
    torch.default_generator.manual_seed(0)
    try:
        for sample in itertools.islice(info.sample_inputs("cpu", dtype, requires_grad=False), PER_OPINFO):
            yield (sample.input, *sample.args), dict(sample.kwargs)
    except (RuntimeError, ImportError, NotImplementedError):
        return  # needs a library or a device that is not here
