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

from ..frozen import frozen
from .program_point import ProgramPoint

if TYPE_CHECKING:
    from ..state import AutogradState


@frozen
class Leaf:
    """The end of the graph: gradients accumulate into ``.grad`` of this tensor (PyTorch's AccumulateGrad)."""

    tensor: int


@frozen
class SavedTensor:
    """A tensor that a node keeps for backward, with the version it had then.

    ``role`` is how the op calls it (``result``, ``self``, ``weight``); ``version_counter`` is its version counter.
    """

    role: str
    tensor: int
    version_counter: int
    version: int


@frozen
class NodeVisit:
    """A backward pass has reached ``item``, whose backward the program defines. ``node`` is the syntax of the pass.

    ``create`` is whether what runs now is recorded; ``unpack`` is called where the program asks for the saved tensors;
    ``users`` gives the tensors by which the pass came to the node; ``towards`` is true where the pass was asked for the
    gradients of certain tensors only; ``order`` are all nodes of the pass.
    """

    item: Node
    node: ast.AST
    create: bool | None
    unpack: Callable[[], bool]
    users: Callable[[], Set[int]]
    towards: bool = False
    order: Sequence[Node] = ()


@frozen
class BackwardResult:
    """What a node's own backward returned: ``edges`` are where a gradient goes, ``made`` the tensors that are
    gradients, ``reached`` the leaves that got one in a pass of its own.
    """

    edges: tuple[Node | Leaf, ...]
    made: tuple[int, ...] = ()
    reached: tuple[int, ...] = ()


@frozen(eq=False)
class Node:
    """One op in the graph. Identity is equality; ``id`` grows in the order of creation, like PyTorch's sequence
    numbers.

    ``saves_anything`` tells whether it saved anything at all (private values included): only then a second backward
    raises. ``certain`` is false where the node exists only if an unknown tensor requires grad. ``assumption`` names the
    unknown callable on whose behalf the node was invented, if any. ``results`` are the tensors the op returned.
    ``custom_backward`` is given where the program itself defines what backward does at this node
    (``torch.autograd.Function``): it is run when a backward comes here. ``overload`` tells which row of the table ran;
    ``named_inputs`` are the inputs with the parameter each was given for. ``is_complete`` is false where it may lead to
    more than is known.
    """

    id: int
    op: str
    inputs: tuple[Node | Leaf, ...]
    created_at: ProgramPoint
    saved: tuple[SavedTensor, ...] = ()
    saves_anything: bool = False
    certain: bool = True
    assumption: str | None = None
    results: tuple[int, ...] = field(default=(), compare=False)
    grad_fn: str = ""
    operand_ids: tuple[object, ...] = ()
    overload: str = ""
    named_inputs: tuple[tuple[str, Node | Leaf], ...] = ()
    custom_backward: Callable[[AutogradState, NodeVisit], BackwardResult] | None = None
    is_complete: bool = True
    shape: int = field(init=False, compare=False, repr=False)
    """A digest of how the graph below was built, in whatever iterations: graphs of different shape were built
    differently. A node that is only a passage has the shape of what it leads to.
    """

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

Kind = Literal["float", "int", "bool", "other"] | None
ViewKind = Literal["", "view", "multi", "function", "no_grad", "inference"]


@frozen
class Tensor:
    """What autograd knows of one tensor on one path.

    ``version_counter`` is its version counter (views and ``detach()`` share it, ``.data`` does not); ``storage`` its
    storage. ``requires_grad`` is None where it is unknown. ``base`` is the tensor it is a view of; ``view_version`` the
    version of the counter when ``grad_fn`` was last valid (a view of a modified base gets a new one). ``sizes`` is what
    is known of its sizes; ``kind`` the family of its dtype (``other`` is whatever an op without derivative gives).
    """

    id: int
    version_counter: int
    storage: int
    created_at: ProgramPoint
    requires_grad: bool | None = False
    grad_fn: Node | None = None
    base: int | None = None
    view: ViewKind = ""
    view_version: int = 0
    sizes: Extent = None
    kind: Kind = None
    parameter: bool = False
    assumption: str | None = None
    inference: bool = False
    output: int = 0
    stands_for_module: bool = False

    def __repr__(self) -> str:
        origin = repr(self.grad_fn) if self.grad_fn else "leaf" if self.requires_grad else "plain"
        return f"tensor {self.id} ({origin})"

    @property
    def rank(self) -> int | None:
        """How many dimensions it has, if that is known."""
        return len(self.sizes) if isinstance(self.sizes, tuple) else None

    @property
    def assumption_text(self) -> str | None:
        """What is assumed of it, where it came from unknown code (``assumption``)."""
        if self.assumption is None:
            return None
        graph = "is not frozen" if self.parameter else "keeps a graph" if self.requires_grad else "keeps no graph"
        return f"`{self.assumption}` {graph}"

    @property
    def is_leaf(self) -> bool:
        return self.grad_fn is None


@frozen
class Write:
    """One increment of a version counter."""

    version: int
    # The op, or what else wrote: ``mul_``, ``Adam.step``.
    how: str
    point: ProgramPoint
    # False where the write may not have happened (an unknown optimizer).
    certain: bool = True
    before: Write | None = None
    tensor: int = -1
    # Orders it among the nodes: what a node with a smaller ``id`` saved was saved before.
    stamp: int = 0
    # What an op was given beside what it wrote: memories, each with the version it had.
    given: tuple[tuple[int, int], ...] = ()
    by_optimizer: bool = False

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
    """A backward pass: it freed what its nodes had saved, or retained it. ``begin`` is where it began."""

    point: ProgramPoint
    root: int | None
    begin: tuple[Node | Leaf, ...] = ()
