"""``tapelint debug-bundle``: what to attach to a report of a bug, in one archive that says what is in it."""

from __future__ import annotations

import json
import logging
import os
import platform
import re
import sys
import time
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import metadata
from io import StringIO
from pathlib import Path

from .. import __version__
from ..compiled import engine
from ..source import read
from .file_check import check_file
from .named_file import program_in
from .showing import settings_of
from .streams import Refusal, say, writing
from .task import Task

_README = """What is in this archive, for those who get it and for you before you send it:

{entries}

Paths begin with ~ where they lie in the home folder. {source}
"""
_WITHOUT = (
    "The text of the file is not in it; log and tracebacks may name files, modules and variables. "
    "--include-source adds it."
)
_WITH = "The text of the file is in it, because --include-source was given."
_ABOUT = {
    "versions.json": "versions of tapelint, Python, the platform and libraries",
    "configuration.toml": "the settings that count for the file",
    "analysis.json": "codes of findings, counters, processor time, what was not seen",
    "log.txt": "what was logged meanwhile",
}


def run(file: str | None, output: str, includes_source: bool) -> int:
    """Write the archive ``output`` and say what is in it; the exit status."""
    parts = {name: _without_home(text) for name, text in _parts(file).items()}
    if file is not None and includes_source:
        parts[f"source/{Path(file).name}"] = read(file)
    entries = "\n".join(f"  {name:<20} {_ABOUT.get(name, 'the file itself')}" for name in parts)
    readme = _README.format(entries=entries, source=_WITH if includes_source else _WITHOUT)
    try:
        with zipfile.ZipFile(output, "x", zipfile.ZIP_DEFLATED) as archive:
            for name, text in {"README.txt": readme, **parts}.items():
                archive.writestr(name, text)
    except FileExistsError as error:
        raise Refusal(f"{output} is there already; name another with --output") from error
    except OSError as error:
        raise Refusal(f"{output} cannot be written: {error.strerror or error}") from error
    with writing():
        print(readme.split("\n\n", 1)[1].rstrip())
    say(f"Written to {output}. Look into it before you send it.")
    return 0


def _parts(file: str | None) -> dict[str, str]:
    """The texts of the archive by their names, but for the user's own; raises Refusal."""
    with _log() as log:
        parts = {"versions.json": _json(_versions())}
        if file is not None:
            _, config = program_in(file)
            parts["configuration.toml"] = "\n".join(settings_of(file, config, finds_files=True)) + "\n"
            parts["analysis.json"] = _json(_analysis(Task(file, config, "json")))
    return {**parts, "log.txt": log.getvalue() or "(nothing was logged)\n"}


def _versions() -> dict[str, object]:
    """tapelint, Python, the platform and the libraries that tapelint needs."""
    return {
        "tapelint": __version__,
        "engine": engine(),
        "python": sys.version,
        "implementation": platform.python_implementation(),
        "platform": platform.platform(),
        "processors": os.cpu_count(),
        "libraries": _libraries(),
    }


def _libraries() -> dict[str, str | None]:
    """The versions of what tapelint is installed with, by what its own metadata say."""
    installed = {each.name: each.version for each in metadata.distributions()}
    required = metadata.requires("tapelint") or () if "tapelint" in installed else ()
    names = sorted(re.split(r"[^\w.-]", each, maxsplit=1)[0] for each in required if "extra ==" not in each)
    return {name: installed.get(name) for name in names}


def _analysis(task: Task) -> dict[str, object]:
    """What the check of the file has counted, found and not seen; no word of what was found, which quotes the file."""
    start = time.process_time()
    result = check_file(task)
    seconds = time.process_time() - start
    return {
        "seconds": round(seconds, 3),
        "rows": len(read(task.path).splitlines()),
        "statistics": dict(sorted(result.stats.items())),
        "findings": Counter(found.diagnostic.code for found in result.found),
        "not_seen": [
            {"kind": notice.kind.name, "what": notice.failure, "traceback": notice.trace} for notice in result.notices
        ],
    }


@contextmanager
def _log() -> Iterator[StringIO]:
    """What is logged in here, of every level."""
    text = StringIO()
    handler = logging.StreamHandler(text)
    handler.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield text
    finally:
        root.removeHandler(handler)
        root.setLevel(before)


def _without_home(text: str) -> str:
    home = os.path.expanduser("~")
    return text.replace(home, "~") if len(home) > 1 else text


def _json(value: Mapping[str, object]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
