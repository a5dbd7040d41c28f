"""Expressions as they are written: parentheses, commas and operators, which ``ast`` does not keep, from libcst. Adding,
changing and removing one argument of a call without disturbing how the others are laid out.

libcst crashes the process on deep nesting (75 brackets on a stack of 512 KB) and takes seconds for whole files, so it
is given one statement at a time, a compound one without its suites, and nothing that is large or deep. It is imported
when the first statement is read, and not for every platform: see ``Purpose.needs_libcst``.
"""

from __future__ import annotations

import ast
import io
import threading
import tokenize
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from ...bounds import BOUNDS
from ...source.edit import Edit, line_starts
from .source_editor import INDENT, EditRefused, SourceEditor, demand, refuse, require

if TYPE_CHECKING:
    import libcst as cst

MIN_STACK = 512 * 1024


class Concrete:
    """The concrete syntax of one statement, or of the header of one, addressed by nodes of ``ast``."""

    def __init__(self, editor: SourceEditor, node: ast.AST) -> None:
        import libcst as cst
        import libcst.native  # its parser, which it imports late: where that was not compiled, this is to fail here
        from libcst.metadata import MetadataWrapper, PositionProvider, WhitespaceInclusivePositionProvider

        self.editor = editor
        self.statement = editor.place(node).statement
        refuse(
            any(type(parent).__name__ in ("JoinedStr", "TemplateStr") for parent in editor.path(node)),
            "in a formatted string",
        )
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
        refuse(
            isinstance(statement, (ast.Match, ast.Try)) or type(statement).__name__ == "TryStar", "no header of its own"
        )
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
        begin, end = (self._starts[at.line - 1] + at.column for at in (place.start, place.end))
        return self.offset + begin, self.offset + end

    # From ast to libcst

    @cached_property
    def _by_place(self) -> dict[tuple[int, int], cst.BaseExpression]:
        import libcst as cst

        expressions: dict[tuple[int, int], cst.BaseExpression] = {}
        for node in self._cores:
            if isinstance(node, cst.BaseExpression):
                is_bare = not isinstance(node, (cst.Tuple, cst.GeneratorExp))
                expressions.setdefault(self.core(node) if is_bare else self.extent(node), node)
        return expressions

    def expression(self, node: ast.expr) -> cst.BaseExpression:
        """The concrete node of an ``ast`` expression."""
        place = self.editor.begin(node), self.editor.end(node)
        return demand(self._by_place.get(place), "not written as one expression")

    def operator(self) -> tuple[int, int]:
        """Where the operator of an augmented assignment stands."""
        import libcst as cst

        return next(self.core(node) for node in self._cores if isinstance(node, cst.BaseAugOp))

    def put_behind(self, node: ast.expr, call: str) -> list[Edit]:
        """``node``, which must be what can be a tensor, with ``call`` behind it, in parentheses where it needs them."""
        import libcst as cst

        value = self.expression(node)
        primary = (cst.Name, cst.Attribute, cst.Call, cst.Subscript)
        operations = (cst.BinaryOperation, cst.UnaryOperation, cst.BooleanOperation, cst.Comparison, cst.IfExp)
        others = (cst.NamedExpr, cst.Await, cst.Yield)
        require(isinstance(value, (*primary, *operations, *others)), "not a tensor")
        begin, end = self.extent(value)
        if isinstance(value, primary) or value.lpar:
            return [self.editor.insert(end, call)]
        return [self.editor.insert(begin, "("), self.editor.insert(end, ")" + call)]


