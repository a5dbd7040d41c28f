"""A picture as text: a list for terminals and screen readers, Graphviz (``tapelint graph ... --format dot | dot``),
Mermaid, which GitHub draws in an issue, and JSON, which a webview draws and other tools read. The list:

iteration 1 of `for x`
  2. * MulBackward0 (line 6), part of the hazard
       `x * w`
       from 1
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from .model import DRAWN, Picture, PictureNode, Relation, Spot

RELATIONS: dict[Relation, str] = {
    "input": "leads to",
    "saves": "saves",
    "writes": "writes",
    "steps": "steps",
    "walks": "walks from",
    "frees": "has freed",
    "needs": "needs",
    "fills": "fills",
    "uses": "uses",
    "clears": "clears",
    "clips": "clips",
    "holds": "holds",
    "gives": "gives",
    "then": "then",
}
KINDS = {
    "leaf": "leaf",
    "operation": "",
    "tensor": "tensor",
    "saved": "",
    "write": "in-place write",
    "step": "optimizer",
    "pass": "backward",
    "cut": "",
    "folded": "",
    "grad": "",
    "clear": "",
    "clip": "",
    "holder": "",
    "moment": "",
}
"""What goes before a title, where that does not say what the node is."""


def heading(node: PictureNode) -> str:
    """The title with what kind of thing it is, without the backticks of messages."""
    kind = KINDS[node.kind]
    return f"{kind} {plain(node.title)}" if kind else plain(node.title)


def rows_of(node: PictureNode, main: str) -> tuple[str, ...]:
    """The text in the box of a node; what is too long is cut."""
    return tuple(part if len(part) <= DRAWN.letters else f"{part[: DRAWN.letters - 1]}…" for part in label(node, main))


def label(node: PictureNode, main: str) -> list[str]:
    """All that the box of a node says, in rows."""
    return [part for part in (heading(node), *map(plain, node.details), spot_text(node, main)) if part]


def plain(text: str) -> str:
    return text.replace("`", "")


def spot_text(node: PictureNode, main: str) -> str:
    """``line 5``, or ``nets.py line 5`` for another file."""
    if node.spot is None:
        return ""
    other = "" if node.spot.path == main else f"{os.path.basename(node.spot.path)} "
    return f"{other}line {node.spot.row}"


def text(picture: Picture, main: str) -> Iterator[str]:
    """The lines of a list, column by column; arrows name nodes by their numbers."""
    yield plain(picture.title)
    for index, column in enumerate(picture.columns):
        yield ""
        yield plain(column)
        for node in picture.nodes:
            if node.column == index:
                yield from _entry(picture, node, main)
    if picture.notes:
        yield ""
        yield from (plain(note) for note in picture.notes)


def _entry(picture: Picture, node: PictureNode, main: str) -> Iterator[str]:
    remarks = [
        spot_text(node, main),
        "part of the hazard" if node.is_marked else "",
        "" if node.is_certain else "perhaps",
    ]
    said = ", ".join(filter(None, remarks))
    yield f"  {node.number:>2}. {heading(node)}{f' ({said})' if said else ''}"
    yield from (f"        {plain(detail)}" for detail in node.details)
    inputs = [str(edge.begin) for edge in picture.edges if edge.end == node.number and edge.relation == "input"]
    if inputs:
        yield f"        from {', '.join(inputs)}"
    ends: dict[Relation, list[str]] = {}
    for edge in picture.edges:
        if edge.begin == node.number and edge.relation != "input":
            ends.setdefault(edge.relation, []).append(str(edge.end))
    yield from (f"        {RELATIONS[relation]} {', '.join(numbers)}" for relation, numbers in ends.items())


DOT_SHAPES = {
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
    rows = "\n".join(label(node, main))
    mark = ", color=crimson, penwidth=2" if node.is_marked else ""
    style = ", style=dashed" if not node.is_certain else ""
    return f"label={_quoted(rows)}, shape={DOT_SHAPES[node.kind]}{mark}{style}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


MERMAID_SHAPES = {
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
        yield f'    subgraph column{index}["{_mermaid_escaped(plain(column))}"]'
        yield "        direction TB"
        for node in picture.nodes:
            if node.column == index:
                begin, end = MERMAID_SHAPES[node.kind]
                rows = "<br/>".join(map(_mermaid_escaped, label(node, main)))
                yield f'        n{node.number}{begin}"{rows}"{end}'
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


def _mermaid_escaped(text: str) -> str:
    """What has a meaning in labels, as entities."""
    for sign, entity in (("#", "#35;"), ('"', "#quot;"), ("&", "#amp;"), ("<", "#lt;"), (">", "#gt;")):
        text = text.replace(sign, entity)
    return " ".join(text.split())


def _yaml(text: str) -> str:
    quoted = " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{quoted}"'


def as_json(picture: Picture, main: str, place: Callable[[Spot], object]) -> dict[str, Any]:
    """``place`` says where a spot is: a file and a row for a terminal, a URI and a position for an editor; None where
    an editor has no such place.
    ``main`` is the path of the checked file, which the texts of boxes do not name.
    """
    return {
        "version": 1,
        "title": picture.title,
        "columns": list(picture.columns),
        "nodes": [
            {
                "number": node.number,
                "kind": node.kind,
                "title": node.title,
                "details": list(node.details),
                "rows": list(rows_of(node, main)),
                "column": node.column,
                "place": place(node.spot) if node.spot is not None else None,
                "marked": node.is_marked,
                "certain": node.is_certain,
            }
            for node in picture.nodes
        ],
        "edges": [
            {
                "from": edge.begin,
                "to": edge.end,
                "relation": edge.relation,
                "label": "" if edge.relation == "input" else RELATIONS[edge.relation],
                "marked": edge.is_marked,
            }
            for edge in picture.edges
        ],
        "notes": list(picture.notes),
    }
