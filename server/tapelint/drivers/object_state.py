"""What an object is like when a method that nothing calls is entered: not only as ``__init__`` has left it.

    class Agent:
        def __init__(self): self.to_train, self.scaler = 0, None
        def update(self): self.to_train = 1
        def start(self): self.scaler = GradScaler()
        def train(self, x):
            if self.to_train == 1:              either; where it is 1, `update` was called before
                self.scaler.scale(...)          `start` was called before: `train` could not run otherwise

The order of methods follows from who assigns what another one reads, not from their names.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from ..autograd import fresh_id, leaf, resolve_view
from ..because import option
from ..domain.mro import lookup_in_mro
from ..domain.options import Option, is_hashable, optional
from ..domain.reachability import parts_of
from ..domain.state import State
from ..domain.values import (
    NONE,
    Const,
    Function,
    HeapRef,
    Instance,
    TensorRef,
    Tuple,
    Unknown,
    Value,
    defaults_of,
    something,
    without_defaults,
)
from ..engine.machine import Machine
from ..engine.syntax.syntactic_summary import is_abstract, syntactic_summary
from ..models.torch.autograd.grad_access import reach
from ..semantics.reassigned_data import is_placeholder
from .annotations import plain_origin
from .arguments import along_one_path, flipped, inferred, is_affordable, is_switch, positional, reopen, runs_to_end
from .attribute_flow import MethodFlow, ObjectFlow, method_flow, object_flow
from .parameter_uses import bound_variables, handed_to_base, parameters


def prepare(machine: Machine, state: State, receiver: HeapRef, function: Function) -> None:
    """Bring the object of a method that is about to run into a state that other methods may have left it in."""
    if not isinstance(state.heap[receiver.id], Instance):
        return
    name = getattr(function.node, "name", "")
    flow = object_flow(machine, state, state.get(receiver.id, Instance).kind)
    _set_up(machine, state, receiver, flow, name, machine.limits.setup_depth)
    _open(machine, state, receiver, flow, flow.reached(name))
    _open_parts(machine, state, receiver, {each for method in flow.reached(name).values() for each in method.asked})
    _doubt_data(state, receiver, flow, flow.reached(name), function.node)


def switches(machine: Machine, state: State, kind: HeapRef, function: Function) -> dict[str, Const]:
    """The parameters of ``__init__``, each with the opposite of its default, that a method asks for by an attribute, as
    ``__init__`` does, too: the object has to be made anew to have the attribute the other way.
    """
    flow = object_flow(machine, state, kind)
    maker, reached = flow.methods.get("__init__"), flow.reached(getattr(function.node, "name", ""))
    if maker is None or "__init__" in reached:
        return {}
    tested = {name for each in reached.values() for name in each.tested}
    flags = {
        name: not default.value
        for name, default in defaults_of(maker).items()
        if isinstance(default, Const) and isinstance(default.value, bool)
    }
    asked = (name for name in flags if not tested.isdisjoint(_asked_as(machine, state, kind, maker, name, False)))
    return {name: Const(flags[name]) for name in asked}


def _asked_as(
    machine: Machine, state: State, kind: HeapRef, maker: Function, parameter: str, is_asked: bool
) -> Iterator[str]:
    """The attributes that only keep a parameter of an ``__init__`` which asks for it or ``is_asked`` already; it may
    hand it on to that of the next base.
    """
    flow = machine.query(method_flow, maker.node)
    is_asked |= parameter in machine.query(syntactic_summary, maker.node).tests
    for attribute, names in flow.kept.items():
        is_own = names == [parameter] and parameter not in machine.query(bound_variables, maker.node)
        if is_own and (is_asked or attribute in flow.tested):
            yield attribute
    for base, name, taken_as in handed_to_base(machine, state, maker, kind):
        if name == parameter:
            yield from _asked_as(machine, state, kind, base, taken_as, is_asked)


def _open(machine: Machine, state: State, receiver: HeapRef, flow: ObjectFlow, reached: dict[str, MethodFlow]) -> None:
    """Attributes that a test asks for, and that hold a constant, are options: they have any of the values that other
    methods, the caller of ``__init__`` or other code alone give them.
    """
    maker = flow.methods.get("__init__")
    defaults = {} if maker is None else defaults_of(maker)
    for attribute in sorted({name for each in reached.values() for name in each.tested}):
        current = _current(state, receiver, attribute)
        if not isinstance(current, Const) or not is_hashable(current):
            continue
        value = _set_by_methods(current, attribute, flow, reached)
        kept = _kept_parameter(machine, flow, attribute)
        if value is None and kept is not None:
            is_default = is_switch(current) and defaults.get(kept.arg) == current
            if is_default and not _is_made_by(machine, flow, attribute, kept):
                value = _option(kept, current)
        elif value is None and _is_for_others(state, receiver, flow, attribute, current):
            value = optional(Option(current, f"`self.{attribute}` is set from outside"), attribute)
        if value is not None:
            state.edit_attributes(receiver.id)[attribute] = value


def _open_parts(machine: Machine, state: State, receiver: HeapRef, asked: set[str]) -> None:
    """The same for the objects that it holds, of which a test of theirs asks, or one of a method for what is ``asked``:
    their methods may have been called before, and have filled what they fill.
    """
    for part, thing in list(parts_of(state, receiver))[1:]:
        flow = object_flow(machine, state, thing.kind)
        filled = {name for method, each in flow.flows.items() if method != "__init__" for name in each.filled}
        reopen(state, [thing.attributes[name] for name in sorted(filled.intersection(thing.attributes))])
        tested = asked.union(*(each.tested for each in flow.flows.values()))
        for attribute, current in list(thing.attributes.items()):
            if attribute in tested and isinstance(current, Const) and is_hashable(current):
                if (value := _set_by_methods(current, attribute, flow, {})) is not None:
                    state.edit_attributes(part.id)[attribute] = value


def give_all(machine: Machine, state: State, whole: HeapRef | None) -> None:
    """What an object and its parts keep of the defaults of ``__init__`` is what a caller gives instead."""
    for part, thing in [] if whole is None else list(parts_of(state, whole)):
        flow = object_flow(machine, state, thing.kind)
        if (maker := flow.methods.get("__init__")) is None:
            continue
        defaults, known = defaults_of(maker), state.edit_attributes(part.id)
        given = inferred(machine, state, without_defaults(maker), positional(maker, 1))
        for attribute, value in known.items():
            kept = _kept_parameter(machine, flow, attribute)
            if kept is not None and isinstance(value, (Const, Tuple)) and defaults.get(kept.arg) == value:
                known[attribute] = given.get(kept.arg, something(attribute))


def _is_made_by(machine: Machine, flow: ObjectFlow, attribute: str, parameter: ast.arg) -> bool:
    """Whether ``__init__`` asks what an attribute keeps: the rest of the object is made as that says."""
    tests = machine.query(syntactic_summary, flow.methods["__init__"].node).tests
    return parameter.arg in tests or attribute in flow.flows["__init__"].tested


def _set_by_methods(current: Const, attribute: str, flow: ObjectFlow, reached: dict[str, MethodFlow]) -> Value | None:
    """The values that another method gives an attribute beside the ``current`` one; None if none is known to."""
    for setter in flow.setters(attribute, reached):
        if others := _others(current, flow.flows[setter].assigned[attribute]):
            premise = f"`{setter}` was called before, which sets `self.{attribute}`"
            return optional(Option(current, premise, others), attribute)
    return None


def _is_for_others(state: State, receiver: HeapRef, flow: ObjectFlow, attribute: str, current: Const) -> bool:
    """Whether nothing but code outside of a class can give an attribute another value, of which the class itself asks:
    a setting of the class, or what its methods only set to that value.
    """
    assigned = [each for method in flow.flows.values() for each in method.assigned.get(attribute, ())]
    if assigned:
        return all(each == current for each in assigned)
    found = lookup_in_mro(state, state.get(receiver.id, Instance).kind, attribute)
    return found is not None and isinstance(found[0], HeapRef)


def _option(parameter: ast.arg, default: Const) -> Value | None:
    """What a switch may be; None where it may be more than data, and is annotated so."""
    name = parameter.arg
    if default != NONE:
        return flipped(name, default)
    option = Option(default, f"`{name}` is given")
    if parameter.annotation is None:
        return Unknown(name, None, formula=option)
    origin = plain_origin(parameter.annotation)
    return None if origin is None else replace(optional(option, name), origin=origin)


def _kept_parameter(machine: Machine, flow: ObjectFlow, attribute: str) -> ast.arg | None:
    """The parameter of ``__init__`` that an attribute only keeps: ``self.clip = clip``, and nothing else."""
    maker = flow.methods.get("__init__")
    names = flow.flows["__init__"].kept.get(attribute, []) if maker is not None else []
    if maker is None or len(names) != 1 or names[0] in machine.query(bound_variables, maker.node):
        return None
    return next((each for each in parameters(maker) if each.arg == names[0]), None)


def _doubt_data(
    state: State,
    receiver: HeapRef,
    flow: ObjectFlow,
    reached: dict[str, MethodFlow],
    node: ast.AST,
) -> None:
    """What holds the place of a tensor that another method computes may require grad: `self.loss = torch.zeros(1)`."""
    own = {name for each in reached.values() for name in each.stored}
    for attribute in sorted({name for each in reached.values() for name in each.read} - own):
        current = _current(state, receiver, attribute)
        if isinstance(current, TensorRef) and is_placeholder(state, current.id):
            if any(attribute in flow.flows[setter].computed for setter in flow.setters(attribute, reached)):
                state.edit_attributes(receiver.id)[attribute] = TensorRef(leaf(state, node, None))


def _others(current: Const, assigned: list[Const | None]) -> tuple[Const, ...]:
    """The values beside the ``current`` one that a method gives an attribute, where all of them are known."""
    if isinstance(current.value, bool) and None in assigned:
        return (Const(not current.value),)
    found = dict.fromkeys(each for each in assigned if each is not None and each != current)
    return () if None in assigned else tuple(found)


def _set_up(machine: Machine, state: State, receiver: HeapRef, flow: ObjectFlow, name: str, depth: int) -> None:
    """Call the methods that assign what a method reads and the object does not have yet."""
    reached = flow.reached(name)
    sums = _sums(flow, reached)
    for attribute in _due(state, receiver, reached, sums)[: machine.limits.setters]:
        if not _is_due(state, receiver, attribute, sums):
            continue  # the method that was called for another one has assigned this, too
        others = _setters(flow, attribute, reached, sums)
        setters = [each for each in others if _prepares(machine, flow, each, attribute)]
        if not setters and others:  # what it is may lead to whatever the object holds
            machine.facts.training.shown.update(reach(machine, state, [receiver]))
        elif setters:
            # Of several the first one whose own functions train, for these are what is called then.
            setter = min(
                setters, key=lambda name: not machine.query(syntactic_summary, flow.methods[name].node).backward
            )
            if depth > 1:
                _set_up(machine, state, receiver, flow, setter, depth - 1)
            if attribute in sums:
                state.edit_attributes(receiver.id)[attribute] = sums[attribute]
            _call(machine, state, receiver, flow.methods[setter])
            if len(setters) > 1:
                state.supposed = state.supposed or option(
                    f"`{setter}` was called before, which sets `self.{attribute}`"
                )
        if _current(state, receiver, attribute) == NONE and _kept_parameter(machine, flow, attribute) is None:
            # Code outside of the class sets it, or a method that was not called for it or not to its end.
            state.edit_attributes(receiver.id)[attribute] = something(attribute)


def _setters(flow: ObjectFlow, attribute: str, reached: dict[str, MethodFlow], sums: dict[str, Const]) -> list[str]:
    """The methods that assign an attribute; of one of the ``sums``, those that add to it."""
    others = flow.setters(attribute, reached)
    return [each for each in others if attribute not in sums or attribute in flow.flows[each].computed]


def _due(state: State, receiver: HeapRef, reached: dict[str, MethodFlow], sums: dict[str, Const]) -> list[str]:
    """The attributes that methods read before anything has assigned them: absent ones, and those that are None where
    a test foresees that only to leave, or none does; those that hold a graph, which another method makes anew for each
    call; and the ``sums`` to which nothing was added. What the methods assign themselves is their own business.
    """
    own = {name for each in reached.values() for name in each.assigned}
    weighed = {name for each in reached.values() for name in each.weighed} - sums.keys()
    read = dict.fromkeys(name for each in reached.values() for name in sorted(each.read))
    known = state.get(receiver.id, Instance).attributes
    own |= _added_to(reached, known)
    return [
        name
        for name in read
        if name not in own and not (name in weighed and name in known) and _is_due(state, receiver, name, sums)
    ]


def _added_to(reached: dict[str, MethodFlow], known: dict[str, Value]) -> set[str]:
    """The tensors that methods write a part of."""
    filled = {name for each in reached.values() for name in each.filled}
    return {name for name in filled if isinstance(known.get(name), TensorRef)}


def _is_due(state: State, receiver: HeapRef, attribute: str, sums: dict[str, Const]) -> bool:
    current = _current(state, receiver, attribute)
    if isinstance(current, TensorRef):
        return resolve_view(state, current.id).grad_fn is not None
    return current is None or current == NONE or current == sums.get(attribute)


def _sums(flow: ObjectFlow, reached: dict[str, MethodFlow]) -> dict[str, Const]:
    """The attributes from which methods go backward and that the class begins with a number, each with that."""
    begun = {
        attribute: {
            each for method in flow.flows.values() for each in method.assigned.get(attribute, ()) if each is not None
        }
        for attribute in sorted(name for each in reached.values() for name in each.walked)
    }
    return {name: numbers.pop() for name, numbers in begun.items() if len(numbers) == 1 and NONE not in numbers}


def _current(state: State, receiver: HeapRef, attribute: str) -> Value | None:
    """What an attribute of an object is, by itself or by its class; None where it has none that is known."""
    thing = state.get(receiver.id, Instance)
    if attribute in thing.attributes:
        return thing.attributes[attribute]
    found = lookup_in_mro(state, thing.kind, attribute)
    return None if found is None else found[1]


def _prepares(machine: Machine, flow: ObjectFlow, setter: str, attribute: str) -> bool:
    """Whether a method is called to assign an attribute: it gives it something, and does not train itself; it may hand
    on a function that does.
    """
    node = flow.methods[setter].node
    trains = any(each.backward for each in flow.reached(setter, at_once=True).values())
    return setter in flow.givers(attribute) and not trains and not machine.query(is_abstract, node)


def _call(machine: Machine, state: State, receiver: HeapRef, function: Function) -> None:
    """Call a method with inferred arguments, along one path, unless that takes too much. It is not taken for called:
    it runs on its own, too. What is assumed of the caller of the method that needs it, such as that it switches
    gradients off, does not hold for this one: it was called before, and what it has made others may have used since.
    """
    called = set(machine.unit.called)

    def call(trial: State) -> None:
        trial.enter(True, False)
        given = inferred(machine, trial, function, positional(function, 1))
        with machine.facts.events.assuming_nothing(), along_one_path(machine):
            runs_to_end(machine, trial, function, receiver, given, function.node)
        trial.grad_mode, trial.inference = state.grad_mode, state.inference

    try:
        is_affordable(machine, state, machine.limits.setup_fuel, call)
    finally:
        machine.unit.called &= called
        machine.unit.began = fresh_id()
