"""Literate specifications: reads ``*.md`` files into blocks of Python and what is claimed about them.

A fenced block opened by three backticks and ``py`` is one program. It is analysed, and where torch is installed it is
run. Three imports come before every block without being written (``PREAMBLE``). Claims are comments:

    # error: [rule-name] "substring"     a diagnostic at this line; also warning, information, hint; substring optional
    # torch: ok                          the program runs to its end
    # torch: silent why                  it runs to its end too, and does harm that PyTorch never mentions
    # torch: raises "substring"          this line raises; the substring is looked for in ``Type: message``
    # FN: why                            a known miss: nothing is reported here today, though it should be
    # FP: why                            a known false alarm: something is reported here today, though it should not be
    # reveals: graph                     the line calls ``reveal_graph(x)``: the graph of x (see ``mdreveal``)

Several claims may stand on one line, each with its own ``#``. Every block says exactly once what torch does. What is
reported must be claimed, what is claimed must be reported. A rule that is off by default is on where a
block claims it.

After ``py`` the opening line may carry one word:

    py fixed="words"    the text that the previous program becomes when the fix whose title has these words is applied;
                        it is a program of its own, with its own claims
    py path="a/b.py"    a file that the next program finds beside itself and may import; it makes no claims
    yaml path="c.yaml"  a file of another kind, which the program may open from the folder that it is in
    py tests            a file of tests, shown to the analyser as one; torch runs what pytest runs of it
    py cells            a notebook: each line that begins with ``# %%`` begins another cell
    py caller           run by torch after the previous program, in its namespace, and not shown to the analyser: the
                        caller of a library function that nothing in its own file calls; the ``# torch:`` line may
                        stand here
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

TESTS = Path(__file__).resolve().parents[1]
PAGES = ("semantics.md", "how-it-decides.md", "faq.md", "comparison.md")
"""Pages of docs/ whose programs are tests."""
PREAMBLE = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"
PREAMBLE_ROWS = PREAMBLE.count("\n")
SEVERITIES = ("error", "warning", "information", "hint")

_CLAIM = re.compile(r"#\s*(error|warning|information|hint|torch|FN|FP|reveals):[ \t]*")
_DIAGNOSTIC = re.compile(r'\[([a-z][a-z0-9-]*)\](?:\s+"((?:[^"\\]|\\.)*)")?$')
_RAISES = re.compile(r'raises\s+"((?:[^"\\]|\\.)*)"$')
_FENCE = re.compile(r"^( *)(```+)[ \t]*(.*)$")
_HEADING = re.compile(r"^(#{1,6})\s+(.*\S)\s*$")


class SpecificationError(Exception):
    """A specification that does not follow the grammar above; the message begins with ``file:line``."""


@dataclass(frozen=True, slots=True)
class Expected:
    """One claimed diagnostic; ``row`` counts from 1 in the block."""

    row: int
    severity: str
    rule: str
    substring: str | None = None

    def __str__(self) -> str:
        words = f" {self.substring!r}" if self.substring else ""
        return f"line {self.row}: {self.severity} [{self.rule}]{words}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What PyTorch does: ``kind`` is ``ok``, ``silent`` or ``raises`` (then with ``substring``), at ``row``.

    The row is one of the block, or of its caller if ``in_caller``.
    """

    row: int
    kind: str
    substring: str = ""
    in_caller: bool = False


@dataclass(frozen=True, slots=True)
class Label:
    """A known limit at ``row``: ``kind`` is ``FN`` or ``FP``."""

    row: int
    kind: str
    why: str


