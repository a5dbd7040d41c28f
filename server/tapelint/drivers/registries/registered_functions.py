"""Functions that the program keeps in a registry, given what the values of that registry are given: a parameter.

    def spread(tensor): tensor.uniform_(-1, 1)         no code calls `spread` by its name
    INITS = {"spread": spread, "zero": nn.init.zeros_}

    for name, p in net.named_parameters():
        INITS[kinds[name]](p)                          but here it may be the one: a leaf that requires grad is written

The registry is a dict, at the top level or of a class or an object, or all classes that derive from a type of the
program that the callee has by annotation. Only writes to a leaf are listened to, and each names as its premise that the
function is given a parameter.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from ...autograd import leaf
from ...autograd.events.graph_walks import Event, LeafWritten
from ...domain.completion import ProgramRaised
from ...domain.mro import is_module, lookup_in_mro, mro_of, own_method
from ...domain.state import State
from ...domain.values import (
    Class,
    Frame,
    Function,
    HeapRef,
    Instance,
    Mapping,
    Partial,
    TensorRef,
    Unknown,
    Value,
    something,
)
from ...engine.machine import Machine
from ...engine.module_system import LoadedModule
from ...frozen import frozen
from ...semantics.calls import call_value
from ...source import Definition, walk
from ..annotations import named
from ..inferred_arguments import make_instance
from .parameter_calls import ParameterCall, parameter_calls

MOST = 32
"""Values of registries that are tried."""
DEEP = 2
"""How deep dicts are nested in a registry."""


@frozen
class Registered:
    """A value of a registry, and a call that may call it with a parameter."""

    value: Function | Partial | HeapRef
    at: ParameterCall
    # Whether the call stands in the checked file.
    is_here: bool

    @property
    def function(self) -> Function | None:
        """The function that is kept, if it is one."""
        inner = self.value.function if isinstance(self.value, Partial) else self.value
        return inner if isinstance(inner, Function) else None

    def key(self, state: State) -> tuple[ast.AST, int]:
        """By what it is known after an edit."""
        if (function := self.function) is not None:
            return function.node, -1
        assert isinstance(self.value, HeapRef)
        thing = state.heap[self.value.id]
        return (thing.node if isinstance(thing, Class) else self.at.call), -self.value.id


def registered_functions(
    machine: Machine, state: State, module: int, loads: dict[LoadedModule, None]
) -> Iterator[Registered]:
    """The values of registries that may be given a parameter: of the calls or of the values the checked file has
    one.
    """
    tried = set[Value]()
    files = [(machine.tree, module), *((each.source.tree, each.frame) for each in loads if not each.is_stub)]
    for tree, frame in files:
        for at in parameter_calls(tree):
            for value in _values(machine, state, frame, at):
                if value not in tried and (frame == module or _home(state, value) == module):
                    tried.add(value)
                    yield Registered(value, at, frame == module)
                if len(tried) >= MOST:
                    return


def _home(state: State, value: Function | Partial | HeapRef) -> int:
    """The module that defines a value of a registry."""
    inner: Value = value.function if isinstance(value, Partial) else value
    if isinstance(inner, HeapRef) and isinstance(thing := state.heap[inner.id], Instance):
        inner = thing.kind
    scope = 0
    if isinstance(inner, Function):
        scope = inner.frame
    elif isinstance(inner, HeapRef) and isinstance(kind := state.heap[inner.id], Class):
        scope = kind.scope
    return state.get(scope, Frame).module if scope in state.heap else 0


def _values(machine: Machine, state: State, frame: int, at: ParameterCall) -> Iterator[Function | Partial | HeapRef]:
    """What a call may call."""
    for annotation in at.types:
        for kind in _classes_in(machine, state, frame, annotation):
            yield from _derived(state, kind)
    owner = state.get(frame, Frame).variables.get(at.owner.name) if at.owner is not None else None
    for registry in at.registries:
        found = _resolved(machine, state, frame, registry, owner)
        for value in _held(state, found, DEEP):
            if isinstance(value, (Function, Partial, HeapRef)) and _is_callable(state, value):
                yield value


def _classes_in(machine: Machine, state: State, frame: int, annotation: ast.expr) -> Iterator[HeapRef]:
    """The classes of the program that an annotation names, which have a ``__call__`` and are no networks."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except (SyntaxError, ValueError):
            return
    for node in walk(annotation):
        if isinstance(node, (ast.Name, ast.Attribute)):
            kind = named(machine, state, frame, node)
            if isinstance(kind, HeapRef) and _is_callable(state, kind):
                yield kind


