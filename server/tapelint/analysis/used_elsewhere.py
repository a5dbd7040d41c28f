"""Functions that only other files use, and only where gradients are switched off: what runs them by itself is wrong.

    validation.py    def validate(net, loader): ...          nothing in this file calls it
    train.py         with torch.no_grad():
                         validate(net, loader)

What such a function shows where gradients are on never happens. Other files are asked only once something was found.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ..drivers.quiet_uses import is_unrecorded_in
from ..engine.syntax.syntactic_summary import syntactic_summary
from ..source import Source, parse

Users = Callable[[str], Mapping[str, str] | None]
"""The files of the project that use what the file at a path defines, with their texts; None where not all are known."""


@dataclass(slots=True)
class UsedElsewhere:
    """How other files use the functions of ``source``."""

    source: Source
    users: Users | None
    _trees: list[ast.Module] | None = field(default=None, init=False)

    def without_gradients(self, function: ast.AST) -> bool:
        """Whether the project mentions a function that does not go backward, and only where gradients are off."""
        if self.users is None or not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return False
        if syntactic_summary(function).backward:
            return False
        if self._trees is None:
            found = self.users(self.source.path) or {}
            self._trees = [parse(text, path).tree for path, text in sorted(found.items())]
        return bool(self._trees) and is_unrecorded_in((self.source.tree, *self._trees), function.name)
