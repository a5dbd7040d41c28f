"""Parts of a tensor that leave something out in one dimension: ``x[1:]``, ``x[:, :-1]``, ``x[0, 2:]``."""

from __future__ import annotations

from ...frozen import frozen


@frozen
class Window:
    """A part of a tensor, cut out by a slice of one dimension."""

    # The id of the tensor that it is a part of.
    whole: int
    # From the left, or, where it is negative, from the right.
    dim: int
    # The size of that dimension of the whole; None where it is unknown.
    size: int | None
    start: int | None
    stop: int | None
    # The numbers by which other dimensions were indexed.
    numbers: tuple[tuple[int, int], ...]
    # Whether its entries lie in memory without gaps, if those of the whole do and are in order; None where it is not
    # known that they are in order.
    is_gapless: bool | None
