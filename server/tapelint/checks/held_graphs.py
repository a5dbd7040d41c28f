"""What an object, or the scope of a function, holds of the graphs that the calls of a function have built.

    self.losses.append(loss)       after call two `self.losses` holds a graph of call one and one of call two
    self.last = loss               `self.last` holds that of call two only

The calls are the iterations of a run whose loop is the function itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..autograd import Node
from ..autograd.model.graph_search import nodes_below
from ..bounds import BOUNDS
from ..domain.facets import is_facet
from ..domain.mro import mro_of
from ..domain.state import State
from ..domain.values import Class, Frame, Function, HeapRef, Instance, Mapping, TensorRef, Tuple, Value
from ..domain.values import Sequence as Items
from ..frozen import frozen


@frozen
class Holder:
    """An attribute, a global variable, a cell of a closure or a default argument, which outlives a call."""

    name: str
    # What it leads to.
    tensors: frozenset[int]

    @property
    def key(self) -> str:
        """By what its uses are found: ``.x`` for an attribute of anything, ``x`` for a variable."""
        return f".{self.name.rpartition('.')[2]}" if "." in self.name else self.name


def keeps_graph(state: State, roots: Sequence[tuple[str, Value]], run: int) -> bool:
    """Whether one of ``roots`` leads to a graph that was built in ``run``."""
    return any(nodes_by_call(state, holder, run) for holder in holders(state, roots))


def holds_younger(state: State, roots: Sequence[tuple[str, Value]], age: int) -> bool:
    """Whether one of ``roots`` leads to a graph with a node that was made after ``age``."""
    return any(node.id > age for holder in holders(state, roots) for node in state.grad_fns(holder.tensors))


def roots_of(state: State, function: Function, receiver: HeapRef | None) -> list[tuple[str, Value]]:
    """What outlives a call of ``function``, by the name that the program has for it."""
    found: list[tuple[str, Value]] = []
    if receiver is not None:
        thing = state.heap[receiver.id]
        if isinstance(thing, Instance):
            found += [(f"self.{name}", value) for name, value in thing.attributes.items() if not is_facet(name)]
        kind = thing.kind if isinstance(thing, Instance) else receiver
        for owner in mro_of(state, kind):
            if isinstance(owner, HeapRef) and isinstance(defined := state.heap[owner.id], Class):
                found += [(f"{defined.name}.{name}", value) for name, value in defined.attributes.items()]
    scope = function.frame
    while scope:
        frame = state.get(scope, Frame)
        found += frame.variables.items()
        scope = frame.parent
    names = [parameter.arg for parameter in (*function.node.args.posonlyargs, *function.node.args.args)]
    found += zip(reversed(names), reversed(function.defaults))
    return found + list(function.keyword_defaults)


def holders(state: State, roots: Sequence[tuple[str, Value]]) -> Iterator[Holder]:
    """The roots that lead to tensors with a graph."""
    for name, root in roots:
        if isinstance(root, (TensorRef, Tuple, HeapRef)):
            found = frozenset(key for key in _tensors(state, root) if state.tensors[key].grad_fn is not None)
            if found:
                yield Holder(name, found)


def nodes_by_call(state: State, holder: Holder, run: int) -> dict[int, set[Node]]:
    """The nodes that a holder keeps of each call, by the number of the call in ``run``."""
    found: dict[int, set[Node]] = {}
    for node in nodes_below(state.grad_fns(holder.tensors)):
        for lap in node.created_at.iterations:
            if lap.run == run:
                found.setdefault(lap.number, set()).add(node)
    return found


def _tensors(state: State, root: Value) -> Iterator[int]:
    """The tensors that a value leads to, by items, attributes and gradients; those in a container that drops its
    oldest items are left out, for it does not grow.
    """
    seen: set[int] = set()
    todo = [root]
    while todo and len(seen) < BOUNDS.held_values:
        value = todo.pop()
        if isinstance(value, Tuple):
            todo += value.items
        elif isinstance(value, (TensorRef, HeapRef)) and value.id not in seen:
            seen.add(value.id)
            if isinstance(value, TensorRef):
                yield value.id
                todo += state.given_attributes(value.id).values()
                if value.id in state.grads:
                    todo.append(TensorRef(state.grads[value.id]))
                continue
            thing = state.heap[value.id]
            if isinstance(thing, Items):
                todo += thing.items if thing.limit is None else ()
            elif isinstance(thing, Mapping):
                todo += thing.surely_held()
            elif isinstance(thing, Instance):
                todo += thing.attributes.values()
