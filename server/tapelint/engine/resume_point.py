"""Where the script stands between two units: the blocks that are being executed, from the outermost to the innermost.

def main():
    model, opt = build()        a unit may end here, inside of `main` ...
    train(model, opt)           ... and the next one begins here
main()
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any

from ..autograd import Iteration
from ..because import Because
from ..domain.state import State
from ..domain.values import Function, Value
from ..frozen import frozen


@dataclass(slots=True)
class Activation:
    """A function of the program that is running, and how things were outside of it."""

    function: Function
    # The heap id of the function's scope.
    frame: int
    # The arguments, by which a recursion that tells nothing new is recognized.
    given: tuple[Value, ...]
    # The call.
    node: ast.AST
    # Frame, calls, grad mode, inference mode and iterations of the path that called.
    outer: tuple[int, tuple[ast.AST, ...], bool | None, bool, tuple[Iteration, ...]]
    # Outside: what takes the values of generators that are running (`RunContext.consumers`).
    consumers: list[Callable[[State, Value], list[State]]]
    # Outside: whether autocast was on.
    casting: bool
    # Outside: what events rested on.
    because: Because
    # Outside: the call that was to be suspended (`RunContext.suspend_at`): the same node may be called inside.
    entering: ast.AST | None


@frozen
class Caller:
    """A statement that waits for the function it called."""

    statement: ast.stmt
    # The function.
    entry: Activation
    # What the statement had evaluated by then: `EvalMemo.values`.
    values: dict[Any, Any]
    # By what the memo is to know the result of the call.
    key: object


@frozen
class Block:
    """Statements that are being executed."""

    # The statements are those in the field `field` of this node.
    node: ast.AST
    field: str
    # The statement that called, where they are the body of a function.
    caller: Caller | None = None
    # What the loop began with, where they are the body of a loop in its first iteration.
    loop_entry: LoopEntry | None = None
    # The fuel that the script had used when that iteration began.
    fuel_used_before: int = 0
    # How many of the statements have begun.
    done: int = 0

    @property
    def statements(self) -> list[ast.stmt]:
        return getattr(self.node, self.field)  # type: ignore[no-any-return]

    def next(self) -> Block:
        """The same block after one more of its statements has begun."""
        return replace(self, done=self.done + 1)

    def leads_to(self, inner: Block) -> bool:
        """Whether the statement that ``inner`` was begun for still stands where it did, and is what it was."""
        statements = self.statements
        if len(statements) < self.done:
            return False
        statement = statements[self.done - 1]
        return statement is (inner.node if inner.caller is None else inner.caller.statement)


@frozen
class LoopEntry:
    """What a loop begins with."""

    # The number of its run.
    run: int
    # How many loops are around it.
    depth: int
    # The items for which its body is executed.
    items: list[Value]
    # How many unknown conditions were assumed before it.
    chosen: int
    # How many iterations it has at most, where that is known of what it goes over.
    count: int | None = None
    # How many it has where every option has its default, and the formula that is true if it has one more.
    by_default: tuple[int, Hashable] | None = None

    @property
    def is_cut(self) -> bool:
        """Whether there are more items than the body is executed for."""
        return self.count is not None and len(self.items) < self.count
