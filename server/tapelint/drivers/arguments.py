"""What a function without a caller is given, and the objects that methods run on: by annotation, default and use.

    def train(model, loader, epoch):     model(x) and model.parameters(): an unknown network
    class DQN:
        def __init__(self, policy: str | type[QPolicy], env, lr=1e-4, build=True)
                                         policy is the class, lr and build are what they are by default

    net: nn.Module                an unknown network
    agent: Agent                  an object of that class of the program, made with inferred arguments
    rate: float                   a number: no graph comes of it
    state: Env                    nothing, where Env is not known

Where an argument may be one thing or another, the one that is known best is taken: it is what some caller gives. What
is stepped and zeroed is an optimizer, what has ``parameters()`` is a network, what bounds a range is a number. What is
only called is taken for a network where the program goes backward through what it returns, or gives it a tensor; the
name of its parameter says nothing. An object whose methods run is made as most callers make it: a switch of its
``__init__`` is left where it is. A function without a caller is tried with both.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace

from ..bounds import BOUNDS
from ..domain.completion import ProgramRaised
from ..domain.mro import dataclass_fields, lookup_in_mro, mro_of, own_function
from ..domain.options import Option, left_at, optional
from ..domain.state import State
from ..domain.values import (
    NONE,
    Class,
    Const,
    External,
    Frame,
    Function,
    HeapRef,
    Instance,
    Mapping,
    Optimizer,
    Origin,
    Sequence,
    TensorRef,
    Tuple,
    Unknown,
    Value,
    defaults_of,
    something,
    unknown_number,
)
from ..engine.loops.thresholds import assume_started
from ..engine.machine import Machine, OutOfFuel
from ..engine.open_objects import open_up
from ..engine.paths import constant_contents
from ..engine.statistics import Entry
from ..engine.syntax import asked
from ..engine.syntax.syntactic_summary import syntactic_summary
from ..frozen import frozen
from ..models.frameworks.training_loops import prepared
from ..models.torch.nn.layer_models import guessed_network, opaque_module
from ..models.torch.nn.module_registry import Guess
from ..models.torch.optim.gradient_scaling import handed_scaler
from ..models.torch.optim.handed_optimizers import note_handed
from ..semantics.functions import BATCH, drained
from ..semantics.receivers import leaves_forward
from ..source import last_name
from .annotations import MANY, PLAIN, library_kind, named, options, parts
from .attribute_flow import fill_in, hand_in
from .parameter_uses import FED, WALKED, is_optimizer, only_stepped, uses_of

PLAIN_KINDS = ("list", "dict", "set", "deque")
ONCE = Const(1)
"""What bounds a loop by default of which callers want more rounds."""


@contextmanager
def along_one_path(machine: Machine) -> Iterator[None]:
    """While this lasts, a single path is followed."""
    width, machine.max_paths = machine.max_paths, machine.limits.init_paths
    try:
        yield
    finally:
        machine.max_paths = width


def is_affordable(machine: Machine, state: State, fuel: int, run: Callable[[State], object]) -> bool:
    """Run something with so much fuel. Where that is not enough the path is left as it is."""
    limit, trial = machine.fuel, state.fork()
    machine.fuel = min(limit, machine.fuel_used + fuel)
    try:
        run(trial)
    except OutOfFuel:
        if limit <= machine.fuel:
            raise
        return False
    finally:
        machine.fuel = limit
    state.become(trial)
    return True


def positional(function: Function, bound: int) -> list[ast.arg]:
    """The parameters of a function that take positional arguments, but for the first ones that are ``bound``."""
    spec = function.node.args
    return [*spec.posonlyargs, *spec.args][bound:]


# Objects


def make_instance(
    machine: Machine, state: State, owner: HeapRef, node: ast.AST, switched: dict[str, Value] | None = None
) -> HeapRef:
    """An object of ``owner``, its ``__init__`` run with inferred arguments, but for those that are ``switched``."""
    instance = HeapRef(state.new(Instance(owner, {})))
    machine.facts.objects.imagined.add(instance.id)
    found = lookup_in_mro(state, owner, "__init__")
    if found is not None and isinstance(found[1], Function):
        _prepare(machine, state, found[1], instance, node, switched or {})
    elif state.get(owner.id, Class).dataclass:
        for name, (default, annotation, scope) in dataclass_fields(state, mro_of(state, owner)).items():
            known = Wanted(machine, state, scope, name, node).field(annotation, default)
            state.edit(instance.id, Instance).attributes[name] = known
    elif found is not None:
        state.edit(instance.id, Instance).is_partial = True
    ready = prepared(state, owner)
    for name in ready.methods if ready is not None else ():
        first = own_function(state, owner, name)
        if first is not None:
            _prepare(machine, state, first, instance, node, {})
    fill_in(machine, state, instance, owner, node)
    attributes = list(state.get(instance.id, Instance).attributes.values())
    reopen(state, attributes)
    constant_contents.handed_out(machine, state, [value.id for value in attributes if isinstance(value, TensorRef)])
    assume_started(machine, state, instance)
    open_up(machine, [instance])
    return instance


def _prepare(
    machine: Machine,
    state: State,
    function: Function,
    instance: HeapRef,
    node: ast.AST,
    switched: dict[str, Value],
) -> None:
    """Call a method that prepares an object, along one path: with what is None by default as it is and no keywords
    beside those it names, or with both where the method raises without.
    """
    kind = state.get(instance.id, Instance).kind
    making = kind if isinstance(kind, HeapRef) else None
    names, defaults = positional(function, 1), defaults_of(function)
    given = inferred(machine, state, function, names, making) | switched
    machine.facts.objects.made_with.update(each.tensor_id for each in given.values() if isinstance(each, Unknown))
    optional = [a for a in names if a.arg not in given and defaults.get(a.arg) == NONE]
    batch = dict[str, Value]() if function.node.args.kwarg is None else {BATCH: something(BATCH)}
    with along_one_path(machine):
        before = state.fork() if optional or batch else state
        if runs_to_end(machine, state, function, instance, given, node) or not (optional or batch):
            return
        raised, uses = state.fork(), uses_of(machine, state, function, making)
        state.become(before)
        more = {a.arg: _infer(machine, state, function, a, uses.get(a.arg, set()), False) for a in optional}
        if runs_to_end(machine, state, function, instance, given | more | batch, node):
            return
        state.become(raised)


def runs_to_end(
    machine: Machine, state: State, function: Function, instance: HeapRef, given: dict[str, Value], node: ast.AST
) -> bool:
    """Whether a method that prepares an object runs to its end; if it raises the object is made in part."""
    try:
        drained(machine, state, machine.call(state, function, [instance], given, node), 1)
    except ProgramRaised:
        state.edit(instance.id, Instance).is_partial = True
        return False
    return True


def reopen(state: State, values: list[Value], depth: int = BOUNDS.data_depth) -> None:
    """Other methods may have filled what ``__init__`` left empty: plain containers may hold more than we saw."""
    for value in values if depth else ():
        thing = state.heap[value.id] if isinstance(value, HeapRef) else None
        if isinstance(value, HeapRef) and isinstance(thing, (Sequence, Mapping)) and thing.kind in PLAIN_KINDS:
            state.edit(value.id, type(thing)).is_partial = True
            reopen(state, list(thing.items if isinstance(thing, Sequence) else thing.items.values()), depth - 1)


# By default, and by use


def inferred(
    machine: Machine, state: State, function: Function, names: list[ast.arg], making: HeapRef | None = None
) -> dict[str, Value]:
    """Values for positional parameters, and those by keyword, without an argument. A plain default is kept, unless it
    is a switch (True, False, None), which may be either, or the one round of a loop; where it is an object of the class
    ``making`` that is made, a switch keeps its default too, if None is foreseen there.
    """
    uses, tests = uses_of(machine, state, function, making), syntactic_summary(function.node).tests
    defaults = defaults_of(function)
    values: dict[str, Value] = {}
    arguments = {each.arg: uses.get(each.arg, set()) for each in names}
    lone = only_stepped(machine, state, function, making, arguments)
    if lone is not None:  # it is an optimizer from here on
        uses[lone] = arguments[lone] = {*uses[lone], "zero_grad"}
    paired = _pair(machine, state, function, arguments)
    for parameter in (*names, *function.node.args.kwonlyargs):
        name = parameter.arg
        default = defaults.get(name)
        if default is not None and not is_switch(default):
            if default == ONCE and "range" in uses.get(name, ()):
                values[name] = replace(unknown_number(), formula=left_at(name, ONCE))
            continue
        if making is not None and default is not None and (default != NONE or parameter.annotation or name in tests):
            continue
        if isinstance(default, Const) and isinstance(default.value, bool):
            values[name] = flipped(name, default)
            continue
        values[name] = _infer(machine, state, function, parameter, uses.get(name, set()), name in paired)
        note_handed(machine, state, name, values[name], parameter)
    return values


def is_switch(default: Value) -> bool:
    """Whether a default is True, False or None: a caller may well mean the other."""
    return isinstance(default, Const) and (default.value is None or isinstance(default.value, bool))


def flipped(name: str, default: Const) -> Value:
    """An option that is what it is by default, or the opposite of that."""
    other = Const(not default.value)
    return optional(Option(default, f"`{name}` is {other.value}", (other,)), name)


def _pair(machine: Machine, state: State, function: Function, arguments: dict[str, set[str]]) -> Collection[str]:
    """The ``arguments``, by their uses, that are called and may be networks, if there is an optimizer for each: none of
    those is a loss then. Where the code goes backward nowhere, what they return need not be walked.
    """
    own = state.heap[function.owner] if function.owner is not None else None
    walks = machine.query(syntactic_summary, own.node if isinstance(own, Class) else function.node).backward
    run = {name: uses for name, uses in arguments.items() if uses & asked.RUN}
    found = [name for name, uses in run.items() if uses & {WALKED, *asked.OF_NETWORKS} or not walks]
    return found if len(found) <= sum(map(is_optimizer, arguments.values())) else ()


def _guess(uses: set[str], paired: bool) -> Guess:
    if paired:
        return Guess.PAIRED
    if FED in uses:
        return Guess.FED
    return Guess.WALKED if WALKED in uses else Guess.CALLED


def _infer(
    machine: Machine, state: State, function: Function, parameter: ast.arg, uses: set[str], paired: bool
) -> Value:
    """The first of what its annotation and its uses say of a parameter."""
    name, node = parameter.arg, function.node
    if parameter.annotation is not None:
        known = Wanted(machine, state, function.frame, name, node).promised(parameter.annotation)
        if known is not None:
            return known
    if "forward" in uses or asked.GONE_THROUGH in uses or uses & asked.OF_NETWORKS and "()" in uses:
        return guessed_network(machine, state, name, node)
    if "range" in uses:
        return unknown_number()
    if asked.is_of_scaler(uses):
        return handed_scaler(machine, state, name, node)
    if is_optimizer(uses):
        return HeapRef(state.new(Optimizer(name, [], True)))
    if "()" in uses and parameter.annotation is None:
        return guessed_network(machine, state, name, node, _guess(uses, paired))
    return something(name)


# By annotation


@frozen
class Wanted:
    """A value for the variable ``name``, as annotations in ``scope`` describe it, made for the code ``at``."""

    machine: Machine
    state: State
    scope: int
    name: str
    at: ast.AST

    def promised(self, annotation: ast.expr | None) -> Value | None:
        """A value as an annotation describes it; None where it says nothing that would help."""
        found = [self._of_option(option) for option in options(annotation) if option is not None]
        known = [value for value in found if value is not None]
        better = next((value for value in known if not isinstance(value, Unknown)), None)
        if better is not None or len(known) < len(found):
            return better
        if len(known) == 1:
            return known[0]
        return something(self.name, False) if known and all(map(_is_data, known)) else None

    def field(self, annotation: ast.expr | None, default: Value | None) -> Value:
        """What a field of a dataclass holds whose object somebody has made: what it is by default, or another value;
        what is None by default he has mostly given.
        """
        if isinstance(default, Const) and isinstance(default.value, bool):
            return flipped(self.name, default)
        if isinstance(default, Const) and isinstance(default.value, (int, float, str)):
            return optional(left_at(self.name, default), self.name)
        if default is not None and default != NONE:
            return default
        found = self.promised(annotation)
        known = something(self.name) if found is None else found
        if default is None or not isinstance(known, Unknown):
            return known
        return replace(known, formula=Option(NONE, f"`{self.name}` is given"))

    def _of_option(self, option: ast.expr) -> Value | None:
        if isinstance(option, ast.Subscript):
            return self._generic(option)
        kind = named(self.machine, self.state, self.scope, option)
        if isinstance(kind, HeapRef) and isinstance(self.state.heap.get(kind.id), Class):
            return self._network() if leaves_forward(self.machine, self.state, kind) else self._object_of(kind)
        return self._of_library(kind.name if isinstance(kind, External) else last_name(option))

    def _generic(self, option: ast.Subscript) -> Value | None:
        """A value of a generic type: a class for ``type[Net]``, a tuple of what its parts promise, a list."""
        head, inner = last_name(option.value), parts(option)
        if head in ("type", "Type"):
            return self._class(inner[0])
        if head in ("tuple", "Tuple") and not isinstance(inner[-1], ast.Constant):
            found = [self.promised(part) for part in inner]
            return Tuple(tuple(v if v is not None else something(self.name) for v in found)) if any(found) else None
        item = self.promised(inner[0]) if head in MANY else None
        known = item is not None and not isinstance(item, Unknown)
        return HeapRef(self.state.new(Sequence("list", [item], True))) if known and item is not None else None

    def _class(self, annotation: ast.expr) -> HeapRef | None:
        """The class of the program that ``type[...]`` names."""
        found = (named(self.machine, self.state, self.scope, part) for part in options(annotation) if part)
        kind = next(filter(None, found), None)
        return kind if isinstance(kind, HeapRef) and isinstance(self.state.heap.get(kind.id), Class) else None

    def _of_library(self, kind: str) -> Value | None:
        """A network, an optimizer, a tensor or a plain value of a class of a library."""
        last = kind.rpartition(".")[2]
        match library_kind(kind):
            case "network":
                return self._network()
            case "optimizer":
                return HeapRef(self.state.new(Optimizer(self.name, [], True)))
            case "scaler":
                return handed_scaler(self.machine, self.state, self.name, self.at)
            case "tensor":
                return Unknown(origin=Origin.BATCH)
        return Unknown(last, False, origin=PLAIN[last]) if last in PLAIN else None

    def _network(self) -> HeapRef:
        return opaque_module(self.machine, self.state, self.name, self.at)

    def _object_of(self, kind: HeapRef) -> Value | None:
        """An object of a class of the program, unless that takes too much. It may be one of a derived class."""
        machine, making = self.machine, self.machine.imagined_classes
        if kind.id in making or len(making) >= machine.limits.nested_annotations or not self._matters(kind):
            return None
        made: list[HeapRef] = []

        def make(trial: State) -> None:
            made.append(make_instance(machine, trial, kind, self.at))
            hand_in(machine, trial, made[0], kind)

        making.append(kind.id)
        try:
            return made[0] if is_affordable(machine, self.state, machine.limits.annotation_fuel, make) else None
        except RecursionError as error:
            machine.fail(Entry("object", self.state.get(kind.id, Class).node), error)
            return None
        finally:
            making.pop()

    def _matters(self, kind: HeapRef) -> bool:
        """Whether anything of autograd can be in objects of a class."""
        thing, imports = self.state.get(kind.id, Class), self.machine.imports
        names = (base.name for base in thing.bases if isinstance(base, External))
        if any(name.startswith(("enum.", "typing.Protocol")) for name in names):
            return False
        return imports is None or not imports.is_idle(self.state, self.state.get(thing.scope, Frame).module, [])


def _is_data(value: Value) -> bool:
    return isinstance(value, Unknown) and value.requires_grad is False
