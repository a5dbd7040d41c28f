"""Of which classes a known value may be an instance.

3                 int
(2, 3)            tuple, or torch.Size
torch.relu        a function of Python or a built-in one
Net()             the class of the program
load()            unknown
"""

from __future__ import annotations

from ....autograd import Tensor
from ....domain.mro import OBJECT, mro_of
from ....domain.state import State
from ....domain.values import (
    BoundMethod,
    BuiltinMethod,
    Class,
    Const,
    External,
    Function,
    Generator,
    HeapRef,
    Instance,
    Mapping,
    Module,
    Optimizer,
    Partial,
    Range,
    Sequence,
    Slice,
    TensorRef,
    Tuple,
    Unknown,
    Value,
    Zip,
)
from ....ops.conversions import BY_NAME as DTYPE_NAMES
from ....ops.layers import LAZY
from ....ops.module_names import is_layer
from ....ops.torch_attributes import kind_of_name
from ...torch.autograd_function.context import CONTEXT
from ...torch.nn.module_registry import is_module_like
from ...torch.nn.module_wrappers import is_wrapped
from ...torch.registry import is_opaque, model_of
from .library_classes import PYTHON, TYPES, bases_of, canonical, is_derived, is_recognized

TYPE, FUNCTION, BUILTIN_FUNCTION = (
    External(f"builtins.{name}") for name in ("type", "function", "builtin_function_or_method")
)
CLASSES = (TYPE, External("abc.ABCMeta"))
METHOD, MODULE, SIZE = External("builtins.method"), External("builtins.module"), External("torch.Size")
DTYPE, OPTIMIZER = External("torch.dtype"), External("torch.optim.Optimizer")
SUBMODULES = frozenset(("torch.utils.data", "numpy.linalg", "numpy.random", "os.path", "collections.abc"))
"""Modules in packages, beside those that ``ops.torch_attributes`` knows."""

OF_SEQUENCES: dict[str, tuple[str, ...]] = {
    "list": ("builtins.list",),
    "set": ("builtins.set",),
    "frozenset": ("builtins.frozenset",),
    "deque": ("collections.deque",),
    "Counter": ("collections.Counter",),
    "tuple": ("builtins.tuple",),
    "ModuleList": ("torch.nn.ModuleList", "torch.nn.ParameterList"),
    "Sequential": ("torch.nn.Sequential",),
    "iterator": ("builtins.generator", "builtins.map", "builtins.filter", "itertools.chain", "builtins.reversed"),
}
OF_ENDLESS = (External("builtins.range"), External("itertools.count"))
OF_ZIPS = ("builtins.zip", "builtins.enumerate", "builtins.dict_items", "itertools.product")
DICTS = ("builtins.dict", "collections.OrderedDict")
OF_MAPPINGS: dict[str, tuple[str, ...]] = {
    "dict": (*DICTS, "collections.defaultdict"),
    "ModuleDict": ("torch.nn.ModuleDict", "torch.nn.ParameterDict"),
    "_parameters": DICTS,
    "_buffers": DICTS,
    "_modules": DICTS,
}
"""The classes of containers by what is known of them."""


def classes_of(state: State, value: Value) -> tuple[Value, ...]:
    """The classes that ``value`` may be an instance of, most derived ones; none where that is not known."""
    match value:
        case Const():
            return (External(f"{type(value.value).__module__}.{type(value.value).__qualname__}"),)
        case TensorRef():
            return _of_tensor(state, state.tensors[value.id])
        case Tuple():
            return _of_tuple(value)
        case HeapRef():
            return _of_object(state, value)
        case External():
            return _of_library(value.name)
        case Range():
            return (External("builtins.range"),) if value.stop is not None else OF_ENDLESS
        case Zip():
            return tuple(map(External, OF_ZIPS))
        case Partial():
            return (External("functools.partial"), FUNCTION, TYPE)
        case BoundMethod():
            return (METHOD,) if isinstance(value.function, Function) else (METHOD, BUILTIN_FUNCTION)
        case BuiltinMethod():
            return () if is_opaque(state, value) or not _is_method(state, value) else (METHOD, BUILTIN_FUNCTION)
    return _OF_VALUES.get(type(value), ())


_OF_VALUES: dict[type, tuple[Value, ...]] = {
    Function: (FUNCTION,),
    Module: (MODULE,),
    Slice: (External("builtins.slice"),),
    Generator: (External("builtins.generator"),),
}


def _is_method(state: State, value: BuiltinMethod) -> bool:
    """Whether an attribute is a method for certain: what objects of libraries have may be data."""
    return isinstance(value.receiver, (TensorRef, Const)) or is_module_like(state, value.receiver)


def _of_tensor(state: State, tensor: Tensor) -> tuple[Value, ...]:
    """That something is a tensor which was taken for one, a backward from it has shown."""
    is_walked = tensor.grad_fn is not None and (tensor.grad_fn in state.freed or tensor.grad_fn in state.retained)
    if tensor.assumption and not is_walked or tensor.stands_for_module:
        return ()
    return (External("torch.nn.Parameter"),) if tensor.parameter else (External("torch.Tensor"),)


def _of_tuple(value: Tuple) -> tuple[Value, ...]:
    """A tuple of numbers may be the sizes of a tensor; a named tuple is of a class of its own."""
    if value.names:
        return ()
    plain = External("builtins.tuple")
    return (plain, SIZE) if all(map(_may_be_size, value.items)) else (plain,)


