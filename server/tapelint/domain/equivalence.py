"""Two paths side by side: what they do not agree on.

    if verbose: log = [loss.item()]       # two lists, made at different places: plain, no code can differentiate them
    else: hidden = hidden.detach()        # one of the paths has cut a graph: that keeps them apart

Objects that the paths made separately are alike if they were made at the same place in the same iteration and hold
what is alike; graphs are alike if the same operations built them, freed alike and spoiled alike.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from enum import Enum, auto
from typing import Any

from ..autograd import Facts, Leaf, Node, Tensor
from ..bounds import BOUNDS
from .completion import Raise, Return
from .induction import InductionValue
from .reachability import JoinPoint
from .state import State
from .traversal import entries
from .values import (
    NONE,
    BoundMethod,
    BuiltinMethod,
    Class,
    Const,
    External,
    Frame,
    Generator,
    HeapObject,
    HeapRef,
    Instance,
    Mapping,
    MissingGrad,
    Module,
    Optimizer,
    Partial,
    Range,
    Sequence,
    Slice,
    TensorRef,
    Tuple,
    Unknown,
    Value,
    Zip,
)

Keys = tuple[int, int]
Change = tuple[int, int, Any]
"""A plain difference: in which object of the one path and of the other, and by what name."""


class Partly(Enum):
    """A plain difference that has no name."""

    # Some constants in lists that are alike otherwise.
    ITEMS = auto()
    # Whether there may be more in it than is known.
    EXTENT = auto()


class Bisimulation:
    """Two paths that are being compared. ``plain`` collects what they may forget, ``results`` the plain values they
    return where those differ; ``assumed_equal`` what is assumed equal. Iterations are counted from those that the paths
    are in: ``ahead`` says for each running loop how many more of them the first has begun.
    """

    __slots__ = (
        "state",
        "other",
        "facts",
        "saved",
        "meeting",
        "live",
        "plain",
        "assumed_equal",
        "nodes",
        "ahead",
        "counterparts",
        "results",
    )

    def __init__(self, state: State, other: State, facts: Facts, meeting: JoinPoint) -> None:
        self.state, self.other, self.facts, self.meeting = state, other, facts, meeting
        self.saved = facts.memory.saved
        self.live = meeting.live
        self.plain: list[Change] = []
        self.results: tuple[Value, Value] | None = None
        self.assumed_equal: set[tuple[int, int]] = set()
        self.nodes: set[tuple[Node, Node]] = set()
        self.ahead: dict[ast.AST, int] = {}
        self.counterparts: tuple[dict[int, int], dict[int, int]] = {}, {}
        if state.iterations is not other.iterations:
            for mine, yours in zip(state.iterations, other.iterations):
                if mine.number != yours.number:
                    self.ahead[mine.loop] = mine.number - yours.number

    def is_equivalent(self, suspects: list[int]) -> bool:
        """Whether all that either path has changed since they parted is alike, up to what is plain."""
        state, other = self.state, self.other
        if any(map(self.distinguishes, suspects)):
            return False
        changed = state.difference(other)
        for key in sorted(changed.heap):  # in the same order in every analysis
            if self.distinguishes(key):
                suspects[:] = [key, *(s for s in suspects if s != key)][: BOUNDS.suspects]
                return False
        for key in sorted(changed.tensors):
            left, right = state.tensors.get(key), other.tensors.get(key)
            if left is None or right is None or left is right:
                continue
            if not self.records(left, right) and self.holds_tensor(key):
                return False
        return self.shared_past(changed.writes)

    def is_same_completion(self) -> bool:
        """Whether two completions of one kind raise the same exception, or return equivalent values."""
        match self.state.completion, self.other.completion:
            case Raise(mine), Raise(yours):
                return mine is yours
            case Return(mine), Return(yours):
                return self.is_same_result(mine, yours)
        return True

    def is_same_result(self, mine: Value, yours: Value) -> bool:
        """Whether two values that are returned are equivalent; different plain values may be forgotten."""
        if mine is yours or mine == yours:
            return True
        if not isinstance(mine, VALUES) or not isinstance(yours, VALUES):
            return False
        if self.is_plain(self.state, mine) and self.is_plain(self.other, yours):
            if NONE not in (mine, yours):
                self.results = mine, yours
                return True
            return False
        return self.values(mine, yours)

    def distinguishes(self, key: int) -> bool:
        """Whether a heap object that both paths have keeps them apart."""
        mine, yours = self.state.heap.get(key), self.other.heap.get(key)
        if mine is yours or mine is None or yours is None:
            return False
        reaches = self.meeting.reaches
        if self.meeting.is_local and not reaches(self.state, key) and not reaches(self.other, key):
            return False
        return not self.things(mine, yours, (key, key)) and (reaches(self.state, key) or reaches(self.other, key))

    def holds_tensor(self, key: int) -> bool:
        """Whether some code on one of the paths may still hold a tensor."""
        return self.live is None or any(
            key in self.meeting.reachable(path).tensors for path in (self.state, self.other)
        )

    def values(self, mine: Value, yours: Value) -> bool:
        """Whether two values are alike."""
        if mine is yours:
            return True
        kind = type(mine)
        if kind is not type(yours):
            return isinstance(mine, Const) and isinstance(yours, Const)
        if kind is HeapRef:
            return self.references(mine.id, yours.id)  # type: ignore[union-attr]
        if kind is TensorRef:
            left, right = self.state.tensors.get(mine.id), self.other.tensors.get(yours.id)  # type: ignore[union-attr]
            return left is not None and right is not None and self.records(left, right)
        if kind is Unknown or isinstance(mine, Const) or mine == yours:
            return True
        return self.composites(mine, yours)

    def composites(self, mine: Value, yours: Value) -> bool:
        """Whether two tuples, or two methods, are made of values that are alike."""
        if isinstance(mine, Tuple) and isinstance(yours, Tuple):
            return len(mine.items) == len(yours.items) and all(map(self.values, mine.items, yours.items))
        if isinstance(mine, BoundMethod) and isinstance(yours, BoundMethod):
            return self.values(mine.function, yours.function) and self.values(mine.receiver, yours.receiver)
        if isinstance(mine, BuiltinMethod) and isinstance(yours, BuiltinMethod):
            return mine.name == yours.name and self.values(mine.receiver, yours.receiver)
        return False

    def references(self, mine: int, yours: int) -> bool:
        """Whether two heap objects, which paths may have made separately, are alike."""
        if mine == yours or (mine, yours) in self.assumed_equal:
            return True
        self.assumed_equal.add((mine, yours))
        left, right = self.state.heap.get(mine), self.other.heap.get(yours)
        return left is not None and right is not None and self.things(left, right, (mine, yours))

    def things(self, mine: HeapObject, yours: HeapObject, keys: Keys) -> bool:
        """Whether two heap objects are equivalent; ``keys`` are their ids on either path."""
        if mine is yours:
            return True
        if type(mine) is not type(yours):
            return False
        if isinstance(mine, Sequence) and isinstance(yours, Sequence):
            return self.sequences(mine, yours, keys)
        if not self.is_same_but_entries(mine, yours) or not self.entries(mine, yours, keys):
            return False
        if isinstance(mine, (Mapping, Instance, Optimizer)) and isinstance(yours, (Mapping, Instance, Optimizer)):
            if mine.is_partial is not yours.is_partial:
                self.plain.append((*keys, Partly.EXTENT))
        return True

    def is_same_but_entries(self, mine: HeapObject, yours: HeapObject) -> bool:
        """Whether two heap objects of one type are equivalent but for what they hold by name or key."""
        if isinstance(mine, Instance) and isinstance(yours, Instance):
            return mine.kind is yours.kind or self.values(mine.kind, yours.kind)
        if isinstance(mine, Frame) and isinstance(yours, Frame):
            return mine.parent == yours.parent and mine.function == yours.function
        if isinstance(mine, Optimizer) and isinstance(yours, Optimizer):
            return mine.is_like(yours)
        if isinstance(mine, Class) and isinstance(yours, Class):
            return mine.node is yours.node
        return True

    def entries(self, mine: HeapObject, yours: HeapObject, keys: Keys) -> bool:
        """Whether two heap objects of one kind hold what is alike under the same names."""
        left, right = entries(mine), entries(yours)
        live = self.live if keys[0] == self.state.frame else None
        for name, one in left.items():
            two = right.get(name, MISSING)
            if one is not two and not self.entry(keys, name, one, two, live):
                return False
        return left.keys() >= right.keys() or all(
            self.entry(keys, name, MISSING, two, live) for name, two in right.items() if name not in left
        )

    def entry(self, keys: Keys, name: Any, one: Value, two: Value, live: frozenset[str] | None) -> bool:
        """Whether what an object holds by one name is alike."""
        if live is not None and not needed(live, name, one, two):
            return True
        if self.is_plain(self.state, one) and self.is_plain(self.other, two):
            return self.may_forget(keys, name, one, two)
        is_object = isinstance(self.other.heap[keys[1]], Instance)
        if is_object and MISSING in (one, two) and (refers_back(one, keys[0], name) or refers_back(two, keys[1], name)):
            self.plain.append((*keys, name))
            return True
        if not self.values(one, two):
            return False
        if _has_other_constants(one, two):
            self.plain.append((*keys, name))
        return True

    def may_forget(self, keys: Keys, name: Any, one: Value, two: Value) -> bool:
        """Note plain values that differ; not the mode of a network that the program has set, which decides how it
        trains.
        """
        if one != two and name == "training" and keys[0] in self.facts.networks.mode_set:
            return False
        if one != two and not (self.are_lists(one, two) and self.values(one, two)):
            self.plain.append((*keys, name))
        return True

    def are_lists(self, one: Value, two: Value) -> bool:
        """Whether two values are lists, or sets, of as many items."""
        if not isinstance(one, HeapRef) or not isinstance(two, HeapRef):
            return False
        left, right = self.state.heap.get(one.id), self.other.heap.get(two.id)
        return (
            isinstance(left, Sequence)
            and isinstance(right, Sequence)
            and left.kind == right.kind
            and len(left.items) == len(right.items)
        )

    def sequences(self, mine: Sequence, yours: Sequence, keys: Keys) -> bool:
        """Whether two lists are alike."""
        if (
            len(mine.items) == len(yours.items)
            and mine.kind == yours.kind
            and all(map(self.values, mine.items, yours.items))
        ):
            if mine.is_partial is not yours.is_partial:
                self.plain.append((*keys, Partly.EXTENT))
            if any(map(_has_other_constants, mine.items, yours.items)):
                self.plain.append((*keys, Partly.ITEMS))
            return True
        plain = all(self.is_plain(self.state, i) for i in mine.items) and all(
            self.is_plain(self.other, i) for i in yours.items
        )
        if plain:
            self.plain.append((*keys, None))
        return plain

    def is_plain(self, state: State, value: Value, depth: int = 3) -> bool:
        """Whether no graph can depend on a value: numbers, names, data that nothing saved, containers of such. What has
        the memory of a parameter is none: a step is seen there.
        """
        kind = type(value)
        if kind in PLAIN:
            return True
        if kind is TensorRef:
            tensor = state.tensors.get(value.id)  # type: ignore[union-attr]
            return (
                tensor is not None
                and tensor.grad_fn is None
                and tensor.requires_grad is not True
                and tensor.version_counter not in self.saved
                and not _is_memory_of_parameter(state, tensor)
            )
        if kind is BuiltinMethod:
            return isinstance(value.receiver, (Unknown, External))  # type: ignore[union-attr]
        items = _contained(state, value) if depth else None
        return items is not None and all(self.is_plain(state, item, depth - 1) for item in items)

    def are_read(self, mine: Unknown, yours: Unknown) -> bool:
        """Whether two values are numbers that the program has read from tensors: one is like the other."""
        one, two = (self.facts.provenance_of(each.tensor_id).cut for each in (mine, yours))
        return mine.origin is yours.origin and one is not None and two is not None and one.reason is two.reason

    def records(self, mine: Tensor, yours: Tensor) -> bool:
        """Whether two tensors are alike for autograd."""
        if mine is yours:
            return True
        if (
            mine.requires_grad is not yours.requires_grad
            or mine.assumption != yours.assumption
            or mine.view != yours.view
            or mine.parameter is not yours.parameter
            or (mine.base is None) is not (yours.base is None)
            or (mine.id in self.state.grads) is not (yours.id in self.other.grads)
        ):
            return False
        if mine.grad_fn is None or yours.grad_fn is None:
            return mine.grad_fn is yours.grad_fn and self.leaves(mine, yours)
        if mine.grad_fn.created_at.node is not yours.grad_fn.created_at.node and (
            mine.version_counter != yours.version_counter or mine.sizes != yours.sizes or mine.kind != yours.kind
        ):
            return False
        return self.graphs(mine.grad_fn, yours.grad_fn)

    def leaves(self, mine: Tensor, yours: Tensor) -> bool:
        """The same of two tensors without a graph, which are alike otherwise."""
        is_changed = _has_changed(self.state, mine)
        return is_changed is _has_changed(self.other, yours) and self.same_origin(mine, yours)

    def same_origin(self, mine: Tensor, yours: Tensor) -> bool:
        """Whether two tensors are one, were made at the same place, or stand for networks that are alike."""
        if mine.id == yours.id or mine.created_at.node is yours.created_at.node:
            return True
        return self.are_unseen(mine, yours)

    def are_unseen(self, mine: Tensor, yours: Tensor) -> bool:
        """Whether two tensors each stand for the parameters of a network of which no code was read, which its path has
        made since they parted: one such network is like another, wherever it was made. Each is like one only, so that
        what two names share on one path they share on the other.
        """
        if not (mine.stands_for_module and yours.stands_for_module and mine.is_guessed is yours.is_guessed):
            return False
        if mine.id in self.other.tensors or yours.id in self.state.tensors:
            return False
        there, back = self.counterparts
        return there.setdefault(mine.id, yours.id) == yours.id and back.setdefault(yours.id, mine.id) == mine.id

    def graphs(self, mine: Node, yours: Node) -> bool:
        """Whether two graphs were built alike, freed alike and spoiled alike. What both paths share is looked at by
        ``shared_past``. Nodes that are only passages do not count.
        """
        if mine.shape != yours.shape:
            return False
        known, state, other = self.nodes, self.state, self.other
        todo: list[tuple[Node | Leaf, Node | Leaf]] = [(mine, yours)]
        while todo:
            one, two = todo.pop()
            while isinstance(one, Node) and one.is_passthrough:
                one = one.inputs[0]
            while isinstance(two, Node) and two.is_passthrough:
                two = two.inputs[0]
            if one is two or isinstance(one, Leaf) or isinstance(two, Leaf) or (one, two) in known:
                continue
            if not self.same_iterations(one, two):
                return False
            if (one in state.freed) is not (two in other.freed) or state.has_modified_saved(
                one
            ) is not other.has_modified_saved(two):
                return False
            known.add((one, two))
            self.meeting.work += 1
            todo += zip(one.inputs, two.inputs)
        return True

    def same_iterations(self, one: Node, two: Node) -> bool:
        """Whether two nodes were made in the same iterations."""
        left, right, ahead = one.created_at.iterations, two.created_at.iterations, self.ahead
        if left is right and not ahead:
            return True
        return len(left) == len(right) and all(
            a.loop is b.loop and a.number - b.number == ahead.get(a.loop, 0) for a, b in zip(left, right)
        )

    def shared_past(self, changed: set[int]) -> bool:
        """Whether the graph that both paths had before they parted is still freed and spoiled alike; ``changed`` are
        the counters that may have been written since.
        """
        mine, yours = self.state.writes, self.other.writes
        freed = self.state.freed.keys() ^ self.other.freed.keys()
        for key in sorted(self.state.grads.keys() ^ self.other.grads.keys()):  # in the same order in every analysis
            if key in self.state.tensors and key in self.other.tensors and self.holds_tensor(key):
                return False
        if not freed and all(mine.get(key) is yours.get(key) for key in changed & self.saved):
            return True
        for node in self.meeting.reachable_graph(self.state) & self.meeting.reachable_graph(self.other):
            if node in freed:
                return False
            if node not in self.state.freed and self.state.has_modified_saved(
                node
            ) is not self.other.has_modified_saved(node):
                return False
        return True


PLAIN = frozenset((Const, MissingGrad, InductionValue, Unknown, External, Module, Range, Slice))
VALUES = (
    Const,
    Unknown,
    TensorRef,
    HeapRef,
    Tuple,
    External,
    Module,
    Slice,
    BoundMethod,
    BuiltinMethod,
    Partial,
    Range,
    Zip,
    Generator,
)
MISSING = Const("(missing)")


def _contained(state: State, value: Value) -> Iterable[Value] | None:
    """What a tuple, a list or a dict holds; None for any other value."""
    if isinstance(value, Tuple):
        return value.items
    thing = state.heap.get(value.id) if isinstance(value, HeapRef) else None
    if isinstance(thing, Sequence):
        return thing.items
    return thing.items.values() if isinstance(thing, Mapping) else None


def _is_memory_of_parameter(state: State, tensor: Tensor) -> bool:
    """Whether a tensor is a parameter, or was detached from one and is not copied."""
    memory = state.tensors.get(tensor.version_counter)
    return memory is not None and memory.parameter


def _has_changed(state: State, tensor: Tensor) -> bool:
    """Whether what was detached from a parameter, to be kept, was written since."""
    if tensor.requires_grad is not False or not _is_memory_of_parameter(state, tensor):
        return False
    return state.version(tensor.version_counter) != tensor.view_version


def _has_other_constants(mine: Value, yours: Value) -> bool:
    """Whether values that are alike are two constants, or tuples with two such in one place."""
    if isinstance(mine, Const) and isinstance(yours, Const):
        return mine != yours
    if isinstance(mine, Tuple) and isinstance(yours, Tuple):
        return any(map(_has_other_constants, mine.items, yours.items))
    return False


def refers_back(value: Value, key: int, name: Any) -> bool:
    """Whether the attribute ``name`` of the object ``key`` adds nothing to it: it is the object itself, as a wrapper
    calls the network in it, or what an object has by that name of which nothing is known.
    """
    match value:
        case HeapRef(id=to):
            return to == key
        case BuiltinMethod(HeapRef(id=to), called):
            return to == key and called == name
    return False


def needed(live: frozenset[str], name: str, one: Value, two: Value) -> bool:
    """Whether it matters that a variable is different on two paths."""
    if name in live:
        return True
    return number(name) in live and not all(isinstance(value, TensorRef) or value is MISSING for value in (one, two))


def number(name: str) -> str:
    """How a name is noted that is only asked for its number, as in ``loss.item()``: its graph does not matter then."""
    return f"{name}.item()"
