"""What is bound to a name, and is nothing that is known: a network, if the code around asks it for what networks have,
or an optimizer.

    net = registry.build(options.net)     an unknown call,
    opt = SGD(net.parameters())           but only a network has parameters
    net(x).sum().backward()
    net = DDP(net)                        an unknown call that is given what it takes the place of: it wraps that
    parts.opt.step()                      so with attributes of what is not known: an optimizer, if it is cleared, too

One unknown value is one network, under whatever names it is bound. That it is one is a guess: what rests on it says so
and is no error (``autograd.model.guesses``).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import partial

from ..autograd import give_history
from ..autograd.model.graph_search import leaf_tensors, nodes_below
from ..domain import facets
from ..domain.induction import is_plain
from ..domain.mro import OBJECT, is_module, mro_of
from ..domain.state import State
from ..domain.values import (
    FALSE,
    TRUE,
    BuiltinMethod,
    Class,
    External,
    Frame,
    HeapRef,
    Instance,
    Optimizer,
    Origin,
    TensorRef,
    Unknown,
    Value,
    something,
)
from ..engine.machine import Machine
from ..engine.syntax.asked import (
    SELF,
    asked_of_attributes,
    asked_of_variables,
    is_of_network,
    is_of_optimizer,
    is_of_scaler,
)
from ..engine.syntax.walked_results import calls_into_walk, walked_method_calls
from ..models.torch.nn.layer_models import guessed_network
from ..models.torch.nn.module_registry import is_module_like, parameters_of
from ..models.torch.optim.gradient_scaling import handed_scaler
from ..models.torch.optim.handed_optimizers import unknown_optimizer
from ..models.torch.registry import Call
from ..source import definitions, dotted

NETWORK = External("torch.nn.Module")
UNTOLD = (Origin.ANY, Origin.NAME, Origin.BATCH)
"""Origins that do not say what a value is; what is unpacked of an argument has that of a batch."""


def variable(machine: Machine, state: State, name: str, value: Value, node: ast.AST) -> Value:
    """What the variable ``name`` of the running scope is bound to."""
    is_own = isinstance(value, BuiltinMethod) and isinstance(value.receiver, HeapRef)
    if not is_own and not _may_be(state, value) or (scope := _scope(machine, state)) is None:
        return value
    asked = machine.query(asked_of_variables, scope).get(name, frozenset[str]())
    if is_own and isinstance(value, BuiltinMethod):
        return inherited(machine, state, value, node, asked)
    before = state.get(state.frame, Frame).variables.get(name)
    return _by_use(machine, state, value, name, asked, node, before)


def module_variable(machine: Machine, state: State, name: str, value: Value, module: ast.AST) -> Value:
    """The same of a variable of a module, by what its functions ask of it."""
    asked = (machine.query(asked_of_variables, each).get(name) for each in definitions(module))
    return _by_use(machine, state, value, name, frozenset().union(*filter(None, asked)), module)


def arguments(machine: Machine, state: State, frame: int, definition: ast.AST, node: ast.AST) -> None:
    """The same of the parameters of a function, whose call at ``node`` has given them their values."""
    for name, value in [*state.get(frame, Frame).variables.items()]:
        if _may_be(state, value):
            asked = machine.query(asked_of_variables, definition).get(name, frozenset())
            state.edit(frame, Frame).variables[name] = _by_use(machine, state, value, name, asked, node)


def attribute(machine: Machine, state: State, thing: Instance, name: str, value: Value, node: ast.AST) -> Value:
    """What the attribute ``name`` of an object is bound to."""
    if not _may_be(state, value):
        return value
    asked, before = _asked_of(machine, state, thing, name), thing.attributes.get(name)
    return _by_use(machine, state, value, f"self.{name}", asked, node, before)


def part(machine: Machine, state: State, owner: Value, name: str, node: ast.AST) -> Value:
    """An attribute of which nothing else is known; of something unknown, or of one of its own attributes, it is what
    the code around asks of it.
    """
    value = BuiltinMethod(owner, name)
    if not _may_be(state, value) or not (path := dotted(node)) or (scope := _scope(machine, state)) is None:
        return value
    asked = machine.query(asked_of_variables, scope).get(path, frozenset[str]())
    receiver = state.get(state.frame, Frame).variables.get("self") if path.startswith(SELF) else None
    thing = state.heap[receiver.id] if isinstance(receiver, HeapRef) else None
    if isinstance(thing, Instance):
        asked |= _asked_of(machine, state, thing, path.removeprefix(SELF))
    return _by_use(machine, state, value, path, asked, node)


def inherited(
    machine: Machine, state: State, value: BuiltinMethod, node: ast.AST, asked: frozenset[str] = frozenset()
) -> Value:
    """What no code that is read gives an object, but a base class may that is not: a network or an optimizer, by what
    the classes of the object ask of it, or is ``asked`` of a variable; else a method of which nothing is known.
    """
    owner, name = value.receiver, value.name
    thing = state.heap[owner.id] if isinstance(owner, HeapRef) else None
    if not isinstance(owner, HeapRef) or not isinstance(thing, Instance) or not _has_unread_base(state, thing):
        return value
    asked |= _asked_of(machine, state, thing, name)
    found = _by_use(machine, state, something(name), f"self.{name}", asked, node)
    if isinstance(found, HeapRef):
        state.edit_attributes(owner.id)[name] = found
        return found
    return value


def _has_unread_base(state: State, thing: Instance) -> bool:
    """Whether the class of an object of the program comes from one that is not read, and is no network."""
    if not isinstance(thing.kind, HeapRef) or is_module(state, thing.kind):
        return False
    return any(not isinstance(each, HeapRef) and each != OBJECT for each in mro_of(state, thing.kind))


def _asked_of(machine: Machine, state: State, thing: Instance, name: str) -> frozenset[str]:
    """What the classes of an object ask of its attribute ``name``."""
    asked = frozenset[str]()
    for owner in mro_of(state, thing.kind):
        if isinstance(owner, HeapRef) and isinstance(kind := state.heap[owner.id], Class):
            asked |= machine.query(asked_of_attributes, kind.node).get(name, frozenset())
    return asked


def _by_use(
    machine: Machine,
    state: State,
    value: Value,
    name: str,
    asked: frozenset[str],
    node: ast.AST,
    before: Value | None = None,
) -> Value:
    """A value by what is ``asked`` of it; an optimizer is one of what the code was given that has made it. ``before``
    is what it takes the place of.
    """
    if is_of_network(asked) and not _is_tensor(state, value):
        if isinstance(before, HeapRef) and _was_given(machine, state, value, before):
            return _known(machine, state, value, partial(_wrapper, state, before))
        return _known(machine, state, value, partial(_network, machine, state, value, name, node))
    if is_of_scaler(asked):
        return _known(machine, state, value, partial(handed_scaler, machine, state, name, node))
    if not is_of_optimizer(asked, has_parameters=True):
        return value
    made_of = _made_of(state, value)
    taken = (state.given_attributes(key).get(facets.NETWORK) for key in made_of)
    steps = [each.id for each in taken if isinstance(each, HeapRef) and isinstance(state.heap[each.id], Optimizer)]
    if steps:  # made of what was taken for a tensor before the code around asked anything of it
        schedule = something(name)
        machine.facts.networks.schedules[schedule.tensor_id] = steps[0]
        return schedule
    if not is_of_optimizer(asked, any(state.tensors[key].parameter for key in made_of)):
        return value
    if isinstance(value, TensorRef):
        _let_go(state, value.id)
    return _known(
        machine, state, value, partial(unknown_optimizer, machine, state, name, _given_to(machine, state, value), node)
    )


def _made_of(state: State, value: Value) -> tuple[int, ...]:
    """The tensors that the unknown call was given which has made a value."""
    node = state.tensors[value.id].grad_fn if isinstance(value, TensorRef) else None
    return () if node is None else node.operand_ids


def _let_go(state: State, key: int) -> None:
    """What was taken for a tensor is none: whoever was given it, or what was made of it, was given no graph."""
    node = state.tensors[key].grad_fn
    state.escaped = frozenset(each for each in state.escaped if node not in nodes_below(state.grad_fns([each])))


def _is_tensor(state: State, value: Value) -> bool:
    """Whether a value is a tensor, and not only taken for what a network has returned: its maker may be none."""
    return isinstance(value, TensorRef) and not state.tensors[value.id].assumption


def is_walked(machine: Machine, state: State, thing: Instance, call: Call) -> bool:
    """Whether a method of a network of which nothing is known returns what the code around goes backward through: the
    result had a graph. One that is given no tensor (``net.spec()``, ``net.noise(5)``), and whose result is only
    given to others, may have returned a number or noise.
    """
    if thing.kind != NETWORK or facets.UNSEEN_PARAMETERS not in thing.attributes:
        return False
    walked = [machine.query(walked_method_calls, scope).get(call.node) for scope in _scopes(machine, state)]
    return (
        True in walked
        or False in walked
        and not all(is_plain(value) or _is_setting(state, value) for value in (*call.args, *call.kwargs.values()))
    )


def _is_setting(state: State, value: Value) -> bool:
    """Whether a value is an attribute of something that the object was given, and the function is not: a number, as far
    as the code shows (``self.args.batch_size``).
    """
    whole = value
    while isinstance(whole, BuiltinMethod):
        whole = whole.receiver
    frame = state.get(state.frame, Frame)
    if not isinstance(whole, Unknown) or whole.origin is not Origin.NAME or whole is value or frame.function is None:
        return False
    arguments = (frame.variables.get(each.arg) for each in frame.function.node.args.args)
    return whole not in arguments


def goes_into_walk(machine: Machine, state: State, node: ast.AST) -> bool:
    """Whether the code around goes backward through what a call returns, which has not done so itself then."""
    return any(node in machine.query(calls_into_walk, scope) for scope in _scopes(machine, state))


def _scopes(machine: Machine, state: State) -> Iterator[ast.AST]:
    """The function or the module that runs, and the class of the function."""
    if (scope := _scope(machine, state)) is not None:
        yield scope
    frame = state.get(state.frame, Frame)
    owner = state.heap.get(frame.function.owner) if frame.function is not None and frame.function.owner else None
    if isinstance(owner, Class):
        yield owner.node


def _may_be(state: State, value: Value) -> bool:
    """Whether nothing says that a value is no network and no optimizer: it is what an unknown call returned, perhaps of
    tensors, or an attribute of something unknown.
    """
    if isinstance(value, BuiltinMethod):
        return isinstance(value.receiver, Unknown | BuiltinMethod) and _may_be(state, value.receiver)
    if isinstance(value, TensorRef):
        return state.tensors[value.id].assumption is not None
    return isinstance(value, Unknown) and value.requires_grad is None and value.origin in UNTOLD


def _given_to(machine: Machine, state: State, value: Value) -> frozenset[int]:
    """The leaves that the unknown code was given which has made a value."""
    if isinstance(value, TensorRef):
        return frozenset(leaf_tensors(state.grad_fns([value.id])))
    holders = machine.facts.objects.holders
    return holders.get(value.tensor_id, frozenset()) if isinstance(value, Unknown) else frozenset()


def _scope(machine: Machine, state: State) -> ast.AST | None:
    """The function or the module that runs; None in a class body or a comprehension."""
    frame = state.get(state.frame, Frame)
    if frame.function is not None:
        return frame.function.node
    if state.frame != frame.module:
        return None
    return machine.running_file(state)


def _known(machine: Machine, state: State, value: Value, make: Callable[[], HeapRef]) -> Value:
    """What an unknown value is taken for; the same each time it is bound."""
    owner: Value = value
    name = ""
    while isinstance(owner, BuiltinMethod):
        name = f".{owner.name}{name}"
        owner = owner.receiver
    name = name.removeprefix(".") or facets.NETWORK
    assert isinstance(owner, Unknown | TensorRef)
    key = owner.id if isinstance(owner, TensorRef) else owner.tensor_id
    given = state.given_attributes(key)
    known = given.get(name)
    if known is None:
        known = make()
        if owner is value and isinstance(state.heap[known.id], Instance):
            _set_as(state, known, given)
        state.edit_given_attributes(key)[name] = known
    return known


def _network(machine: Machine, state: State, value: Value, name: str, node: ast.AST) -> HeapRef:
    """A network; what is bound to a name that the code does not define came as an argument does."""
    known = guessed_network(machine, state, name, node)
    if isinstance(value, Unknown) and value.origin is Origin.NAME:
        machine.facts.networks.handed_leaves.update((key, name) for _, key in parameters_of(state, known))
    return known


def _was_given(machine: Machine, state: State, value: Value, network: HeapRef) -> bool:
    """Whether the unknown code that has made a value was given a network."""
    held = {key for _, key in parameters_of(state, network)} if is_module_like(state, network) else set[int]()
    return bool(held) and held <= _given_to(machine, state, value)


def _wrapper(state: State, network: HeapRef) -> HeapRef:
    """``net = DDP(net)``: what takes the place of the network that it was given has the parameters of that."""
    return HeapRef(state.new(Instance(NETWORK, {"module": network, "training": Unknown("training", False)}, True)))


def _set_as(state: State, network: HeapRef, given: dict[str, Value]) -> None:
    """Set a network as the unknown value was that it stands for."""
    if (mode := given.get(facets.TRAINING)) is not None:
        state.edit(network.id, Instance).attributes["training"] = mode
    if (flag := given.get(facets.REQUIRES_GRAD)) is not None:
        wanted = None if flag not in (TRUE, FALSE) else flag == TRUE
        for _, key in parameters_of(state, network):
            state.changes += 1
            give_history(state, state.tensors[key], None, wanted)
