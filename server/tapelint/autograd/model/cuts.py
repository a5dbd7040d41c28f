"""Where a graph ends: what a tensor, an array or a number was computed from had a graph, and it has none itself.

value = loss.item()    Cut(point, CutReason.ITEM, source=<MeanBackward0>)

Where a tensor, an array or a number comes from, as far as later reports, fixes and hovers need it.

shown = loss.detach().clone()    Provenance(cut=Cut(point, CutReason.DETACH), clone_of=(3, 0))
value = loss.item()              Provenance(cut=Cut(point, CutReason.ITEM), number_in=(3, 0, 0, 0))
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
    # Code that is not known and was given what was cut.
    through: str | None = None

    @property
    def is_by_mode(self) -> bool:
        """Whether nothing was recorded there."""
        return self.reason in (CutReason.NO_GRAD, CutReason.INFERENCE_MODE)

    def is_like(self, other: Cut) -> bool:
        """Whether two tensors have lost their graphs in the same way, perhaps at different places."""
        return self.reason is other.reason and self.grad_mode_set_at == other.grad_mode_set_at

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


@frozen
class Provenance:
    """The origins of one value. Each is known by itself, and several may hold together."""

    # Where it lost its graph.
    cut: Cut | None = None
    # The last of several places where it lost a graph, if that is another one.
    last_cut: Cut | None = None
    # Of a tensor without a graph: a leaf that it was computed from and that has been made not to require grad.
    frozen: int | None = None
    # Of a sum with a graph: where one of its terms lost its own.
    detached_term: Cut | None = None
    # Where it was made to require grad after it was computed or made of numbers.
    rewrapped: ProgramPoint | None = None
    # Of an unchanged clone: the tensor, and its version, that it was made from.
    clone_of: tuple[int, int] | None = None
    # Of an unknown number: the contents (``contents``) of the tensor that it was read from.
    number_in: tuple[int, ...] | None = None
    # Where a ``GradScaler`` made it.
    scaled: ProgramPoint | None = None
    # Whether it is a gradient that the program read, or was computed from one.
    from_gradient: bool = False
    # The tensor that ``autograd.grad`` has computed it for.
    gradient_of: int | None = None
    # The leaf that it was computed from together with a gradient.
    update_of: int | None = None
    # Of an ``nn.Parameter``: the leaf that it was made of, which is another tensor in the same memory.
    parameter_of: int | None = None
    # Of a leaf: the one that had its name, or was the attribute, before.
    replaces: int | None = None
    # Of a view of a protected view: where that one was made.
    protected_at: ProgramPoint | None = None
    # Of a part of what an unknown call returned: the tensor that stands for the whole.
    part_of: int | None = None
    # Of what a call returned that was left: whether parts of it may have lost their graph, by the text of what it runs.
    parts_may_be_cut: bool = False

    def or_else(self, other: Provenance) -> Provenance:
        """What this says, and where it says nothing, what ``other`` does."""
        return Provenance(
            self.cut or other.cut,
            self.last_cut or other.last_cut,
            _known(self.frozen, other.frozen),
            self.detached_term or other.detached_term,
            self.rewrapped or other.rewrapped,
            self.clone_of or other.clone_of,
            self.number_in or other.number_in,
            self.scaled or other.scaled,
            self.from_gradient or other.from_gradient,
            _known(self.gradient_of, other.gradient_of),
            _known(self.update_of, other.update_of),
            _known(self.parameter_of, other.parameter_of),
            _known(self.replaces, other.replaces),
            self.protected_at or other.protected_at,
            _known(self.part_of, other.part_of),
            self.parts_may_be_cut or other.parts_may_be_cut,
        )


def _known(own: int | None, other: int | None) -> int | None:
    return other if own is None else own


UNKNOWN_PROVENANCE = Provenance()
