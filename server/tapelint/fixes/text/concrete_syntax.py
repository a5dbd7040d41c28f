"""Expressions as they are written: parentheses, commas and operators, which ``ast`` does not keep, from libcst.

libcst crashes the process on deep nesting (75 brackets on a stack of 512 KB) and takes seconds for whole files, so it
is given one statement at a time, a compound one without its suites, and nothing that is large or deep.
"""

from __future__ import annotations

import ast
import io
import threading
import tokenize
from functools import cached_property
from typing import TypeVar

import libcst as cst
import libcst.native  # its parser, which it imports late: where that was not compiled, this is to fail here
from libcst.metadata import MetadataWrapper, PositionProvider, WhitespaceInclusivePositionProvider

from ...source.edit import Edit, line_starts
from .edit_refused import EditRefused
from .source_editor import SourceEditor

MAX_CHARACTERS = 20_000
MAX_BRACKETS = 50
MAX_DEPTH = 100
MIN_STACK = 512 * 1024

Node = TypeVar("Node", bound=cst.CSTNode)

_PRIMARY = (cst.Name, cst.Attribute, cst.Call, cst.Subscript)
_TENSOR = (
    *_PRIMARY,
    cst.BinaryOperation,
    cst.UnaryOperation,
    cst.BooleanOperation,
    cst.Comparison,
    cst.IfExp,
    cst.NamedExpr,
    cst.Await,
    cst.Yield,
)
"""The expressions whose value can be a tensor."""


class Concrete:
    """The concrete syntax of one statement, or of the header of one, addressed by nodes of ``ast``."""

    def __init__(self, editor: SourceEditor, node: ast.AST) -> None:
        self.editor = editor
        self.statement = editor.place(node).statement
        path = editor.path(node)
        if any(type(parent).__name__ in ("JoinedStr", "TemplateStr") for parent in path):
            raise EditRefused("in a formatted string")
        self.offset, code = self._fragment()
        _refuse_what_crashes(code, self.statement)
        try:
            module = cst.parse_module(code)
        except (cst.ParserSyntaxError, ValueError) as error:
            raise EditRefused("libcst does not read it") from error
        wrapper = MetadataWrapper(module, unsafe_skip_copy=True)
        self._cores = wrapper.resolve(PositionProvider)
        self._extents = wrapper.resolve(WhitespaceInclusivePositionProvider)
        self._starts = line_starts(code)

    def _fragment(self) -> tuple[int, str]:
        """Where the text to parse begins, and that text."""
        statement, editor = self.statement, self.editor
        start = editor.bare_begin(statement)
        if isinstance(statement, (ast.Match, ast.Try)) or type(statement).__name__ == "TryStar":
            raise EditRefused("no header of its own")
        body = getattr(statement, "body", None)
        if body is None:
            return start, editor.text[start : editor.end(statement)] + "\n"
        if editor.text.startswith("elif", start):
            start += len("el")
        return start, _up_to_colon(editor.text[start : editor.begin(body[0])]) + " pass\n"

    # From libcst to offsets

    def core(self, node: cst.CSTNode) -> tuple[int, int]:
        """Where a node stands, without its own parentheses."""
        return self._offsets(self._cores[node])

    def extent(self, node: cst.CSTNode) -> tuple[int, int]:
        """Where an expression stands with its own parentheses."""
        return self._offsets(self._extents[node])

    def text(self, node: cst.CSTNode) -> str:
        begin, end = self.extent(node)
        return self.editor.text[begin:end]

    def _offsets(self, place: cst.metadata.CodeRange) -> tuple[int, int]:
        begin, end = place.start, place.end
        return (
            self.offset + self._starts[begin.line - 1] + begin.column,
            self.offset + self._starts[end.line - 1] + end.column,
        )

    # From ast to libcst

    @cached_property
    def _by_place(self) -> dict[tuple[int, int], cst.BaseExpression]:
        found: dict[tuple[int, int], cst.BaseExpression] = {}
        for node in self._cores:
            if isinstance(node, (cst.Tuple, cst.GeneratorExp)):
                found.setdefault(self.extent(node), node)
            elif isinstance(node, cst.BaseExpression):
                found.setdefault(self.core(node), node)
        return found

    def expression(self, node: ast.expr) -> cst.BaseExpression:
        """The concrete node of an ``ast`` expression."""
        found = self._by_place.get((self.editor.begin(node), self.editor.end(node)))
        if found is None:
            raise EditRefused("not written as one expression")
        return found

    def find(self, node: ast.expr, kind: type[Node]) -> Node:
        """The concrete node of an ``ast`` expression, which must be of the given kind."""
        found = self.expression(node)
        if not isinstance(found, kind):
            raise EditRefused(f"not a {kind.__name__}")
        return found

    def find_operator(self) -> cst.BaseAugOp:
        """The operator of an augmented assignment."""
        for node in self._cores:
            if isinstance(node, cst.BaseAugOp):
                return node
        raise EditRefused("not an augmented assignment")


def append_call(concrete: Concrete, node: ast.expr, call: str) -> list[Edit]:
    """``node`` with ``call`` (``.detach()``) behind it, in parentheses where it needs them."""
    found = concrete.expression(node)
    if not isinstance(found, _TENSOR):
        raise EditRefused("not a tensor")
    begin, end = concrete.extent(found)
    if isinstance(found, _PRIMARY) or found.lpar:
        return [concrete.editor.insert(end, call)]
    return [concrete.editor.insert(begin, "("), concrete.editor.insert(end, ")" + call)]


def _up_to_colon(text: str) -> str:
    """The header of a compound statement, from a text that ends before its first statement."""
    rows = text.replace("\r\n", "\n").replace("\r", "\n")
    starts, end = line_starts(text), 0
    try:
        depth = 0
        for token in tokenize.generate_tokens(io.StringIO(rows).readline):
            depth += (token.string in "([{") - (token.string in ")]}") if token.type == tokenize.OP else 0
            if token.string == ":" and not depth:
                end = starts[token.end[0] - 1] + token.end[1]
    except (tokenize.TokenError, SyntaxError) as error:
        raise EditRefused("the tokenizer does not read it") from error
    if not end:
        raise EditRefused("no header")
    return text[:end]


def _refuse_what_crashes(code: str, statement: ast.AST) -> None:
    if len(code) > MAX_CHARACTERS:
        raise EditRefused("too large")
    if threading.current_thread() is not threading.main_thread() and 0 < threading.stack_size() < MIN_STACK:
        raise EditRefused("the stack is too small for libcst")
    depth = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(code.replace("\r\n", "\n").replace("\r", "\n")).readline):
            if token.type == tokenize.OP:
                depth += (token.string in "([{") - (token.string in ")]}")
                if depth > MAX_BRACKETS:
                    raise EditRefused("too many brackets")
    except (tokenize.TokenError, SyntaxError) as error:
        raise EditRefused("the tokenizer does not read it") from error
    pending = [(statement, 0)]
    while pending:
        node, level = pending.pop()
        if level > MAX_DEPTH:
            raise EditRefused("too deep")
        children = ast.iter_child_nodes(node)
        pending.extend((child, level + 1) for child in children if not isinstance(child, ast.stmt))
