"""Whether a known value has an attribute: asked by ``hasattr(x, name)``, by ``getattr(x, name, default)``, and by
``x.name``, which raises where it is not there (``semantics/refused/absent_attributes.py``).

"a".nope, (1, 2).append        no: Python itself is asked
net.parameters                 yes: every ``nn.Module`` has it; the table of attributes says so
net.nope                       no: the class of `net` is known with all of its bases, and nothing else was set
model.nope                     unknown: of a base that is not known, or a name that is not known was set
handed_on.nope                 unknown: code that is not read was given the object

What is not there is so on the path that is followed; another way through ``__init__`` may have set it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from ....domain import facets
from ....domain.mro import OBJECT, mro_of
from ....domain.state import State
from ....domain.values import (
    Class,
    Const,
    External,
    Frame,
    Function,
    HeapRef,
    Instance,
    Module,
    Optimizer,
    TensorRef,
    Tuple,
    Unknown,
    UnwrittenResult,
    Value,
)
from ....engine.machine import Machine
from ....engine.open_objects import is_older, is_whole, may_bind
from ....engine.paths.truth import any_of
from ....ops.module_names import is_layer
from ....ops.torch_attributes import MODULE as LAYER
from ....ops.torch_attributes import OF_PYTHON, has_row, names_in, of_class, of_objects, of_some_objects
from ....source import cached_on_node, own_attribute, own_name, walk
from ...torch.nn.module_wrappers import WRAPPERS, is_wrapped
from .library_classes import PYTHON, TYPES, canonical
from .value_classes import FUNCTION, METHOD, MODULE, classes_of, is_library_class

OPEN = (FUNCTION, METHOD, MODULE)
"""Classes whose objects have attributes of their own, or can be given some by any code."""
OPTIONAL = frozenset(
    "__call__ __len__ __getitem__ __setitem__ __iter__ __next__ __contains__ __enter__ __exit__ __bool__".split()
)
"""Special names that an object has only if its class says so; others may come from Python or a decorator
(https://docs.python.org/3/reference/datamodel.html#special-method-names).
"""
OF_OBJECTS = frozenset(("__dict__", "__module__"))


def has(machine: Machine, state: State, value: Value, name: str) -> bool | None:
    """Whether ``value.name`` is there; None where that is not known."""
    match value:
        case Const():
            return _of_constant(state, value, name)
        case Tuple(names=names) if names:
            return True if name in names or hasattr((), name) else None
        case TensorRef():
            return _of_tensor(state, value, name)
        case Function():
            return _of_function(machine, state, value, name)
        case Module():
            return machine.imports.defines(state, value, name) if machine.imports is not None else None
        case External():
            return _of_library(state, value.name, name)
        case Unknown():
            return True if name in state.given_attributes(value.tensor_id) else None
        case HeapRef():
            return _of_heap(machine, state, value, name)
    return _of_any(state, value, name)


def _of_constant(state: State, value: Const, name: str) -> bool | None:
    """Python says what a value of its own has; of the None of a method without code nothing is known."""
    is_there = hasattr(value.value, name)
    if isinstance(value, UnwrittenResult) or not is_there and value.value is not None and _may_be_member(state):
        return None
    return is_there


def _of_heap(machine: Machine, state: State, value: HeapRef, name: str) -> bool | None:
    """Of an object of the program, or a class of it."""
    thing = state.heap[value.id]
    if isinstance(thing, Optimizer):
        return True if name in of_objects("torch.optim.Optimizer") else None
    if isinstance(thing, Instance):
        known = None if facets.doubted(name) in thing.attributes else _of_object(state, value, thing, name)
        return None if known is False and _may_be_set(machine, state, value, thing, name) else known
    if isinstance(thing, Class):
        known = _of_own_class(state, value, name)
        is_open = not machine.facts.objects.open_objects.isdisjoint(_classes(state, value))
        return None if known is False and is_open else known
    return _of_any(state, value, name)


def _may_be_member(state: State) -> bool:
    """Whether the program has a class of enumerated values, whose members are taken for their values."""
    classes = (thing for thing in state.heap.values() if isinstance(thing, Class))
    return any(isinstance(base, External) and base.name.startswith("enum.") for each in classes for base in each.bases)


def _of_any(state: State, value: Value, name: str) -> bool | None:
    """Of a value by the classes that it may be an instance of, if all of them agree."""
    verdicts = {_of_instances(kind, name) for kind in classes_of(state, value) if isinstance(kind, External)}
    known = verdicts.pop() if len(verdicts) == 1 else None
    is_open = isinstance(value, HeapRef)  # a container of layers may be in a wrapper, a list may be a library's own
    return None if known is False and (is_open and not _is_plain(state, value)) else known


def _is_plain(state: State, value: Value) -> bool:
    """Whether a value is of a class of Python itself."""
    return all(isinstance(kind, External) and kind.name in TYPES for kind in classes_of(state, value))


def _of_instances(kind: External, name: str) -> bool | None:
    """Whether objects of a class of a library have an attribute."""
    known = canonical(kind.name)
    if known in TYPES:
        is_there = _gives(TYPES[known], name)
        return True if is_there else None if kind in OPEN or name.startswith("__") else False
    if has_row(known):
        return True if name in of_objects(known) else None if name in of_some_objects(known) else False
    return True if is_layer(known) and name in of_objects(LAYER) else None


def _of_tensor(state: State, value: TensorRef, name: str) -> bool | None:
    """One that all tensors have, or that the program gave it."""
    tensor = state.tensors[value.id]
    if name in state.given_attributes(value.id):
        return True
    if tensor.stands_for_module or name in of_some_objects("torch.Tensor"):
        return None
    if name in of_objects("torch.Tensor"):
        return True
    return None if tensor.assumption or name.startswith("_") else False


def _of_function(machine: Machine, state: State, function: Function, name: str) -> bool | None:
    """A function has what its kind has, and what some code has given it: decorators may do that."""
    is_plain = isinstance(function.node, ast.Lambda) or not function.node.decorator_list
    is_known = is_plain and not function.kind and not hasattr(_of_function, name)
    return False if is_known and not may_bind(machine, name) else _of_any(state, function, name)


def _of_library(state: State, owner: str, name: str) -> bool | None:
    """Of a module or a class of a library."""
    known = canonical(owner)
    if known in PYTHON or f"{owner}.{name}" in PYTHON:
        return f"{owner}.{name}" in PYTHON or hasattr(PYTHON[known], name)
    names = names_in(owner)
    if names is not None:
        return None if name.startswith("_") or names.get(name) == "maybe" else name in names
    if is_library_class(owner) and has_row(known):
        return True if name in of_class(known) else None
    return _of_any(state, External(owner), name)


def _of_own_class(state: State, value: HeapRef, name: str) -> bool | None:
    """A class of the program has what its body and its bases define."""
    order = mro_of(state, value)
    if _is_doubted(state, order, name):
        return None
    if any(name in state.get(each.id, Class).attributes for each in order if isinstance(each, HeapRef)):
        return True
    return True if hasattr(type, name) else _of_bases(state, order, name, of_class)


def _is_doubted(state: State, order: list[Value], name: str) -> bool:
    """Whether only some of the joined paths had set an attribute of a class, or of one that it is derived from."""
    owned = (state.get(each.id, Class).attributes for each in order if isinstance(each, HeapRef))
    return any(facets.doubted(name) in attributes for attributes in owned)


def _of_object(state: State, value: HeapRef, thing: Instance, name: str) -> bool | None:
    """An object has what was set, what its class and its bases define, and what a library gives its objects."""
    if is_wrapped(state, value):
        return True if name in of_objects(LAYER) or name in WRAPPERS and name in thing.attributes else None
    return _of_plain_object(state, thing, name)


def _of_plain_object(state: State, thing: Instance, name: str) -> bool | None:
    order = mro_of(state, thing.kind)
    found = next((own for each in order if (own := _own(state, each, name)) is not None), None)
    if isinstance(found, Function) and found.kind in ("property", "cached"):
        return None  # it may raise AttributeError itself
    if found is not None and name not in thing.attributes and _is_doubted(state, order, name):
        return None
    if found is not None or name in OF_OBJECTS:
        return True
    if name in thing.attributes and facets.PARAMETRIZED not in thing.attributes:
        return True
    hidden = thing.is_partial or any(map(_hides_attributes, thing.attributes))
    return _of_bases(state, order, name, of_objects, hidden)


def _of_bases(
    state: State, order: list[Value], name: str, names: Callable[[str], frozenset[str]], hidden: bool = False
) -> bool | None:
    """Whether one of the library's classes among those that a class is derived from gives an attribute."""
    verdicts = {_of_base(each, name, names) for each in order if isinstance(each, External)}
    if hidden or _is_open(state, order, name):
        verdicts.add(None)
    return any_of(verdicts)


def _classes(state: State, kind: Value) -> list[int]:
    """The classes of the program among those that a class is derived from."""
    return [each.id for each in mro_of(state, kind) if isinstance(each, HeapRef)]


def _may_be_set(machine: Machine, state: State, value: HeapRef, thing: Instance, name: str) -> bool:
    """Whether code that was not executed may have set an attribute: code that has the object, or a method that may have
    been called before. A method that itself asks for what it sets is called for the first time.
    """
    if not machine.facts.objects.open_objects.isdisjoint(_classes(state, thing.kind)):
        return True
    if not isinstance(thing.kind, HeapRef):
        return value.id in machine.facts.objects.open_objects
    if value.id not in machine.facts.objects.imagined:
        if not is_older(machine, value.id):
            return not is_whole(machine, state, value.id)
        if value.id in machine.facts.objects.open_objects:
            return True
    function = state.get(state.frame, Frame).function
    asking = getattr(function.node, "name", "") if function is not None else ""
    classes = (state.heap[each.id] for each in mro_of(state, thing.kind) if isinstance(each, HeapRef))
    return any(
        not {"__init__", asking}.issuperset(machine.query(stores_of_methods, each.node).get(name, ()))
        for each in classes
        if isinstance(each, Class)
    )


@cached_on_node
def stores_of_methods(kind: ast.ClassDef) -> dict[str, frozenset[str]]:
    """The methods of a class that set an attribute of their object, by the name of the attribute."""
    found: dict[str, frozenset[str]] = {}
    for method in (each for each in kind.body if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))):
        own = own_name(method)
        for node in walk(method):
            if (name := own_attribute(node, own)) is not None and isinstance(node, ast.Attribute):
                if isinstance(node.ctx, ast.Store):
                    found[name] = found.get(name, frozenset()) | {method.name}
    return found


