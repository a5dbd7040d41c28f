"""Objects of which all is known, and those that may hold more: what is not there raises only in the first.

    options = {"lr": 0.1}
    options["momentum"]         KeyError: the program spells out all that it holds
    fill(options)               code that is not read was given it: from here on it may hold anything

Whatever such code was given leads to is open to it as well, and so are the scopes around a function that it was given.
What was there before an imagined caller begins is open to all that would have run in between.

What the code of all files that were read may bind, on any path: what it never binds is not there.

Tensors that such code was given, or that were put into an object of its own, it can find: it may go backward from them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from ..because import RunBy
from ..domain import facets
from ..domain.reachability import Reachable, collect
from ..domain.state import State
from ..domain.traversal import contents, tensors_in
from ..domain.values import BoundMethod, BuiltinMethod, External, Frame, Function, Origin, Unknown, Value
from .lifecycle import TensorsEscaped
from .machine import Machine
from .syntax.bound_names import any_names, binds

DISPLAYS = frozenset("csv logging loguru matplotlib tensorboardX tqdm visdom wandb".split())
"""Libraries whose objects show or store numbers, and do nothing else."""
SHOWS = DISPLAYS | frozenset("builtins json math numpy os pandas pickle random statistics sys time".split())
"""Libraries that show, store or pick numbers, and never walk a graph: of Python's library and of https://pypi.org those
that training code calls with a loss, by the names that they are imported by.
"""
WRITER = "torch.utils.tensorboard."
"""The part of PyTorch that does the same."""


def made(machine: Machine, state: State, key: int) -> None:
    """The running code has made the object ``key``: all that it holds is seen."""
    machine.facts.objects.made[key] = state.iterations


def changed(machine: Machine, state: State, key: int) -> None:
    """The running code puts something into the container ``key`` or takes it out: in a loop that began after it was
    made it may do so more often than the loop is followed for.
    """
    machine.facts.objects.changed.add(key)
    if machine.facts.objects.made.get(key, state.iterations) != state.iterations:
        machine.facts.objects.open_objects.add(key)


def open_up(machine: Machine, values: Iterable[Value]) -> None:
    """Code that is not read is given these."""
    found, given = Reachable(set(), set()), list(values)
    for value in given:
        function = value.function if isinstance(value, BoundMethod) else value
        if isinstance(function, Function):
            found.objects.add(function.frame)
    collect(given, found)
    machine.facts.objects.open_objects |= found.objects


def forget_items(state: State, values: Iterable[Value]) -> None:
    """Code that may write under any key has these: what the program has put into an unknown one need not be there."""
    for value in values:
        if isinstance(value, Unknown) and any(map(facets.is_item, state.given_attributes(value.tensor_id))):
            own = state.edit_given_attributes(value.tensor_id)
            for name in [*filter(facets.is_item, own)]:
                del own[name]


def is_whole(machine: Machine, state: State, key: int) -> bool:
    """Whether nothing but code that was run can have changed the object ``key``, which such code has made."""
    if key not in machine.facts.objects.made or is_older(machine, key) or machine.unit.abandoned:
        return False
    return not leads_to(state, machine.facts.objects.open_objects, key)


def is_older(machine: Machine, key: int) -> bool:
    """Whether the object ``key`` was there before the imagined caller began that runs, if one does. What a module has
    made was, even if it is only now that the module is executed.
    """
    if machine.unit.run_by is RunBy.PROGRAM:
        return False
    return key < machine.unit.began or machine.imports is not None and machine.imports.has_made(key)


def is_complete(machine: Machine, state: State, key: int, is_empty: bool) -> bool:
    """Whether the container ``key`` holds what is known to be in it and no more. What is empty is there
    to be filled, perhaps by code that was not followed; what was changed may have been changed more where a choice was
    made or a loop is running.
    """
    if is_empty or key in machine.facts.objects.changed and (state.path_condition or state.iterations):
        return False
    return is_whole(machine, state, key)


def leads_to(state: State, roots: Collection[int], key: int) -> bool:
    """Whether one of the heap objects ``roots`` leads to ``key``."""
    seen, todo = set(roots), list(roots)
    while todo and key not in seen:
        thing = state.heap.get(todo.pop())
        if thing is None:
            continue
        found = Reachable(set(), {thing.parent} if isinstance(thing, Frame) else set())
        collect(list(contents(thing, found.tensors)), found)
        todo += found.objects - seen
        seen |= found.objects
    return key in seen


def may_bind(machine: Machine, name: str) -> bool:
    """Whether some code may bind a variable or an attribute ``name``."""
    return machine.query(binds, name, *machine.trees)


def may_bind_any(machine: Machine) -> bool:
    """Whether some code gives objects attributes by names that it does not spell."""
    return machine.query(any_names, *machine.trees)


def is_harmless(value: Value) -> bool:
    """Whether it is of a library that shows or stores numbers, and never walks a graph."""
    return isinstance(value, External) and value.name.partition(".")[0] in SHOWS or is_display(value)


def is_display(value: Value) -> bool:
    """Whether it is an object that shows or stores numbers, or what makes one: ``logging.getLogger()``, ``.info``."""
    match value:
        case External(name):
            return name.partition(".")[0] in DISPLAYS or name.startswith(WRITER)
        case Unknown(origin=Origin.DISPLAY):
            return True
        case BuiltinMethod(receiver):
            return is_display(receiver)
    return False


def escape(machine: Machine, state: State, tensors: Sequence[int], holder: Value, may_walk: bool = False) -> None:
    """Note that unknown code has ``tensors``, by their ids: ``holder`` is it, or is an object of it. It
    ``may_walk`` their graphs later.
    """
    machine.lifecycle.tensors_escaped.publish(machine, TensorsEscaped(state, tensors, may_walk))
    if not is_harmless(holder):
        state.escaped |= {key for key in tensors if state.tensors[key].grad_fn is not None}


def store_in_unknown(machine: Machine, state: State, owner: Value, value: Value) -> None:
    """A value is put into an unknown object, as an item or as an attribute."""
    if given := list(tensors_in(state, value)):
        escape(machine, state, given, owner, may_walk=True)
