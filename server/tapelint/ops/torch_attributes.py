"""What modules, classes and objects of PyTorch have, by name: the rows of ``attributes.txt``.

module torch.nn: class Linear Module ...; function factory_kwargs; module functional init ...; maybe cpp
class torch.nn.Linear: __constants__ reset_parameters
object torch.nn.Linear: bias in_features out_features weight

An object has what its class has, but what is marked ``?``: only some objects have that. A layer has what
``torch.nn.Module`` has, too, and each what every object of Python has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType

ATTRIBUTES = Path(__file__).with_name("attributes.txt")
MODULE = "torch.nn.Module"
OF_PYTHON = frozenset(dir(object()))
NUMBERS = frozenset(("item", "numpy", "tolist"))
"""Methods of a tensor that return its numbers, and none (https://docs.pytorch.org/docs/stable/tensors.html)."""
CUTS = frozenset(("data", "detach", "detach_"))
"""What gives the tensor without its graph (the same page)."""


@cache
def _rows() -> dict[str, str]:
    """The rows by what they are of: ``class torch.nn.Linear``."""
    lines = ATTRIBUTES.read_text(encoding="utf-8").splitlines()
    return {head: rest for head, _, rest in (line.partition(":") for line in lines if not line.startswith("#"))}


@lru_cache(4096)
def names_in(module: str) -> Mapping[str, str] | None:
    """The public names of a module of PyTorch with what each is: ``class``, ``function``, ``module``, ``other``, or
    ``maybe`` for what is there once it was imported; None for a module that has no row.
    """
    row = _rows().get(f"module {module}")
    if row is None:
        return None
    parts = (part.split() for part in row.split(";"))
    return MappingProxyType({name: kind for kind, *found in parts for name in found})


def kind_of_name(name: str) -> str | None:
    """What a dotted name of PyTorch stands for: ``class``, ``function``, ``module`` or ``other``; None where it is not
    known.
    """
    owner, _, last = name.rpartition(".")
    kind = (names_in(owner) or {}).get(last)
    return None if kind == "maybe" else kind


@cache
def optimizers() -> frozenset[str]:
    """The optimizers of ``torch.optim``, by the names of their classes."""
    found = names_in("torch.optim") or {}
    return frozenset(name for name, kind in found.items() if kind == "class") - {"Optimizer"}


@lru_cache(4096)
def has_row(kind: str) -> bool:
    """Whether it is known what objects of a class have."""
    return f"class {kind}" in _rows() or f"object {kind}" in _rows()


@lru_cache(4096)
def of_class(kind: str) -> frozenset[str]:
    """What a class of PyTorch with a row has."""
    return frozenset(_rows().get(f"class {kind}", "").split()) | _inherited(kind, of_class)


@lru_cache(4096)
def of_objects(kind: str) -> frozenset[str]:
    """What every object of a class of PyTorch with a row has."""
    own = {*_rows().get(f"class {kind}", "").split(), *_rows().get(f"object {kind}", "").split()}
    return frozenset(own - of_some_objects(kind)) | _inherited(kind, of_objects)


@lru_cache(4096)
def of_some_objects(kind: str) -> frozenset[str]:
    """What only some objects of a class have."""
    marked = (name for name in _rows().get(f"object {kind}", "").split() if name.startswith("?"))
    return frozenset(form for name in marked for form in (name, name[1:]))


def _inherited(kind: str, names: Callable[[str], frozenset[str]]) -> frozenset[str]:
    return names(MODULE) if kind.startswith("torch.nn.") and kind not in (MODULE, "torch.nn.Parameter") else OF_PYTHON
