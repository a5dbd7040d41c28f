"""Where the machine stands in the calls of the running entry point."""

from __future__ import annotations

import ast
from collections.abc import Callable
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
