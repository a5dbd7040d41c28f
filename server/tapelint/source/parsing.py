"""Text to tree, whatever the text: :func:`parse` never raises.

Texts that were parsed before are remembered: an imported module is read once, however many files import it. Parsing is
a function of the text and the path, so what is remembered never goes stale: an edited file has another text. Of a file
that is edited in an editor only the last texts are remembered.
"""

from __future__ import annotations

import ast
import re
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from ..bounds import BOUNDS
from .cells import Cell
from .depth import prune
from .edit import Span, rows
from .magics import without_magics
from .recovery import Problem, parse_module, recover
from .suppression import Suppressions, find
from .walking import walk

_BOM = "\ufeff"
_IMPORTED = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<module>[.\w]+)[ \t]+)?import\b[ \t]*(?P<names>\([^)]*\)|[^\n#;]*)", re.MULTILINE
)
_NAME = re.compile(r"[\w.]+")
_UNENCODABLE = re.compile("[\0\ud800-\udfff]")


@dataclass(eq=False)
class Source:
    """A file as the analyser reads it.

    ``text`` is what was given, ``tree`` what of it could be parsed: a statement that could not is replaced by an
    assignment of ``UNPARSED`` to the names it mentions. ``problems`` says what was wrong. Where the file was not
    analysed at all, ``is_skipped`` is the reason and the tree is empty. ``cells`` are those of a notebook.
    """

    path: str
    text: str
    tree: ast.Module = field(repr=False)
    problems: tuple[Problem, ...] = ()
    is_skipped: str | None = None
    cells: tuple[Cell, ...] = ()
    parsed_rows: tuple[str, ...] | None = field(default=None, repr=False)
    """What was parsed, stand-ins and all; None where the tree is not all of that."""

    @cached_property
    def code(self) -> str:
        """The text without what only IPython understands; row for row the same."""
        return without_magics(self.text, self.cells) if self.cells else self.text

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The rows without their ends. Only ``\\n``, ``\\r\\n`` and ``\\r`` end one, as for Python and for editors."""
        return tuple(rows(self.text))

    @cached_property
    def suppressions(self) -> Suppressions:
        """The comments of this file that silence findings."""
        lowered = self.text.lower() if "#" in self.text else ""
        if self.is_skipped or ("tapelint:" not in lowered and "noqa" not in lowered):
            return Suppressions()
        return find(tuple(rows(self.code)), {cell.last for cell in self.cells})

    @cached_property
    def _nodes(self) -> frozenset[ast.AST]:
        return frozenset(walk(self.tree))

    def holds(self, node: ast.AST) -> bool:
        """Whether ``node`` is one of this tree, and not of another file's."""
        return node in self._nodes

    @cached_property
    def _is_ascii(self) -> bool:
        return self.text.isascii()

    def span(self, node: ast.AST) -> Span:
        """Where a node of the tree stands. A node without a place of its own, such as an operator, is at the start.

        ``ast`` counts columns in UTF-8 bytes; people and editors count characters.
        """
        row = getattr(node, "lineno", None)
        if row is None:
            return Span(1, 1, 1, 1)
        begin = getattr(node, "col_offset", 0)
        end_row = getattr(node, "end_lineno", None) or row
        end = getattr(node, "end_col_offset", None)
        end = begin if end is None else end
        if self._is_ascii:
            return Span(row, begin + 1, end_row, end + 1)
        return Span(row, self._column(row, begin), end_row, self._column(end_row, end))

    def _column(self, row: int, offset: int) -> int:
        """The column, in characters from 1, of a byte offset in the text that was parsed."""
        line = self.lines[row - 1] if row <= len(self.lines) else ""
        mark = 0
        if row == 1 and line.startswith(_BOM):
            line, mark = line[1:], 1
        if line.isascii():
            return offset + mark + 1
        line = _UNENCODABLE.sub("\ufffd", line)
        return len(line.encode()[:offset].decode(errors="ignore")) + mark + 1


_PROTOCOL = re.compile(r"\.(?:backward|zero_grad|eval)\(")
"""Methods of networks, losses and optimizers."""
_OTHERS = re.compile(
    r"^\s*(?:import|from) +(?:mxnet|tensorflow|keras|jax|paddle|chainer|mindspore|pandas)\b", re.MULTILINE
)
"""Libraries with such methods of their own."""


def may_use_torch(text: str) -> bool:
    """Whether anything of PyTorch can occur in a text; where not, nothing needs to be parsed to know it is fine. A file
    that is given networks may use their methods and never import PyTorch.
    """
    if "torch" in text or "lightning" in text:
        return True
    return _PROTOCOL.search(text) is not None and _OTHERS.search(text) is None


