"""The same files, opens and edits in the language servers of ruff, ty and pyright, with tapelint's beside them.

The four do different things: what is compared is what an editor pays for each. ruff parses one file and matches its
rules, without types. ty and pyright infer the types of a file and of what it imports, and keep them; so much as the
interpreter they find has of the imports (``PATH``, ``VIRTUAL_ENV``). tapelint executes the file abstractly.

Processor time of the server and of all processes it starts; from the message to the diagnostics, pulled or pushed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from .server import Editor
from .sessions import Costs, Program, Session, spread
from .timing import process, tapelint

SERVERS = {"ruff": ("ruff", "server"), "ty": ("ty", "server"), "pyright": ("pyright-langserver", "--stdio")}
"""Their commands, in the folder of programs that they are installed in."""
KINDS = ("remark", "uncalled", "loop", "forward")
HEAD = ("lines", "start", "open", *KINDS, "behind", "MB", "shown", "server", "file")


def measure(path: Path, root: Path, programs: Path) -> Iterator[tuple[str, Costs, int]]:
    """For each server what it costs to open and edit a file, and how many diagnostics it has for it."""
    program = Program.of(path)
    for name, command in {"tapelint": tapelint("server"), **installed(programs)}.items():
        editor = Editor(command)
        try:
            session = Session(program, root, editor)
            found = session.found
            found.opened = session.took(session.open)
            session.settle()
            for _ in session.edits():
                pass
            found.peak, found.resident = editor.memory("VmHWM"), editor.memory("VmRSS")
            yield name, replace(found, path=path.name), len(session.shown)
        finally:
            editor.process.kill()


def installed(programs: Path) -> dict[str, tuple[str, ...]]:
    """The commands of the servers that are there."""
    there = {name: (str(programs / file), *options) for name, (file, *options) in SERVERS.items()}
    return {name: command for name, command in there.items() if Path(command[0]).exists()}


def versions(programs: Path) -> Iterator[str]:
    """What the servers call themselves."""
    for name in installed(programs):
        yield process(str(programs / name), "--version")().stdout.strip().splitlines()[-1]


def row(name: str, found: Costs, shown: int) -> Iterator[str]:
    """The cells of a table."""
    yield from (f"{found.lines:,}", f"{found.start * 1e3:.0f}", f"{found.opened * 1e3:.0f}")
    for kind in KINDS:
        taken = found.by_kind.get(kind)
        yield spread(taken) if taken else "-"
    yield from (spread(found.behind), f"{found.peak / 2**20:.0f}", str(shown), name, found.path)
