"""Which way each arrow of a picture goes: in the channels between ranks and columns, where there are no boxes.

A channel that runs across is below a rank of a column (``(column, rank)``, 0 is above the first), or above all columns
(``"bus"``); one that runs down is beside a column (``("left", column)`` or ``("right", column)``). Arrows of one kind
from one box share their track in a channel; no others do, so that each can be followed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..frozen import frozen
from .model import PictureEdge, Relation

STEP = 7
"""Pixels between two tracks of a channel."""
Channel = Any
Bundle = tuple[int, Relation, bool]


@frozen
class Seat:
    """The column of a box and its rank there, both from 0."""

    column: int
    level: int


@frozen
class Route:
    """Across, down, across, and so on; whether it begins and ends at the lower side of a box."""

    bundle: Bundle
    channels: tuple[Channel, ...]
    is_down: bool
    ends_below: bool


def planned(edge: PictureEdge, seats: Mapping[int, Seat]) -> Route:
    """The way of an arrow between two boxes."""
    begin, end = seats[edge.begin], seats[edge.end]
    bundle = edge.begin, edge.relation, edge.is_marked
    if begin.column != end.column:
        return _across(bundle, begin, end)
    is_down = begin.level <= end.level
    ends_below = begin.level >= end.level
    first, last = begin.level + is_down, end.level + ends_below
    if first == last:
        return Route(bundle, ((begin.column, first),), is_down, ends_below)
    # What leads to the past runs on the other side than what leads to the future.
    side = "left" if is_down else "right"
    channels = (begin.column, first), (side, begin.column), (begin.column, last)
    return Route(bundle, channels, is_down, ends_below)


def _across(bundle: Bundle, begin: Seat, end: Seat) -> Route:
    """To another column: beside the first one, above those between, down to its end."""
    is_right = begin.column < end.column
    out, into = ("right", "left") if is_right else ("left", "right")
    is_near = abs(begin.column - end.column) == 1
    way: tuple[Channel, ...] = ((out, begin.column),)
    if not is_near:
        way = *way, "bus", (into, end.column)
    # To the right ends at an upper side, as all that leads on does; to the left at a lower one, as what looks back.
    first, last = begin.level + is_right, end.level + (not is_right)
    return Route(bundle, ((begin.column, first), *way, (end.column, last)), is_right, not is_right)


def tracks(routes: Iterable[Route]) -> dict[Channel, list[Bundle]]:
    """For each channel the bundles in it, in the order of their tracks."""
    found: dict[Channel, dict[Bundle, None]] = {}
    for route in routes:
        for channel in route.channels:
            found.setdefault(channel, {})[route.bundle] = None
    return {channel: [*bundles] for channel, bundles in found.items()}