def concerns_torch(text: str, path: str, resolve: Callable[[str, str], tuple[str, str] | None] | None) -> bool:
    """Whether a file has to be executed: it may use PyTorch, or a file of the workspace that it imports may."""
    if may_use_torch(text):
        return True
    if resolve is None:
        return False
    found = (resolve(name, path) for name in imported(text))
    return any(module is not None and may_use_torch(module[1]) for module in found)


def imported(text: str) -> Iterator[str]:
    """The modules a text imports, read off its lines without parsing it: rather one too many than one too few."""
    for found in _IMPORTED.finditer(text):
        module, names = found["module"] or "", _NAME.findall(found["names"])
        if module:
            yield module
        base = module if module.endswith(".") or not module else f"{module}."
        yield from (base + name for name in names if name != "as")


def parse(text: str, path: str = "<stdin>", cells: tuple[Cell, ...] = ()) -> Source:
    """The source of a text. Total: what cannot be parsed is left out of the tree and listed in ``problems``."""
    source = Source(path, text, _nothing(), is_skipped=_too_large(text), cells=cells)
    if not source.is_skipped:
        _fill(source)
    return source


def _fill(source: Source) -> None:
    """Find the tree of a source, or why there is none."""
    clean = _UNENCODABLE.sub("\ufffd", source.code.removeprefix(_BOM))
    lines = rows(clean)
    try:
        try:
            tree = parse_module(clean)
        except SyntaxError:
            recovered, source.problems = recover(lines)
            if recovered is None:
                source.is_skipped = "too many syntax errors"
                return
            tree = recovered
        pruned = prune(tree)
    except (RecursionError, MemoryError):
        source.is_skipped = "nested too deeply for Python's own parser"
        return
    except ValueError as error:
        source.is_skipped = f"Python's parser refuses it: {error}"
        return
    source.tree = tree
    source.parsed_rows = None if pruned else tuple(lines)
    too_deep = f"nested more than {BOUNDS.syntax_depth} levels deep, not analysed"
    source.problems += tuple(Problem(too_deep, source.span(statement), True) for statement in pruned)
    source.problems += _unreadable(source)


def _unreadable(source: Source) -> tuple[Problem, ...]:
    """NUL and lone surrogates: Python refuses the file, the analysis goes on as if they were some other sign."""
    if not _UNENCODABLE.search(source.text):
        return ()
    for row, line in enumerate(source.lines, 1):
        found = _UNENCODABLE.search(line)
        if found:
            span = Span(row, found.start() + 1, row, found.end() + 1)
            return (Problem(f"Python source cannot contain the character U+{ord(found.group()):04X}", span),)
    return ()


def _too_large(text: str) -> str | None:
    if len(text) > BOUNDS.characters:
        return f"too large: {len(text):,} characters, the limit is {BOUNDS.characters:,}"
    count = max(text.count("\n"), text.count("\r"))
    if count > BOUNDS.rows:
        return f"too large: {count:,} lines, the limit is {BOUNDS.rows:,}"
    return None


def _nothing() -> ast.Module:
    return ast.Module(body=[], type_ignores=[])


_DEFINED = re.compile(r"(?:async\s+)?(?:def|class)\s+(\w+)")


def head(source: Source, node: ast.AST) -> Span:
    """The part of a node that stands for all of it: a definition by its name, a loop by its head, since the body may be
    of any length. What has no body is shown as it is.

    def step(self, batch):     step
    for batch in loader:       for batch in loader
    """
    span = source.span(node)
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            line = source.lines[span.row - 1] if span.row <= len(source.lines) else ""
            found = _DEFINED.match(line, span.column - 1)
            return Span(span.row, found.start(1) + 1, span.row, found.end(1) + 1) if found else span
        case ast.For(iter=last) | ast.AsyncFor(iter=last) | ast.While(test=last) | ast.If(test=last):
            return _until(span, source.span(last))
        case ast.With(items=items) | ast.AsyncWith(items=items):
            return _until(span, source.span(items[-1].optional_vars or items[-1].context_expr))
    return span


def _until(span: Span, last: Span) -> Span:
    return Span(span.row, span.column, last.end_row, last.end_column)


_known: OrderedDict[tuple[str, str], Source] = OrderedDict()


def parsed(text: str, path: str) -> Source:
    """``parse(text, path)``, from memory if it was asked for lately."""
    key = path, text
    source = _known.get(key)
    if source is not None:
        _known.move_to_end(key)
        return source
    source = _known[key] = parse(text, path)
    for old in [known for known in _known if known[0] == path][: -BOUNDS.kept_versions]:
        del _known[old]
    while len(_known) > 1 and sum(len(known) for _, known in _known) > BOUNDS.kept_characters:
        _known.popitem(last=False)
    return source