PLAIN_FACETS = frozenset((facets.PARAMETER_NAMES, facets.BUFFER_NAMES, facets.ALL_PARAMETERS))
"""What the engine keeps of an object although all of its attributes are known."""


def _hides_attributes(name: str) -> bool:
    """Whether an object that has a facet of this name may have attributes that are not known."""
    return facets.is_facet(name) and name not in PLAIN_FACETS and not facets.is_doubt(name)


def _own(state: State, kind: Value, name: str) -> Value | None:
    """What the body of a class of the program gives its objects."""
    thing = state.heap[kind.id] if isinstance(kind, HeapRef) else None
    return thing.attributes.get(name) if isinstance(thing, Class) else None


def _of_base(kind: External, name: str, names: Callable[[str], frozenset[str]]) -> bool | None:
    """Whether a class of a library that a class is derived from gives it, or its objects, an attribute (``names``)."""
    known = canonical(kind.name)
    if kind == OBJECT:
        return name in OF_PYTHON
    if has_row(known):
        return True if name in names(known) else None if name in of_some_objects(known) else False
    if is_layer(known) and name in names(LAYER):
        return True
    real = TYPES.get(known)
    if real is None or known.startswith("enum."):
        return None
    return _gives(real, name)


def _gives(real: type, name: str) -> bool:
    """Whether a class of Python gives its objects an attribute; what a class has by being one it does not."""
    return any(name in vars(base) for base in real.__mro__)


def _is_open(state: State, order: list[Value], name: str) -> bool:
    """Whether classes may have more than is known: one that is not known, one with attributes that are computed or were
    set by a name that is not known, one that a decorator or a metaclass has changed.
    """
    if name.startswith("__") and name not in OPTIONAL:
        return True
    for each in order:
        thing = state.heap[each.id] if isinstance(each, HeapRef) else None
        if isinstance(thing, Class):
            if not COMPUTING.isdisjoint(thing.attributes) or thing.node.keywords:
                return True
            if len(thing.node.decorator_list) > thing.dataclass:
                return True
        elif not isinstance(each, External):
            return True
    return False


COMPUTING = frozenset("__getattr__ __getattribute__ __setattr__ __slots__ __new__ __init_subclass__".split())
"""What a class defines whose objects may have more attributes than were set, or fewer
(https://docs.python.org/3/reference/datamodel.html#customizing-attribute-access).
"""
