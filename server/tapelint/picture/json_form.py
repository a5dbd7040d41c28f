"""A picture as JSON: what a webview draws, and other tools read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .model import Picture, Spot


def as_json(picture: Picture, place: Callable[[Spot], dict[str, Any] | None]) -> dict[str, Any]:
    """``place`` says where a spot is: a file and a row for a terminal, a URI and a position for an editor; None where
    an editor has no such place.
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
                "column": node.column,
                "place": place(node.spot) if node.spot is not None else None,
                "marked": node.is_marked,
                "certain": node.is_certain,
            }
            for node in picture.nodes
        ],
        "edges": [
            {"from": edge.begin, "to": edge.end, "relation": edge.relation, "marked": edge.is_marked}
            for edge in picture.edges
        ],
        "notes": list(picture.notes),
    }
