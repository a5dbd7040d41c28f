"""Classes of the program: defining them, making instances."""

from __future__ import annotations

import ast

from ..domain.completion import ProgramRaised
from ..domain.mro import dataclass_fields, lookup_in_mro, mro_of, own_function
from ..domain.state import State
from ..domain.values import (
    BoundMethod,
    Class,
    External,
    Factory,
    Frame,
    Function,
    HeapRef,
    Instance,
    Unknown,
    Value,
    something,
)
from ..engine.machine import Machine
from ..engine.open_objects import made, open_up
from .functions import ACCESSORS, call_function, define_function
from .installed_calls import installed_base


def _base(machine: Machine, state: State, value: Value) -> Value:
    """A class that another one is derived from; one that a metaclass of the program made is unknown."""
    value = installed_base(machine, state, value)
    is_object = isinstance(value, HeapRef) and not isinstance(state.heap[value.id], Class)
    return Unknown("class") if is_object else value


def define_class(machine: Machine, state: State, node: ast.ClassDef) -> Value:
    """Run the class body. Methods see the scope around the class, as in Python."""
    bases = tuple(_base(machine, state, machine.eval(base, state)) for base in node.bases)
    decorators = [machine.eval(d.func if isinstance(d, ast.Call) else d, state) for d in node.decorator_list]
    plain = any(isinstance(d, External) and d.name.endswith("dataclass") for d in decorators)
    named = any(isinstance(b, External) and b.name == "typing.NamedTuple" for b in bases)
    thing = Class(node.name, node, bases, {}, plain or named, state.frame)
    key = state.new(thing)
    outer = state.frame
    body = state.new(Frame({}, outer, state.get(outer, Frame).module))
    for statement in node.body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            value = define_function(machine, state, statement, key)
            name = statement.name
            if isinstance(value, Function) and value.kind in ACCESSORS:
                name = f"{name}.{value.kind}"
            state.edit(key, Class).attributes[name] = value
            state.edit(body, Frame).variables[name] = value
        else:
            state.frame = body
            states = machine.statement(statement, state)
            if states[0] is not state:
                state.become(states[0])
            state.frame = outer
            state.completion = None
            state.edit(key, Class).attributes.update(state.get(body, Frame).variables)
    _tell_bases(machine, state, HeapRef(key), bases, node)
    _decorate(machine, state, decorators, HeapRef(key), node)
    return HeapRef(key)


def _tell_bases(machine: Machine, state: State, kind: HeapRef, bases: tuple[Value, ...], node: ast.ClassDef) -> None:
    """``__init_subclass__`` and a metaclass may keep a new class wherever they lead to: their code is not run."""
    hook = lookup_in_mro(state, kind, "__init_subclass__")
    hooks = [] if hook is None or hook[1] is None else [hook[1]]
    if node.keywords or hooks:
        open_up(machine, [*bases, *hooks])


def _is_own(state: State, decorator: Value) -> bool:
    """Whether a decorator, or what makes one, is code of the program."""
    inner = decorator.function if isinstance(decorator, BoundMethod) else decorator
    if isinstance(inner, HeapRef):
        return isinstance(state.heap[inner.id], (Class, Instance))
    return isinstance(inner, Function)


def _decorate(machine: Machine, state: State, callees: list[Value], kind: HeapRef, node: ast.ClassDef) -> None:
    """What decorators of the program do with a class: they may keep it in a registry. The class stays what it is."""
    for decorator, callee in reversed([*zip(node.decorator_list, callees)]):
        if not _is_own(state, callee):
            continue
        trial = state.fork()
        try:
            machine.call(trial, machine.eval(decorator, trial), [kind], {}, node)
        except ProgramRaised:
            continue
        state.become(trial)


def instantiate(
    machine: Machine,
    state: State,
    kind: HeapRef,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
) -> Value:
    """``Cls(...)``: a new object, and whatever ``__init__`` does to it; or what ``__new__`` of the program
    returns instead.
    """
    if (other := _made_by_new(machine, state, kind, args, kwargs, node)) is not None:
        return other
    instance = HeapRef(state.new(Instance(kind, {})))
    made(machine, state, instance.id)
    order = mro_of(state, kind)
    if any(isinstance(base, Unknown) for base in order):
        state.edit(instance.id, Instance).is_partial = True
    found = lookup_in_mro(state, kind, "__init__")
    if found is not None and isinstance(found[1], Function):
        _initialise(machine, state, found[1], [instance, *args], kwargs, node)
    elif state.get(kind.id, Class).dataclass:
        _fill_fields(machine, state, instance, order, args, kwargs, node)
    elif found is not None and isinstance(found[0], External):
        machine.call(state, BoundMethod(External(found[0].name + ".__init__"), instance), args, kwargs, node)
    return instance


def _made_by_new(
    machine: Machine, state: State, kind: HeapRef, args: list[Value], kwargs: dict[str, Value], node: ast.AST
) -> Value | None:
    """What ``__new__`` of the program returns, if that is something else; None where it makes an object of the class,
    or what it makes is not known.
    """
    new = own_function(state, kind, "__new__")
    if new is None:
        return None
    trial = state.fork()
    try:
        made_by_new = call_function(machine, trial, new, [kind, *args], kwargs, node)
    except ProgramRaised:
        return None
    if not isinstance(made_by_new, HeapRef):
        return None
    thing = trial.heap[made_by_new.id]
    if isinstance(thing, Instance) and isinstance(thing.kind, HeapRef) and kind in mro_of(trial, thing.kind):
        return None
    state.become(trial)
    return made_by_new


def _initialise(
    machine: Machine, state: State, init: Function, args: list[Value], kwargs: dict[str, Value], node: ast.AST
) -> None:
    """Run ``__init__``. The caller goes on with one of the paths through it, so no more are kept, unless that is one on
    which Python raises and others were dropped.
    """
    width, machine.max_paths = machine.max_paths, machine.limits.init_paths
    before = state.fork() if width > machine.max_paths else None
    dropped = machine.unit.stats.dropped
    try:
        call_function(machine, state, init, args, kwargs, node)
        return
    except ProgramRaised as error:
        if before is None or error.by_torch or machine.unit.stats.dropped == dropped:
            raise
    finally:
        machine.max_paths = width
    state.become(before)
    call_function(machine, state, init, args, kwargs, node)


def _fill_fields(
    machine: Machine,
    state: State,
    instance: HeapRef,
    order: list[Value],
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST,
) -> None:
    """A dataclass assigns its annotated fields in order, base classes first."""
    named = dataclass_fields(state, order)
    for (name, (default, _, _)), value in zip(named.items(), [*args, *[None] * len(named)]):
        given = value if value is not None else kwargs.get(name, default if default is not None else something(name))
        if isinstance(given, Factory):
            given = machine.call(state, given.function, [], {}, node)
        state.edit(instance.id, Instance).attributes[name] = given
    after = own_function(state, state.get(instance.id, Instance).kind, "__post_init__")
    if after is not None:
        call_function(machine, state, after, [instance], {}, node)