@dataclass(slots=True)
class Block:
    """One program: where it stands, its text, its claims; ``rules`` are asked even if they are off by default."""

    file: Path
    name: str
    line: int
    text: str
    preamble: str = PREAMBLE
    expected: list[Expected] = field(default_factory=list)
    verdict: Verdict | None = None
    labels: list[Label] = field(default_factory=list)
    reveals: dict[int, str] = field(default_factory=dict)
    fixed: str | None = None
    fixes: Block | None = None
    caller: str = ""
    files: dict[str, str] = field(default_factory=dict)
    rules: frozenset[str] = frozenset()
    cells: bool = False
    tests: bool = False

    @property
    def program(self) -> str:
        """The text that is analysed and run."""
        return self.preamble + self.text

    @property
    def offset(self) -> int:
        """Rows of the program that stand before the block."""
        return self.preamble.count("\n")

    def listing(self, notes: dict[int, list[str]] | None = None) -> str:
        """The block with row numbers, each note under its row."""
        rows = [f"{self.file}:{self.line}  {self.name}"]
        for row, line in enumerate(self.text.splitlines(), 1):
            rows.append(f"{row:4} | {line}")
            rows.extend(f"     > {note}" for note in (notes or {}).get(row, ()))
        return "\n".join(rows)


def without_claims(text: str) -> str:
    """``text`` with every claim comment, and the blanks before it, taken away.

    >>> without_claims("y += 1  # error: [some-rule]\\nz = 2  # two\\n")
    'y += 1\\nz = 2  # two\\n'
    """
    rows = []
    for line in text.splitlines():
        claim = _CLAIM.search(line)
        rows.append((line[: claim.start()] if claim else line).rstrip())
    return "\n".join(rows).strip("\n") + "\n"


def _claims(line: str) -> Iterator[tuple[str, str]]:
    found = list(_CLAIM.finditer(line))
    for claim, following in zip(found, [*found[1:], None]):
        yield claim[1], line[claim.end() : following.start() if following else len(line)].strip()


