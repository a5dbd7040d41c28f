"""Events of graphs that lead nowhere: refused, copied out, cut off, never trained.

loss.backward()   ->  NonScalarBackward(sizes=(8, 1), ...)
"""

from __future__ import annotations

import ast
from enum import Enum, auto
from typing import Literal

from ...frozen import frozen
from ..model.cuts import Cut
from ..model.graph import Extent, Node
from ..model.program_point import Iteration, ProgramPoint
from .graph_walks import Event, SilentEvent


@frozen(eq=False, kw_only=True)
class NonScalarBackward(Event):
    """A backward without an initial gradient from a tensor of more than one element."""

    root: int
    # Its sizes, as far as they are known.
    sizes: Extent
    # Where it was computed.
    built: ProgramPoint | None
    # The expression of the tensor in the call, if it stands there.
    source: ast.expr | None
    # The call.
    wants: Literal["backward", "grad"]


@frozen(eq=False, kw_only=True)
class NumberBackward(Event):
    """``backward`` was called on a number, or on a list of numbers, that was read from a tensor with a graph."""

    # Where it was read.
    cut: Cut


@frozen(eq=False, kw_only=True)
class ManagerDropped(SilentEvent):
    """A context manager that sets what autograd records was an operand of ``and`` or ``or``, which gives another, or
    was all of a statement.
    """

    # What is not entered.
    dropped: ast.expr
    operands: ast.BoolOp | None = None


@frozen(eq=False, kw_only=True)
class ManagerNotCalled(Event):
    """A ``with`` statement was given a class of PyTorch, and no object of it."""

    manager: ast.expr


@frozen(eq=False, kw_only=True)
class DetachDropped(SilentEvent):
    """A backward has walked the graph of a tensor of which a ``detach()`` before it gave a name to nobody."""

    # What was detached; None where it is a leaf.
    source: Node | None
    # The backward.
    walk: ProgramPoint


@frozen(eq=False, kw_only=True)
class FlagOfModuleSet(SilentEvent):
    """A backward has reached a parameter of a module that was given an attribute ``requires_grad`` before."""

    # The backward.
    walk: ProgramPoint


@frozen(eq=False, kw_only=True)
class RequiresGradRefused(Event):
    """``requires_grad`` was set where it cannot be set."""

    tensor: int
    # ``leaf``: only a leaf's may be changed; otherwise the dtype, which has no gradient.
    reason: Literal["leaf", "int", "bool"]
    # The new value.
    wanted: bool
    # Where the tensor was made.
    created_at: ProgramPoint
    # What gave it its graph; None of a leaf.
    recorded: Node | None = None


@frozen(eq=False, kw_only=True)
class GraphCopiedOut(Event):
    """Tensors with a graph were asked for as plain data."""

    # The tensors, each with the attributes and keys that lead to it from the argument.
    held: tuple[tuple[int, tuple[str | int, ...]], ...]
    how: Literal["numpy", "deepcopy"]
    # The expression of the argument.
    source: ast.expr | None
    # Whether a tensor's own method was called.
    method: bool
    # What gave the first of the tensors its graph; None of a leaf.
    recorded: Node | None


@frozen(eq=False, kw_only=True)
class NonLeafOptimized(Event):
    """An optimizer was given a tensor that is no leaf."""

    tensor: int
    # Where it was computed.
    created_at: ProgramPoint


@frozen(eq=False, kw_only=True)
class NothingToOptimize(Event):
    """An optimizer was given the parameters of a module that has none where ``parameters()`` looks."""

    # Those that lie in a plain container.
    leaves: tuple[int, ...]
    # The target of the assignment of that container, and its value.
    attribute: ast.expr
    value: ast.expr
    # What of ``torch.nn`` would register them.
    wrapper: str | None


class NoGradient(Enum):
    """Why ``.grad`` is None."""

    # The tensor is no leaf.
    COMPUTED = auto()
    # It requires no grad.
    CONSTANT = auto()
    # A leaf that no backward has reached yet, and one whose gradient the program has cleared since.
    UNREACHED = auto()
    CLEARED = auto()


@frozen(eq=False, kw_only=True)
class AbsentGradientUsed(Event):
    """The ``.grad`` of a tensor was read, is None, and was used as a tensor."""

    tensor: int
    # Where it was read.
    read: ProgramPoint
    # Where the tensor was computed.
    created_at: ProgramPoint
    why: NoGradient = NoGradient.COMPUTED


@frozen(eq=False, kw_only=True)
class AbsentGradientShown(SilentEvent):
    """The ``.grad`` of a tensor that is no leaf was read, is None, and was printed after a backward through it."""

    tensor: int
    # Where it was read.
    read: ProgramPoint
    # Where the tensor was computed.
    created_at: ProgramPoint


@frozen(eq=False, kw_only=True)
class UnusedInput(Event):
    """``autograd.grad`` asked for the gradient of a tensor that its outputs do not depend on."""

    tensor: int
    # Whether the tensor does not require grad.
    plain: bool
    created_at: ProgramPoint
    # Where the graph between it and the outputs was cut, if it was.
    cut: Cut | None
    # The tensor that it is a view of, where the outputs depend on that.
    whole: int | None = None


@frozen(eq=False, kw_only=True)
class InferenceTensorUsed(Event):
    """A tensor that was made in inference mode was used by autograd, or written, outside of it."""

    tensor: int
    # Saved for backward, written in place, or the state that an optimizer keeps for ``tensor`` was written.
    how: Literal["saved", "written", "state"]
    # The op, or the method of the optimizer.
    op: str
    made: ProgramPoint


@frozen(eq=False, kw_only=True)
class RewrappedRoot(SilentEvent):
    """A backward that reaches nothing but one number which was cut off its graph."""

    root: int
    # Where it was cut off.
    cut: Cut
    # Where it was made to require grad.
    wrapped: ProgramPoint


@frozen(eq=False, kw_only=True)
class TermLost(SilentEvent):
    """A backward from a sum, one term of which had lost its graph: it adds a constant."""

    root: int
    # Where the term lost it.
    cut: Cut


@frozen(eq=False, kw_only=True)
class ParameterUnregistered(SilentEvent):
    """A module keeps a tensor that is to be trained as an attribute, and it is no Parameter. ``point`` is that of the
    assignment's target.
    """

    # What is assigned.
    value: ast.expr
    # A leaf itself; what a conversion made of a Parameter, a copy; what was computed of one; layers in a container.
    how: Literal["leaf", "converted", "computed", "hidden"]
    # What of ``torch.nn`` would have registered what a container holds.
    wrapper: str | None = None


@frozen(eq=False, kw_only=True)
class RecurrenceCut(SilentEvent):
    """A backward has walked the last iteration of a loop only: each began with what the one before had computed,
    without its graph. ``point`` is where the last one did.
    """

    cut: Cut
    # The iteration before, whose graph is lost.
    before: Iteration
    walk: ProgramPoint
