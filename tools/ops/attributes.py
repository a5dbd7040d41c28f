"""What modules, classes and objects of PyTorch have, by ``dir`` and ``hasattr``.

module torch.nn: class Linear Module ...; function factory_kwargs; module functional init ...
class torch.nn.Linear: __constants__ reset_parameters
object torch.nn.Linear: bias in_features out_features weight

An object has what its class has, but what is marked ``?``: only some objects have that. A row leaves out what every
object of Python has, and that of a layer what ``torch.nn.Module`` has. Of modules only public names are listed, and as
``maybe`` what one has once it was imported.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import torch
from tools.ops.layer_samples import by_class
from tools.ops.quiet import quiet
from torch import nn

MODULES = (
    "torch torch.nn torch.nn.functional torch.nn.init torch.nn.utils torch.nn.parallel torch.optim "
    "torch.optim.lr_scheduler torch.autograd torch.autograd.functional torch.cuda torch.cuda.amp torch.amp "
    "torch.utils.data torch.utils.checkpoint torch.linalg torch.fft torch.func torch.jit torch.special "
    "torch.distributions torch.backends"
).split()
OTHERS: dict[str, tuple[Any, ...]] = {
    "torch.Tensor": (torch.ones(3), torch.arange(3), torch.tensor(True), torch.eye(2).to_sparse()),
    "torch.nn.Parameter": (nn.Parameter(torch.ones(2)),),
    "torch.dtype": (torch.float32, torch.int64),
    "torch.device": (torch.device("cpu"),),
    "torch.Size": (torch.Size([2]),),
    "torch.Generator": (torch.Generator(),),
}
LEFT_OUT = frozenset((*dir(object()), "__annotations__", "__static_attributes__", "__firstlineno__"))
"""What every object has, and what Python's version decides."""


def lines() -> Iterator[str]:
    for name in MODULES:
        yield f"module {name}: {_of_module(name)}"
    for name, objects in OTHERS.items():
        yield from _rows(name, objects, LEFT_OUT)
    yield from _rows("torch.nn.Module", (nn.Module(),), LEFT_OUT)
    of_modules = {*LEFT_OUT, *_names([nn.Module()])[0]}
    for name, layers in sorted(_layers().items()):
        yield from _rows(f"torch.nn.{name}", layers, of_modules)
    of_optimizers = {name for name in dir(torch.optim.Optimizer) if hasattr(torch.optim.Optimizer, name)}
    yield from _written("class torch.optim.Optimizer", of_optimizers - LEFT_OUT)
    yield "object torch.optim.Optimizer: defaults param_groups state"


def _of_module(name: str) -> str:
    """The public names of a module, by what they are."""
    module = importlib.import_module(name)
    kinds: dict[str, list[str]] = {"class": [], "function": [], "module": [], "other": []}
    for each in sorted(dir(module)):
        if not each.startswith("_"):
            kinds[_kind(getattr(module, each))].append(each)
    found = {each for names in kinds.values() for each in names}
    inside = {each.name for each in pkgutil.iter_modules(getattr(module, "__path__", ()))} - found
    kinds["maybe"] = sorted(each for each in inside if not each.startswith("_"))
    return "; ".join(" ".join([kind, *names]) for kind, names in kinds.items() if names)


def _kind(thing: object) -> str:
    if inspect.ismodule(thing):
        return "module"
    if isinstance(thing, type):
        return "class"
    return "function" if inspect.isroutine(thing) else "other"


def _layers() -> dict[str, tuple[nn.Module, ...]]:
    """Objects of each layer, made with several arguments."""
    made: dict[str, tuple[nn.Module, ...]] = {
        "Sequential": (nn.Sequential(), nn.Sequential()),
        "ModuleList": (nn.ModuleList(),),
        "ModuleDict": (nn.ModuleDict(),),
        "ParameterList": (nn.ParameterList(),),
        "ParameterDict": (nn.ParameterDict(),),
    }
    for name, samples in by_class().items():
        objects = []
        for sample in samples:
            with quiet():
                args, keywords = sample.make
                objects.append(getattr(nn, name)(*args, **keywords))
        exact = [each for each in objects if type(each) is getattr(nn, name)]
        if exact:
            made[name] = tuple(exact)
    return made


def _rows(name: str, objects: tuple[Any, ...], known: Iterable[str]) -> Iterator[str]:
    kind = type(objects[0])
    with quiet():
        of_class, (always, sometimes) = _names([kind])[0] - set(known), _names(objects)
    yield from _written(f"class {name}", of_class)
    more = always - of_class | {f"?{each}" for each in sometimes | of_class - always}
    yield from _written(f"object {name}", {each for each in more if each.lstrip("?") not in known})


def _names(objects: Iterable[Any]) -> tuple[frozenset[str], frozenset[str]]:
    """What all of several objects have, and what only some of them have."""
    found = [frozenset(each for each in dir(thing) if _has(thing, each)) for thing in objects]
    always = frozenset.intersection(*found)
    return always, frozenset().union(*map(dir, objects)) - always


def _has(thing: object, name: str) -> bool:
    """``hasattr``, which raises where a tensor has no ``H``."""
    try:
        return hasattr(thing, name)
    except RuntimeError:
        return False


def _written(head: str, names: Collection[str]) -> Iterator[str]:
    if names:
        yield " ".join([f"{head}:", *sorted(names, key=lambda name: (name.lstrip("?"), name))])
