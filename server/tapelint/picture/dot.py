"""A picture in the language of Graphviz: ``tapelint graph ... --format dot | dot -Tpng``."""

from __future__ import annotations

from collections.abc import Iterator

from .list_form import RELATIONS, heading, plain, spot_text
from .model import Picture, PictureNode

SHAPES = {
    "leaf": "ellipse",
    "operation": "box",
    "tensor": "ellipse",
    "saved": "cylinder",
    "write": "parallelogram",
    "step": "parallelogram",
    "pass": "hexagon",
    "cut": "octagon",
    "folded": "box3d",
    "grad": "ellipse",
    "clear": "parallelogram",
    "clip": "parallelogram",
    "holder": "cylinder",
    "moment": "box",
}


def dot(picture: Picture, main: str) -> Iterator[str]:
    """The lines of a digraph, a cluster for each column."""
    yield "digraph autograd {"
    yield f"    label={_quoted(plain(picture.title))}; labelloc=t; rankdir=TB;"
    yield '    node [fontname="sans-serif", fontsize=11]; edge [fontname="sans-serif", fontsize=9];'
    for index, column in enumerate(picture.columns):
        yield f"    subgraph cluster_{index} {{"
        yield f"        label={_quoted(plain(column))}; style=dashed;"
        for node in picture.nodes:
            if node.column == index:
                yield f"        n{node.number} [{_attributes(node, main)}];"
        yield "    }"
    for edge in picture.edges:
        parts = ["color=crimson, penwidth=2"] if edge.is_marked else []
        if edge.relation != "input":
            parts += [f"style=dashed, constraint=false, label={_quoted(RELATIONS[edge.relation])}"]
        attributes = f" [{', '.join(parts)}]" if parts else ""
        yield f"    n{edge.begin} -> n{edge.end}{attributes};"
    yield from (f"    // {plain(note)}" for note in picture.notes)
    yield "}"


def _attributes(node: PictureNode, main: str) -> str:
    parts = [heading(node), *map(plain, node.details), spot_text(node, main)]
    label = "\n".join(part for part in parts if part)
    mark = ", color=crimson, penwidth=2" if node.is_marked else ""
    style = ", style=dashed" if not node.is_certain else ""
    return f"label={_quoted(label)}, shape={SHAPES[node.kind]}{mark}{style}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
