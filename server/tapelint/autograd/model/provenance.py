"""Where a tensor, an array or a number comes from, as far as later reports, fixes and hovers need it.

shown = loss.detach().clone()    Provenance(cut=Cut(point, CutReason.DETACH), clone_of=(3, 0))
value = loss.item()              Provenance(cut=Cut(point, CutReason.ITEM), number_in=(3, 0, 0, 0))
"""

from __future__ import annotations

from ...frozen import frozen
from .cuts import Cut
from .program_point import ProgramPoint


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
