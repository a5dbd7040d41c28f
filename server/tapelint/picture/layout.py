"""Where the boxes and arrows of a picture go: columns side by side; in a column what leads to something is above it.

Sizes are in pixels. The rank of a node in its column is one more than that of what leads to it there, and a rank is as
wide as its boxes. Arrows run between ranks and between columns (``routes``), never behind a box.
"""

from __future__ import annotations

from ..frozen import frozen
from .forms import plain, rows_of
from .model import MOMENTS, Picture, PictureEdge, PictureNode
from .routes import STEP, Route, Seat, planned, tracks

LETTER, ROW, PAD, GAP = 6.6, 15, 9, 18
"""The width of a letter and the height of a row; the room inside a box and between boxes."""
ABREAST = 3
"""So many boxes of one rank stand side by side; more go into another rank."""


@frozen
class Box:
    """A node with its rows of text and its place."""

    node: PictureNode
    rows: tuple[str, ...]
    x: float
    y: float
    width: float
    height: float


@frozen
class Lane:
    """A column: its title and where it is."""

    title: str
    x: float
    width: float


@frozen
class Layout:
    """All boxes by number, the lanes, the points of each arrow as the picture has them, and the size of the whole."""

    boxes: dict[int, Box]
    lanes: tuple[Lane, ...]
    arrows: tuple[tuple[tuple[float, float], ...], ...]
    width: float
    height: float


class Plan:
    """A layout in the making, below ``top``."""

    def __init__(self, picture: Picture, main: str, top: float) -> None:
        self.picture = picture
        self.ranks = [_ranks(picture, column) for column in range(len(picture.columns))]
        self.rows = {node.number: rows_of(node, main) for node in picture.nodes}
        self.seats = {
            node.number: Seat(column, level)
            for column, ranks in enumerate(self.ranks)
            for level, rank in enumerate(ranks)
            for node in rank
        }
        self.routes = [planned(edge, self.seats) for edge in picture.edges]
        self.tracks = tracks(self.routes)
        # Where each channel begins: rows for those that run across, columns for those that run down.
        self.begin: dict[object, float] = {}
        self.boxes: dict[int, Box] = {}
        self.lanes: list[Lane] = []
        self.top = top + 2 * ROW
        self.bottom = self._after("bus", self.top)
        self.left = float(GAP)
        for column, ranks in enumerate(self.ranks):
            self._column(column, ranks)

    def _after(self, channel: object, position: float) -> float:
        """Lay a channel at a position; where what follows may begin."""
        self.begin[channel] = position + GAP / 2
        return position + GAP + STEP * len(self.tracks.get(channel, ()))

    def _column(self, column: int, ranks: list[list[PictureNode]]) -> None:
        begin = self.left
        left = self._after(("left", column), begin)
        widths = {n.number: max(map(len, self.rows[n.number])) * LETTER + 2 * PAD for rank in ranks for n in rank}
        spans = [sum(widths[node.number] + GAP for node in rank) - GAP for rank in ranks]
        title = plain(self.picture.columns[column])
        width = max([*spans, len(title) * LETTER * 1.1])
        y = self._after((column, 0), self.bottom)
        for level, (rank, span) in enumerate(zip(ranks, spans), 1):
            x = left + (width - span) / 2
            for node in rank:
                rows = self.rows[node.number]
                self.boxes[node.number] = Box(node, rows, x, y, widths[node.number], len(rows) * ROW + 2 * PAD)
                x += widths[node.number] + GAP
            y = self._after((column, level), y + max(self.boxes[node.number].height for node in rank))
        self.left = self._after(("right", column), left + width)
        self.lanes.append(Lane(title, begin, self.left - begin))
        self.left += GAP

    def layout(self) -> Layout:
        arrows = tuple(self._arrow(edge, route) for edge, route in zip(self.picture.edges, self.routes))
        ends = [box.y + box.height for box in self.boxes.values()] + [y for arrow in arrows for _, y in arrow]
        return Layout(self.boxes, tuple(self.lanes), arrows, self.left, max(ends, default=self.top) + GAP)

    def _arrow(self, edge: PictureEdge, route: Route) -> tuple[tuple[float, float], ...]:
        """From port to channel, from channel to channel, and to the other port."""
        x, y = self._port(edge.begin, route.bundle, route.is_down)
        points = [(x, y)]
        for channel in route.channels:
            at = self.begin[channel] + STEP * self.tracks[channel].index(route.bundle)
            is_across = channel == "bus" or isinstance(channel[0], int)
            points.append((points[-1][0], at) if is_across else (at, points[-1][1]))
        x, y = self._port(edge.end, edge, route.ends_below)
        return (*points, (x, points[-1][1]), (x, y))

    def _port(self, number: int, line: object, is_below: bool) -> tuple[float, float]:
        """Where a line begins or ends at a box: all of one side have the same distance from each other."""
        box = self.boxes[number]
        lines: dict[object, None] = {}
        for edge, route in zip(self.picture.edges, self.routes):
            if edge.begin == number and route.is_down == is_below:
                lines[route.bundle] = None
            if edge.end == number and route.ends_below == is_below:
                lines[edge] = None
        place = [*lines].index(line) + 1
        return box.x + box.width * place / (len(lines) + 1), box.y + (box.height if is_below else 0)


def laid_out(picture: Picture, main: str, top: float) -> Layout:
    """A place for each node and each arrow, below ``top``."""
    return Plan(picture, main, top).layout()


def _ranks(picture: Picture, column: int) -> list[list[PictureNode]]:
    """The nodes of a column, rank by rank, none of them empty or wider than ``ABREAST``."""
    mine = {node.number: node for node in picture.nodes if node.column == column}
    rank: dict[int, int] = {}
    moment = -1  # of the last node that happens at a moment: these are below each other
    for number, node in mine.items():  # numbers grow with time, and what leads to a node is older
        above = [
            rank[other]
            for edge in picture.edges
            for other in (edge.begin, edge.end)
            if number in (edge.begin, edge.end) and other in rank and other != number
        ]
        rank[number] = max([*above, moment] if node.kind in MOMENTS else above, default=-1) + 1
        moment = rank[number] if node.kind in MOMENTS else moment
    found: list[list[PictureNode]] = []
    for level in range(max(rank.values(), default=-1) + 1):
        nodes = [node for number, node in mine.items() if rank[number] == level]
        found += [nodes[begin : begin + ABREAST] for begin in range(0, len(nodes), ABREAST)]
    return found
