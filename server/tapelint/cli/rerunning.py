"""``--watch``: the run, again and again, whenever a file of the project has changed.

What is checked again is what the cache does not know: the changed files, and those whose imports mean something else
now.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator

from ..workspace import Resolver
from ..workspace.files import EXCLUDED, SUFFIXES, is_environment
from .baseline import USUAL
from .check import run as run_once
from .request import Request
from .result_cache import FOLDER
from .signals import Interrupted, interruptible
from .streams import OutputError, crash, writing

SETTINGS = frozenset(
    (
        *("pyproject.toml", "tapelint.toml", "pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg"),
        *(".gitignore", ".ignore", USUAL),
    )
)
"""Files that say what is checked and reported."""
_EXCLUDED = frozenset((*EXCLUDED, FOLDER))
_EVERY = 0.3
"""Seconds between two looks at the files, or more, so that looking takes a twentieth of a processor at most."""
_SHARE = 20
_SIGNALLED = 128
"""The exit status of a round that a signal has ended is above this."""
_CLEAR = "\033[H\033[2J\033[3J"

Stamps = dict[str, tuple[int, int, int]]
"""When each file was changed, its size and its inode."""


def run(request: Request) -> int:
    """Check, and check again after each change, until a signal ends it; the exit status."""
    named = (*request.paths, *filter(os.path.isfile, request.config))
    event = "Starting linter in watch mode..."
    try:
        with interruptible():
            while True:
                before = stamps(named)
                _announce(request, event, begins=True)
                status = _round(request)
                if status > _SIGNALLED:
                    return status
                _announce(request, "Watching for file changes.")
                _wait(named, before)
                event = "File change detected..."
    except Interrupted as signal:
        return signal.status


def _round(request: Request) -> int:
    """Check once; the exit status. An internal error does not end the watch."""
    try:
        return run_once(request)
    except OutputError:
        raise
    except Exception as error:
        crash(error)
        return 2


def _announce(request: Request, event: str, begins: bool = False) -> None:
    """Say what happens, as ruff says it; on a terminal that is empty where a round ``begins``."""
    with writing():
        if begins and sys.stdout.isatty():
            sys.stdout.write(_CLEAR)
        if not request.is_terse:
            said = f"[{time.strftime('%H:%M:%S %p')}] {event}"
            print(f"{said}\n" if begins else f"\n{said}")
        sys.stdout.flush()


def _wait(named: tuple[str, ...], before: Stamps) -> None:
    """Return when files are not what they were, and are not being written any more."""
    while True:
        begin = time.process_time()
        now = stamps(named)
        if now != before:
            time.sleep(_EVERY)
            if stamps(named) == now:
                return
        time.sleep(max(_EVERY, _SHARE * (time.process_time() - begin)))


def stamps(named: tuple[str, ...]) -> Stamps:
    """What the result of a run over these files and folders may rest on: the code and the configuration of their
    projects.
    """
    resolver = Resolver([os.curdir])
    folders = {os.path.abspath(path) for path in named if os.path.isdir(path)}
    roots = {resolver.root(os.path.join(path, SUFFIXES[0]) if os.path.isdir(path) else path) for path in named}
    above = {os.path.dirname(root) for root in roots}
    found: Stamps = {}
    for folder in {*roots, *folders}:
        found.update(_below(folder))
    for path in (*named, *(os.path.join(folder, name) for folder in above for name in SETTINGS)):
        try:
            found[os.path.abspath(path)] = _stamp(os.stat(path))
        except OSError:
            pass  # what is not there is not watched, until it is
    return found


def _below(folder: str) -> Iterator[tuple[str, tuple[int, int, int]]]:
    """The files below a folder, but for what is never checked."""
    left = [folder]
    while left:
        try:
            with os.scandir(left.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        if entry.name not in _EXCLUDED and not is_environment(entry.path):
                            left.append(entry.path)
                    elif entry.name.endswith(SUFFIXES) or entry.name in SETTINGS:
                        yield entry.path, _stamp(entry.stat())
        except OSError:
            pass  # the folder, or a file in it, is gone by now, or may not be read


def _stamp(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_mtime_ns, status.st_size, status.st_ino
