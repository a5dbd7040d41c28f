"""What a session in an editor costs the language server: processor time and memory, for files of real repositories.

A file is opened and edited, one line at a time, as people do: a remark behind a statement, a function that nothing
calls, a statement of the training loop, a statement of a `forward`. Each line is changed and changed back. Between two
edits the expressions of the file are hovered over, each twice, and the lightbulb is asked for. Processor time of the
server counts, not what the clock says: a busy machine disturbs it little. What the server does after the answer
(fixes, files that use this one) is counted apart.
"""

from __future__ import annotations

import ast
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeGuard
from urllib.parse import unquote

from .edits import altered
from .server import Editor
from .timing import percentile

EACH = 8
"""How many lines of each kind are edited, and how many expressions are hovered over."""
FILES = Path(__file__).with_name("sessions.txt")
UNCALLED = ["def nothing_calls_this(x):", "    y = x * 2", "    return y", "", ""]
CAPABILITIES = {
    "textDocument": {
        "diagnostic": {},
        "hover": {"contentFormat": ["markdown"]},
        "codeAction": {
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}},
            "resolveSupport": {"properties": ["edit"]},
            "dataSupport": True,
        },
    }
}
QUIET = 0.4
"""Seconds without work after which the server is taken to have finished."""


@dataclass
class Costs:
    """Processor seconds of the server in one session, by what it was asked for."""

    path: str
    lines: int
    start: float = 0
    opened: float = 0
    # what came after the answer to an edit, until nothing was left to do
    behind: list[float] = field(default_factory=list)
    by_kind: dict[str, list[float]] = field(default_factory=dict)
    # seconds on the clock until something was answered that needs no analysis, while one ran
    waits: list[float] = field(default_factory=list)
    # bytes: the most, and at the end
    peak: int = 0
    resident: int = 0

    def row(self) -> Iterator[str]:
        """The cells of a table: for each kind the median and the 95th percentile in milliseconds."""
        yield from (f"{self.lines:,}", f"{self.start * 1e3:.0f}", f"{self.opened * 1e3:.0f}")
        for kind in KINDS:
            taken = self.by_kind.get(kind)
            yield spread(taken) if taken else "-"
        yield spread(self.behind)
        yield spread(self.waits) if self.waits else "-"
        yield f"{self.peak / 2**20:.0f}"
        yield self.path


KINDS = ("remark", "uncalled", "loop", "forward", "hover", "hover again", "actions")
HEAD = ("lines", "start", "open", *KINDS, "behind", "waits", "MB", "file")


def spread(taken: list[float]) -> str:
    """Median and 95th percentile, in milliseconds."""
    return f"{statistics.median(taken) * 1e3:.0f}/{percentile(taken, 0.95) * 1e3:.0f}"


@dataclass(frozen=True, slots=True)
class Program:
    """A file with a function that nothing calls put above its first definition."""

    path: Path
    lines: tuple[str, ...]
    tree: ast.Module

    @classmethod
    def of(cls, path: Path) -> Program:
        text = path.read_text(encoding="utf-8")
        first = next(
            (
                min([node.lineno, *(mark.lineno for mark in node.decorator_list)])
                for node in ast.parse(text).body
                if isinstance(node, (ast.FunctionDef, ast.ClassDef))
            ),
            text.count("\n") + 1,
        )
        lines = text.split("\n")
        lines[first - 1 : first - 1] = UNCALLED
        return cls(path, tuple(lines), ast.parse("\n".join(lines)))

    def changes(self) -> Iterator[tuple[str, int, str]]:
        """What is edited: the kind of edit, the row, counted from 0, and the line that is put there."""
        simple = [node for node in ast.walk(self.tree) if is_simple(node)]
        for row in some(node.lineno - 1 for node in simple if node.lineno == node.end_lineno):
            yield "remark", row, f"{self.lines[row]}  # as in the paper"
        inside = self.lines.index(UNCALLED[1])
        for factor in range(3, 3 + EACH // 2):
            yield "uncalled", inside, UNCALLED[1].replace("2", str(factor))
        for kind, blocks in (("loop", self._loops()), ("forward", self._forwards())):
            for row in some(node.lineno - 1 for block in blocks for node in ast.walk(block) if is_simple(node)):
                yield kind, row, altered(self.lines[row])

    def _loops(self) -> Iterator[ast.AST]:
        """The innermost loops that go backward."""
        loops = [node for node in ast.walk(self.tree) if isinstance(node, (ast.For, ast.While)) and walks(node)]
        return (loop for loop in loops if not any(other is not loop and other in ast.walk(loop) for other in loops))

    def _forwards(self) -> Iterator[ast.AST]:
        return (node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef) and node.name == "forward")

    def expressions(self) -> list[tuple[int, int]]:
        """Rows and columns, counted from 0, of some names that are read in functions."""
        inner = (node for node in ast.walk(self.tree) if isinstance(node, (ast.FunctionDef, ast.For)))
        names = {(n.lineno - 1, n.col_offset) for f in inner for n in ast.walk(f) if isinstance(n, ast.Name)}
        return some(names)


def is_simple(node: ast.AST) -> TypeGuard[ast.stmt]:
    """Whether a node is a statement with no block and no docstring."""
    return isinstance(node, (ast.Assign, ast.AugAssign, ast.Expr, ast.Return)) and not (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    )


def walks(loop: ast.AST) -> bool:
    """Whether code in a loop calls a method that is named ``backward``."""
    calls = (node.func for node in ast.walk(loop) if isinstance(node, ast.Call))
    return any(isinstance(called, ast.Attribute) and called.attr == "backward" for called in calls)


