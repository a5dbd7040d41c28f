"""``is`` and ``==`` of values that are known: what cannot be one thing is not, what cannot be equal is not.

torch is np                      False: two modules
x == None                        False: a tensor is a tensor
(1, 2) == [1, 2]                 False: a tuple is no list
torch.float is torch.float32     True: two names of one dtype
F.relu is torch.relu             unknown
"""

from __future__ import annotations

from types import MappingProxyType

from ....domain.completion import Caught
from ....domain.mro import OBJECT, mro_of
from ....domain.state import State
from ....domain.values import (
    NONE,
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
    Origin,
    Range,
    Sequence,
    Slice,
    TensorRef,
    Tuple,
    Unknown,
    Value,
)
from ....ops.module_names import is_layer
from ...torch.devices import are_devices, is_device
from ...torch.dtypes import are_same
from ...torch.nn.module_wrappers import is_wrapped
from ...torch.registry import is_opaque
from .library_classes import PYTHON, canonical
from .value_classes import DTYPE, FUNCTION, MODULE, TYPE, classes_of

DTYPE_ALIASES: MappingProxyType[str, str] = MappingProxyType(
    {
        "torch.float": "torch.float32",
        "torch.double": "torch.float64",
        "torch.half": "torch.float16",
        "torch.long": "torch.int64",
        "torch.int": "torch.int32",
        "torch.short": "torch.int16",
        "torch.chalf": "torch.complex32",
        "torch.cfloat": "torch.complex64",
        "torch.cdouble": "torch.complex128",
    }
)


def identical(state: State, left: Value, right: Value) -> bool | None:
    """``left is right``, where it is known."""
    if left is right:
        return None if is_wrapped(state, left) else True
    if _are_apart(left, right):
        return False
    if any(isinstance(each, Unknown) or is_opaque(state, each) for each in (left, right)):
        return True if are_devices(left, right) else are_same(left, right)
    if isinstance(left, Const) and isinstance(right, Const):
        return _same_constant(left.value, right.value)
    if isinstance(left, External) and isinstance(right, External):
        return _same_in_library(state, left, right)
    if type(left) is not type(right):
        return None if any(_is_anything(state, each) for each in (left, right)) else False
    return _same_object(state, left, right)


def _are_apart(left: Value, right: Value) -> bool:
    """Whether one of two values is a constant that the other is not: an exception that a handler has caught is none,
    and data that a loader gives is not None.
    """
    one, two = (right, left) if isinstance(left, Const) else (left, right)
    if not isinstance(two, Const) or not isinstance(one, Unknown):
        return False
    is_data = one.origin is Origin.BATCH and one.requires_grad is False
    return isinstance(one.formula, Caught) or is_data and two == NONE


def _same_object(state: State, left: Value, right: Value) -> bool | None:
    is_object = isinstance(left, (TensorRef, HeapRef, Module, Function)) and not is_wrapped(state, left)
    if isinstance(left, TensorRef) and isinstance(right, TensorRef) and left != right:
        return None if _may_be_same(state, left, right) else False
    return left == right if is_object or left != right else None


def _may_be_same(state: State, left: TensorRef, right: TensorRef) -> bool:
    """Whether two may be one tensor: a conversion of data is a copy, or the tensor itself."""
    one, two = state.tensors[left.id], state.tensors[right.id]
    return one.version_counter == two.version_counter and one.base == two.base and not one.grad_fn and not two.grad_fn


def _is_anything(state: State, value: Value) -> bool:
    """Whether a value is what a library calls by a name, and it is not known what that is: it may be None."""
    return isinstance(value, External) and not classes_of(state, value)


def _same_constant(left: object, right: object) -> bool | None:
    """Equal numbers and texts are one object or two; there is one None, one True, one False, and CPython keeps one of
    each text that could be a name, as it is written in a program.
    """
    if left is None or right is None or isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, str) and left == right and left.isidentifier() and left.isascii():
        return True
    return None if type(left) is type(right) and left == right else False


def _same_in_library(state: State, left: External, right: External) -> bool | None:
    """Whether two names of libraries are those of one thing."""
    one, two = (canonical(DTYPE_ALIASES.get(each.name, each.name)) for each in (left, right))
    if one == two:
        return True
    if one in PYTHON and two in PYTHON:
        return PYTHON[one] is PYTHON[two]
    kinds = classes_of(state, left), classes_of(state, right)
    if not all(kinds):
        return None
    if not set(kinds[0]) & set(kinds[1]) or kinds[0][0] in (DTYPE, MODULE, TYPE):
        return False
    return False if one.rpartition(".")[2] != two.rpartition(".")[2] else None


