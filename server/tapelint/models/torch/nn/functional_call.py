"""``torch.func.functional_call``: a network runs with other tensors in place of its parameters and buffers.

    fast = {name: p - 0.1 * g for (name, p), g in zip(net.named_parameters(), gradients)}
    loss = functional_call(net, fast, (x,)).sum()     # the graph of the loss leads through `fast`

The tensors are put where the network's own are, forward runs as always, and the network gets its own back, however
forward ended. What forward assigned under the names that were given is in the dict afterwards, not in the network; what
it assigned under others stays.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....domain import facets
from ....domain.completion import ProgramRaised
from ....domain.state import State
from ....domain.values import NONE, TRUE, External, HeapRef, Instance, Mapping, Sequence, TensorRef, Tuple, Value
from ....engine.machine import Machine
from .. import dispatch
from ..call_outcomes import for_each
from ..registry import Call, function
from .module_registry import buffers_of, is_module_like, keep, members, parameters_of

Place = tuple[int, str]
"""The module that holds a tensor, and the attribute in which it does."""


@function("torch.func.functional_call", "torch.nn.utils.stateless.functional_call")
def functional_call(machine: Machine, state: State, call: Call) -> Value:
    module, given = call.get(0, "module"), call.get(1, "parameter_and_buffer_dicts")
    given = call.kwargs.get("parameters_and_buffers", given)
    tensors = given_tensors(machine, state, given)
    placed = None
    if tensors is not None and isinstance(module, HeapRef) and is_whole(state, module, tensors, given):
        placed = places(state, module, tensors, call.kwargs.get("tie_weights", TRUE))
    if placed is None:
        return machine.call_unknown(state, call.args, call.kwargs, call.node, External(call.name))
    args, kwargs = call.get(2, "args"), call.get(3, "kwargs")
    positional: list[Value] = list(args.items) if isinstance(args, Tuple) else [] if args == NONE else [args]
    named = state.heap[kwargs.id] if isinstance(kwargs, HeapRef) else None
    keywords = {str(name): value for name, value in named.items.items()} if isinstance(named, Mapping) else {}
    own = {place: put(state, place, value) for place, (_, value) in placed.items()}

    def restore(path: State, outcome: Value | ProgramRaised) -> Value:
        for place, before in reversed(own.items()):
            now = put(path, place, before)
            name = placed[place][0]
            if name is None or now is None or now == placed[place][1]:
                continue
            if isinstance(given, HeapRef) and isinstance(path.heap[given.id], Mapping):
                path.edit(given.id, Mapping).items[name] = now
        if isinstance(outcome, ProgramRaised):
            raise outcome
        return outcome

    return for_each(
        machine,
        state,
        call.key,
        lambda: machine.call(state, module, positional, keywords, call.node, call.key),
        restore,
    )


def parts(state: State, given: Value) -> list[Value]:
    """The dicts that are given, in a tuple or a list; or the one."""
    if isinstance(given, Tuple):
        return list(given.items)
    thing = state.heap[given.id] if isinstance(given, HeapRef) else None
    return list(thing.items) if isinstance(thing, Sequence) else [given]


def given_tensors(machine: Machine, state: State, given: Value) -> dict[str, Value] | None:
    """Tensors by name, from a dict or several; None where they are not known."""
    if (dicts := parts(state, given)) != [given]:
        found_in = [given_tensors(machine, state, part) for part in dicts]
        whole = [found for found in found_in if found is not None]
        return {name: value for found in whole for name, value in found.items()} if len(whole) == len(dicts) else None
    thing = state.heap[given.id] if isinstance(given, HeapRef) else None
    if not isinstance(thing, Mapping):
        return None
    found: dict[str, Value] = {}
    for name, value in thing.items.items():
        key = dispatch.tensor_of(machine, state, value)
        if not isinstance(name, str) or key is None and value != NONE:
            return None
        found[name] = TensorRef(key) if key is not None else NONE
    return found


def is_whole(state: State, module: HeapRef, tensors: dict[str, Value], given: Value) -> bool:
    """Whether a module is given nothing but what is known: where there may be more, such as the buffers in a state
    dict, it must have nothing else.
    """
    if not is_module_like(state, module):
        return False
    if not any(
        getattr(state.heap[part.id], "is_partial", False) for part in parts(state, given) if isinstance(part, HeapRef)
    ):
        return True
    below = [module, *(item for _, item in members(state, module))]
    buffers = any(buffers_of(state, item) for item in below if isinstance(item, HeapRef))
    return not buffers and {name for name, _ in parameters_of(state, module)} <= tensors.keys()


def places(
    state: State, module: HeapRef, tensors: dict[str, Value], tied: Value
) -> dict[Place, tuple[str | None, Value]] | None:
    """Where each tensor goes, with its name; None where that is not known. What the module has under several names it
    gets under all of them (these have no name of their own), unless weights are not to be tied.
    """
    found: dict[Place, tuple[str | None, Value]] = {}
    for name, value in tensors.items():
        place = place_of(state, module, name)
        if place is None:
            return None
        found[place] = name, value
    if tied != TRUE:
        return found
    held = {v: value for (key, at), (_, value) in found.items() if (v := attributes(state, key).get(at)) is not None}
    for name, item in members(state, module):
        if isinstance(item, TensorRef) and item in held:
            place = place_of(state, module, name)
            if place is not None:
                found.setdefault(place, (None, held[item]))
    return found


def place_of(state: State, module: HeapRef, name: str) -> Place | None:
    """Where a module has what is called ``name`` in it, or would have it."""
    thing = state.heap[module.id]
    if not isinstance(thing, Instance):
        head, _, rest = name.partition(".")
        return next((place_of(state, child, rest) for key, child in children(state, module) if key == head), None)
    if isinstance(thing.attributes.get(name), TensorRef):
        return module.id, name
    for key, child in children(state, module):
        if name.startswith(f"{key}."):
            return place_of(state, child, name[len(key) + 1 :])
    hides = thing.is_partial or not thing.attributes.keys().isdisjoint(
        (facets.UNSEEN_PARAMETERS, facets.ALL_PARAMETERS, facets.PARAMETRIZED)
    )
    return None if hides or "." in name else (module.id, name)


def children(state: State, module: HeapRef) -> Iterator[tuple[str, HeapRef]]:
    thing = state.heap[module.id]
    pairs: list[tuple[object, Value]]
    if isinstance(thing, Instance):
        inner = thing.attributes.get(facets.CONTAINER)
        if isinstance(inner, HeapRef):
            yield from children(state, inner)
        pairs = list(thing.attributes.items())
    elif isinstance(thing, Sequence):
        pairs = list(enumerate(thing.items))
    else:
        pairs = list(thing.items.items()) if isinstance(thing, Mapping) else []
    for key, value in pairs:
        if isinstance(value, HeapRef) and is_module_like(state, value):
            yield str(key), value


def attributes(state: State, key: int) -> dict[str, Value]:
    return state.get(key, Instance).attributes


def put(state: State, place: Place, value: Value | None) -> Value | None:
    """Put a value in a place, or nothing; what was there. What is computed of it is computed of the new one."""
    key, name = place
    held = attributes(state, key)
    before, computed = held.get(name), held.get(facets.PARAMETRIZED)
    if value is None:
        state.edit(key, Instance).attributes.pop(name, None)
        return before
    parameter = isinstance(before, TensorRef) and state.tensors[before.id].parameter
    if parameter:
        keep(state, HeapRef(key), "_parameters", name, value)
    else:
        state.edit(key, Instance).attributes[name] = value
    if isinstance(computed, Tuple):
        swapped = (
            Tuple((item.items[0], value, *item.items[2:])) if item.items[1] == before else item
            for item in computed.items
            if isinstance(item, Tuple)
        )
        attributes(state, key)[facets.PARAMETRIZED] = Tuple(tuple(swapped))
    return before
