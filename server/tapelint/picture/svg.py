"""A picture as SVG: light and dark by what the viewer prefers, each box with a title that a screen reader reads."""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

from .layout import ROW, Box, Layout, laid_out
from .list_form import RELATIONS, plain, text
from .model import Picture, PictureEdge

TOP = 44
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
    layout = laid_out(picture, main, TOP)
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
    yield '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9"'
    yield ' markerUnits="userSpaceOnUse" orient="auto">'
    yield '<path d="M0 0L8 4L0 8z" style="fill: var(--line)"/></marker></defs>'
    yield f'<rect width="{width:.0f}" height="{foot:.0f}" style="fill: var(--paper)"/>'
    yield f'<text class="title" x="18" y="26">{escape(title)}</text>'
    for lane in layout.lanes:
        yield (
            f'<rect class="lane" x="{lane.x:.0f}" y="{TOP}" width="{lane.width:.0f}" '
            f'height="{layout.height - TOP - 9:.0f}" rx="6"/>'
        )
        yield f'<text class="first" x="{lane.x + 12:.0f}" y="{TOP + 20}">{escape(lane.title)}</text>'
    for edge in picture.edges:
        yield from _edge(edge, layout)
    for box in layout.boxes.values():
        yield from _box(box)
    for index, note in enumerate(picture.notes):
        yield f'<text class="label" x="18" y="{layout.height + index * ROW:.0f}">{escape(plain(note))}</text>'
    yield "</svg>"


def _box(box: Box) -> Iterator[str]:
    node = box.node
    style = f"box{' hazard' if node.is_marked else ''}{'' if node.is_certain else ' perhaps'}"
    radius = 14 if node.kind in ("leaf", "tensor") else 0 if node.kind in ("saved", "write", "step") else 4
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


def _edge(edge: PictureEdge, layout: Layout) -> Iterator[str]:
    """From the side of a box that looks at the other one, as a curve."""
    begin, end = layout.boxes[edge.begin], layout.boxes[edge.end]
    x1, x2 = begin.x + begin.width / 2, end.x + end.width / 2
    if begin.node.column != end.node.column:
        right = begin.x < end.x
        x1, x2 = (begin.x + begin.width, end.x) if right else (begin.x, end.x + end.width)
        y1, y2 = begin.y + begin.height / 2, end.y + end.height / 2
        bend = max(abs(x2 - x1) / 2, 24) * (1 if right else -1)
        curve = f"M{x1:.1f} {y1:.1f}C{x1 + bend:.1f} {y1:.1f} {x2 - bend:.1f} {y2:.1f} {x2:.1f} {y2:.1f}"
    else:
        down = begin.y < end.y
        y1, y2 = (begin.y + begin.height, end.y) if down else (begin.y, end.y + end.height)
        bend = (y2 - y1) / 2
        curve = f"M{x1:.1f} {y1:.1f}C{x1:.1f} {y1 + bend:.1f} {x2:.1f} {y2 - bend:.1f} {x2:.1f} {y2:.1f}"
    style = f"edge{'' if edge.relation == 'input' else ' does'}{' hazard' if edge.is_marked else ''}"
    yield f'<path class="{style}" marker-end="url(#tip)" d="{curve}"/>'
    if edge.relation != "input":
        words = RELATIONS[edge.relation]
        yield f'<text class="label named" x="{(x1 + x2) / 2 + 4:.1f}" y="{(y1 + y2) / 2:.1f}">{words}</text>'
