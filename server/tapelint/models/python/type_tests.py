"""``isinstance``, ``issubclass``, ``type``, ``callable``: what kind of thing a value is, as far as it is known."""

from __future__ import annotations

from collections.abc import Iterable

from ...autograd import resolve_view
from ...domain.mro import OBJECT, lookup_in_mro, mro_of
from ...domain.state import State
from ...domain.values import (
    FALSE,
    TRUE,
    Class,
    External,
    HeapRef,
    Instance,
    TensorRef,
    Tuple,
    Unknown,
    Value,
)
from ...engine.machine import Machine
from ...engine.paths.truth import any_of
from ...ops.conversions import ELEMENTS
from ..torch.nn.module_registry import is_module_like
from ..torch.nn.module_wrappers import is_wrapped
from ..torch.registry import Call, function
from .classes.library_classes import TYPES, canonical
from .classes.value_classes import classes_of, classes_of_instances, is_library_class, is_of


@function("builtins.isinstance")
def is_instance(machine: Machine, state: State, call: Call) -> Value:
    value, kinds = call.get(0, "obj"), call.get(1, "class")
    if isinstance(value, Unknown):
        return Unknown("isinstance", False)
    if isinstance(value, TensorRef) and isinstance(kinds, External) and kinds.name.startswith("torch.cuda."):
        # Where one tensor of a program is on the GPU, the others are: one question, whichever is asked.
        return Unknown("isinstance", False, formula=("isinstance", kinds, kinds))
    return _known("isinstance", any_of(_is_instance(machine, state, value, kind) for kind in _each(kinds)))


@function("builtins.issubclass")
def is_subclass(machine: Machine, state: State, call: Call) -> Value:
    kind, wanted = call.get(0, "class"), call.get(1, "class_or_tuple")
    if not _is_class(state, kind):
        return Unknown("issubclass", False)
    return _known("issubclass", any_of(is_of(state, kind, each) for each in _each(wanted)))


@function("builtins.type")
def type_of(machine: Machine, state: State, call: Call) -> Value:
    value = call.get(0, "obj")
    if isinstance(value, HeapRef) and isinstance(thing := state.heap[value.id], Instance):
        kinds = () if is_wrapped(state, value) else classes_of_instances(thing.kind)
    else:
        kinds = classes_of(state, value) if len(call.args) == 1 else ()
    is_exact = len(kinds) == 1 and kinds != (External("torch.optim.Optimizer"),)
    return kinds[0] if is_exact else Unknown("type", False)


@function("builtins.callable")
def is_callable(machine: Machine, state: State, call: Call) -> Value:
    value = call.get(0, "obj")
    if isinstance(value, Unknown):
        return Unknown("callable", False)
    return _known("callable", _unanimous(_is_callable(state, kind) for kind in classes_of(state, value)))


def _known(question: str, answer: bool | None) -> Value:
    return Unknown(question, False) if answer is None else TRUE if answer else FALSE


def _each(kinds: Value) -> list[Value]:
    """A class, or those of a tuple, which may be nested."""
    return [each for item in kinds.items for each in _each(item)] if isinstance(kinds, Tuple) else [kinds]


def _unanimous(verdicts: Iterable[bool | None]) -> bool | None:
    """What all of several are; None where they differ, and where there are none."""
    found = set(verdicts)
    return found.pop() if len(found) == 1 else None


def _is_class(state: State, value: Value) -> bool:
    if isinstance(value, External):
        return is_library_class(value.name)
    return isinstance(value, HeapRef) and isinstance(state.heap[value.id], Class)


def _is_instance(machine: Machine, state: State, value: Value, wanted: Value) -> bool | None:
    if isinstance(value, TensorRef) and isinstance(wanted, External) and (wanted.name in TYPED or wanted.name in OPEN):
        return _is_of_dtype(machine, state, value, wanted.name)
    if isinstance(value, TensorRef) and wanted in PLAIN and resolve_view(state, value.id).requires_grad:
        return False
    if wanted in PLAIN | HOLDERS and is_module_like(state, value):
        return False
    kinds = classes_of(state, value)
    if wanted in (External("collections.abc.Callable"), External("typing.Callable")):
        return _unanimous(_is_callable(state, kind) for kind in kinds)
    return _unanimous(is_of(state, kind, wanted) for kind in kinds)


PLAIN = frozenset(External(f"builtins.{name}") for name in ("str", "bytes", "int", "float", "complex", "bool"))
"""Classes whose objects keep no graph: nothing that is taken to keep one is of them."""
HOLDERS = frozenset(External(f"builtins.{name}") for name in ("list", "tuple", "dict", "set", "frozenset"))
"""Classes whose objects hold others, and of which no network is, whatever its own class is."""
TYPED = {f"torch.{elements}Tensor": dtype.family for elements, dtype in ELEMENTS.items()}
"""Classes of which a tensor is an instance if it has their dtype and is on the CPU."""
OPEN = frozenset(("torch.nn.Buffer", "torch.nn.UninitializedParameter", "torch.nn.UninitializedBuffer"))
"""Classes of which a tensor may be an instance that is not distinguished from others."""


def _is_of_dtype(machine: Machine, state: State, value: TensorRef, name: str) -> bool | None:
    tensor = resolve_view(state, value.id)
    if tensor.assumption or name in OPEN or tensor.kind in (None, "other"):
        return None
    if tensor.kind == "float" and machine.facts.is_single(tensor.id) and name != "torch.FloatTensor":
        return False
    return None if TYPED[name] == tensor.kind else False


def _is_callable(state: State, kind: Value) -> bool | None:
    """Whether instances of a class can be called."""
    if isinstance(kind, External) and (real := TYPES.get(canonical(kind.name))) is not None:
        return _has_call(real)
    if (known := is_of(state, kind, External("torch.nn.Module"))) is True:
        return True
    if isinstance(kind, External):
        return False if kind.name in PASSIVE else None
    found = lookup_in_mro(state, kind, "__call__")
    if found is not None:
        return True if found[1] is not None else None
    return False if known is False and all(isinstance(e, HeapRef) or e == OBJECT for e in mro_of(state, kind)) else None


def _has_call(real: type) -> bool:
    """Whether a class of Python says how its instances are called: classes themselves always can be."""
    return any("__call__" in vars(base) for base in real.__mro__)


PASSIVE = frozenset(
    ("torch.Tensor", "torch.nn.Parameter", "torch.Size", "torch.dtype", "torch.device", "torch.optim.Optimizer")
)
"""Classes of PyTorch whose instances cannot be called."""