def some(found: Iterable[Any]) -> list[Any]:
    """At most so many as are tried, evenly spread."""
    ordered = sorted(set(found))
    return ordered[:: max(1, len(ordered) // EACH)][:EACH]


class Session:
    """One file in one server."""

    def __init__(self, program: Program, root: Path, editor: Editor) -> None:
        self.program, self.editor, self.version, self.asked = program, editor, 1, 0
        self.uri, self.shown = program.path.resolve().as_uri(), list[Any]()
        self.found = Costs(str(program.path), len(program.lines))
        folder = root.resolve().as_uri()
        folders = [{"uri": folder, "name": root.name}]
        params = {"processId": None, "rootUri": folder, "workspaceFolders": folders, "capabilities": CAPABILITIES}
        self.pulls = "diagnosticProvider" in self.ask("initialize", params)["capabilities"]
        self.found.start = self.editor.processor()
        self.editor.send("initialized", {})

    def ask(self, method: str, params: Any) -> Any:
        """The result of a request."""
        self.asked += 1
        self.editor.send(method, params, id=self.asked)
        return self.editor.until(id=self.asked).get("result")

    def took(self, work: Callable[..., object], *about: Any) -> float:
        """The processor seconds that the server needs for ``work``."""
        before = self.editor.processor()
        work(*about)
        return self.editor.processor() - before

    def settle(self) -> float:
        """Wait until the server has nothing left to do; the processor seconds of that."""
        begin = now = self.editor.processor()
        last, still = now, time.perf_counter()
        while time.perf_counter() - still < QUIET:
            time.sleep(0.05)
            now = self.editor.processor()
            if now - last > 0.002:
                last, still = now, time.perf_counter()
        return now - begin

    def run(self) -> Costs:
        """Open the file, edit it and ask about it."""
        found, kinds = self.found, self.found.by_kind
        found.opened = self.took(self.open)
        self.settle()
        for kind, row, line in self.edits():
            if kind == "loop":
                self.waits(row, self.program.lines[row], line)
        for row, column in self.program.expressions():
            for kind in ("hover", "hover again"):
                kinds.setdefault(kind, []).append(self.took(self.at, "hover", row, column))
            kinds.setdefault("actions", []).append(self.took(self.actions, row))
        found.peak, found.resident = self.editor.memory("VmHWM"), self.editor.memory("VmRSS")
        self.editor.close()
        return found

    def edits(self) -> Iterator[tuple[str, int, str]]:
        """Make one edit after the other and take it back; which one that was."""
        for kind, row, line in self.program.changes():
            known = self.program.lines[row]
            for before, text in ((known, line), (line, known)):
                self.found.by_kind.setdefault(kind, []).append(self.took(self.edit, row, before, text))
                self.found.behind.append(self.settle())
            yield kind, row, line

    def open(self) -> None:
        text = "\n".join(self.program.lines)
        document = {"uri": self.uri, "languageId": "python", "version": 1, "text": text}
        self.editor.send("textDocument/didOpen", {"textDocument": document})
        self.diagnostics()

    def edit(self, row: int, before: str, text: str) -> None:
        """Replace a line and wait for what is found then."""
        self.replace(row, before, text)
        self.diagnostics()

    def diagnostics(self) -> None:
        """Wait for what is found in the text as it is now: asked for, or pushed where the server does not answer."""
        if self.pulls:
            self.shown = self.ask("textDocument/diagnostic", {"textDocument": {"uri": self.uri}})["items"]
            return
        while True:
            pushed = self.editor.until(method="textDocument/publishDiagnostics")["params"]
            if unquote(pushed["uri"]) == unquote(self.uri) and pushed.get("version") in (None, self.version):
                self.shown = pushed["diagnostics"]
                return

    def replace(self, row: int, before: str, text: str) -> None:
        self.version += 1
        size = len(before.encode("utf-16-le")) // 2
        place = {"start": {"line": row, "character": 0}, "end": {"line": row, "character": size}}
        document = {"uri": self.uri, "version": self.version}
        change = {"textDocument": document, "contentChanges": [{"range": place, "text": text}]}
        self.editor.send("textDocument/didChange", change)

    def waits(self, row: int, before: str, text: str) -> None:
        """Edit a line and ask, again and again until that is analysed, for what can be answered at once."""
        self.replace(row, before, text)
        self.asked += 1
        diagnostics = self.asked
        self.editor.send("textDocument/diagnostic", {"textDocument": {"uri": self.uri}}, id=diagnostics)
        is_done = False
        while not is_done:
            self.asked += 1
            begin = time.perf_counter()
            self.editor.send("tapelint/nothing", {}, id=self.asked)
            while self.editor.any_of(diagnostics, self.asked)["id"] == diagnostics:
                is_done = True
            self.found.waits.append(time.perf_counter() - begin)
            time.sleep(0.005)
        self.edit(row, text, before)
        self.settle()

    def at(self, what: str, row: int, column: int) -> Any:
        position = {"line": row, "character": column}
        return self.ask(f"textDocument/{what}", {"textDocument": {"uri": self.uri}, "position": position})

    def actions(self, row: int) -> Any:
        place = {"start": {"line": row, "character": 0}, "end": {"line": row, "character": 4}}
        context = {"diagnostics": [], "triggerKind": 2}
        return self.ask(
            "textDocument/codeAction", {"textDocument": {"uri": self.uri}, "range": place, "context": context}
        )


def listed(folder: Path) -> Iterator[tuple[Path, Path]]:
    """The files of ``FILES`` in the clones below a folder, each with the root of its clone."""
    for line in FILES.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            clone, _, file = line.split()
            yield folder / clone / file, folder / clone


def measure(path: Path, root: Path) -> Costs:
    """A session with the file at ``path`` of the project at ``root``."""
    session = Session(Program.of(path), root, Editor())
    try:
        return session.run()
    finally:
        session.editor.process.kill()