class Arguments:
    """The arguments of one call as they are written."""

    def __init__(self, editor: SourceEditor, call: ast.Call) -> None:
        import libcst as cst

        self.editor = editor
        self.concrete = Concrete(editor, call)
        whole = self.concrete.expression(call)
        self.call = demand(whole if isinstance(whole, cst.Call) else None, "not a call")
        self.args = self.call.args

    def keyword(self, name: str) -> cst.Arg | None:
        return next((arg for arg in self.args if arg.keyword is not None and arg.keyword.value == name), None)

    def positional(self, index: int | None) -> cst.Arg | None:
        """The argument at ``index`` if it and all before it are given by position."""
        if index is None or index >= len(self.args):
            return None
        given = self.args[: index + 1]
        return given[-1] if all(arg.keyword is None and not arg.star for arg in given) else None

    def put(self, name: str, value: str, index: int | None = None) -> list[Edit]:
        """``name=value`` added, or changed if the call has it, by name or at ``index`` by position."""
        present = self.keyword(name) or self.positional(index)
        if present is not None:
            refuse(self.concrete.text(present.value) == value, f"{name} is {value} already")
            return [self.editor.edit(*self.concrete.extent(present.value), value)]
        refuse(
            any(arg.star == "**" or (arg.star and index is not None) for arg in self.args),
            "arguments that cannot be seen",
        )
        return self._add(f"{name}={value}")

    def _add(self, argument: str) -> list[Edit]:
        editor = self.editor
        if not self.args:
            return [editor.insert(self._open(), argument)]
        last = self.args[-1]
        is_generator = type(last.value).__name__ == "GeneratorExp"
        refuse(
            is_generator and not editor.text.startswith("(", self.concrete.core(last)[0]),
            "a generator without parentheses of its own",
        )
        end = self.concrete.core(last)[1]
        comma = self._comma(last)
        close = self.concrete.core(self.call)[1] - 1
        indent = self._own_row(last)
        row_end = editor.row_end(editor.position(comma or end)[0])
        if indent is None or close <= row_end:
            return [editor.insert(comma, f" {argument},")] if comma else [editor.insert(end, f", {argument}")]
        below = editor.eol + indent + argument
        if comma:
            return [editor.insert(row_end, below + ",")]
        if row_end == end:
            return [editor.insert(end, "," + below)]
        return [editor.insert(end, ","), editor.insert(row_end, below)]

    def remove(self, name: str, index: int | None = None) -> list[Edit]:
        """The argument taken out; a last one by position too."""
        at = self._removable(name, index)
        gone, following = self.args[at], self.args[at + 1] if at + 1 < len(self.args) else None
        begin, end = self.concrete.core(gone)
        after = self._comma(gone) or end
        if not following and at == 0:
            return [self._cut((self._open(), self.concrete.core(self.call)[1] - 1), (begin, after))]
        if (indent := self._own_row(gone)) is not None:
            row = self.editor.position(after)[0]
            rest = self.editor.text[after : self.editor.row_end(row)]
            if not rest.strip():
                return [self.editor.edit(begin - len(indent), self.editor.row_start(row + 1), "")]
            if "#" in rest:
                return [self._cut((begin, self.editor.text.index("#", after)), (begin, after))]
        if following:
            return [self._cut((begin, self.concrete.core(following)[0]), (begin, after))]
        return [self._cut((self.concrete.core(self.args[at - 1])[1], end), (begin, after))]

    def _removable(self, name: str, index: int | None) -> int:
        """Where the argument is; refused where those after it are counted from it."""
        gone = demand(self.keyword(name) or self.positional(index), f"no {name}")
        at = next(i for i, arg in enumerate(self.args) if arg is gone)
        refuse(
            gone.keyword is None and any(arg.keyword is None for arg in self.args[at + 1 : at + 2]),
            "arguments after it are counted",
        )
        return at

    def _cut(self, wide: tuple[int, int], narrow: tuple[int, int]) -> Edit:
        """Remove the wide stretch, or if that has a comment beyond the narrow one, the narrow one."""
        text = self.editor.text
        has_comment = "#" in text[wide[0] : narrow[0]] or "#" in text[narrow[1] : wide[1]]
        return self.editor.edit(*(narrow if has_comment else wide), "")

    def _open(self) -> int:
        """Just behind the parenthesis that opens the arguments."""
        return self.editor.text.index("(", self.concrete.extent(self.call.func)[1]) + 1

    def _comma(self, arg: cst.Arg) -> int | None:
        """Just behind the comma that follows an argument."""
        import libcst as cst

        return self.concrete.core(arg.comma)[1] if isinstance(arg.comma, cst.Comma) else None

    def _own_row(self, arg: cst.Arg) -> str | None:
        """The indentation of an argument that begins its row."""
        begin = self.concrete.core(arg)[0]
        row, column = self.editor.position(begin)
        indent = self.editor.rows[row - 1][: column - 1]
        return indent if row > 1 and INDENT.fullmatch(indent) else None


def _levels(code: str) -> Iterator[tuple[tokenize.TokenInfo, int]]:
    """The tokens of some code, each with the number of brackets that are open behind it."""
    depth = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(code.replace("\r\n", "\n").replace("\r", "\n")).readline):
            depth += (token.string in "([{") - (token.string in ")]}") if token.type == tokenize.OP else 0
            yield token, depth
    except (tokenize.TokenError, SyntaxError) as error:
        raise EditRefused("the tokenizer does not read it") from error


def _up_to_colon(text: str) -> str:
    """The header of a compound statement, from a text that ends before its first statement."""
    ends = [token.end for token, depth in _levels(text) if token.string == ":" and not depth]
    require(ends, "no header")
    row, column = ends[-1]
    return text[: line_starts(text)[row - 1] + column]


def _refuse_what_crashes(code: str, statement: ast.AST) -> None:
    refuse(len(code) > BOUNDS.concrete_characters, "too large")
    is_main = threading.current_thread() is threading.main_thread()
    refuse(not is_main and 0 < threading.stack_size() < MIN_STACK, "the stack is too small for libcst")
    refuse(any(depth > BOUNDS.concrete_brackets for _, depth in _levels(code)), "too many brackets")
    pending = [(statement, 0)]
    while pending:
        node, level = pending.pop()
        refuse(level > BOUNDS.concrete_depth, "too deep")
        children = ast.iter_child_nodes(node)
        pending.extend((child, level + 1) for child in children if not isinstance(child, ast.stmt))
