"""How a file uses what it keeps under a name."""

from __future__ import annotations

import ast

import pytest

from tapelint.checks.kept_values import emptied_by, uses_of_name

KEPT = """
class Meter:
    def __init__(self):
        self.seen = []

    def update(self, x):
        self.seen.append(x)

    def other(self):
        {use}
"""


@pytest.mark.parametrize(
    ("use", "shown", "taken"),
    [
        ("print(sum(self.seen).item())", True, False),
        ("return len(self.seen)", True, False),
        ("return torch.stack(self.seen).mean().item()", True, False),
        ("return torch.stack(self.seen)", False, True),
        ("walk(self.seen)", False, True),
        ("loss = self.seen[0] * 2", False, True),
        ("if self.seen: pass", True, False),
        ("self.seen = self.seen * 2", False, False),
        ("self.seen.clear()", False, False),
        ("x = self.seen.pop()", False, True),
    ],
)
def test_what_becomes_of_it(use: str, shown: bool, taken: bool) -> None:
    uses = uses_of_name(".seen", ast.parse(KEPT.format(use=use)))
    assert (uses.shown, uses.taken) == (shown, taken)


@pytest.mark.parametrize(
    ("use", "until"),
    [
        ("pass", ()),
        ("self.seen.clear()", ("other",)),
        ("self.seen = []", ("other",)),
        ("self.seen = [*self.seen, 1]", ()),
        ("for x in xs: self.seen = []; self.update(x)", None),
        ("self.seen = []; self.update(1)", None),
    ],
)
def test_who_empties_it(use: str, until: tuple[str, ...] | None) -> None:
    tree = ast.parse(KEPT.format(use=use))
    update = next(n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == "update")
    assert emptied_by(".seen", tree, update) == until


def test_a_variable_is_no_attribute() -> None:
    tree = ast.parse("def f():\n    seen = g(seen)\n    print(self.seen.item())")
    assert uses_of_name(".seen", tree).shown and not uses_of_name(".seen", tree).taken
