"""Functions without a caller, called once more as a caller might whose tensors are part of a graph.

    def inverse(term):
        result = term.reciprocal()     reciprocal saves its result
        result.clamp_(max=1e6)         so this spoils what a backward through it needs,
        return result                  if `term` requires grad

The tensors that come in are taken for computed ones that require grad, and a backward is imagined through those that go
out: what is returned, and the arguments that were written. What is found rests on that (it is latent), and names the
parameters. Only what is certain under this assumption is listened to: writes that PyTorch refuses or that a backward
trips over. All else was looked at when the function ran by itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from collections.abc import Sequence as SequenceType
from dataclasses import dataclass, field, replace
from functools import partial

from ..autograd import Node, Tensor, fresh_id, leaf, resolve_view
from ..autograd.events.graph_walks import Event, SavedTensorModified, ViewRefused
from ..autograd.model.guesses import unseen_above
from ..because import Because, guess
from ..domain.state import State
from ..domain.values import NONE, BoundMethod, Function, HeapRef, TensorRef, Value
from ..engine.machine import Machine
from ..semantics.calls import call_value
from . import framework_driver
from .tensor_parameters import tensor_parameters


@dataclass(slots=True)
class Heard:
    """What was published while a function ran with tensors of an imagined caller."""

    # The parameter that each tensor was given for, by its node.
    names: dict[Node, str] = field(default_factory=dict)
    # The events, each with the parameters that have a part in it.
    events: list[tuple[SavedTensorModified | ViewRefused, tuple[str, ...]]] = field(default_factory=list)

    def hear(self, event: Event) -> None:
        """Take note of what is certain if the tensors require grad."""
        order = [*self.names.values()]
        if isinstance(event, SavedTensorModified):
            if unseen_above(event.node, event.path[0]) is not None:
                return  # unknown code would have to keep a graph besides
            names = [self.names[node] for node in _below(event.path[-1]) if node in self.names]
            self.events.append((event, tuple(sorted(set(names), key=order.index))))
        elif isinstance(event, ViewRefused):
            self.events.append((event, tuple(self.names.values())))

    @property
    def places(self) -> set[ast.AST]:
        """The writes that were found."""
        return {_place(event) for event, _ in self.events}


def _place(event: SavedTensorModified | ViewRefused) -> ast.AST:
    return event.write.point.node if isinstance(event, SavedTensorModified) else event.point.node


def _below(start: Node) -> Iterator[Node]:
    """A node and all that its gradient goes to."""
    seen, todo = {start}, [start]
    while todo:
        node = todo.pop()
        yield node
        for item in node.inputs:
            if isinstance(item, Node) and item not in seen:
                seen.add(item)
                todo.append(item)


def imagine(
    machine: Machine,
    state: State,
    function: Function,
    receiver: HeapRef | None,
    values: dict[str, Value],
    led: frozenset[str] | None = None,
) -> None:
    """Call a function with tensors that require grad, of the parameters ``led`` (None: of any), and go backward through
    what it gives.

    ``values`` are the arguments inferred for it. Parameters that may be left out are so in one call, which is what most
    callers do, and given in another. Where several of them have a part in what is found, each is tried by itself.
    """
    tensors = [name for name in tensor_parameters(machine, state, function) if name in values]
    optional = {name for name in values if _default(function, name) == NONE}
    if optional:
        rest = [name for name in tensors if name not in optional]
        _tried(machine, state, function, receiver, {**values, **dict.fromkeys(optional, NONE)}, rest, led)
    _tried(machine, state, function, receiver, values, tensors, led)


def _tried(
    machine: Machine,
    state: State,
    function: Function,
    receiver: HeapRef | None,
    values: dict[str, Value],
    tensors: SequenceType[str],
    led: frozenset[str] | None,
) -> None:
    """Call it, and publish what is found with what it needs."""
    run = partial(_called, machine, state, function, receiver, values, tensors)
    found = run(tensors if led is None else [name for name in tensors if name in led])
    several = dict.fromkeys(name for _, names in found.events if len(names) > 1 for name in names)
    alone = {name: run([name]).places for name in several}
    for event, names in found.events:
        enough = [name for name in names if name in alone and _place(event) in alone[name]]
        machine.facts.events.publish(replace(event, because=_reason(function, enough, names)))


def _reason(function: Function, enough: SequenceType[str], names: SequenceType[str]) -> Because:
    """What a finding needs of the caller: that one of ``enough`` requires grad, or else all of ``names`` do."""
    if not names:
        return guess(f"a caller goes backward through what `{getattr(function.node, 'name', 'it')}` computes")
    chosen, word = (enough, "or") if enough else (names, "and")
    quoted = [f"`{name}`" for name in chosen]
    text = quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} {word} {quoted[-1]}"
    return guess(f"{text} {'require' if len(quoted) > 1 and word == 'and' else 'requires'} grad")


def _default(function: Function, name: str) -> Value | None:
    spec = function.node.args
    positional = [*spec.posonlyargs, *spec.args]
    defaults = {a.arg: value for a, value in zip(reversed(positional), reversed(function.defaults))}
    return dict(function.keyword_defaults).get(name, defaults.get(name))


def _called(
    machine: Machine,
    state: State,
    function: Function,
    receiver: HeapRef | None,
    values: dict[str, Value],
    tensors: Iterable[str],
    requiring: Iterable[str],
) -> Heard:
    """Call a function with ``values``, of which some are ``tensors``, of which some are ``requiring`` grad."""
    heard, given, state = Heard(), dict(values), state.fork()
    for name in tensors:
        given[name] = _tensor(machine, state, heard, name, function.node, name in requiring)
    events = machine.facts.events
    with events.heard_by(heard.hear), events.assuming(ASSUMED):
        machine.run_paths(state, partial(_call, machine, function, receiver, given))
    return heard


def imagined_tensor(
    machine: Machine, state: State, name: str, node: ast.AST, is_walked: bool = False
) -> tuple[TensorRef, Node]:
    """A tensor that the caller has computed of what requires grad, and its node; ``is_walked`` is whether that stands
    for a network, which can be walked once.
    """
    key, point = fresh_id(), state.point(node)
    graph = Node(key, name, (), point, saves_anything=is_walked, results=(key,))
    state.tensors[key] = Tensor(key, key, key, point, True, graph, kind="float")
    machine.facts.name(key, name)
    return TensorRef(key), graph


def _tensor(machine: Machine, state: State, heard: Heard, name: str, node: ast.AST, requires_grad: bool) -> TensorRef:
    """A tensor that the caller has computed, of what requires grad or of data."""
    if not requires_grad:
        made = leaf(state, node, False)
        machine.facts.name(made, name)
        return TensorRef(made)
    tensor, graph = imagined_tensor(machine, state, name, node)
    heard.names[graph] = name
    return tensor


def _call(
    machine: Machine, function: Function, receiver: HeapRef | None, values: dict[str, Value], state: State
) -> None:
    """Call it on a path, then go backward through what comes out: each tensor on a path of its own."""
    node = function.node
    bound = function if receiver is None else BoundMethod(function, receiver)
    result = machine.memoize(
        node, "imagine", lambda key: call_value(machine, state, bound, [], dict(values), node, key)
    )
    given = [value.id for value in values.values() if isinstance(value, TensorRef)]
    written = [key for key in given if state.version(state.tensors[key].version_counter)]
    for root in dict.fromkeys([*framework_driver.with_graph(state, result), *written]):
        if resolve_view(state, root).requires_grad:
            framework_driver.imagine_backward(machine, state.fork(), [root], node, ASSUMED)


ASSUMED = guess("a caller's tensors require grad")
"""What all rests on here, until it is known what is needed of it."""