def _unquote(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def complete(block: Block) -> Block:
    """``block`` itself; raises SpecificationError unless it says what torch does."""
    if block.verdict is None:
        raise SpecificationError(f"{block.file}:{block.line}: the block does not say what torch does ('# torch: ...')")
    return block


def _verdict(body: str, row: int, where: str, in_caller: bool = False) -> Verdict:
    if raises := _RAISES.match(body):
        return Verdict(row, "raises", _unquote(raises[1]), in_caller)
    kind = body.split(" ")[0]
    if body == "ok" or kind == "silent":
        return Verdict(row, kind, "", in_caller)
    raise SpecificationError(f"{where}: '# torch: {body}' is not ok, silent or raises \"words\"")


@contextmanager
def beside(block: Block) -> Iterator[Path]:
    """A folder with the files of ``block`` in it; the block itself is ``main.py`` there, or ``test_main.py``."""
    with TemporaryDirectory() as folder:
        for name, text in block.files.items():
            file = Path(folder, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        yield Path(folder, "test_main.py" if block.tests else "main.py")


def read_claims(block: Block) -> Block:
    """Fill in what the comments of ``block`` claim. Raises SpecificationError."""
    for row, line in enumerate(block.text.splitlines(), 1):
        where = f"{block.file}:{block.line + row}"
        for kind, body in _claims(line):
            if kind in ("FN", "FP"):
                if not body:
                    raise SpecificationError(f"{where}: {kind} needs a reason")
                block.labels.append(Label(row, kind, body))
            elif kind == "reveals":
                if "reveal_graph(" not in line:
                    raise SpecificationError(f"{where}: '# reveals:' stands on a line without reveal_graph()")
                block.reveals[row] = body
            elif kind == "torch":
                if block.verdict is not None:
                    raise SpecificationError(f"{where}: a second '# torch:' line in one block")
                block.verdict = _verdict(body, row, where)
            else:
                parts = _DIAGNOSTIC.match(body)
                if not parts:
                    raise SpecificationError(f"{where}: expected '# {kind}: [rule-name] \"words\"', not {body!r}")
                words = None if parts[2] is None else _unquote(parts[2])
                block.expected.append(Expected(row, kind, parts[1], words))
    return block


def read_caller(block: Block, text: str, line: int) -> None:
    """Give ``block`` its caller; a ``# torch:`` line in it is the block's. Raises SpecificationError."""
    block.caller = text
    for row, code in enumerate(text.splitlines(), 1):
        for kind, body in _claims(code):
            where = f"{block.file}:{line + row}"
            if kind != "torch" or block.verdict is not None:
                raise SpecificationError(f"{where}: a caller may only hold the block's one '# torch:' line")
            block.verdict = _verdict(body, row, where, in_caller=True)


def read_script(path: Path) -> Block:
    """A whole Python file with claims in its comments, as one block without preamble."""
    return complete(read_claims(Block(path, path.name, 0, path.read_text(encoding="utf-8"), preamble="")))


def read_specification(path: Path) -> list[Block]:
    """The blocks of one ``*.md`` file in order. Raises SpecificationError."""
    blocks: list[Block] = []
    counts: dict[str, int] = {}
    files: dict[str, str] = {}
    heading, fence, start, info, body = path.stem, None, 0, "", []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if fence is not None:
            if line.strip() == fence:
                fence = None
                if info.split(" ")[0] in ("py", "python") or " path=" in info:
                    _add(blocks, counts, files, path, heading, start, info, body)
            else:
                body.append(line)
        elif opening := _FENCE.match(line):
            fence, info, start, body = opening[2], opening[3].strip(), number, []
        elif title := _HEADING.match(line):
            heading = title[2]
    if fence is not None:
        raise SpecificationError(f"{path}:{start}: this block is never closed")
    if files:
        raise SpecificationError(f"{path}:{start}: files without a program after them")
    return [complete(block) for block in blocks]


def _add(
    blocks: list[Block],
    counts: dict[str, int],
    files: dict[str, str],
    path: Path,
    heading: str,
    start: int,
    info: str,
    body: list[str],
) -> None:
    text = textwrap.dedent("\n".join(body)).rstrip() + "\n"
    how = info.partition(" ")[2].strip()
    before = next((b for b in reversed(blocks) if b.fixed is None), None)
    if how == "caller":
        if not blocks:
            raise SpecificationError(f"{path}:{start}: a caller without a program before it")
        read_caller(blocks[-1], text, start)
        return
    if file := re.fullmatch(r'path="([^"]+)"', how):
        if file[1].endswith(".py") and any(True for line in body for _ in _claims(line)):
            raise SpecificationError(f"{path}:{start}: the claims stand in the program that comes after its files")
        files[file[1]] = PREAMBLE + text if file[1].endswith(".py") else text
        return
    fixed = re.fullmatch(r'fixed="([^"]+)"', how)
    cells, tests = how == "cells", how == "tests"
    if how and not fixed and not cells and not tests:
        raise SpecificationError(f"{path}:{start}: unknown words after py: {how!r}")
    if fixed and before is None:
        raise SpecificationError(f"{path}:{start}: a fixed block without a program before it")
    counts[heading] = counts.get(heading, 0) + 1
    block = Block(path, f"{path.name}::{heading}#{counts[heading]}", start, text, cells=cells, tests=tests)
    if fixed:
        block.fixed, block.fixes = fixed[1], before
        block.caller, block.files, block.tests = before.caller, before.files, before.tests
    else:
        block.files = dict(files)
        files.clear()
    blocks.append(read_claims(block))


def read_all(folder: Path) -> list[Block]:
    """The blocks of every specification under ``folder``, in a stable order."""
    return [block for path in sorted(folder.rglob("*.md")) for block in read_specification(path)]


def read_programs() -> list[Block]:
    """The blocks of the literate tests, of the corpus and of pages of the documentation, in a stable order."""
    return [
        *read_all(TESTS / "mdtest"),
        *read_all(TESTS / "corpus"),
        *(block for page in PAGES for block in read_specification(TESTS.parent / "docs" / page)),
    ]


def read_silenced() -> list[Block]:
    """The blocks of docs/suppressions.md: what they do not claim may be silenced."""
    return read_specification(TESTS.parent / "docs" / "suppressions.md")
