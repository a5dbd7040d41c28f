"""A picture as a list, for terminals and screen readers.

iteration 1 of `for x`
  2. * MulBackward0 (line 6), part of the hazard
       `x * w`
       from 1
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from .model import Picture, PictureNode, Relation

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
WIDEST = 46
"""The most letters of a row in a box."""


def heading(node: PictureNode) -> str:
    """The title with what kind of thing it is, without the backticks of messages."""
    kind = KINDS[node.kind]
    return f"{kind} {plain(node.title)}" if kind else plain(node.title)


def rows_of(node: PictureNode, main: str) -> tuple[str, ...]:
    """The text in the box of a node; what is too long is cut."""
    parts = [heading(node), *map(plain, node.details), spot_text(node, main)]
    return tuple(part if len(part) <= WIDEST else f"{part[: WIDEST - 1]}…" for part in parts if part)


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
