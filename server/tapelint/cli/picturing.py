"""``tapelint graph``: the graph of a finding or an expression, as a picture."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict

from ..picture import Nothing, Picture, picture_at
from ..picture.forms import as_json, dot, mermaid, text
from ..picture.svg import svg
from ..workspace import Resolver
from .named_file import report_on, split_target
from .streams import Refusal, writing

FORMATS: dict[str, Callable[[Picture, str], Iterable[str]]] = {
    "text": text,
    "mermaid": mermaid,
    "dot": dot,
    "svg": svg,
    "json": lambda picture, main: [json.dumps(as_json(picture, main, asdict), indent=2)],
}


def run(target: str, output_format: str) -> int:
    """Print the picture for ``FILE:LINE``; the exit status."""
    path, line = split_target(target)
    if line is None:
        raise Refusal(f"{path}: name a line, as in {path}:12")
    report = report_on(path, Resolver(), line)
    try:
        picture = picture_at(report, line)
    except Nothing as reason:
        raise Refusal(f"{path}:{line}: there is nothing to draw: {reason}") from reason
    with writing():
        for each in FORMATS[output_format](picture, path):
            print(each)
    return 0
