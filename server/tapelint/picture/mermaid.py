"""A picture in Mermaid's language, which GitHub draws in an issue."""

from __future__ import annotations

from collections.abc import Iterator

from .list_form import RELATIONS, heading, plain, spot_text
from .model import Picture, PictureNode

SHAPES = {
    "leaf": ("([", "])"),
    "operation": ("[", "]"),
    "tensor": ("([", "])"),
    "saved": ("[(", ")]"),
    "write": ("[/", "/]"),
    "step": ("[/", "/]"),
    "pass": ("{{", "}}"),
    "cut": (">", "]"),
    "folded": ("[[", "]]"),
    "grad": ("([", "])"),
    "clear": ("[/", "/]"),
    "clip": ("[/", "/]"),
    "holder": ("[(", ")]"),
    "moment": ("[", "]"),
}


def mermaid(picture: Picture, main: str) -> Iterator[str]:
    """The lines of a flowchart, a subgraph for each column."""
    yield "---"
    yield f"title: {_yaml(plain(picture.title))}"
    yield "---"
    yield "flowchart TB"
    for index, column in enumerate(picture.columns):
        yield f'    subgraph column{index}["{_escaped(plain(column))}"]'
        yield "        direction TB"
        for node in picture.nodes:
            if node.column == index:
                begin, end = SHAPES[node.kind]
                yield f'        n{node.number}{begin}"{_label(node, main)}"{end}'
        yield "    end"
    for edge in picture.edges:
        if edge.relation == "input":
            yield f"    n{edge.begin} {'==>' if edge.is_marked else '-->'} n{edge.end}"
        else:
            yield f'    n{edge.begin} -. "{RELATIONS[edge.relation]}" .-> n{edge.end}'
    marked = [f"n{node.number}" for node in picture.nodes if node.is_marked]
    unsure = [f"n{node.number}" for node in picture.nodes if not node.is_certain]
    if marked:
        yield "    classDef hazard stroke:#d1242f,stroke-width:3px"
        yield f"    class {','.join(marked)} hazard"
    if unsure:
        yield "    classDef perhaps stroke-dasharray:4 3"
        yield f"    class {','.join(unsure)} perhaps"
    yield from (f"    %% {plain(note)}" for note in picture.notes)


def _label(node: PictureNode, main: str) -> str:
    place = spot_text(node, main)
    return "<br/>".join(_escaped(part) for part in (heading(node), *map(plain, node.details), place) if part)


def _escaped(text: str) -> str:
    """What has a meaning in labels, as entities."""
    for sign, entity in (("#", "#35;"), ('"', "#quot;"), ("&", "#amp;"), ("<", "#lt;"), (">", "#gt;")):
        text = text.replace(sign, entity)
    return " ".join(text.split())


def _yaml(text: str) -> str:
    quoted = " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{quoted}"'
