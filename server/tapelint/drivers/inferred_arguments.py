"""The arguments of a function without a caller: by annotation, by default, by use.

    def train(model, loader, epoch):     model(x) and model.parameters(): an unknown network
    class DQN:
        def __init__(self, policy: str | type[QPolicy], env, lr=1e-4, build=True)
                                         policy is the class, lr and build are what they are by default

What is stepped and zeroed is an optimizer, what has ``parameters()`` is a network, what bounds a range is a number.
What is only called is taken for a network where the program goes backward through what it returns, or gives it a
tensor; the name of its parameter says nothing. An object
whose methods run is made as most callers make it: a switch of its ``__init__`` is left where it is. A function without
a caller is tried with both.
"""

from __future__ import annotations

import ast

from ..domain.completion import ProgramRaised
from ..domain.dataclass_fields import fields
from ..domain.mro import lookup_in_mro, mro_of
from ..domain.options import Option, optional
from ..domain.parameter_defaults import defaults_of
from ..domain.state import State
from ..domain.values import (
    NONE,
    TRUE,
    Class,
    Const,
    Function,
    HeapRef,
    Instance,
    Mapping,
    Optimizer,
    Sequence,
    TensorRef,
    Value,
    something,
    unknown_number,
)
from ..engine.loops.thresholds import assume_started
from ..engine.machine import Machine
from ..engine.open_objects import open_up
from ..engine.paths import constant_contents
from ..engine.syntax.asked import OF_NETWORKS
from ..engine.syntax.syntactic_summary import syntactic_summary
from ..models.frameworks.training_loops import prepared
from ..models.torch.nn.layer_models import guessed_network
from ..models.torch.nn.module_registry import Guess, is_module_like, parameters_of
from ..semantics.functions import call_function
from .annotations import promised
from .parameter_uses import FED, WALKED, uses_of


def make_instance(
    machine: Machine, state: State, owner: HeapRef, node: ast.AST, chosen: dict[str, Value] | None = None
) -> HeapRef:
    """An object of ``owner``, its ``__init__`` run with inferred arguments, but for those that are ``chosen``."""
    instance = HeapRef(state.new(Instance(owner, {})))
    machine.facts.objects.imagined.add(instance.id)
    found = lookup_in_mro(state, owner, "__init__")
    if found is not None and isinstance(found[1], Function):
        _call(machine, state, found[1], instance, node, chosen)
    elif state.get(owner.id, Class).dataclass:
        for name, (default, annotation, scope) in fields(state, mro_of(state, owner)).items():
            known = (
                default
                if default is not None
                else promised(machine, state, scope, annotation, name, node, make_instance)
            )
            state.edit(instance.id, Instance).attributes[name] = known if known is not None else something(name)
    elif found is not None:
        state.edit(instance.id, Instance).is_partial = True
    ready = prepared(state, owner)
    for name in ready.methods if ready is not None else ():
        first = lookup_in_mro(state, owner, name)
        if first is not None and isinstance(first[1], Function):
            _call(machine, state, first[1], instance, node)
    state.edit(instance.id, Instance).attributes.setdefault("training", TRUE)
    attributes = list(state.get(instance.id, Instance).attributes.values())
    reopen(state, attributes)
    constant_contents.handed_out(machine, state, [value.id for value in attributes if isinstance(value, TensorRef)])
    assume_started(machine, state, owner, instance)
    open_up(machine, [instance])
    return instance


def _call(
    machine: Machine,
    state: State,
    function: Function,
    instance: HeapRef,
    node: ast.AST,
    chosen: dict[str, Value] | None = None,
) -> None:
    """Call a method that prepares an object, along one path: with what is None by default as it is, or given where the
    method raises without it.
    """
    spec, kind = function.node.args, state.get(instance.id, Instance).kind
    making = kind if isinstance(kind, HeapRef) else None
    parameters = [*spec.posonlyargs, *spec.args][1:]
    given = inferred(machine, state, function, parameters, making) | (chosen or {})
    defaults, tests = defaults_of(function), syntactic_summary(function.node).tests
    optional = [a for a in parameters if a.arg not in given and defaults.get(a.arg) == NONE]
    unforeseen = [a for a in optional if a.arg not in tests]
    width, machine.max_paths = machine.max_paths, machine.limits.init_paths
    try:
        before = state.fork() if optional else state
        if _ends(machine, state, function, instance, given, node) or not optional:
            return
        raised, uses = state.fork(), uses_of(machine, state, function, making)
        for some in (unforeseen, optional) if 0 < len(unforeseen) < len(optional) else (optional,):
            state.become(before.fork())
            more = {a.arg: _infer(machine, state, function, a, uses.get(a.arg, set()), False) for a in some}
            if _ends(machine, state, function, instance, given | more, node):
                return
        state.become(raised)
    finally:
        machine.max_paths = width


