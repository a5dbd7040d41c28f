"""Where the boxes of a picture go: columns side by side; in a column what leads to something is above it.

Sizes are in pixels. The libraries for layered layout know no columns in which time runs, so that this is our own: the
rank of a node in its column is one more than that of what leads to it there, and a rank is as wide as its boxes.
"""

from __future__ import annotations

from dataclasses import dataclass

from .list_form import heading, plain, spot_text
from .model import Picture, PictureNode

LETTER, ROW, PAD, GAP, RANK_GAP, WIDEST = 6.6, 15, 9, 18, 34, 46
"""The width of a letter and the height of a row; the room inside a box, between boxes, between ranks; the most letters
of a row.
"""
ABREAST = 3
"""So many boxes of one rank stand side by side; more go into another rank."""


@dataclass(frozen=True, slots=True)
class Box:
    """A node with its rows of text and its place."""

    node: PictureNode
    rows: tuple[str, ...]
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Lane:
    """A column: its title and where it is."""

    title: str
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class Layout:
    """All boxes by number, the lanes, and the size of the whole."""

    boxes: dict[int, Box]
    lanes: tuple[Lane, ...]
    width: float
    height: float


def laid_out(picture: Picture, main: str, top: float) -> Layout:
    """A place for each node, below ``top``."""
    boxes: dict[int, Box] = {}
    lanes: list[Lane] = []
    left = float(GAP)
    for index, title in enumerate(picture.columns):
        ranks = _ranks(picture, index)
        rows = {node.number: _rows(node, main) for rank in ranks for node in rank}
        widths = {number: max(map(len, text)) * LETTER + 2 * PAD for number, text in rows.items()}
        spans = [sum(widths[node.number] + GAP for node in rank) - GAP for rank in ranks]
        width = max([*spans, len(plain(title)) * LETTER * 1.1]) + 2 * GAP
        y = top + 2 * ROW + GAP
        for rank, span in zip(ranks, spans):
            x = left + (width - span) / 2
            for node in rank:
                height = len(rows[node.number]) * ROW + 2 * PAD
                boxes[node.number] = Box(node, rows[node.number], x, y, widths[node.number], height)
                x += widths[node.number] + GAP
            y += max(boxes[node.number].height for node in rank) + RANK_GAP
        lanes.append(Lane(plain(title), left, width))
        left += width + GAP
    bottom = max((box.y + box.height for box in boxes.values()), default=top)
    return Layout(boxes, tuple(lanes), left, bottom + GAP)


def _ranks(picture: Picture, column: int) -> list[list[PictureNode]]:
    """The nodes of a column, rank by rank, none of them empty or wider than ``ABREAST``."""
    mine = {node.number: node for node in picture.nodes if node.column == column}
    rank: dict[int, int] = {}
    for number in mine:  # numbers grow with time, and what leads to a node is older
        above = [
            rank[other]
            for edge in picture.edges
            for other in (edge.begin, edge.end)
            if number in (edge.begin, edge.end) and other in rank and other != number
        ]
        rank[number] = max(above, default=-1) + 1
    found: list[list[PictureNode]] = []
    for level in range(max(rank.values(), default=-1) + 1):
        nodes = [node for number, node in mine.items() if rank[number] == level]
        found += [nodes[begin : begin + ABREAST] for begin in range(0, len(nodes), ABREAST)]
    return found


def _rows(node: PictureNode, main: str) -> tuple[str, ...]:
    parts = [heading(node), *map(plain, node.details), spot_text(node, main)]
    return tuple(part if len(part) <= WIDEST else f"{part[: WIDEST - 1]}…" for part in parts if part)
