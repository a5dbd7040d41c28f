"""The folder of the cache. It may be gone, read-only, written by another run or by anyone: what cannot be used is as if
it were not there, and no run fails because of it.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from .encoding import restored
from .validity import Stamp

FOLDER = ".tapelint_cache"
IGNORED = "# Automatically created by tapelint.\n*\n"
TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# A cache of tapelint. https://bford.info/cachedir/\n"
KEPT = 30
"""Days that an entry is kept without being used."""
_DAY = 86_400


@dataclass(slots=True)
class Entries:
    """What is in a file of the cache: stamps of files, and by key what was found, as JSON, with the day of its last
    use.
    """

    stamps: dict[str, Stamp] = field(default_factory=dict)
    found: dict[str, tuple[int, str]] = field(default_factory=dict)


def today() -> int:
    """The number of the day."""
    return int(time.time() // _DAY)


def load(path: str, maker: str) -> Entries:
    """What ``maker``, a version of tapelint, has written to a file; nothing where that cannot be read."""
    try:
        with open(path, encoding="utf-8", newline="\n") as file:
            head, *rows = file.read().split("\n")
        made_by, stamps = restored(tuple[str, dict[str, Any]], json.loads(head))
        if made_by != maker:
            return Entries()
        entries = Entries({name: restored(Stamp, stamp) for name, stamp in stamps.items()})
        for row in filter(None, rows):
            key, day, record = row.split("\t")
            entries.found[key] = (int(day), record)
    except (OSError, ValueError, RecursionError):
        return Entries()
    return entries


def save(path: str, maker: str, entries: Entries) -> None:
    """Replace a file of the cache, in one step. Raises OSError where that is not possible."""
    folder = os.path.dirname(path)
    _prepare(os.path.dirname(folder))
    os.makedirs(folder, exist_ok=True)
    oldest = today() - KEPT
    rows = [json.dumps([maker, entries.stamps], separators=(",", ":"))]
    rows += (f"{key}\t{day}\t{record}" for key, (day, record) in entries.found.items() if day >= oldest)
    handle, temporary = tempfile.mkstemp(dir=folder)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write("\n".join(rows))
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _prepare(folder: str) -> None:
    """Make the folder. One that holds something else is left as it is: what it says to git is not ours."""
    os.makedirs(folder, exist_ok=True)
    if os.listdir(folder):
        return
    for name, text in ((".gitignore", IGNORED), ("CACHEDIR.TAG", TAG)):
        with contextlib.suppress(FileExistsError), open(os.path.join(folder, name), "x", encoding="utf-8") as file:
            file.write(text)


def caches_below(folder: str) -> Iterable[str]:
    """The folders of caches in a folder, at any depth."""
    for place, below, _ in os.walk(folder):
        if FOLDER in below:
            below.remove(FOLDER)
            found = os.path.join(place, FOLDER)
            if not os.path.islink(found):
                yield found
