"""Classes of Python, PyTorch and NumPy by their names, and which is derived from which.

bool, int                                 derived: Python says so
torch.nn.Conv2d, torch.nn.Module          derived: the table of layers says so
torch.Size, tuple                         derived
dict, library.Config                      unknown: it may be a Protocol, or a name for several classes
"""

from __future__ import annotations

import abc
import builtins
import collections
import collections.abc
import enum
import functools
import inspect
import itertools
import math
import numbers
import pathlib
import types
import typing
from types import MappingProxyType
from typing import Any

from ....ops.layers import base_of
from ....ops.torch_attributes import optimizers

MODULES = (abc, builtins, collections, collections.abc, enum, functools, itertools, math, numbers, pathlib, types)
"""The modules of Python whose names are looked up as what they are."""
PYTHON: MappingProxyType[str, object] = MappingProxyType(
    {
        **{f"typing.{name}": each for name, each in vars(typing).items() if not name.startswith("_")},
        "inspect.Signature": inspect.Signature,
        "inspect.Parameter": inspect.Parameter,
        **{f"{module.__name__}.{name}": each for module in MODULES for name, each in vars(module).items()},
    }
)
"""What is called by a dotted name."""
UNNAMED: tuple[type, ...] = (
    type(None),
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    types.ModuleType,
    types.GeneratorType,
    type({}.items()),
    type(...),
)
"""Classes that Python has no name for in ``builtins``."""
TYPES: MappingProxyType[str, type] = MappingProxyType(
    {
        **{name: each for name, each in PYTHON.items() if isinstance(each, type)},
        **{f"builtins.{each.__name__}": each for each in UNNAMED},
    }
)
"""The classes among them, and those that have no name."""

TORCH_BASES: MappingProxyType[str, tuple[str, ...]] = MappingProxyType(
    {
        "torch.nn.Module": (),
        "torch.Tensor": (),
        "torch.nn.Parameter": ("torch.Tensor",),
        "torch.nn.Buffer": ("torch.Tensor",),
        "torch.nn.UninitializedParameter": ("torch.nn.Parameter",),
        "torch.Size": ("builtins.tuple",),
        "torch.dtype": (),
        "torch.device": (),
        "torch.layout": (),
        "torch.memory_format": (),
        "torch.Generator": (),
        "torch.autograd.function.FunctionCtx": (),
        "torch.optim.Optimizer": (),
        "torch.optim.AdamW": ("torch.optim.Adam",),
        "numpy.ndarray": (),
        "numpy.generic": (),
        "numpy.number": ("numpy.generic",),
        "numpy.floating": ("numpy.number",),
        "numpy.integer": ("numpy.number",),
        "numpy.bool_": ("numpy.generic",),
    }
)
"""Other classes of PyTorch and NumPy with what they are derived from."""
ALIASES = MappingProxyType(
    {
        "torch.autograd.Variable": "torch.Tensor",
        "torch.autograd.variable.Variable": "torch.Tensor",
        "torch.nn.parameter.Parameter": "torch.nn.Parameter",
        "torch.nn.parameter.Buffer": "torch.nn.Buffer",
        "torch.optim.optimizer.Optimizer": "torch.optim.Optimizer",
        "torch._tensor.Tensor": "torch.Tensor",
        "types.NoneType": "builtins.NoneType",
        "numpy.bool": "numpy.bool_",
    }
)


def canonical(name: str) -> str:
    """The name by which a class is known here, of the several that it has."""
    if name in TYPES:
        kind = TYPES[name]
        return f"{kind.__module__}.{kind.__qualname__}"
    if name in ALIASES:
        return ALIASES[name]
    if name.startswith("torch.nn.modules."):
        return f"torch.nn.{name.rpartition('.')[2]}"
    owner, _, last = name.rpartition(".")
    return f"torch.optim.{last}" if owner.startswith("torch.optim.") and last in optimizers() else name


def bases_of(name: str) -> tuple[str, ...] | None:
    """What a class of PyTorch or NumPy is derived from, by its canonical name; None where that is not known."""
    if name in TORCH_BASES:
        return TORCH_BASES[name]
    owner, _, last = name.rpartition(".")
    if owner == "torch.optim":
        return ("torch.optim.Optimizer",) if last in optimizers() else None
    base = base_of(last) if owner == "torch.nn" else None
    return None if base is None else (f"torch.nn.{base}",)


def is_derived(kind: str, wanted: str) -> bool | None:
    """Whether the class ``kind`` is ``wanted`` or derived from it, both by their names; None where it is not known."""
    kind, wanted = canonical(kind), canonical(wanted)
    if kind == wanted or wanted == "builtins.object":
        return True
    if kind in TYPES and wanted in PYTHON:
        return _is_python_subclass(TYPES[kind], wanted)
    if kind in TYPES and wanted in TYPES:
        return issubclass(TYPES[kind], TYPES[wanted])
    if kind in TYPES:
        return False if bases_of(wanted) is not None else None
    return _is_derived_in_torch(kind, wanted)


def _is_python_subclass(kind: type, wanted: str) -> bool | None:
    """``issubclass``, which refuses what is no class."""
    known: Any = PYTHON[wanted]
    try:
        return issubclass(kind, known)
    except TypeError:
        return None


def _is_derived_in_torch(kind: str, wanted: str) -> bool | None:
    bases = bases_of(kind)
    if bases is None:
        return None
    verdicts = [is_derived(base, wanted) for base in bases]
    if True in verdicts:
        return True
    if None in verdicts or is_recognized(wanted):
        return None
    return False if wanted in TYPES or bases_of(wanted) is not None else None


def is_recognized(wanted: str) -> bool:
    """Whether a class of Python has instances that are not derived from it: ``collections.abc.Iterable`` has all that
    can be iterated over.
    """
    kind = PYTHON.get(wanted, TYPES.get(wanted))
    if isinstance(kind, abc.ABCMeta):
        return kind.__module__ != "collections.abc" or "__subclasshook__" in vars(kind)
    return kind is not None and wanted not in TYPES
