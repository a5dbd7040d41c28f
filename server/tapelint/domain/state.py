"""One execution path: all that can change, in a few maps that are cheap to fork.

Objects on the heap (frames, lists, instances) are copied at the first write after a fork; everything else that a fork
copies is a dictionary of references to immutable records.

What two paths can differ in: only what one of them changed since they parted.

if a: x = 1         # both paths remember what they touched since the fork,
else: y = 2         # so comparing them looks at x and y, not at all the program holds
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

from ..autograd.state import AutogradState, fresh_id
from .completion import Completion
from .values import Class, External, HeapObject, Instance, Value


class ForkHistory:
    """What a path had changed between two forks, and what came before; paths that forked share their past."""

    __slots__ = ("before", "depth", "heap", "tensors", "writes")

    def __init__(self, before: ForkHistory | None, heap: set[int], tensors: set[int], writes: set[int]) -> None:
        self.before = before
        self.depth: int = before.depth + 1 if before is not None else 1
        self.heap, self.tensors, self.writes = heap, tensors, writes


class ForkDiff:
    """The keys of two paths' heap objects, tensors and version counters that may differ."""

    __slots__ = ("heap", "tensors", "writes")

    def __init__(self, left: ForkHistory | None, right: ForkHistory | None) -> None:
        self.heap: set[int] = set()
        self.tensors: set[int] = set()
        self.writes: set[int] = set()
        while left is not right:
            if right is None or left is not None and left.depth >= right.depth:
                assert left is not None
                self.add(left.heap, left.tensors, left.writes)
                left = left.before
            else:
                self.add(right.heap, right.tensors, right.writes)
                right = right.before

    def add(self, heap: set[int], tensors: set[int], writes: set[int]) -> None:
        self.heap |= heap
        self.tensors |= tensors
        self.writes |= writes


P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T", bound=HeapObject)


class State(AutogradState):
    """A path through the program, up to now."""

    __slots__ = ("heap", "owned", "completion", "frame", "evaluated", "fork_history")

    def __init__(self) -> None:
        super().__init__()
        # The mutable objects of the program, by the ids that ``HeapRef`` holds.
        self.heap: dict[int, HeapObject] = {}
        # The ids of the heap objects that no other path shares: those it may write.
        self.owned: set[int] = set()
        # How the path has left the normal flow of statements; None while it is in it.
        self.completion: Completion | None = None
        # The heap id of the running scope.
        self.frame = 0
        # The networks that were trained, and were evaluated since their mode was set.
        self.evaluated: frozenset[int] = frozenset()
        # What was changed before the last fork.
        self.fork_history: ForkHistory | None = None

    def fork(self) -> State:
        """A second path that shares its past with this one."""
        twin = State.__new__(State)
        self.fork_history = twin.fork_history = ForkHistory(
            self.fork_history, self.owned, self.tensors.touched, self.writes.touched
        )
        self.copy_to(twin)
        twin.heap = self.heap.copy()
        self.owned, twin.owned = set(), set()
        twin.completion, twin.frame, twin.evaluated = self.completion, self.frame, self.evaluated
        return twin

    def difference(self, other: State) -> ForkDiff:
        """Where this path and ``other`` may differ: what either has changed since they forked."""
        found = ForkDiff(self.fork_history, other.fork_history)
        for path in (self, other):
            found.add(path.owned, path.tensors.touched, path.writes.touched)
        return found

    def become(self, other: State) -> None:
        """Continue as ``other``, which must not be used any more."""
        for slot in SLOTS:
            setattr(self, slot, getattr(other, slot))

    def new(self, thing: HeapObject) -> int:
        """Put an object on the heap; its id."""
        key = fresh_id()
        self.heap[key] = thing
        self.owned.add(key)
        return key

    def get(self, key: int, kind: type[T]) -> T:
        """The heap object ``key``, which is of class ``kind``."""
        thing = self.heap[key]
        assert isinstance(thing, kind)
        return thing

    def edit(self, key: int, kind: type[T]) -> T:
        """The heap object ``key``, which is of class ``kind``, ready to be changed on this path only."""
        self.changes += 1
        thing = self.heap[key]
        if key not in self.owned:
            thing = self.heap[key] = thing.copy()
            self.owned.add(key)
        assert isinstance(thing, kind)
        return thing

    def given_attributes(self, key: int) -> dict[str, Value]:
        """The attributes that the program has given the tensor or unknown value ``key``; not to be changed."""
        thing = self.heap.get(-key)
        return thing.attributes if isinstance(thing, Instance) else {}

    def edit_given_attributes(self, key: int) -> dict[str, Value]:
        """The same, ready to be changed on this path only.

        They are an object on the heap. Its id is the negative of ``key``: forked paths that each give the same value
        its first attribute agree on the object, and it is joined and compared like any other.
        """
        if -key not in self.heap:
            self.heap[-key] = Instance(External("torch.Tensor"), {})
            self.owned.add(-key)
        return self.edit(-key, Instance).attributes

    def attributes(self, key: int) -> dict[str, Value]:
        """The attributes of an object or a class: what ``self`` is in a method, or ``cls`` in a class method."""
        thing = self.heap[key]
        assert isinstance(thing, (Instance, Class))
        return thing.attributes

    def edit_attributes(self, key: int) -> dict[str, Value]:
        """The same, ready to be changed on this path only."""
        if isinstance(self.heap[key], Class):
            return self.edit(key, Class).attributes
        return self.edit(key, Instance).attributes


SLOTS = (*AutogradState.__slots__, *State.__slots__)


def in_backward(run: Callable[Concatenate[State, P], R]) -> Callable[Concatenate[AutogradState, P], R]:
    """Code of the program as a backward pass calls it, which knows of a path only what concerns autograd."""

    def call(state: AutogradState, /, *args: P.args, **kwargs: P.kwargs) -> R:
        assert isinstance(state, State)
        return run(state, *args, **kwargs)

    return call
