"""A picture as SVG: light and dark by what the viewer prefers, each box with a title that a screen reader reads.

Columns stand side by side; in a column what leads to something is above it. Sizes are in pixels. The rank of a node in
its column is one more than that of what leads to it there, and a rank is as wide as its boxes.

Arrows run in the channels between ranks and columns, where there are no boxes. A channel that runs across is below a
rank of a column (``(column, rank)``, 0 is above the first), or above all columns (``"bus"``); one that runs down is
beside a column (``("left", column)`` or ``("right", column)``). Arrows of one kind from one box share their track in a
channel; no others do, so that each can be followed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from ..frozen import frozen
from .forms import RELATIONS, plain, rows_of, text
from .model import DRAWN, MOMENTS, Picture, PictureEdge, PictureNode, Relation

TOP = 44
SQUARE = ("saved", "write", "step", "clear", "clip", "holder")
STYLE = """
svg { --ink: #1f2328; --paper: #ffffff; --line: #57606a; --lane: #f3f5f7; --box: #ffffff; --bad: #b3151f; }
@media (prefers-color-scheme: dark) {
  svg { --ink: #e6edf3; --paper: #0d1117; --line: #9aa4af; --lane: #161b22; --box: #21262d; --bad: #ff7b72; }
}
text { font: 11px ui-monospace, Menlo, Consolas, monospace; fill: var(--ink); }
.title { font-weight: bold; font-size: 13px; } .lane { fill: var(--lane); } .first { font-weight: bold; }
.box { fill: var(--box); stroke: var(--line); } .perhaps { stroke-dasharray: 4 3; }
.edge { fill: none; stroke: var(--line); } .does { stroke-dasharray: 5 3; }
.hazard { stroke: var(--bad); stroke-width: 2.5; } .label { font-size: 10px; fill: var(--line); }
.named { paint-order: stroke; stroke: var(--lane); stroke-width: 4px; }
"""


def svg(picture: Picture, main: str) -> Iterator[str]:
    """The lines of an SVG document without scripts and without anything from elsewhere."""
    layout = Plan(picture, main, TOP).layout()
    title = plain(picture.title)
    width = max(layout.width, len(title) * 8 + 40)
    foot = layout.height + len(picture.notes) * ROW
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {foot:.0f}" width="{width:.0f}" '
        f'height="{foot:.0f}" role="img" aria-labelledby="title description">'
    )
    yield f'<title id="title">{escape(title)}</title>'
    yield f'<desc id="description">{escape(chr(10).join(text(picture, main)))}</desc>'
    yield f"<style>{STYLE}</style>"
    yield f"<defs>{_tip('tip', '--line')}{_tip('bad-tip', '--bad')}</defs>"
    yield f'<rect width="{width:.0f}" height="{foot:.0f}" style="fill: var(--paper)"/>'
    yield f'<text class="title" x="18" y="26">{escape(title)}</text>'
    for lane in layout.lanes:
        yield (
            f'<rect class="lane" x="{lane.x:.0f}" y="{TOP}" width="{lane.width:.0f}" '
            f'height="{layout.height - TOP - 9:.0f}" rx="6"/>'
        )
        yield f'<text class="first" x="{lane.x + 12:.0f}" y="{TOP + 20}">{escape(lane.title)}</text>'
    yield from _edges(picture, layout)
    for box in layout.boxes.values():
        yield from _box(box)
    for index, note in enumerate(picture.notes):
        yield f'<text class="label" x="18" y="{layout.height + index * ROW:.0f}">{escape(plain(note))}</text>'
    yield "</svg>"


def _box(box: Box) -> Iterator[str]:
    node = box.node
    style = f"box{' hazard' if node.is_marked else ''}{'' if node.is_certain else ' perhaps'}"
    radius = 14 if node.kind in ("leaf", "tensor", "grad") else 0 if node.kind in SQUARE else 4
    yield f'<g data-kind={quoteattr(node.kind)} data-node="{node.number}"><title>{escape(box.rows[0])}</title>'
    yield (
        f'<rect class="{style}" x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" '
        f'rx="{radius}"/>'
    )
    for index, row in enumerate(box.rows):
        strong = ' class="first"' if index == 0 else ""
        y = box.y + 9 + ROW * (index + 0.75)
        yield f'<text{strong} x="{box.x + 9:.1f}" y="{y:.1f}">{escape(row)}</text>'
    yield "</g>"


def _edges(picture: Picture, layout: Layout) -> Iterator[str]:
    """The arrows; where several leave a box together, the first one has the label."""
    named = set[object]()
    for edge, points in zip(picture.edges, layout.arrows):
        (x, y), (_, other) = points[:2]
        way = "L".join(f"{across:.1f} {down:.1f}" for across, down in points)
        style = f"edge{'' if edge.relation == 'input' else ' does'}{' hazard' if edge.is_marked else ''}"
        tip = "bad-tip" if edge.is_marked else "tip"
        ends = f'data-from="{edge.begin}" data-to="{edge.end}"'
        yield f'<path class="{style}" {ends} marker-end="url(#{tip})" d="M{way}"/>'
        bundle = edge.begin, edge.relation, edge.is_marked
        if edge.relation != "input" and bundle not in named:
            named.add(bundle)
            row = y + 10 if other > y else y - 3
            yield f'<text class="label named" x="{x + 4:.1f}" y="{row:.1f}">{RELATIONS[edge.relation]}</text>'


def _tip(name: str, colour: str) -> str:
    return (
        f'<marker id="{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" '
        f'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L8 4L0 8z" style="fill: var({colour})"/></marker>'
    )


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


LETTER, ROW, PAD, GAP = 6.6, 15, 9, 18
"""The width of a letter and the height of a row; the room inside a box and between boxes."""


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


def _ranks(picture: Picture, column: int) -> list[list[PictureNode]]:
    """The nodes of a column, rank by rank, none of them empty or wider than ``DRAWN.abreast``."""
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
        found += [nodes[begin : begin + DRAWN.abreast] for begin in range(0, len(nodes), DRAWN.abreast)]
    return found
