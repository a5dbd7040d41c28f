"""``tapelint graph``: the graph of a finding or an expression, as a picture."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict
from functools import partial
from pathlib import Path

from .. import analysis
from ..picture import Nothing, Picture, picture_at
from ..picture.forms import as_json, dot, mermaid, text
from ..picture.svg import svg
from ..source import NOTEBOOK, SourceError, notebook, read
from ..workspace import ConfigError, Given, Resolver, checked_as, load
from .streams import tell, writing
from .tracing import split_target

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
        tell("error", f"{path}: name a line, as in {path}:12")
        return 2
    try:
        words, config = read(path), load(Path(path))
        program = notebook(words) if path.endswith(NOTEBOOK) else words
    except SourceError as error:
        tell("error", f"{path}: cannot be read: {error}")
        return 2
    except ConfigError as error:
        tell("error", str(error))
        return 2
    resolver = Resolver()
    config_of = partial(checked_as, resolver=resolver, main=path, given=Given())
    report = analysis.analyse(program, path, config, resolve=resolver, config_of=config_of)
    count = len(report.source.lines)
    if not 1 <= line <= count:
        tell("error", f"{path}: there is no line {line}; the last is {count}")
        return 2
    try:
        picture = picture_at(report, line)
    except Nothing as reason:
        tell("error", f"{path}:{line}: there is nothing to draw: {reason}")
        return 2
    with writing():
        for each in FORMATS[output_format](picture, path):
            print(each)
    return 0
