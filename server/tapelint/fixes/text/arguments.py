"""Adding, changing and removing one argument of a call without disturbing how the others are laid out."""

from __future__ import annotations

import ast

import libcst as cst

from ...source.edit import Edit
from .concrete_syntax import Concrete
from .edit_refused import EditRefused
from .source_editor import INDENT, SourceEditor


class Arguments:
    """The arguments of one call as they are written."""

    def __init__(self, editor: SourceEditor, call: ast.AST) -> None:
        if not isinstance(call, ast.Call):
            raise EditRefused("not a call")
        self.editor = editor
        self.concrete = Concrete(editor, call)
        self.call = self.concrete.find(call, cst.Call)
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
            if self.concrete.text(present.value) == value:
                raise EditRefused(f"{name} is {value} already")
            return [self.editor.edit(*self.concrete.extent(present.value), value)]
        if any(arg.star == "**" or (arg.star and index is not None) for arg in self.args):
            raise EditRefused("arguments that cannot be seen")
        return self._add(f"{name}={value}")

    def _add(self, argument: str) -> list[Edit]:
        editor = self.editor
        if not self.args:
            return [editor.insert(self._open(), argument)]
        last = self.args[-1]
        if isinstance(last.value, cst.GeneratorExp) and not editor.text.startswith("(", self.concrete.core(last)[0]):
            raise EditRefused("a generator without parentheses of its own")
        end = self.concrete.core(last)[1]
        comma = self._comma(last)
        close = self.concrete.core(self.call)[1] - 1
        indent = self._own_row(last)
        row_end = self._row_end(comma or end)
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
        gone = self.args[at]
        following = self.args[at + 1] if at + 1 < len(self.args) else None
        begin, end = self.concrete.core(gone)
        after = self._comma(gone) or end
        if not following and at == 0:
            return [self._cut((self._open(), self.concrete.core(self.call)[1] - 1), (begin, after))]
        if self._own_row(gone) is not None:
            row_end = self._row_end(after)
            row_start = begin - len(self._own_row(gone) or "")
            if not self.editor.text[after:row_end].strip():
                return [self.editor.edit(row_start, self._next_row(row_end), "")]
            if "#" in self.editor.text[after:row_end]:
                comment = self.editor.text.index("#", after)
                return [self._cut((begin, comment), (begin, after))]
        if following:
            return [self._cut((begin, self.concrete.core(following)[0]), (begin, after))]
        return [self._cut((self.concrete.core(self.args[at - 1])[1], end), (begin, after))]

    def _removable(self, name: str, index: int | None) -> int:
        """Where the argument is; refused where those after it are counted from it."""
        gone = self.keyword(name) or self.positional(index)
        if gone is None:
            raise EditRefused(f"no {name}")
        at = next(i for i, arg in enumerate(self.args) if arg is gone)
        if gone.keyword is None and any(arg.keyword is None for arg in self.args[at + 1 : at + 2]):
            raise EditRefused("arguments after it are counted")
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
        return self.concrete.core(arg.comma)[1] if isinstance(arg.comma, cst.Comma) else None

    def _own_row(self, arg: cst.Arg) -> str | None:
        """The indentation of an argument that begins its row."""
        begin = self.concrete.core(arg)[0]
        start = max(self.editor.text.rfind("\n", 0, begin), self.editor.text.rfind("\r", 0, begin)) + 1
        indent = self.editor.text[start:begin]
        return indent if start and INDENT.fullmatch(indent) else None

    def _row_end(self, at: int) -> int:
        text = self.editor.text
        return min((found for found in (text.find("\n", at), text.find("\r", at)) if found >= 0), default=len(text))

    def _next_row(self, row_end: int) -> int:
        return row_end + (2 if self.editor.text.startswith("\r\n", row_end) else 1)
