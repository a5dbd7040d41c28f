"""A picture as SVG: light and dark by what the viewer prefers, each box with a title that a screen reader reads."""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

from .forms import RELATIONS, plain, text
from .layout import ROW, Box, Layout, laid_out
from .model import Picture

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
