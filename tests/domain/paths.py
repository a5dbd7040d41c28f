"""Paths for the tests of the engine's mechanisms: a scope with variables, and ops on its tensors."""

from __future__ import annotations

import ast

from tapelint.autograd import Facts, Iteration, backward, bump, leaf, record
from tapelint.domain.join import try_join
from tapelint.domain.reachability import JoinPoint
from tapelint.domain.state import State
from tapelint.domain.values import Const, Frame, HeapRef, Mapping, Sequence, TensorRef, Tuple, Value
from tapelint.ops import candidates

OPS = {name: candidates(name)[0] for name in ("exp", "sum", "neg")}
PLACES = {name: ast.parse(f"{name}()", mode="eval").body for name in ("leaf", "data", "backward", "write", *OPS)}
"""One syntax node for each op: two paths that run the same op run it at the same place."""
LOOP = ast.parse("for _ in x: pass").body[0]


class Path:
    """A state, and what a program would do to it; ``facts`` are shared by its forks."""

    def __init__(self, state: State | None = None, facts: Facts | None = None) -> None:
        self.facts = facts or Facts()
        if state is None:
            state = State()
            state.frame = state.new(Frame({}, 0, 0))
        self.state = state

    def fork(self) -> Path:
        return Path(self.state.fork(), self.facts)

    def bind(self, **values: Value) -> Path:
        """Assign variables of the running scope."""
        self.state.edit(self.state.frame, Frame).variables.update(values)
        return self

    def __getitem__(self, name: str) -> Value:
        return self.state.get(self.state.frame, Frame).variables[name]

    def leaf(self) -> TensorRef:
        return TensorRef(leaf(self.state, PLACES["leaf"], True))

    def data(self) -> TensorRef:
        return TensorRef(leaf(self.state, PLACES["data"], False))

    def op(self, name: str, tensor: TensorRef) -> TensorRef:
        (key,) = record(self.facts, self.state, OPS[name], {"self": tensor.id}, PLACES[name])
        return TensorRef(key)

    def backward(self, tensor: TensorRef, retain: bool = False) -> None:
        backward(self.facts, self.state, [tensor.id], PLACES["backward"], retain)

    def write(self, tensor: TensorRef) -> None:
        """Write in place, without a graph."""
        bump(self.state, self.state.tensors[tensor.id].version_counter, "write", PLACES["write"])

    def list(self, *items: Value) -> HeapRef:
        return HeapRef(self.state.new(Sequence("list", [*items])))

    def append(self, name: str, value: Value) -> None:
        """Append to the list that a variable holds."""
        held = self[name]
        assert isinstance(held, HeapRef)
        self.state.edit(held.id, Sequence).items.append(value)

    def dict(self, **items: Value) -> HeapRef:
        return HeapRef(self.state.new(Mapping({**items})))

    def iterate(self, number: int, run: int = 1) -> None:
        """Begin an iteration of the only loop."""
        self.state.iterations = (Iteration(LOOP, run, number),)

    def node(self, tensor: TensorRef) -> object:
        return self.state.tensors[tensor.id].grad_fn

    def join(self, other: Path, live: str | None = None) -> bool:
        """Whether this path is joined to ``other``; ``live`` are the names that may still be read, if that is known."""
        return try_join(self.state, other.state, self.facts, [], meeting(live))


def meeting(live: str | None = None) -> JoinPoint:
    return JoinPoint(None if live is None else frozenset(live.split()), (), {})


def numbers(*values: int) -> Tuple:
    return Tuple(tuple(map(Const, values)))