def _may_be_size(item: Value) -> bool:
    return isinstance(item, Unknown) or isinstance(item, Const) and type(item.value) is int


def _of_object(state: State, value: HeapRef) -> tuple[Value, ...]:
    match state.heap[value.id]:
        case Sequence(kind=kind):
            return tuple(map(External, OF_SEQUENCES.get(kind, ())))
        case Mapping(kind=kind, default=default):
            made = ("collections.defaultdict",) if default is not None else OF_MAPPINGS.get(kind, ())
            return tuple(map(External, made))
        case Class():
            return CLASSES
        case Instance(kind=of, is_partial=is_partial) if not is_partial or of == CONTEXT:
            return () if is_wrapped(state, value) else classes_of_instances(of)
        case Optimizer():
            return (OPTIMIZER,)
    return ()


def classes_of_instances(kind: Value) -> tuple[Value, ...]:
    """The classes that instances of a class may have: code that was not read may have called a layer that finds its
    sizes in its first call, and has another class afterwards.
    """
    found = LAZY.get(canonical(kind.name).removeprefix("torch.nn.")) if isinstance(kind, External) else None
    return (kind,) if found is None else (kind, External(f"torch.nn.{found}"))


def _of_library(name: str) -> tuple[Value, ...]:
    """The class of what a library defines."""
    if name in PYTHON:
        kind = type(PYTHON[name])
        return (External(f"{kind.__module__}.{kind.__qualname__}"),)
    if "." not in name and name.isidentifier() or name in SUBMODULES:
        return (MODULE,)
    owner, _, last = name.rpartition(".")
    if owner == "torch" and last in DTYPE_NAMES:
        return (DTYPE,)
    if is_library_class(name):
        return CLASSES
    thing = kind_of_name(name)
    if thing == "module":
        return (MODULE,)
    if thing == "class":
        return CLASSES
    if thing == "function" or name.startswith("torch.") and model_of(name) is not None and last.islower():
        return (FUNCTION, BUILTIN_FUNCTION, TYPE)
    return ()


def is_library_class(name: str) -> bool:
    """Whether a name is that of a class of Python, PyTorch or NumPy."""
    name = canonical(name)
    return name in TYPES or bases_of(name) is not None or name.startswith("torch.") and is_layer(name)


def is_of(state: State, kind: Value, wanted: Value) -> bool | None:
    """Whether the class ``kind`` is ``wanted`` or derived from it; None where that is not known."""
    if kind == wanted or wanted == OBJECT:
        return True
    if isinstance(wanted, HeapRef) and isinstance(state.heap[wanted.id], Class):
        return _is_of_program(state, kind, wanted)
    if not isinstance(wanted, External):
        return None
    if isinstance(kind, External):
        is_told = kind != OPTIMIZER or wanted == OPTIMIZER or not wanted.name.startswith("torch.optim.")
        return _is_of_library(kind.name, wanted.name) if is_told else None  # it may be any optimizer
    return _is_derived_from(mro_of(state, kind), wanted)


def _is_derived_from(order: list[Value], wanted: External) -> bool | None:
    """Whether one of the classes that a class of the program is derived from is ``wanted``."""
    verdicts = [_is_of_library(each.name, wanted.name) for each in order if isinstance(each, External)]
    if True in verdicts:
        return True
    is_known = all(isinstance(each, (HeapRef, External)) for each in order) and None not in verdicts
    return False if is_known and _is_concrete(wanted.name) else None


def _is_concrete(name: str) -> bool:
    """Whether only what is derived from a class is an instance of it."""
    name = canonical(name)
    return not is_recognized(name) and (name in TYPES or bases_of(name) is not None)


def _is_of_library(kind: str, wanted: str) -> bool | None:
    known = is_derived(kind, wanted)
    if known is not None or kind in TYPES:
        return known
    if kind == OBJECT.name:
        return False if _is_concrete(wanted) else None
    if not is_layer(kind):
        return None
    if canonical(wanted) == "torch.nn.Module":
        return True
    return False if canonical(wanted) in TYPES and _is_concrete(wanted) or wanted == "torch.Tensor" else None


UNREGISTERED = (External("builtins.NoneType"), *CLASSES)
"""What no abstract class is told to have as instances: None, and classes themselves."""


def _is_of_program(state: State, kind: Value, wanted: HeapRef) -> bool | None:
    """Whether a class is derived from a class that the program defines: no class of a library is, unless that class
    says itself what its instances are.
    """
    order = mro_of(state, kind)
    if wanted in order:
        return True
    bases = mro_of(state, wanted)
    is_plain = all(isinstance(each, HeapRef) or each == OBJECT or _is_ordinary(each) for each in bases)
    unknown = any(not isinstance(each, (HeapRef, External)) for each in order)
    has_metaclass = any(
        keyword.arg == "metaclass"
        for each in bases
        if isinstance(each, HeapRef) and isinstance(thing := state.heap[each.id], Class)
        for keyword in thing.node.keywords
    )
    if kind in UNREGISTERED and TYPE not in bases:
        return False  # not even of an abstract class: nothing registers it there
    return None if unknown or has_metaclass or not is_plain else False


def _is_ordinary(base: Value) -> bool:
    """Whether a base class leaves it to Python what the instances of a class are."""
    return isinstance(base, External) and not base.name.startswith(("typing.", "typing_extensions.", "abc."))
