"""Expressions as they are written: parentheses, commas and operators, which ``ast`` does not keep, from the tokens of
their statement. Adding, changing and removing one argument of a call without disturbing how the others are laid out.
"""

from __future__ import annotations

import ast
import io
import tokenize
from bisect import bisect_left
from collections.abc import Iterator
from keyword import iskeyword

from ...frozen import frozen
from ...source.edit import Edit, line_starts
from .source_editor import INDENT, EditRefused, SourceEditor, demand, refuse, require

OPERANDS = ("None", "True", "False")
"""Keywords after which a parenthesis calls something, as it does after any other operand."""
LAYOUT = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
PRIMARIES = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)
OPERATIONS = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.NamedExpr)
OTHERS = (ast.Await, ast.Yield, ast.YieldFrom)


@frozen
class Token:
    """A token, and where it stands: offsets in the text of the file."""

    string: str
    begin: int
    end: int
    kind: int

    @property
    def ends_operand(self) -> bool:
        """Whether a parenthesis behind it calls what it ends."""
        if self.kind == tokenize.NAME:
            return not iskeyword(self.string) or self.string in OPERANDS
        return self.kind != tokenize.OP or self.string in (")", "]", "}", "...")


class Concrete:
    """How one statement is written, or the header of one; addressed by the expressions in it."""

    def __init__(self, editor: SourceEditor, node: ast.AST) -> None:
        self.editor = editor
        in_text = any(type(parent).__name__ in ("JoinedStr", "TemplateStr") for parent in editor.path(node))
        refuse(in_text, "in a formatted string")
        statement = editor.place(node).statement
        body = getattr(statement, "body", None)
        end = editor.end(statement) if body is None else editor.begin(body[0])
        self._tokens = [*_tokens(editor.text[:end], editor.bare_begin(statement))]
        self._begins = [token.begin for token in self._tokens]

    def before(self, offset: int) -> Token | None:
        """The last token before an offset."""
        index = bisect_left(self._begins, offset)
        return self._tokens[index - 1] if index else None

    def behind(self, offset: int) -> Token | None:
        """The first token at an offset, or behind it."""
        index = bisect_left(self._begins, offset)
        return self._tokens[index] if index < len(self._tokens) else None

    def extent(self, node: ast.expr) -> tuple[int, int]:
        """Where an expression stands with its own parentheses."""
        begin, end = self.editor.begin(node), self.editor.end(node)
        first = self.behind(begin)
        refuse(first is None or first.begin != begin, "in another statement")
        while (bracket := self._around(begin, end)) is not None:
            begin, end = bracket
        return begin, end

    def _around(self, begin: int, end: int) -> tuple[int, int] | None:
        """The parentheses around a stretch, where they call nothing."""
        left, right = self.before(begin), self.behind(end)
        if left is None or right is None or (left.string, right.string) != ("(", ")"):
            return None
        called = self.before(left.begin)
        return None if called is not None and called.ends_operand else (left.begin, right.end)

    def is_bracketed(self, node: ast.expr) -> bool:
        """Whether an expression has parentheses of its own."""
        return self.extent(node) != (self.editor.begin(node), self.editor.end(node))

    def text(self, node: ast.expr) -> str:
        """An expression with its own parentheses."""
        begin, end = self.extent(node)
        return self.editor.text[begin:end]

    def operator(self, statement: ast.AugAssign) -> tuple[int, int]:
        """Where the operator of an augmented assignment stands."""
        found = demand(self.behind(self.extent(statement.target)[1]), "no operator")
        return found.begin, found.end

    def put_behind(self, node: ast.expr, call: str) -> list[Edit]:
        """``node``, which must be what can be a tensor, with ``call`` behind it, in parentheses where it needs them."""
        require(isinstance(node, (*PRIMARIES, *OPERATIONS, *OTHERS)), "not a tensor")
        begin, end = self.extent(node)
        if isinstance(node, PRIMARIES) or self.is_bracketed(node):
            return [self.editor.insert(end, call)]
        return [self.editor.insert(begin, "("), self.editor.insert(end, ")" + call)]


@frozen
class Argument:
    """An argument of a call, where it stands, and by which name it is given; ``star`` is ``*``, ``**`` or empty."""

    value: ast.expr
    begin: int
    end: int
    keyword: str | None
    star: str


class Arguments:
    """The arguments of one call as they are written."""

    def __init__(self, editor: SourceEditor, call: ast.Call) -> None:
        self.editor, self.call = editor, call
        self.concrete = Concrete(editor, call)
        given: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
        self.args = sorted(map(self._argument, given), key=lambda each: each.begin)

    def _argument(self, node: ast.expr | ast.keyword) -> Argument:
        editor = self.editor
        match node:
            case ast.keyword(arg=name, value=value):
                return Argument(value, editor.begin(node), editor.end(node), name, "" if name else "**")
            case ast.Starred(value=value):
                return Argument(value, editor.begin(node), editor.end(node), None, "*")
            case ast.GeneratorExp() if editor.end(node) == editor.end(self.call):  # its parentheses are the call's
                return Argument(node, editor.begin(node) + 1, editor.end(node) - 1, None, "")
        return Argument(node, *self.concrete.extent(node), None, "")

    def keyword(self, name: str) -> Argument | None:
        return next((arg for arg in self.args if arg.keyword == name), None)

    def positional(self, index: int | None) -> Argument | None:
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
        is_bare = isinstance(last.value, ast.GeneratorExp) and not editor.text.startswith("(", last.begin)
        refuse(is_bare and not last.keyword and not last.star, "a generator without parentheses of its own")
        end, comma, close = last.end, self._comma(last), editor.end(self.call) - 1
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
        begin, end = gone.begin, gone.end
        after = self._comma(gone) or end
        if not following and at == 0:
            return [self._cut((self._open(), self.editor.end(self.call) - 1), (begin, after))]
        if (indent := self._own_row(gone)) is not None:
            row = self.editor.position(after)[0]
            rest = self.editor.text[after : self.editor.row_end(row)]
            if not rest.strip():
                return [self.editor.edit(begin - len(indent), self.editor.row_start(row + 1), "")]
            if "#" in rest:
                return [self._cut((begin, self.editor.text.index("#", after)), (begin, after))]
        if following:
            return [self._cut((begin, following.begin), (begin, after))]
        return [self._cut((self.args[at - 1].end, end), (begin, after))]

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
        return demand(self.concrete.behind(self.concrete.extent(self.call.func)[1]), "no arguments").end

    def _comma(self, arg: Argument) -> int | None:
        """Just behind the comma that follows an argument."""
        following = self.concrete.behind(arg.end)
        return following.end if following is not None and following.string == "," else None

    def _own_row(self, arg: Argument) -> str | None:
        """The indentation of an argument that begins its row."""
        row, column = self.editor.position(arg.begin)
        indent = self.editor.rows[row - 1][: column - 1]
        return indent if row > 1 and INDENT.fullmatch(indent) else None


def _tokens(text: str, begin: int) -> Iterator[Token]:
    """The tokens of a text from an offset on, without comments and layout."""
    code = text[begin:]
    starts = line_starts(code)
    try:
        for token in tokenize.generate_tokens(io.StringIO(code.replace("\r\n", "\n").replace("\r", "\n")).readline):
            if token.type not in LAYOUT:
                first, last = (begin + starts[row - 1] + column for row, column in (token.start, token.end))
                yield Token(token.string, first, last, token.type)
    except (tokenize.TokenError, SyntaxError) as error:
        raise EditRefused("the tokenizer does not read it") from error
