"""Where a graph ends: what a tensor, an array or a number was computed from had a graph, and it has none itself.

value = loss.item()    Cut(point, CutReason.ITEM, source=<MeanBackward0>)
"""

from __future__ import annotations

import ast
from enum import Enum
from typing import Literal

from ...frozen import frozen
from .graph import Node
from .program_point import ProgramPoint


class CutReason(Enum):
    """What cut a graph. The value is what messages call it."""

    NO_GRAD = "no_grad"
    INFERENCE_MODE = "inference_mode"
    # A gradient was computed without ``create_graph=True``.
    CREATE_GRAPH = "create_graph"
    # The gradient of a linear function depends on nothing.
    LINEAR = "linear"
    # A reentrant checkpoint, no input of which requires grad.
    CHECKPOINT = "checkpoint"
    DETACH = "detach"
    DATA = "data"
    ITEM = "item"
    # Another method than ``item()`` read the elements: ``Cut.operation``.
    READ = "read"
    NUMPY = "numpy"
    # Computed from a number that was read from a tensor, or from several of them.
    NUMBER = "number"
    NUMBERS = "numbers"
    # A tensor was made of a list of such numbers.
    NUMBER_LIST = "numbers in a list"
    # A tensor was made of a list of tensors, all of them scalars (``losses``) or not.
    LOSSES = "losses"
    TENSOR_LIST = "list"
    # ``torch.tensor`` of a tensor.
    REMADE = "torch.tensor"
    # Another operation, the result of which never requires grad: ``Cut.operation``.
    OPERATION = "operation"


BY_HAND = frozenset((CutReason.DATA, CutReason.DETACH))
"""What the program asks for, of one tensor."""


@frozen
class Cut:
    """Where a tensor lost its graph."""

    point: ProgramPoint
    reason: CutReason
    # The method or op, where the reason does not say it.
    operation: str = ""
    # The call that had switched gradients off until further notice, if that is why.
    grad_mode_set_at: ProgramPoint | None = None
    # The graph that the tensor was cut from, if there was one.
    source: Node | None = None
    # The parameters that a graph would lead to, if none was made.
    leaves: tuple[int, ...] = ()
    # Where a tensor was made again of the numbers.
    wrapped: ProgramPoint | None = None

    @property
    def is_by_mode(self) -> bool:
        """Whether nothing was recorded there."""
        return self.reason in (CutReason.NO_GRAD, CutReason.INFERENCE_MODE)

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.operation or self.reason.value


@frozen
class Withheld:
    """What the cut at ``node`` keeps from ``leaf``."""

    node: ast.AST
    leaf: int
    # When it was computed: in the iteration of the pass, a ``later`` one of its loop or the ``first``, or ``before``.
    when: Literal["later", "first", "before"]