def _ends(
    machine: Machine, state: State, function: Function, instance: HeapRef, given: dict[str, Value], node: ast.AST
) -> bool:
    """Whether a method that prepares an object runs to its end; if it raises the object is made in part."""
    try:
        call_function(machine, state, function, [instance], given, node)
    except ProgramRaised:
        state.edit(instance.id, Instance).is_partial = True
        return False
    return True


def reopen(state: State, values: list[Value], depth: int = 3) -> None:
    """Other methods may have filled what ``__init__`` left empty: plain containers may hold more than we saw."""
    for value in values if depth else ():
        if (
            isinstance(value, HeapRef)
            and isinstance(thing := state.heap[value.id], (Sequence, Mapping))
            and thing.kind in PLAIN_KINDS
        ):
            state.edit(value.id, type(thing)).is_partial = True
            reopen(state, list(thing.items if isinstance(thing, Sequence) else thing.items.values()), depth - 1)


PLAIN_KINDS = ("list", "dict", "set", "deque")


def inferred(
    machine: Machine, state: State, function: Function, parameters: list[ast.arg], making: HeapRef | None = None
) -> dict[str, Value]:
    """Values for parameters without an argument. A plain default is kept, unless it is a switch (True, False, None),
    which may be either; where it is an object of the class ``making`` that is made, a switch keeps its default too, if
    None is foreseen there.
    """
    uses, tests = uses_of(machine, state, function, making), syntactic_summary(function.node).tests
    defaults = defaults_of(function)
    values: dict[str, Value] = {}
    paired = _each_has_optimizer([uses[name] for name in (p.arg for p in parameters) if name in uses])
    for parameter in (*parameters, *function.node.args.kwonlyargs):
        name = parameter.arg
        default = defaults.get(name)
        if default is not None and not is_switch(default):
            continue
        if making is not None and default is not None and (default != NONE or parameter.annotation or name in tests):
            continue
        if isinstance(default, Const) and isinstance(default.value, bool):
            values[name] = optional(
                Option(default, f"`{name}` is {not default.value}", (Const(not default.value),)), name
            )
            continue
        values[name] = _infer(machine, state, function, parameter, uses.get(name, set()), paired)
        _note_handed(machine, state, name, values[name])
    return values


def _note_handed(machine: Machine, state: State, name: str, value: Value) -> None:
    """Remember which network, or which optimizer without known parameters, came as the argument ``name``."""
    thing = state.heap[value.id] if isinstance(value, HeapRef) else None
    if isinstance(thing, Optimizer) and not thing.params and isinstance(value, HeapRef):
        machine.facts.networks.handed_optimizers[value.id] = name
    elif is_module_like(state, value):
        machine.facts.networks.handed_leaves.update((leaf, name) for _, leaf in parameters_of(state, value))


def is_switch(default: Value) -> bool:
    """Whether a default is True, False or None: a caller may well mean the other."""
    return isinstance(default, Const) and (default.value is None or isinstance(default.value, bool))


def _is_optimizer(uses: set[str]) -> bool:
    return {"step", "zero_grad"} <= uses and "()" not in uses


def _guess(uses: set[str], paired: bool) -> Guess:
    if paired and _may_train(uses):
        return Guess.PAIRED
    if FED in uses:
        return Guess.FED
    return Guess.WALKED if WALKED in uses else Guess.CALLED


def _may_train(uses: set[str]) -> bool:
    """Whether something is called and what it returns is walked: a network, or a loss."""
    return {"()", WALKED} <= uses


def _each_has_optimizer(arguments: list[set[str]]) -> bool:
    """Whether there is an optimizer for each of the ``arguments``, by their uses, that may be networks: none of those
    is a loss then.
    """
    optimizers, walked = sum(map(_is_optimizer, arguments)), sum(map(_may_train, arguments))
    return 0 < walked <= optimizers


def _infer(
    machine: Machine, state: State, function: Function, parameter: ast.arg, uses: set[str], paired: bool
) -> Value:
    if parameter.annotation is not None:
        known = promised(
            machine, state, function.frame, parameter.annotation, parameter.arg, function.node, make_instance
        )
        if known is not None:
            return known
    if "forward" in uses or uses & OF_NETWORKS and "()" in uses:
        return guessed_network(machine, state, parameter.arg, function.node)
    if "range" in uses:
        return unknown_number()
    if _is_optimizer(uses):
        return HeapRef(state.new(Optimizer(parameter.arg, [], True)))
    if "()" in uses and parameter.annotation is None:
        return guessed_network(machine, state, parameter.arg, function.node, _guess(uses, paired))
    return something(parameter.arg)
