"""The backward graph: nodes, what they saved, and the tensors that point at them.

    y = x.exp(); z = y * w

    w ──┐
    x ── Exp(saved: y) ── Mul(saved: y for w, w for y) ── z

A ``Node`` is one op that ran; it is immutable. What changes on a path (which nodes were freed, how often a storage was
written) lives in ``AutogradState``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import field
from typing import TYPE_CHECKING, Literal

from ...because import NOTHING, Because, guess
from ...frozen import frozen
from .program_point import ProgramPoint

if TYPE_CHECKING:
    from ..state import AutogradState


@frozen
class Leaf:
    """The end of the graph: gradients accumulate into ``.grad`` of this tensor (PyTorch's AccumulateGrad)."""

    tensor: int


@frozen
class SavedTensor:
    """A tensor that a node keeps for backward, with the version that it had then."""

    # The op's name for it: ``result``, ``self``, ``weight``.
    role: str
    tensor: int
    version_counter: int
    version: int


@frozen
class NodeVisit:
    """A backward pass has reached ``item``, whose backward the program defines."""

    item: Node
    # The syntax of the pass.
    node: ast.AST
    # Whether the backward is recorded itself; None where that is unknown.
    create: bool | None
    # Called where the program asks for the saved tensors: whether they are there and unmodified.
    unpack: Callable[[], bool]
    # The tensors by which the pass reached the node.
    users: Callable[[], Set[int]]
    # Whether the pass computes the gradients of certain tensors only.
    towards: bool = False
    # All nodes of the pass, youngest first.
    order: Sequence[Node] = ()


@frozen
class BackwardResult:
    """What the backward of a custom ``Function`` returned."""

    # The inputs that get a gradient.
    edges: tuple[Node | Leaf, ...]
    # The tensors that are gradients.
    made: tuple[int, ...] = ()
    # The leaves that got a gradient in a pass that this backward ran itself.
    reached: tuple[int, ...] = ()


@frozen(eq=False)
class Node:
    """One op in the graph. Identity is equality."""

    # Grows in the order of creation, like PyTorch's sequence numbers.
    id: int
    op: str
    inputs: tuple[Node | Leaf, ...]
    created_at: ProgramPoint
    saved: tuple[SavedTensor, ...] = ()
    # Whether it saved anything at all, values that are no tensors included: only then a second backward raises.
    saves_anything: bool = False
    # False where the node exists only if an unknown tensor requires grad.
    certain: bool = True
    # The unknown callable that the node stands for, if it stands for one.
    assumption: str | None = None
    # The tensors that the op returned.
    results: tuple[int, ...] = field(default=(), compare=False)
    # PyTorch's name for the node; empty where ``op`` decides it.
    grad_fn: str = ""
    # The ids of the tensors that the op was given.
    operand_ids: tuple[int, ...] = ()
    # Which row of the op table ran.
    overload: str = ""
    # The inputs, each with the parameter that it was given for.
    named_inputs: tuple[tuple[str, Node | Leaf], ...] = ()
    # What a backward runs here, where the program defines it (``torch.autograd.Function``).
    custom_backward: Callable[[AutogradState, NodeVisit], BackwardResult] | None = None
    # False where it may lead to more than is known.
    is_complete: bool = True
    # A digest of how the graph below was built, in whatever iterations: graphs of different shape were built
    # differently. A node that is only passed through has the shape of its input.
    shape: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        below = tuple([item.shape if type(item) is Node else 0 for item in self.inputs])
        if self.is_passthrough:
            shape = below[0]
        else:
            loops = tuple([id(lap.loop) for lap in self.created_at.iterations])
            shape = hash((id(self.created_at.node), self.op, len(self.saved), loops, below))
        object.__setattr__(self, "shape", shape)

    @property
    def is_passthrough(self) -> bool:
        """Whether no pass can fail here or do more than go on to the one input: it keeps nothing, such as a view."""
        return (
            not self.saves_anything
            and not self.saved
            and self.certain
            and len(self.inputs) == 1
            and self.custom_backward is None
            and self.assumption is None
        )

    def __repr__(self) -> str:
        return f"<{self.op} #{self.id}>"


Extent = tuple[int | None, ...] | Literal["many", "batch", None]
"""What is known of a tensor's sizes: each of them, or that there is more than one element, or one for each sample of a
batch, or nothing.
"""
MANY: Literal["many"] = "many"
BATCH: Literal["batch"] = "batch"


def is_wide(extent: Extent) -> bool:
    """Whether there is more than one element (or none) for certain."""
    return extent == MANY if not isinstance(extent, tuple) else any(size not in (1, None) for size in extent)


Kind = Literal["float", "int", "bool", "other"] | None
ViewKind = Literal["", "view", "multi", "function", "no_grad", "inference"]


@frozen
class Tensor:
    """What autograd knows of one tensor on one path."""

    id: int
    # Views and ``detach()`` share it, ``.data`` does not.
    version_counter: int
    storage: int
    created_at: ProgramPoint
    # None where it is unknown.
    requires_grad: bool | None = False
    grad_fn: Node | None = None
    # The tensor that it is a view of.
    base: int | None = None
    # By which kind of op it is a view: PyTorch protects some kinds from in-place writes.
    view: ViewKind = ""
    # The version of the counter when ``grad_fn`` was last valid: a view of a modified base gets a new one.
    view_version: int = 0
    # What is known of its sizes.
    sizes: Extent = None
    # The family of its dtype; ``other`` is that of an op without derivative.
    kind: Kind = None
    # Whether it is an ``nn.Parameter``.
    parameter: bool = False
    # The unknown callable that it came from, if what is known of it is assumed.
    assumption: str | None = None
    # Whether it was made in inference mode.
    inference: bool = False
    # Which output of ``grad_fn`` it is.
    output: int = 0
    # Whether it stands for all parameters of a module of which no code was read.
    stands_for_module: bool = False
    # Whether it is a guess that there is such a module: something unknown is used as a network.
    is_guessed: bool = False

    def __repr__(self) -> str:
        origin = repr(self.grad_fn) if self.grad_fn else "leaf" if self.requires_grad else "plain"
        return f"tensor {self.id} ({origin})"

    @property
    def rank(self) -> int | None:
        """How many dimensions it has, if that is known."""
        return len(self.sizes) if isinstance(self.sizes, tuple) else None

    @property
    def because(self) -> Because:
        """What is guessed of it, where it came from unknown code (``assumption``)."""
        if self.assumption is None:
            return NOTHING
        if self.parameter and not self.stands_for_module:
            return guess(f"the parameters in `{self.assumption}` require grad")
        if self.parameter:
            trained = "require grad" if self.requires_grad else "are frozen"
            return guess(f"`{self.assumption}` is a network whose parameters {trained}")
        return guess(f"`{self.assumption}` keeps {'a' if self.requires_grad else 'no'} graph")

    @property
    def is_leaf(self) -> bool:
        return self.grad_fn is None


@frozen
class Write:
    """One increment of a version counter."""

    # The version after it.
    version: int
    # The op, or what else wrote: ``mul_``, ``Adam.step``.
    op: str
    point: ProgramPoint
    # False where the write may not have happened (an unknown optimizer).
    certain: bool = True
    # The write before it.
    before: Write | None = None
    # The tensor that was written; -1 where that is unknown.
    tensor: int = -1
    # Orders it among the nodes: a node with a smaller ``id`` saved its tensors before.
    stamp: int = 0
    # The storages of the op's other operands, each with the version that it had.
    given: tuple[tuple[int, int], ...] = ()
    # Whether a step of an optimizer wrote.
    by_optimizer: bool = False
    # What it needs to have happened.
    because: Because = NOTHING

    def chain(self) -> Iterator[Write]:
        """This write and those before it."""
        write: Write | None = self
        while write is not None:
            yield write
            write = write.before

    def since(self, version: int) -> Write | None:
        """The first certain write after ``version``, or None."""
        found: Write | None = None
        write: Write | None = self
        while write is not None and write.version > version:
            if write.certain:
                found = write
            write = write.before
        return found


@frozen
class BackwardPass:
    """A backward pass: it freed what its nodes had saved, or retained it."""

    point: ProgramPoint
    # The first tensor that it was called on; None if it has none.
    root: int | None
    # The nodes and leaves that it began at.
    begin: tuple[Node | Leaf, ...] = ()
