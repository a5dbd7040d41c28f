"""What would cure a hazard, as data: a purpose and the syntax it concerns.

A rule knows *what* should change ("detach the value where it is kept"); ``tapelint.fixes`` knows *how* to change text.
Between them there is only this record, so a rule never touches text and an edit never knows a rule.
"""

from __future__ import annotations

import ast
from typing import Literal

from ...frozen import frozen
from ...headline import cure_title

Applicability = Literal["safe", "unsafe"]


@frozen
class FixProposal:
    """One way to cure a finding.

    ``purpose`` names a function of ``tapelint.fixes`` (``detach``, ``no_grad``, ``move_into_loop``, ...);
    ``targets`` are nodes of one file, in the order that function documents, or ``spelled``: to be written there;
    ``title`` is what the lightbulb shows: what is done. ``effect`` is a sentence on what that costs or changes
    besides; unsafe cures have one. ``also`` are cures that belong to it: all are made together, or none.
    """

    purpose: str
    title: str
    targets: tuple[ast.AST, ...]
    applicability: Applicability = "safe"
    also: tuple[FixProposal, ...] = ()
    effect: str = ""

    @property
    def nodes(self) -> tuple[ast.AST, ...]:
        """The targets of the cure and of those that belong to it."""
        return self.targets + tuple(node for part in self.also for node in part.targets)


COPIED = "The copy costs its memory."
"""What a copy costs."""
UPDATE = "Update it in place under `torch.no_grad()`"
"""The title of what keeps a leaf a leaf."""


REGISTERED_BY = {
    "ModuleList": "module_list",
    "ModuleDict": "module_dict",
    "ParameterList": "parameter_list",
    "ParameterDict": "parameter_dict",
    "Parameter": "parameter",
}
"""The purpose of a cure that makes it one of these of ``torch.nn``."""
UNREGISTERED = (
    "Register what is in it: assign it as an attribute of its own, or use `nn.ModuleList` or `nn.ParameterList`."
)
"""What to do where the kind of container is not seen."""


def zero_grad(optimizer: ast.expr, when: str) -> str:
    """The title of a cure that clears the gradients of an optimizer."""
    return cure_title(f"Call `{ast.unparse(optimizer)}.zero_grad()` {when}", f"Call `zero_grad()` {when}")


def spelled(text: str) -> ast.expr:
    """An expression that stands in no file: it has no place. Raises SyntaxError where ``text`` is none."""
    expression = ast.parse(text, mode="eval").body
    for node in ast.walk(expression):
        if isinstance(node, ast.expr):
            for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
                delattr(node, name)
    return expression


def container(wrapper: str | None) -> str:
    """What a plain container is that ``wrapper`` would take the place of."""
    if wrapper is None:
        return "container"
    return "dict" if wrapper.endswith("Dict") else "list"


def registering(wrapper: str | None) -> str:
    """What to do with a container in which ``parameters()`` does not look."""
    return f"Use `nn.{wrapper}`." if wrapper else UNREGISTERED


def registered(wrapper: str | None, value: ast.AST) -> tuple[FixProposal, ...]:
    """The fix of what is assigned, if ``wrapper`` of ``torch.nn`` would register it."""
    return (FixProposal(REGISTERED_BY[wrapper], f"Make it an `nn.{wrapper}`", (value,)),) if wrapper else ()
