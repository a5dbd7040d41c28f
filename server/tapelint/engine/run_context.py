"""Where the machine stands in the calls of the running entry point.

What the running statement has evaluated, so that it can be finished on another path without evaluating it again.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from ..domain.state import State
from ..domain.values import Value


@dataclass(slots=True)
class RunContext:
    """The calls that are running. Every entry point and every imported module begins with a new one."""

    # How many functions and generators of the program are running inside each other.
    depth: int = 0
    # The functions among them, the outermost first, each with its arguments.
    call_stack: list[tuple[ast.AST, tuple[Value, ...]]] = field(default_factory=list)
    # What takes the values that the running generators of the running function yield, the innermost last.
    consumers: list[Callable[[State, Value], list[State]]] = field(default_factory=list)
    # The call or loop whose body is not to run at once, because the script continues in it statement by statement.
    suspend_at: ast.AST | None = None
    # The call whose function is to run next with just the arguments that the call is known to give.
    spelled_call: ast.Call | None = None
    # Whether a call is running that is given up when it has used its share of the fuel.
    has_share: bool = False
    # The running ``try`` statements that handle an AttributeError, the innermost last.
    awaiting: list[ast.Try] = field(default_factory=list)


Key = tuple[Hashable, int]
"""By what the memo knows an evaluation: a node, or what is done beside its value, and its occurrence."""


@dataclass(slots=True)
class EvalMemo:
    """What the running statement has evaluated."""

    # The values. One that is `ProgramRaised` was raised.
    values: dict[Key, object]
    # The first occurrence of the running round of a comprehension. Each round has occurrences of its own: what is known
    # of one round must not be taken for another's where an earlier round is not evaluated again.
    base: int = 0
    # How often each node was evaluated on this path, in this round.
    counts: dict[Hashable, int] = field(default_factory=dict)
    # Paths on which the statement is still to be finished, each with what was evaluated before they forked.
    pending_paths: list[tuple[State, dict[Key, object]]] = field(default_factory=list)

    def fork(self, path: State, key: object, value: object) -> None:
        """Finish the running statement on another ``path``, too, where ``key`` has given ``value``."""
        assert isinstance(key, tuple)
        self.pending_paths.append((path, {**self.values, key: value}))

    def latest(self, node: ast.AST) -> object:
        """What ``node`` was evaluated to last; None if it was not."""
        return self.values.get((node, self.base + max(self.counts.get(node, 1) - 1, 0)))
