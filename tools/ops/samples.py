"""Sample calls: PyTorch's own, with which it tests every op (``op_db``), and ours where it has none."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any

import torch

from tools.ops.hand_samples import INSTEAD, MORE

Sample = tuple[tuple[Any, ...], dict[str, Any]]

# op_db has thousands of samples for some ops; the first dozens show every overload and option.
PER_OPINFO = 40


@cache
def by_name() -> dict[str, list[Sample]]:
    """Samples under the name of the rows they are for. Those in ``op_db`` are in double precision, as far as it goes."""
    from torch.testing._internal.common_methods_invocations import op_db

    found: dict[str, list[Sample]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for info in op_db:
            samples = list(_samples_of(info))
            for name in {row_name(info.name), *(row_name(alias.name) for alias in info.aliases)}:
                found.setdefault(name, []).extend(samples)
    torch.manual_seed(0)
    for name, calls in MORE.items():
        found[name] = [*calls(), *found.get(name, ())]
    for name, calls in INSTEAD.items():
        found[name] = calls()
    return found


def for_row(name: str) -> list[Sample]:
    """Samples for the rows of this name; an in-place op takes those of the op it is the twin of."""
    samples = by_name()
    names = (name, name.removesuffix("_"), f"nn.functional.{name}", f"nn.functional.{name.removesuffix('_')}")
    return next((samples[n] for n in names if samples.get(n)), [])


def row_name(dotted: str) -> str:
    for module in ("linalg", "special", "fft"):
        dotted = dotted.replace(f"{module}.", f"{module}_")
    return dotted


def _samples_of(info: Any) -> Iterator[Sample]:
    dtype = next((d for d in (torch.float64, torch.float32, torch.complex128) if d in info.dtypes), None)
    if dtype is None:
        return
    torch.manual_seed(0)
    try:
        for sample in itertools.islice(info.sample_inputs("cpu", dtype, requires_grad=False), PER_OPINFO):
            yield (sample.input, *sample.args), dict(sample.kwargs)
    except (RuntimeError, ImportError, NotImplementedError):
        return  # needs a library or a device that is not here
