"""What a module has registered, as the dicts that PyTorch keeps it in: ``_parameters``, ``_buffers``, ``_modules``.

    clone = module.__new__(type(module))
    clone.__dict__ = module.__dict__.copy()                  an object of its own with the same attributes
    clone._parameters["weight"] = module.weight.clone()      a parameter of `clone` that is no leaf

Here all of it are attributes; a look at one of these dicts makes a dict of those that belong in it, and what is written
into that is written to the module.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from ....domain import facets
from ....domain.mro import OBJECT, is_module, mro_of
from ....domain.state import State
from ....domain.values import (
    Class,
    Const,
    External,
    HeapObject,
    HeapRef,
    Instance,
    Mapping,
    MappingKind,
    Sequence,
    TensorRef,
    Tuple,
    Value,
)

KINDS: dict[str, MappingKind] = {"_parameters": "_parameters", "_buffers": "_buffers", "_modules": "_modules"}


class Guess(Enum):
    """What a network is taken for one by: there is an optimizer for it, the program walks what it makes of data, walks
    what it returns, or only calls it.
    """

    PAIRED = "paired"
    FED = "fed"
    WALKED = "walked"
    CALLED = "called"


MODULES = ("ModuleList", "Sequential", "ModuleDict")
"""The kinds of containers that are modules."""


def is_module_like(state: State, value: Value) -> bool:
    """Whether a value is a module or a container of modules (a plain list is not)."""
    if not isinstance(value, HeapRef):
        return False
    thing = state.heap[value.id]
    if isinstance(thing, Instance):
        return is_module(state, thing.kind)
    return isinstance(thing, (Sequence, Mapping)) and thing.kind in MODULES


def members(state: State, value: Value) -> list[tuple[str, Value]]:
    """Parameters, buffers and submodules below a module, in order: pairs of dotted name and value."""
    found: list[tuple[str, Value]] = []
    _collect(state, value, set(), "", found)
    return found


def _collect(state: State, value: Value, seen: set[int], prefix: str, found: list[tuple[str, Value]]) -> None:
    if not isinstance(value, HeapRef) or value.id in seen:
        return
    seen.add(value.id)
    thing = state.heap[value.id]
    entries: Iterable[tuple[str, Value]] = ()
    if isinstance(thing, Instance):
        entries = _registered(thing)
    elif isinstance(thing, Sequence) and thing.kind in ("ModuleList", "Sequential"):
        entries = thing.named()
    elif isinstance(thing, Mapping) and thing.kind == "ModuleDict":
        entries = [(str(k), item) for k, item in thing.items.items()]
    for name, item in entries:
        if isinstance(item, TensorRef):
            found.append((prefix + name, item))
        elif isinstance(item, HeapRef) and item.id != value.id and is_module_like(state, item):
            # A wrapper is the network in it, which is its `module` then and no part of itself.
            found.append((prefix + name, item))
            _collect(state, item, seen, f"{prefix}{name}.", found)


def _registered(thing: Instance) -> Iterable[tuple[str, Value]]:
    """The attributes of a module that its ``__setattr__`` has seen."""
    hidden = names(thing, facets.UNREGISTERED_NAMES)
    return [each for each in thing.attributes.items() if each[0] not in hidden] if hidden else thing.attributes.items()


def parameters_of(state: State, value: Value) -> list[tuple[str, int]]:
    """Named parameters, each once."""
    found: dict[int, str] = {}
    below = members(state, value)
    put = _put(state, [value, *(item for _, item in below)])
    for name, item in below:
        if isinstance(item, TensorRef) and (state.tensors[item.id].parameter or item.id in put):
            found.setdefault(item.id, name)
    return [(name, key) for key, name in found.items()]


def _put(state: State, values: list[Value]) -> set[int]:
    """The tensors that the program has put among the parameters of some modules."""
    things = [state.heap[value.id] for value in values if isinstance(value, HeapRef)]
    held = [thing.attributes.get(name) for thing in things if isinstance(thing, Instance) for name in names(thing)]
    return {value.id for value in held if isinstance(value, TensorRef)}


def names(thing: Instance, which: str = facets.PARAMETER_NAMES) -> frozenset[str]:
    """The names under which something was put into ``_parameters``, or ``which`` are kept beside the attributes."""
    known = thing.attributes.get(which)
    return frozenset(str(i.value) for i in known.items if isinstance(i, Const)) if isinstance(known, Tuple) else NOTHING


NOTHING: frozenset[str] = frozenset()


def note(thing: Instance, which: str, name: str) -> None:
    """What ``name`` holds is a parameter, or what else ``which`` says."""
    thing.attributes[which] = Tuple(tuple(Const(n) for n in sorted(names(thing, which) | {name})))


def registry(state: State, owner: HeapRef, kind: str) -> HeapRef:
    """``owner._parameters`` and the like: a dict that writes through."""
    more = facets.UNSEEN_PARAMETERS in getattr(state.heap[owner.id], "attributes", ())
    return HeapRef(state.new(Mapping(dict(_entries(state, owner, kind)), more, KINDS[kind], None, owner)))


def _entries(state: State, owner: HeapRef, kind: str) -> dict[str, Value]:
    """What a module holds under ``_modules``, ``_parameters`` or ``_buffers``, by name."""
    thing = state.heap[owner.id]
    if kind == "_modules":
        return modules_of(state, thing)
    return _tensors_of(state, thing, kind) if isinstance(thing, Instance) else {}


def modules_of(state: State, thing: HeapObject) -> dict[str, Value]:
    """The modules that an object holds itself, by name."""
    match thing:
        case Sequence():
            return {str(i): item for i, item in enumerate(thing.items)}
        case Mapping():
            return {str(key): item for key, item in thing.items.items()}
    found: dict[str, Value] = {}
    for name, value in _registered(thing) if isinstance(thing, Instance) else ():
        if name == facets.CONTAINER and isinstance(value, HeapRef):
            found.update(modules_of(state, state.heap[value.id]))
        elif is_module_like(state, value):
            found[name] = value
    return found


def _tensors_of(state: State, thing: Instance, kind: str) -> dict[str, Value]:
    """The parameters or the buffers that an object holds itself, by name: an ``nn.Parameter`` needs no registration."""
    registered = names(thing, facets.BUFFER_NAMES) if kind == "_buffers" else names(thing)
    return {
        name: value
        for name, value in _registered(thing)
        if isinstance(value, TensorRef)
        and (name in registered or kind == "_parameters" and state.tensors[value.id].parameter)
    }


def own_parameters(state: State, owner: HeapRef) -> dict[str, Value]:
    """The parameters of one module, by name, without those of the modules in it."""
    return _entries(state, owner, "_parameters")


def buffers_of(state: State, owner: HeapRef) -> dict[str, Value]:
    """The buffers of one module, by name."""
    return _entries(state, owner, "_buffers")


def keep(state: State, owner: HeapRef, kind: str, name: object, value: Value) -> None:
    """``owner._parameters[name] = value``."""
    thing = state.edit(owner.id, type(state.heap[owner.id]))
    if isinstance(thing, Sequence):
        known = [each for each, _ in thing.named()]
        if name in known:
            thing.items[known.index(str(name))] = value
        elif isinstance(name, str) and not thing.is_partial:
            thing.items.append(value)
            thing.names = (*known, name)
    elif isinstance(thing, Mapping):
        thing.items[name] = value
    elif isinstance(name, str) and isinstance(thing, Instance):
        inner = thing.attributes.get(facets.CONTAINER)
        if kind == "_modules" and isinstance(inner, HeapRef) and name.isdigit():
            keep(state, inner, kind, name, value)
            return
        thing.attributes[name] = value
        if kind != "_modules":
            note(thing, facets.PARAMETER_NAMES if kind == "_parameters" else facets.BUFFER_NAMES, name)


def replace_entries(state: State, owner: HeapRef, kind: str, value: Value) -> None:
    """``owner._parameters = value``, where that is a dict."""
    source = state.heap[value.id] if isinstance(value, HeapRef) else None
    if not isinstance(source, Mapping):
        return
    thing = state.heap[owner.id]
    if isinstance(thing, Instance):
        for name in _entries(state, owner, kind).keys() - source.items.keys():
            state.edit(owner.id, Instance).attributes.pop(name, None)
    for name, item in source.items.items():
        keep(state, owner, kind, name, item)


PLAIN = (OBJECT, External("torch.nn.Module"))
"""Bases that keep no attributes a program asks for, but those that are known here."""


def all_attributes(state: State, owner: HeapRef) -> Value:
    """``owner.__dict__``: a copy. What a module has registered is in its three dicts, and not beside them."""
    thing = state.heap[owner.id]
    registries = {kind: registry(state, owner, kind) for kind in KINDS} if is_module_like(state, owner) else {}
    if not isinstance(thing, Instance):
        return HeapRef(state.new(Mapping({facets.CONTAINER: HeapRef(state.new(thing.copy())), **registries}, True)))
    registered = {name for kind in registries for name in _entries(state, owner, kind)}
    found = {name: value for name, value in thing.attributes.items() if name not in registered}
    if isinstance(inner := found.get(facets.CONTAINER), HeapRef):
        found[facets.CONTAINER] = HeapRef(state.new(state.heap[inner.id].copy()))
    found.update(registries)
    foreign = [kind for kind in mro_of(state, thing.kind) if not isinstance(kind, HeapRef) and kind not in PLAIN]
    return HeapRef(state.new(Mapping(found, thing.is_partial or bool(foreign))))


def all_replaced(state: State, owner: HeapRef, value: Value) -> None:
    """``owner.__dict__ = value``, where that is a dict."""
    source = state.heap[value.id] if isinstance(value, HeapRef) else None
    if not isinstance(source, Mapping):
        return
    thing = state.edit(owner.id, type(state.heap[owner.id]))
    held = {name: item for name, item in source.items.items() if isinstance(name, str) and name not in KINDS}
    if isinstance(thing, Instance):
        thing.attributes, thing.is_partial = held, thing.is_partial or source.is_partial and not held
    elif isinstance(inner := held.get(facets.CONTAINER), HeapRef):
        items = state.heap[inner.id].copy()
        if isinstance(thing, Sequence) and isinstance(items, Sequence):
            thing.items = items.items
        elif isinstance(thing, Mapping) and isinstance(items, Mapping):
            thing.items = items.items
    if isinstance(thing, Instance):
        _register_all(state, owner, source)


def _register_all(state: State, owner: HeapRef, source: Mapping) -> None:
    """What the three dicts in a ``__dict__`` hold is registered in ``owner``."""
    for kind in KINDS:
        registered = source.items.get(kind)
        entries = state.heap[registered.id] if isinstance(registered, HeapRef) else None
        for name, item in entries.items.items() if isinstance(entries, Mapping) else ():
            keep(state, owner, kind, name, item)


def twin(state: State, owner: HeapRef) -> HeapRef:
    """``owner.__new__(type(owner))``: an object of the same class, or of the class ``owner``, nothing in it yet."""
    thing = state.heap[owner.id]
    if isinstance(thing, Class):
        return HeapRef(state.new(Instance(owner, {})))
    if isinstance(thing, Instance):
        return HeapRef(state.new(Instance(thing.kind, {})))
    empty = thing.copy()
    if isinstance(empty, (Sequence, Mapping)):
        empty.items.clear()
    return HeapRef(state.new(empty))
