"""Events of graphs that lead nowhere: refused, copied out, cut off, never trained.

loss.backward()   ->  NonScalarBackward(sizes=(8, 1), ...)
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import ClassVar

from ..model.cuts import Cut
from ..model.graph import Extent
from ..model.program_point import ProgramPoint
from .graph_walks import Event


@dataclass(frozen=True, slots=True)
class NonScalarBackward(Event):
    """A backward without an initial gradient from a tensor of more than one element.

    ``sizes`` are its sizes, as far as they are known; ``built`` is where it was computed. ``source`` is the expression
    of the tensor in the call, if it stands there; ``wants`` the call's purpose: ``backward`` or ``grad``.
    """

    root: int
    sizes: Extent
    built: ProgramPoint | None
    source: ast.expr | None
    wants: str


@dataclass(frozen=True, slots=True)
class RequiresGradRefused(Event):
    """A flag that cannot be set: ``reason`` is ``leaf`` (only a leaf's may be changed), or the ``int`` or ``bool`` of a
    dtype that has no gradient. ``wanted`` is the new value; ``created_at`` is where the tensor was made.
    """

    tensor: int
    reason: str
    wanted: bool
    created_at: ProgramPoint


@dataclass(frozen=True, slots=True)
class GraphCopiedOut(Event):
    """Tensors with a graph were asked for as plain data: ``how`` is ``numpy`` or ``deepcopy``.

    ``held`` are those tensors, each with the attributes and keys that lead to it from the argument; ``source`` is the
    expression of the argument, ``method`` whether it is a tensor's own method that was called.
    """

    held: tuple[tuple[int, tuple[str | int, ...]], ...]
    how: str
    source: ast.expr | None
    method: bool


@dataclass(frozen=True, slots=True)
class NonLeafOptimized(Event):
    """An optimizer was given a tensor that is no leaf; ``created_at`` is where it was computed."""

    tensor: int
    created_at: ProgramPoint


@dataclass(frozen=True, slots=True)
class NothingToOptimize(Event):
    """An optimizer was given the parameters of a module that has none where ``parameters()`` looks: its ``leaves`` lie
    in a plain container, ``value``, that was assigned to ``attribute``. ``wrapper`` is what of ``torch.nn`` would
    register them.
    """

    leaves: tuple[int, ...]
    attribute: ast.expr
    value: ast.expr
    wrapper: str | None


@dataclass(frozen=True, slots=True)
class AbsentGradientUsed(Event):
    """The ``.grad`` of a tensor that is no leaf was read, is None, and was used as a tensor.

    ``read`` is where it was read, ``created_at`` where the tensor was computed.
    """

    tensor: int
    read: ProgramPoint
    created_at: ProgramPoint


@dataclass(frozen=True, slots=True)
class UnusedInput(Event):
    """``autograd.grad`` asked for the gradient of a tensor that its outputs do not depend on, or (``plain``) that does
    not require grad. ``cut`` is where a graph ends that the outputs' graph begins after, if there is one such place.
    """

    tensor: int
    plain: bool
    created_at: ProgramPoint
    cut: ProgramPoint | None


@dataclass(frozen=True, slots=True)
class InferenceTensorUsed(Event):
    """Outside inference mode a tensor made in it was ``saved`` by ``op`` for backward, or ``written`` in place, or
    it is the ``state`` that an optimizer keeps for ``tensor``, and was written.
    """

    tensor: int
    how: str
    op: str
    made: ProgramPoint


@dataclass(frozen=True, slots=True)
class RewrappedRoot(Event):
    """A backward that reaches nothing but one number which was ``cut`` off its graph and then made to require grad
    (``wrapped``).
    """

    root: int
    cut: Cut
    wrapped: ProgramPoint


@dataclass(frozen=True, slots=True)
class TermLost(Event):
    """A backward from a sum, one term of which had lost its graph at ``cut``: it adds a constant."""

    raises: ClassVar[bool] = False

    root: int
    cut: Cut
