"""``a.b``: attributes of tensors, of the program's objects, of libraries."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from dataclasses import replace

from ..autograd import CutReason, Provenance, StoreKind, Tensor, invent, resolve_view
from ..domain import facets
from ..domain.completion import ProgramRaised
from ..domain.mro import is_module, lookup_in_mro
from ..domain.state import State
from ..domain.values import (
    FALSE,
    NONE,
    BoundMethod,
    BuiltinMethod,
    Class,
    Const,
    External,
    Function,
    HeapRef,
    Instance,
    Mapping,
    Module,
    Optimizer,
    Origin,
    Sequence,
    Super,
    TensorRef,
    Tuple,
    Unknown,
    Value,
    unknown_number,
)
from ..engine.abstract_methods import is_left_to_others
from ..engine.escaping import store_in_unknown
from ..engine.machine import EXPRESSIONS, Machine
from ..engine.open_objects import open_up
from ..engine.stored_names import remember, replaces
from ..models.torch import devices, dispatch, precision
from ..models.torch.autograd import grad_access, missing_grad
from ..models.torch.autograd.changed_objects import part_changed
from ..models.torch.autograd_function.context import CONTEXT
from ..models.torch.autograd_function.context_reads import refuse_unset
from ..models.torch.autograd_function.grad_asked import note_asked
from ..models.torch.detaching import cut, set_requires_grad
from ..models.torch.dtypes import DTYPE_OF_KIND, asked_of_dtype
from ..models.torch.known_shape import rank, shape
from ..models.torch.nn import frozen_parts, module_registry
from ..models.torch.nn.parametrizations import computed
from ..models.torch.optim.optimizers import param_groups
from ..models.torch.registry import ATTRIBUTES, MAPPING_METHODS, MODULE_METHODS, is_opaque
from ..ops.module_names import FIELDS
from . import networks_by_use
from .enum_members import attribute_of_member
from .refused.absent_attributes import refuse_attribute
from .refused.doubted_attributes import find_out

SIZES = frozenset("shape ndim nbytes itemsize".split())
TURNED = {"T": "numpy_T", "mT": "mT", "H": "matrix_H", "mH": "mH", "real": "real", "imag": "imag"}
OF_DTYPES = ("is_floating_point", "is_complex")
FACTS = frozenset("dtype device layout names is_cuda is_xpu is_sparse is_quantized is_meta is_mps grad_fn".split())


def attribute(machine: Machine, node: ast.Attribute, state: State, key: object) -> Value:
    return loaded(machine, state, machine.eval(node.value, state), node, key)


def loaded(machine: Machine, state: State, owner: Value, node: ast.Attribute, key: object) -> Value:
    """The attribute that ``node`` reads of ``owner``; where Python has none, it raises."""
    if isinstance(owner, External) and node.attr not in OF_DTYPES:
        return External(f"{owner.name}.{node.attr}")
    if machine.context.awaiting:
        find_out(machine, state, owner, node)
    found = load(machine, state, owner, node.attr, node, key)
    refuse_attribute(machine, state, owner, node.attr, found)
    if isinstance(owner, Const) and not hasattr(owner.value, node.attr):
        if (of_member := attribute_of_member(state, owner, node.attr)) is not None:
            return of_member
        raise ProgramRaised("AttributeError", f"'{type(owner.value).__name__}' object has no attribute '{node.attr}'")
    return found


def load(machine: Machine, state: State, owner: Value, name: str, node: ast.AST, key: object = None) -> Value:
    if isinstance(owner, TensorRef):
        return tensor_attribute(machine, state, owner, name, node)
    if name in OF_DTYPES and (known := asked_of_dtype(owner, name)) is not None:
        return Const(known)
    if isinstance(owner, External):
        return External(f"{owner.name}.{name}")
    if isinstance(owner, Module):
        assert machine.imports is not None
        return machine.imports.load_attribute(state, owner, name)
    if isinstance(owner, HeapRef):
        return _object(machine, state, owner, name, node, key)
    if isinstance(owner, Super):
        return _super(machine, state, owner, name)
    if name == "grad" and is_opaque(state, owner):
        grad_access.unknown_gradient(machine, state)
    if isinstance(owner, Unknown):
        return _of_unknown(machine, state, owner, name, node)
    if isinstance(owner, Tuple) and name in owner.names:
        return owner.items[owner.names.index(name)]
    if owner == NONE:
        missing_grad.refuse_none(machine, state, owner, node, "AttributeError")
    return BuiltinMethod(owner, name)


def _of_unknown(machine: Machine, state: State, owner: Unknown, name: str, node: ast.AST) -> Value:
    """An attribute of an unknown value: what the program has set there, or what every tensor has."""
    if name == "grad":
        grad_access.unknown_gradient(machine, state)
    if owner.requires_grad is False and name in SIZES:
        return unknown_number()
    if owner.tensor_id in state.tensors and name == "requires_grad":
        return tensor_attribute(machine, state, TensorRef(owner.tensor_id), name, node)
    if owner.requires_grad is False and name == "requires_grad":
        return FALSE
    if (given := state.given_attributes(owner.tensor_id).get(name)) is not None:
        return given
    if (known := devices.asked_of_device(owner, name)) is not None:
        return known
    return machine.fact(name) if name in FACTS else BuiltinMethod(owner, name)


def tensor_attribute(machine: Machine, state: State, owner: TensorRef, name: str, node: ast.AST) -> Value:
    tensor = resolve_view(state, owner.id)
    read = TENSOR_ATTRIBUTES.get(name)
    if read is not None:
        return read(machine, state, tensor, node)
    if name in SIZES:
        return unknown_number()
    if name in TURNED:
        turned = dispatch.run(machine, state, TURNED[name], [owner], {}, node)
        return turned or dispatch.run(machine, state, "t", [owner], {}, node) or owner
    if name in FACTS:
        return machine.fact(name)
    if (given := state.given_attributes(owner.id).get(name)) is not None:
        return given
    if tensor.assumption and name in FIELDS:
        made = invent(machine.facts, state, [owner.id], node, tensor.assumption)
        machine.facts.record_provenance(made, Provenance(part_of=owner.id))
        return TensorRef(made)
    return BuiltinMethod(owner, name)


def _data(machine: Machine, state: State, tensor: Tensor, node: ast.AST) -> Value:
    return TensorRef(cut(machine, state, tensor, node, CutReason.DATA))


def _gradient(machine: Machine, state: State, tensor: Tensor, node: ast.AST) -> Value:
    """``.grad``: a non-leaf has none, which is reported where nothing is assumed of the tensor."""
    grad_access.read_grad(machine, state, tensor.id, node)
    grad = state.grads.get(tensor.id)
    if grad is not None:
        return TensorRef(grad)
    known = tensor.requires_grad is False or not tensor.assumption and not tensor.stands_for_module
    if missing_grad.may_be_there(state, tensor):
        return Unknown("grad", False)
    if known and tensor.grad_fn is not None:
        return missing_grad.missing(state, tensor, node)
    if not known or tensor.kind == "int":
        return Unknown("grad", False)
    return missing_grad.never_there(machine, state, tensor, node)


def _requires_grad(machine: Machine, state: State, tensor: Tensor, node: ast.AST) -> Value:
    note_asked(machine, state, tensor, node)
    return Unknown("requires_grad", False) if tensor.requires_grad is None else Const(tensor.requires_grad)


def _base(machine: Machine, state: State, tensor: Tensor, node: ast.AST) -> Value:
    certain = tensor.base is not None and tensor.id not in machine.facts.memory.maybe_copied
    return TensorRef(tensor.base) if tensor.base is not None and certain else Unknown("_base")


def _is_leaf(machine: Machine, state: State, tensor: Tensor, node: ast.AST) -> Value:
    return Const(tensor.grad_fn is None)


def _grad_fn(machine: Machine, state: State, tensor: Tensor, node: ast.AST) -> Value:
    return NONE if tensor.grad_fn is None and tensor.requires_grad is not None else Unknown("grad_fn")


def _shape(machine: Machine, state: State, tensor: Tensor, node: ast.AST) -> Value:
    return shape(tensor.sizes)


def _rank(machine: Machine, state: State, tensor: Tensor, node: ast.AST) -> Value:
    return rank(tensor.sizes)


def _dtype(machine: Machine, state: State, tensor: Tensor, node: ast.AST) -> Value:
    """The dtype itself where it is known, or its family; of a tensor of which neither is known it is one for all."""
    kind = tensor.kind or ("float" if tensor.requires_grad else None)
    if kind == "bool" or kind == "float" and machine.facts.is_single(tensor.id):
        return External("torch.bool" if kind == "bool" else "torch.float32")
    is_told_apart = tensor.id in machine.facts.contents.float32 or tensor.kind is not None
    converted = " converted" if tensor.storage in machine.facts.memory.converted else ""
    of = f"dtype of {tensor.storage}{converted}" if is_told_apart else f"dtype{converted}"
    return machine.fact(of, DTYPE_OF_KIND.get(kind, Origin.ANY))


def _device(machine: Machine, state: State, tensor: Tensor, node: ast.AST) -> Value:
    return devices.device_of(machine, tensor.id)


def _is_elsewhere(machine: Machine, state: State, tensor: Tensor, node: ast.AST) -> Value:
    """``.is_cuda``, ``.is_xpu``, ``.is_mps``, ``.is_meta``: what is on the CPU is none of these."""
    return FALSE if tensor.id in machine.facts.contents.on_cpu else machine.fact(getattr(node, "attr", "is_cuda"))


def _is_special(machine: Machine, state: State, tensor: Tensor, node: ast.AST) -> Value:
    """``.is_sparse``, ``.is_quantized``: what is known to be of single precision is neither."""
    name = getattr(node, "attr", "is_sparse")
    return FALSE if tensor.id in machine.facts.contents.float32 else machine.fact(name)


TENSOR_ATTRIBUTES: dict[str, Callable[[Machine, State, Tensor, ast.AST], Value]] = {
    "data": _data,
    "grad": _gradient,
    "requires_grad": _requires_grad,
    "is_leaf": _is_leaf,
    "_base": _base,
    "grad_fn": _grad_fn,
    "shape": _shape,
    "ndim": _rank,
    "dtype": _dtype,
    "device": _device,
    "is_cuda": _is_elsewhere,
    "is_xpu": _is_elsewhere,
    "is_mps": _is_elsewhere,
    "is_meta": _is_elsewhere,
    "is_sparse": _is_special,
    "is_quantized": _is_special,
}
"""The attributes of tensors whose values follow from what the analysis knows of the tensor."""


MODULES = ("Sequential", "ModuleList")
BY_ATTRIBUTE = ("config", "ModuleDict")
"""Dictionaries whose items are attributes, too."""
OF_CLASSES = ("__init_subclass__", "__class_getitem__")
"""Special methods that are given the class; the others are given an object: ``Base.__init__(self)``."""
DICTS = (*module_registry.KINDS, "__dict__")


def _object(machine: Machine, state: State, owner: HeapRef, name: str, node: ast.AST, key: object) -> Value:
    thing = state.heap[owner.id]
    if isinstance(thing, Instance):
        return _of_instance(machine, state, owner, thing, name, node, key)
    found: Value | None = None
    if isinstance(thing, Class):
        found = _of_class(state, owner, thing, name)
    elif isinstance(thing, Sequence):
        found = _of_sequence(owner, thing, name)
    elif isinstance(thing, Mapping) and thing.kind in BY_ATTRIBUTE:
        found = thing.items.get(name) if name not in MAPPING_METHODS else None
    if found is not None:
        return found
    if name in DICTS and module_registry.is_module_like(state, owner):
        whole = name == "__dict__"
        return module_registry.all_attributes(state, owner) if whole else module_registry.registry(state, owner, name)
    if isinstance(thing, Optimizer) and name == "param_groups":
        return param_groups(machine, state, owner)
    return BuiltinMethod(owner, name)


def _of_instance(
    machine: Machine, state: State, owner: HeapRef, thing: Instance, name: str, node: ast.AST, key: object
) -> Value:
    """An attribute of an object, in Python's order: its own, its class's, what ``__getattr__`` computes; last what is
    known of objects of libraries.
    """
    own = thing.attributes.get(name)
    if own is not None:
        machine.unit.iteration_facts.accessed[owner.id, name] = machine.fuel_used
        return own
    found = lookup_in_mro(state, thing.kind, name)
    if found is not None and found[1] is not None:
        return _bound(machine, state, found[1], owner, thing.kind, node, key)
    special = _of_every_object(machine, state, owner, thing, name)
    if special is not None:
        return special
    getter = lookup_in_mro(state, thing.kind, "__getattr__")
    if getter is not None and getter[1] is not None:
        return machine.call(state, getter[1], [owner, Const(name)], {}, node)
    model = ATTRIBUTES.get(f"{thing.kind.name}.{name}") if isinstance(thing.kind, External) else None
    if model is not None:
        return model(machine, state, owner)
    if facets.PARAMETRIZED in thing.attributes:
        weights = computed(machine, state, thing, node, name)
        if name in weights:
            return weights[name]
    if thing.kind == CONTEXT:
        refuse_unset(machine, state, owner, name, node)
    if name not in MODULE_METHODS:
        frozen_parts.note_access(machine, thing)
    return BuiltinMethod(owner, name)


def _of_every_object(machine: Machine, state: State, owner: HeapRef, thing: Instance, name: str) -> Value | None:
    """What every object has without any class of the program defining it, and the dicts that every module has."""
    if name == "__class__":
        return thing.kind
    if name == "__dict__":
        open_up(machine, [owner])
        return module_registry.all_attributes(state, owner)
    if name in module_registry.KINDS and module_registry.is_module_like(state, owner):
        frozen_parts.note_access(machine, thing)
        open_up(machine, [owner])
        return module_registry.registry(state, owner, name)
    return None


def _of_class(state: State, owner: HeapRef, thing: Class, name: str) -> Value | None:
    """An attribute of a class: its own or inherited, from a class of the program or of a library."""
    if name == "__name__":
        return Const(thing.name)
    found = lookup_in_mro(state, owner, name)
    if found is None:
        return None
    base, value = found
    if value is not None:
        return BoundMethod(value, owner) if isinstance(value, Function) and value.kind == "class" else value
    if not isinstance(base, External):
        return None
    foreign = External(f"{base.name}.{name}")
    # What a class hands out is a plain function (`Base.parameters(net)`), but for its class methods.
    is_plain = name in MODULE_METHODS and name != "__new__" and is_module(state, owner)
    is_special = name.startswith("__") and name not in OF_CLASSES
    return foreign if is_plain or is_special else BoundMethod(foreign, owner)


def _of_sequence(owner: HeapRef, thing: Sequence, name: str) -> Value | None:
    """Of a container of layers: its mode, or a layer by its name."""
    if name == "training" and thing.kind in MODULES:
        return Const(thing.training)
    if name in thing.names:
        return dict(thing.named()).get(name) or BuiltinMethod(owner, name)
    return None


def _bound(
    machine: Machine, state: State, value: Value, owner: Value, kind: Value, node: ast.AST, key: object
) -> Value:
    if isinstance(value, Function):
        if value.kind == "static":
            return value
        if value.kind == "class":
            return BoundMethod(value, kind)
        if is_left_to_others(machine, state, owner, value):
            return BuiltinMethod(owner, getattr(value.node, "name", ""))  # of an unknown derived class
        if value.kind == "property":
            return machine.call(state, replace(value, kind=""), [owner], {}, node, key)
        if value.kind == "cached":
            return _computed_once(machine, state, value, owner, node)
        return BoundMethod(value, owner)
    return value


def _computed_once(machine: Machine, state: State, value: Function, owner: Value, node: ast.AST) -> Value:
    """A ``cached_property``: the object has what it returned as an attribute from now on."""
    found = machine.memoize(
        node, "cached", lambda key: machine.call(state, replace(value, kind=""), [owner], {}, node, key)
    )
    if isinstance(owner, HeapRef) and isinstance(value.node, ast.FunctionDef):
        state.edit_attributes(owner.id)[value.node.name] = found
        remember(machine, state, f"self.{value.node.name}", found, value.node, None, StoreKind.ASSIGNED)
    return found


def _super(machine: Machine, state: State, owner: Super, name: str) -> Value:
    receiver = owner.receiver
    kind: Value = receiver
    if isinstance(receiver, HeapRef) and isinstance(thing := state.heap[receiver.id], Instance):
        kind = thing.kind
    found = lookup_in_mro(state, kind, name, after=owner.owner)
    if found is None:
        return BuiltinMethod(receiver, name)
    if found[1] is None:
        return (
            BoundMethod(External(f"{found[0].name}.{name}"), receiver)
            if isinstance(found[0], External)
            else BuiltinMethod(Unknown("super"), name)
        )
    value = found[1]
    if isinstance(value, Function) and value.kind == "static":
        return value
    return BoundMethod(
        replace(value, kind="") if isinstance(value, Function) else value,
        kind if isinstance(value, Function) and value.kind == "class" else receiver,
    )


def store(machine: Machine, state: State, owner: Value, name: str, value: Value, node: ast.AST) -> None:
    if isinstance(owner, TensorRef):
        _store_tensor(machine, state, owner, name, value, node)
    elif name == "grad" and (isinstance(owner, Unknown) or is_opaque(state, owner)):
        grad_access.unknown_gradient(machine, state)
    elif isinstance(owner, (Unknown, BuiltinMethod)) and name == "requires_grad":
        frozen_parts.unknown_flag(machine, state)
    elif isinstance(owner, Unknown):
        _store_unknown(machine, state, owner, name, value)
    elif isinstance(owner, (External, BuiltinMethod)):
        store_in_unknown(machine, state, owner, value)
    elif isinstance(owner, Module):
        assert machine.imports is not None
        machine.imports.store_attribute(state, owner, name, value)
    elif isinstance(owner, HeapRef):
        _store_object(machine, state, owner, name, value, node)


def _store_object(machine: Machine, state: State, owner: HeapRef, name: str, value: Value, node: ast.AST) -> None:
    thing = state.heap[owner.id]
    if isinstance(value, TensorRef) and state.tensors[value.id].requires_grad is False:
        machine.facts.objects.handed_out.add(value.id)
    if name == "__dict__":
        module_registry.all_replaced(state, owner, value)
    elif name in module_registry.KINDS and module_registry.is_module_like(state, owner):
        module_registry.replace_entries(state, owner, name, value)
    elif isinstance(thing, Instance):
        value = networks_by_use.attribute(machine, state, thing, name, value, node)
        if not _call_setter(machine, state, owner, thing, name, value, node):
            machine.unit.iteration_facts.accessed[owner.id, name] = machine.fuel_used
            replaces(machine, state, thing.attributes.get(name), value)
            _set(state.edit(owner.id, Instance).attributes, name, value)
    elif isinstance(thing, Class):
        _set(state.edit(owner.id, Class).attributes, name, value)
    elif isinstance(thing, Mapping) and _is_item(thing, name):
        state.edit(owner.id, Mapping).items[name] = value
    elif isinstance(thing, Sequence):
        _store_in_sequence(state, owner, name, value)


def _set(attributes: dict[str, Value], name: str, value: Value) -> None:
    attributes.pop(facets.doubted(name), None)
    attributes[name] = value


def _store_in_sequence(state: State, owner: HeapRef, name: str, value: Value) -> None:
    """Set an attribute of a container of modules: its mode, or one more module."""
    if name == "training" and isinstance(value, Const):
        state.edit(owner.id, Sequence).training = bool(value.value)
    elif all(module_registry.is_module_like(state, each) for each in (owner, value)):
        module_registry.keep(state, owner, "_modules", name, value)


def _is_item(thing: Mapping, name: str) -> bool:
    """Whether to set an attribute of a dictionary is to set an item."""
    return thing.kind == "config" or thing.kind in BY_ATTRIBUTE and name in thing.items


def _call_setter(
    machine: Machine, state: State, owner: HeapRef, thing: Instance, name: str, value: Value, node: ast.AST
) -> bool:
    """Run the setter of a property, or ``__setattr__``; False where the class has neither, or where enough was seen of
    it to know that it keeps what it is given: then the bookkeeping beside that is left out.
    """
    setters: tuple[tuple[str, list[Value]], ...] = (
        (f"{name}.setter", [owner, value]),
        ("__setattr__", [owner, Const(name), value]),
    )
    for method, args in setters:
        found = lookup_in_mro(state, thing.kind, method)
        if found is not None and isinstance(found[1], Function):
            definition, begin = found[1].node, machine.fuel_used
            if machine.unit.keeping.get(definition, 0) > machine.limits.setter_fuel:
                return False
            machine.call(state, replace(found[1], kind=""), args, {}, node)
            if method == "__setattr__":
                is_kept = state.attributes(owner.id).get(name) == value
                machine.unit.keeping[definition] = (
                    machine.unit.keeping.get(definition, 0) + machine.fuel_used - begin if is_kept else -sys.maxsize
                )
            return True
    return False


def _store_unknown(machine: Machine, state: State, owner: Unknown, name: str, value: Value) -> None:
    """Of an unknown object what is plain is kept: options that the program sets itself (`args.cuda = ...`)."""
    if isinstance(value, (Const, Unknown)):
        state.edit_given_attributes(owner.tensor_id)[name] = value
    elif name in state.given_attributes(owner.tensor_id):
        del state.edit_given_attributes(owner.tensor_id)[name]
    store_in_unknown(machine, state, owner, value)


def _store_tensor(machine: Machine, state: State, owner: TensorRef, name: str, value: Value, node: ast.AST) -> None:
    tensor = resolve_view(state, owner.id)
    if name == "grad":
        state.changes += 1
        if isinstance(value, TensorRef):
            state.grads[owner.id] = value.id
        else:
            state.grads.pop(owner.id, None)
        grad_access.assign_grad(machine, state, owner.id, value, node)
    elif name == "requires_grad":
        set_requires_grad(machine, state, tensor, value, True, node)
    elif name != "data":
        state.edit_given_attributes(owner.id)[name] = value
        part_changed(machine, state, owner.id)
    else:
        precision.note_replacement(machine, owner.id, value)
        devices.forget_device(machine, owner.id)
        sizes = resolve_view(state, value.id).sizes if isinstance(value, TensorRef) else None
        state.tensors[owner.id] = replace(state.tensors[owner.id], sizes=sizes)
        if isinstance(value, TensorRef):
            grad_access.follow_op(machine, state, [value.id], (), owner.id, node)


def remove(machine: Machine, state: State, owner: Value, name: str, node: ast.AST) -> None:
    if isinstance(owner, HeapRef) and isinstance(state.heap[owner.id], Instance):
        state.edit(owner.id, Instance).attributes.pop(name, None)
    elif isinstance(owner, TensorRef) and name == "grad":
        state.grads.pop(owner.id, None)
        grad_access.cleared_by_hand(machine, state, owner.id, node)
    elif isinstance(owner, TensorRef) and name in state.given_attributes(owner.id):
        del state.edit_given_attributes(owner.id)[name]


EXPRESSIONS[ast.Attribute] = attribute