def _derived(state: State, base: HeapRef) -> Iterator[HeapRef]:
    """All classes of the program that derive from a class, and itself."""
    for key, thing in list(state.heap.items()):
        if isinstance(thing, Class) and base in mro_of(state, HeapRef(key)):
            yield HeapRef(key)


def _is_callable(state: State, value: Value) -> bool:
    """Whether calling a value, or an object of it, runs code of the program; not for networks."""
    if isinstance(value, Partial):
        return isinstance(value.function, Function)
    if not isinstance(value, HeapRef) or value.id not in state.heap:
        return isinstance(value, Function)
    thing = state.heap[value.id]
    kind = thing.kind if isinstance(thing, Instance) else value if isinstance(thing, Class) else None
    if kind is None or is_module(state, kind):
        return False
    found = lookup_in_mro(state, kind, "__call__")
    return found is not None and isinstance(found[1], Function)


def _resolved(machine: Machine, state: State, frame: int, node: ast.expr, owner: Value | None) -> Value | None:
    """What a dotted name means in a file, or ``self`` in a class of it."""
    match node:
        case ast.Name("self" | "cls"):
            return owner
        case ast.Name():
            return named(machine, state, frame, node)
        case ast.Attribute(value, name):
            of = _resolved(machine, state, frame, value, owner)
            if not isinstance(of, HeapRef):
                return named(machine, state, frame, node)
            thing = state.heap.get(of.id)
            if isinstance(thing, Instance):
                return thing.attributes.get(name)
            found = lookup_in_mro(state, of, name) if isinstance(thing, Class) else None
            return found[1] if found is not None else None
    return None


def _held(state: State, registry: Value | None, depth: int) -> Iterator[Value]:
    """The values of a dict, or of those that an object keeps; those of dicts in it, too."""
    thing = state.heap.get(registry.id) if isinstance(registry, HeapRef) else None
    values = thing.attributes if isinstance(thing, Instance) else thing.items if isinstance(thing, Mapping) else {}
    for value in list(values.values()):
        inner = state.heap.get(value.id) if isinstance(value, HeapRef) else None
        if isinstance(inner, Mapping):
            yield from _held(state, value, depth - 1) if depth else ()
        elif isinstance(thing, Mapping):
            yield value


def imagine_registered(machine: Machine, state: State, registered: Registered) -> list[State]:
    """Call a value of a registry with a parameter, as the call does that may call it."""
    state, at = state.fork(), registered.at
    machine.unit.dependencies.add(at.function)
    heard = list[LeafWritten]()

    def hear(event: Event) -> None:
        if isinstance(event, LeafWritten):
            heard.append(event)

    def run(path: State) -> None:
        _call(machine, path, registered)

    with machine.facts.events.heard_by(hear):
        machine.run_paths(state, run)
    trees = machine.trees
    for event in heard:
        name, tensor = _function_of(event.point.node, trees), _first_name(event.point.node)
        if name is not None:
            if tensor is not None:
                machine.facts.name(event.tensor, tensor)
            premise = f"`{name}` is given a parameter that requires grad"
            machine.facts.events.publish(replace(event, assumption=premise))
    return [state]


def _call(machine: Machine, state: State, registered: Registered) -> None:
    at, function = registered.at, registered.function
    site: ast.AST = at.call if registered.is_here or function is None else function.node
    callee: Value | None = registered.value
    if isinstance(callee, HeapRef) and isinstance(state.heap[callee.id], Class):
        try:
            callee = own_method(state, make_instance(machine, state, callee, site), "__call__")
        except ProgramRaised:
            return
    if callee is None:
        return
    args: list[Value] = [something("argument") for _ in at.call.args]
    given = leaf(state, site, True, parameter=True)
    args[at.index] = TensorRef(given)
    kwargs: dict[str, Value] = {each.arg: Unknown(each.arg) for each in at.call.keywords if each.arg is not None}
    machine.memoize(site, "registered", lambda key: call_value(machine, state, callee, args, kwargs, site, key))


def _function_of(node: ast.AST, trees: tuple[ast.Module, ...]) -> str | None:
    """The name of the innermost function around a node."""
    found = None
    for tree in trees:
        for each in walk(tree):
            if isinstance(each, Definition) and any(inner is node for inner in walk(each)):
                found = each.name
        if found is not None:
            return found
    return None


def _first_name(node: ast.AST) -> str | None:
    """What the text of a write calls the tensor: ``t`` of ``t.data.fill_(0)`` or of ``t[0] = 1``."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call, ast.AugAssign, ast.Assign)):
        match node:
            case ast.Call(inner) | ast.AugAssign(inner) | ast.Assign([inner, *_]):
                node = inner
            case ast.Attribute(inner) | ast.Subscript(inner):
                node = inner
            case _:
                return None
    return node.id if isinstance(node, ast.Name) else None