def equal(state: State, left: Value, right: Value) -> bool | None:
    """``left == right`` where one of them is no constant and the result is a truth value; None where it is not known,
    is a tensor, or raises.
    """
    kinds = _kind(state, left), _kind(state, right)
    if None in kinds:
        if isinstance(left, Const) and is_device(right) or isinstance(right, Const) and is_device(left):
            return False
        return True if are_devices(left, right) else are_same(left, right)
    if "tensor" in kinds:
        return False if not TENSORS.issuperset(kinds) else None
    if kinds[0] != kinds[1]:
        return False
    match kinds[0]:
        case "tuple" if isinstance(left, Tuple) and isinstance(right, Tuple):
            return same_items(state, left.items, right.items)
        case "list" if isinstance(left, HeapRef) and isinstance(right, HeapRef):
            return _same_lists(state, state.get(left.id, Sequence), state.get(right.id, Sequence))
        case "object":
            return identical(state, left, right)
    return None


TENSORS = frozenset(("tensor", "number"))
"""What a tensor is compared with item by item."""


def same_items(state: State, left: tuple[Value, ...], right: tuple[Value, ...]) -> bool | None:
    """Whether two tuples are equal: their items are compared one by one, until two differ; then it is their number."""
    for one, two in zip(left, right):
        if identical(state, one, two):
            continue
        same = one == two if isinstance(one, Const) and isinstance(two, Const) else equal(state, one, two)
        if same is not True:
            break
    else:
        return len(left) == len(right)
    if same is None and not any(_kind(state, each) in (None, "tensor") for each in (*left, *right)):
        return False if len(left) != len(right) else None
    return same


def is_among(state: State, value: Value, items: tuple[Value, ...]) -> bool | None:
    """Whether one of several items is ``value`` or equal to it; None where that is not known."""
    verdicts = [same_items(state, (value,), (item,)) for item in items]
    return next((verdict for verdict in verdicts if verdict is not False), False)


def _same_lists(state: State, left: Sequence, right: Sequence) -> bool | None:
    """Lists are equal if as many items are."""
    if left.is_partial or right.is_partial:
        return None
    if len(left.items) != len(right.items):
        return False
    return same_items(state, tuple(left.items), tuple(right.items))


OF_CONSTANTS: MappingProxyType[type, str] = MappingProxyType(
    {bool: "number", int: "number", float: "number", complex: "number"}
)
OF_SEQUENCES = MappingProxyType({"list": "list", "tuple": "tuple", "set": "set", "frozenset": "set", "Counter": "dict"})


def _kind(state: State, value: Value) -> str | None:
    """How a value is compared: ``object`` by its identity, others with what is of the same kind; None where it is not
    known.
    """
    match value:
        case Const():
            return OF_CONSTANTS.get(type(value.value), type(value.value).__name__)
        case TensorRef():
            return None if state.tensors[value.id].assumption else "tensor"
        case Tuple():
            return "tuple"
        case HeapRef():
            return _kind_of_object(state, value)
        case External():
            kinds = classes_of(state, value)
            return "object" if kinds and kinds[0] in (DTYPE, MODULE, TYPE, FUNCTION) else None
        case Module() | Function() | Generator():
            return "object"
        case BuiltinMethod() | BoundMethod():
            return None if is_opaque(state, value) or not classes_of(state, value) else "method"
        case Slice() | Range():
            return type(value).__name__
    return None


def _kind_of_object(state: State, value: HeapRef) -> str | None:
    match state.heap[value.id]:
        case Sequence(kind=kind):
            return OF_SEQUENCES.get(kind, "object" if kind in ("Sequential", "iterator") else None)
        case Mapping(kind=kind):
            return None if kind == "config" else "object" if kind == "ModuleDict" else "dict"
        case Optimizer():
            return "object"
        case Class(node=node):
            return None if any(each.arg == "metaclass" for each in node.keywords) else "object"
        case Instance(kind=of):
            return "object" if all(_keeps_identity(state, each) for each in mro_of(state, of)) else None
    return None


def _keeps_identity(state: State, kind: Value) -> bool:
    """Whether a class leaves it to Python which of its objects are equal: each is equal to itself."""
    if isinstance(kind, External):
        return kind == OBJECT or is_layer(kind.name)
    thing = state.heap[kind.id] if isinstance(kind, HeapRef) else None
    return isinstance(thing, Class) and not thing.dataclass and "__eq__" not in thing.attributes
