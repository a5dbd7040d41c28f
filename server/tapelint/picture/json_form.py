"""A picture as JSON: what a webview draws, and other tools read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .list_form import RELATIONS, rows_of
from .model import Picture, Spot


def as_json(picture: Picture, main: str, place: Callable[[Spot], dict[str, Any] | None]) -> dict[str, Any]:
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
