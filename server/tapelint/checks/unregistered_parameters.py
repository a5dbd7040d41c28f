"""Tensors that a module is to train and does not register.

    self.b = torch.tensor(0.0, requires_grad=True)           # a leaf, but no Parameter
    self.w = nn.Parameter(torch.rand(3, 4)).to(device)       # a copy of a Parameter that is kept nowhere
    self.s = nn.Parameter(torch.ones(3)) * 0.1               # computed once
    self.layers = [nn.Linear(3, 3) for _ in range(2)]        # in a list

``parameters()``, ``state_dict()`` and ``to()`` know what is a Parameter when it is assigned. A plain tensor that
requires grad may be there for another reason: to differentiate with respect to it, or to be given to an optimizer by
itself. So nothing is reported of one that the file reads in such a way anywhere. A list of one network is how a program
hides it on purpose.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from typing import Literal

from ..autograd import edge_of, resolve_view
from ..autograd.events.broken_graph import ParameterUnregistered
from ..autograd.model.graph_search import leaf_tensors
from ..because import NOTHING, Because, guess
from ..domain.completion import Raise
from ..domain.mro import is_module
from ..domain.state import State
from ..domain.values import Class, HeapRef, Instance, TensorRef, Value
from ..engine.lifecycle import AttributeAssigned, CallReturned
from ..engine.machine import Machine
from ..engine.paths.conditions import ADDING
from ..models.torch.nn.module_registry import is_module_like
from ..models.torch.nn.unregistered import leaves_below, leaves_in_containers, wrapper_for
from ..ops import joins, traits_of
from ..ops.conversions import OF_MODULES
from ..source import cached_on_node, definitions, walk

CONVERSIONS = OF_MODULES - {"float"}
"""Methods that make a copy, unless the tensor is on that device or of that type already."""

OWN_USES = frozenset("grad data requires_grad requires_grad_ retain_grad backward register_hook".split())
"""Attributes of a tensor by which a program handles its gradient, or writes its values
(https://docs.pytorch.org/docs/stable/autograd.html#tensor-autograd-functions).
"""

COLLECTING = ADDING | {"add_param_group", "register_parameter", "Parameter", "grad", "zero_"}
"""Calls that put a tensor somewhere, or differentiate with respect to it."""

How = Literal["leaf", "converted", "computed"]

PARAMETERS = ("parameters", "named_parameters")
"""Methods by which a class says itself what is trained of it."""

REGISTERING = (*PARAMETERS, "add_module", "register_module", "register_parameter", "setattr")
"""What code that asks for parameters calls, or registers them one by one."""


def on_attribute_assigned(machine: Machine, event: AttributeAssigned) -> None:
    """Publish a tensor that a module should register, if the rest of the file leaves no other reading."""
    state, source = event.state, event.source
    tensor = resolve_view(state, event.tensor)
    if source is None or tensor.requires_grad is not True or not _in_constructor(machine):
        return
    kind = _class_of(machine, state, event.owner)
    found = _unregistered(state, event, source) if kind is not None else None
    if kind is None or found is None or event.target.attr not in machine.query(_read, kind):
        return
    how, because = found
    files = machine.tree, machine.running_file(state)  # where the class stands, and the base class that makes it
    if how == "leaf" and any(event.target.attr in machine.query(_handled, file) for file in files):
        return
    machine.facts.events.publish(
        ParameterUnregistered(point=state.point(event.target), because=because, value=source, how=how)
    )


def on_call_returned(machine: Machine, event: CallReturned) -> None:
    """Publish layers that a module has when it is made, in a plain container that its methods read."""
    state, owner = event.state, event.given[0] if event.given else None
    if getattr(event.function, "name", "") != "__init__" or not isinstance(owner, HeapRef):
        return
    if isinstance(state.completion, Raise) or any(given[:1] == (owner,) for _, given in machine.context.call_stack):
        return  # another constructor is still making it
    kind = _class_of(machine, state, owner)
    if kind is None:
        return
    for name, value in state.get(owner.id, Instance).attributes.items():
        home = machine.facts.origins.attribute_stores.get((owner.id, name))
        if home is None or name not in machine.query(_read, kind) or not _hides(state, owner, value):
            continue
        if len(getattr(home[1], "elts", ())) == 1:
            continue  # written with one item: what it holds is hidden on purpose
        if not machine.query(_is_given_out, machine.tree, kind, name):
            point, wrapper = state.point(home[0]), wrapper_for(state, value)
            machine.facts.events.publish(
                ParameterUnregistered(point=point, value=home[1], how="hidden", wrapper=wrapper)
            )


def _class_of(machine: Machine, state: State, owner: HeapRef) -> ast.AST | None:
    """The class of a module, if the file defines it and leaves ``parameters()`` to ``nn.Module``."""
    thing = state.heap.get(owner.id)
    if not isinstance(thing, Instance) or not isinstance(thing.kind, HeapRef) or not is_module(state, thing.kind):
        return None
    kind = state.heap[thing.kind.id]
    return kind.node if isinstance(kind, Class) and machine.query(_defines, machine.tree, kind.node) else None


def _hides(state: State, owner: HeapRef, value: Value) -> bool:
    """Whether a container holds what is to be trained, was made for an object, and is not registered by it."""
    if isinstance(value, TensorRef) or is_module_like(state, value):
        return False
    own = (key for key in leaves_in_containers(state, value) if key > owner.id)
    return not {key for key in own if state.tensors[key].requires_grad} <= set(leaves_below(state, owner))


def _is_given_out(tree: ast.AST, kind: ast.AST, name: str) -> bool:
    """Whether code outside of a class reads an attribute, or the class asks for parameters, or registers them, where it
    does.
    """
    reads = {node for node in walk(tree) if isinstance(node, ast.Attribute) and node.attr == name}
    inside = [child for child in ast.iter_child_nodes(kind) if not reads.isdisjoint(walk(child))]
    nodes = [node for child in inside for node in walk(child)]
    asking = {_name_of(node) for node in nodes if isinstance(node, ast.Call)}
    return not reads.issubset(nodes) or not asking.isdisjoint(REGISTERING)


def _unregistered(state: State, event: AttributeAssigned, source: ast.expr) -> tuple[How, Because] | None:
    """What is wrong with an assigned tensor, and what that rests on."""
    tensor = resolve_view(state, event.tensor)
    if tensor.grad_fn is None:
        if not tensor.parameter:
            return ("leaf", NOTHING) if tensor.created_at.node is source and _is_created(source) else None
        return _converted(state, tensor.id, source)
    edge = edge_of(tensor)
    leaves = leaf_tensors([edge]) if edge is not None else set[int]()
    if len(leaves) != 1 or not tensor.grad_fn.certain or tensor.assumption:
        return None
    key = next(iter(leaves))
    made = state.tensors[key].created_at.node
    if state.tensors[key].parameter:
        return _computed(state, key, source)
    is_moved = isinstance(source, ast.Call) and _is_conversion(source, made) and _is_created(made)
    return ("leaf", NOTHING) if is_moved else None


def _computed(state: State, key: int, source: ast.expr) -> tuple[How, Because] | None:
    """What was computed from a new Parameter, in the expression that makes that."""
    if state.tensors[key].created_at.node not in ast.walk(source) or state.tensors[key].assumption:
        return None
    return _converted(state, key, source) or ("computed", NOTHING)


def _converted(state: State, key: int, source: ast.expr) -> tuple[How, Because] | None:
    """A conversion of a new leaf: a copy, unless the leaf has that type, or is there."""
    if not isinstance(source, ast.Call) or not _is_conversion(source, state.tensors[key].created_at.node):
        return None
    wanted = [*source.args, *(keyword.value for keyword in source.keywords)]
    known = {each.value for each in wanted if isinstance(each, ast.Constant)}
    if "cpu" in known:
        return None
    if len(known) == len(wanted):
        return "converted", NOTHING
    return "converted", guess(f"`{ast.unparse(wanted[0])}` is another device or type than it has")


def _is_conversion(call: ast.Call, made: ast.AST) -> bool:
    """Whether a call converts what ``made`` makes inside of it, on no device and of no type that is named there."""
    function = call.func
    if not isinstance(function, ast.Attribute) or function.attr not in CONVERSIONS or made is call:
        return False
    is_asked = function.attr not in ("to", "cpu") or bool(call.args or call.keywords)
    return is_asked and made in ast.walk(call) and not any(map(_is_placed, ast.walk(made)))


def _is_placed(node: ast.AST) -> bool:
    """Whether a tensor is made on a device or of a type that is named there."""
    if isinstance(node, ast.keyword):
        return node.arg in ("device", "dtype")
    return isinstance(node, ast.Attribute) and node.attr in CONVERSIONS


def _is_created(node: ast.AST) -> bool:
    """Whether a call makes a tensor of numbers that stand there: an initial value, and not data, or the points at which
    something is computed (``torch.linspace``).
    """
    if not isinstance(node, ast.Call):
        return False
    name = _name_of(node)
    if name == "tensor":
        return bool(node.args) and not any(isinstance(inner, (ast.Name, ast.Call)) for inner in ast.walk(node.args[0]))
    traits = traits_of(name or "")
    return name in ("full", "eye") or "default-dtype" in traits and "of-sizes" not in traits


def _in_constructor(machine: Machine) -> bool:
    return any(getattr(function, "name", None) == "__init__" for function, _ in machine.context.call_stack)


@cached_on_node
def _classes(tree: ast.AST) -> frozenset[ast.AST]:
    return frozenset(each for each in definitions(tree) if isinstance(each, ast.ClassDef))


def _defines(tree: ast.AST, node: ast.AST) -> bool:
    """Whether a file defines a class, which leaves ``parameters()`` to ``nn.Module``."""
    own = {child.name for child in ast.iter_child_nodes(node) if isinstance(child, ast.FunctionDef)}
    return node in _classes(tree) and own.isdisjoint(PARAMETERS)


@cached_on_node
def _read(node: ast.AST) -> frozenset[str]:
    """The attributes that methods of a class read, without its constructor and what only that calls."""
    methods = [
        (child.name, _loads(child)) for child in ast.iter_child_nodes(node) if isinstance(child, ast.FunctionDef)
    ]
    making, called = set[str](), {"__init__"}
    while called:
        making |= called
        inside, outside = set[str](), set[str]()
        for name, read in methods:
            (inside if name in making else outside).update(read)
        called = {name for name, _ in methods} & inside - outside - making
    return frozenset(outside)


def _loads(method: ast.AST) -> frozenset[str]:
    attributes = (inner for inner in walk(method) if isinstance(inner, ast.Attribute))
    return frozenset(inner.attr for inner in attributes if isinstance(inner.ctx, ast.Load))


@cached_on_node
def _handled(tree: ast.AST) -> frozenset[str]:
    """The attributes that some code of the file collects, differentiates with respect to, or writes."""
    collected = {inner for call in _calls(tree) if _name_of(call) in COLLECTING for inner in ast.walk(call)}
    found = _reassigned(tree) | {node.attr for node in collected if isinstance(node, ast.Attribute)}
    return frozenset(found.union(_elements(tree), _used(tree)))


def _elements(tree: ast.AST) -> Iterator[str]:
    """The attributes that stand in lists and their like, other than those that a function of torch joins."""
    joined = {argument for call in _calls(tree) if joins(_name_of(call) or "") for argument in call.args}
    for node in walk(tree):
        items = node.values if isinstance(node, ast.Dict) else getattr(node, "elts", ())
        if items and node not in joined:
            yield from (item.attr for item in items if isinstance(item, ast.Attribute))


def _used(tree: ast.AST) -> Iterator[str]:
    """The attributes that are given out, or of which a gradient or the values are asked for."""
    for node in walk(tree):
        match node:
            case ast.Attribute(value=ast.Attribute(attr=name), attr=own) if own in OWN_USES or own.endswith("_"):
                yield name
            case ast.Call(func=ast.Name(id="getattr" | "setattr"), args=[_, ast.Constant(value=str(name)), *_]):
                yield name
            case ast.Subscript(value=ast.Attribute(attr=name), ctx=ast.Store()):
                yield name
            case ast.Return(value=ast.Attribute(attr=name)) | ast.Yield(value=ast.Attribute(attr=name)):
                yield name


def _calls(tree: ast.AST) -> Iterator[ast.Call]:
    return (node for node in walk(tree) if isinstance(node, ast.Call))


def _name_of(call: ast.Call) -> str | None:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", None)


def _reassigned(tree: ast.AST) -> set[str]:
    """The attributes that a class binds again outside of its constructor, that code outside of classes binds, and that
    are updated.
    """
    outside = Counter(_stores(tree))
    found = set[str]()
    for node in walk(tree):
        if isinstance(node, ast.ClassDef):
            stores = Counter(_stores(node))
            outside.subtract(stores)
            later = stores - _in_constructors(node)
            found.update(name for name, times in later.items() if times > 1 or times < stores[name])
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Attribute):
            found.add(node.target.attr)
    return found | {name for name, times in outside.items() if times > 0}


def _in_constructors(node: ast.ClassDef) -> Counter[str]:
    constructors = (child for child in ast.iter_child_nodes(node) if getattr(child, "name", None) == "__init__")
    return Counter(name for each in constructors for name in _stores(each))


def _stores(node: ast.AST) -> Iterator[str]:
    return (n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute) and not isinstance(n.ctx, ast.Load))
