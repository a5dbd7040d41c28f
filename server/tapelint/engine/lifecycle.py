"""What the execution of a program goes through, and the checks that listen to it.

    for x, y in validation:          ModuleReturned, for each iteration
        total += loss(net(x), y)
    print(total)                     LoopLeft, on each path; PathEnded behind the last statement

Loops and calls do not know what is checked: they publish to a topic of the machine, which ``interpreter`` has composed.
A listener may read the path and publish events to the rules; of the path it changes only what checks keep there.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Generic, TypeVar

from ..autograd import Node, ProgramPoint, edge_of, resolve_view
from ..autograd.model.graph_search import nodes_below
from ..domain.state import State
from ..domain.values import HeapRef, Optimizer, Unknown, Value
from ..frozen import frozen

if TYPE_CHECKING:
    from .machine import Machine

E = TypeVar("E")


@frozen(eq=False)
class LoopLeft:
    """A loop has ended on a path, by its test or by ``break``, ``return`` or an exception."""

    state: State
    # Which execution of the loop.
    run: int
    # How many iterations it has at most, where that is known of what it goes over.
    count: int | None = None


@frozen(eq=False)
class CallReturned:
    """A function of the program has returned on a path, or raised; the path is back in the scope that called it."""

    state: State
    call: ast.AST
    function: ast.AST
    # What it was called with.
    given: tuple[Value, ...]


@frozen(eq=False)
class ModuleReturned:
    """The call of a module has returned, or of an unknown value that has been set to evaluation or training."""

    state: State
    module: HeapRef | Unknown
    call: ast.AST
    result: Value


@frozen(eq=False)
class BackwardEnded:
    """A backward pass of the program has filled gradients."""

    state: State
    # What it began at.
    roots: Sequence[int]
    call: ast.AST

    def nodes(self) -> set[Node]:
        """The nodes that it has reached."""
        edges = [edge_of(resolve_view(self.state, root)) for root in self.roots]
        return nodes_below(edge for edge in edges if isinstance(edge, Node))


@frozen(eq=False)
class TensorsEscaped:
    """Unknown code was given tensors."""

    state: State
    tensors: Sequence[int]
    # Whether it may go backward through them later: they were put into an object of it, or given to what trains.
    may_walk: bool = False


@frozen(eq=False)
class Appended:
    """A list was given one more item."""

    state: State
    # Its heap id.
    container: int
    value: Value
    call: ast.AST


@frozen(eq=False)
class UpdateBound:
    """A name is about to be bound to a tensor that was computed from a leaf, mostly with its gradient."""

    state: State
    name: str
    leaf: int
    statement: ast.AST


@frozen(eq=False)
class StepRepeated:
    """A step uses gradients in a later iteration than one before, which is published once for each step of the
    program; or there are none that no step has used, or another optimizer has stepped since.
    """

    state: State
    leaves: Sequence[int]
    point: ProgramPoint
    # The expression of the optimizer, if an optimizer made the step, and its heap id.
    optimizer: ast.expr | None
    holder: int | None = None
    # Whether all gradients are gone, or an earlier iteration's step has used them.
    in_vain: bool = False

    @property
    def doubles(self) -> list[int]:
        """The other optimizers that hold the same, by their heap ids."""
        held, things = set(self.leaves), self.state.heap.items()
        others = ((key, each) for key, each in things if isinstance(each, Optimizer) and key != self.holder)
        return [key for key, each in others if set(each.params) == held]


@frozen(eq=False)
class AttributeAssigned:
    """A tensor is about to be assigned to an attribute of an object."""

    state: State
    owner: HeapRef
    target: ast.Attribute
    tensor: int
    # The expression that is assigned, where there is one for exactly this target.
    source: ast.expr | None


@frozen(eq=False)
class FlagAssigned:
    """``requires_grad`` is about to be set of an object."""

    state: State
    owner: HeapRef
    target: ast.Attribute
    wanted: bool


@frozen(eq=False)
class UnknownStepped:
    """A method `step` was called without an argument on an object that is not known, as optimizers have one."""

    state: State
    call: ast.Call
    # The tensors that it was given before.
    given: Sequence[int]


@frozen(eq=False)
class PathEnded:
    """The script has ended on a path, or a function that is executed without a caller; not by an exception."""

    state: State
    # What the function returned; None at the end of the script.
    result: Value | None
    # What the caller of the function can still reach.
    reachable: Sequence[Value]


class Topic(Generic[E]):
    """The listeners to one kind of event, in the order in which they are called."""

    __slots__ = ("listeners",)

    def __init__(self, *listeners: Callable[[Machine, E], None]) -> None:
        self.listeners = listeners

    def publish(self, machine: Machine, event: E) -> None:
        for listener in self.listeners:
            listener(machine, event)


@frozen(eq=False)
class Lifecycle:
    """A topic for each kind of event."""

    loop_left: Topic[LoopLeft] = field(default_factory=Topic)
    call_returned: Topic[CallReturned] = field(default_factory=Topic)
    module_returned: Topic[ModuleReturned] = field(default_factory=Topic)
    backward_ended: Topic[BackwardEnded] = field(default_factory=Topic)
    tensors_escaped: Topic[TensorsEscaped] = field(default_factory=Topic)
    appended: Topic[Appended] = field(default_factory=Topic)
    update_bound: Topic[UpdateBound] = field(default_factory=Topic)
    step_repeated: Topic[StepRepeated] = field(default_factory=Topic)
    attribute_assigned: Topic[AttributeAssigned] = field(default_factory=Topic)
    flag_assigned: Topic[FlagAssigned] = field(default_factory=Topic)
    unknown_stepped: Topic[UnknownStepped] = field(default_factory=Topic)
    path_ended: Topic[PathEnded] = field(default_factory=Topic)
