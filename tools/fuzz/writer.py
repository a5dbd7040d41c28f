"""The hand that writes: lines, names, blocks, and the registry of the statements there are.

A statement is a function of the writer that adds some lines and returns whether it found what it needs:

    @statement(weight=6)
    def detach(w: Writer) -> bool: ...
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

from .catalogue import by_result
from .expressions import NUMBERS, Made, expression, loss
from .scope import Scope, Variable

SPOTS = {
    "S": (("{0}.fill_({1})", "n"), ("{0}.copy_({1})", "S")),
    "V": (
        ("{0}[0] = {1}", "S"),
        ("{0}[1:3] = {1}", "n"),
        ("{0}[2:] = {1}", "W"),
        ("{0}[:] = {1}", "V"),
        ("{0}[-1] += {1}", "S"),
        ("{0}[{0} > 0.5] = {1}", "n"),
        ("{0}[{0}.detach() > 0.5] *= {1}", "n"),
        ("{0}[torch.tensor([0, 2])] = {1}", "W"),
        ("{0}[[1, 3]] += {1}", "n"),
    ),
    "M": (
        ("{0}[0] = {1}", "V"),
        ("{0}[:2] = {1}", "H"),
        ("{0}[:, 1] = {1}", "V"),
        ("{0}[1, 2] = {1}", "S"),
        ("{0}[2:] *= {1}", "n"),
        ("{0}[..., 0] -= {1}", "V"),
        ("{0}[{0} < 0] = {1}", "n"),
        ("{0}[torch.arange(4), torch.arange(4)] = {1}", "V"),
    ),
    "H": (("{0}[0] = {1}", "V"), ("{0}[:, 0] = {1}", "W"), ("{0}[1] *= {1}", "n"), ("{0}[{0} > 0] = {1}", "n")),
    "W": (("{0}[0] = {1}", "S"), ("{0}[1] = {1}", "n"), ("{0}[{0} > 0] *= {1}", "n")),
}
"""Assigning a part: how it is written, and the type of the value (``n``: a number)."""

Statement = Callable[["Writer"], bool]
STATEMENTS: dict[Statement, int] = {}


def statement(weight: int) -> Callable[[Statement], Statement]:
    """Adds a kind of statement, chosen as often as its weight says."""

    def add(function: Statement) -> Statement:
        STATEMENTS[function] = weight
        return function

    return add


class Writer:
    """Writes one program. ``daring`` is how often it forgets to be careful; ``mode`` is the grad mode it writes under.

    ``favourite`` makes programs differ in what they are made of: a few kinds of statements come more often.
    """

    def __init__(self, seed: int | str) -> None:
        self.rng = random.Random(seed)
        self.lines: list[str] = []
        self.indent = 0
        self.scope = Scope()
        self.numbers = count()
        self.left = self.rng.randint(5, 40)
        self.daring = self.rng.choice((0.0, 0.0, 0.05, 0.2))
        self.mode = ""
        self.inside: tuple[str, ...] = ()
        kinds = list(STATEMENTS)
        favourites = self.rng.sample(kinds, 4)
        self.weights = [STATEMENTS[k] * (4 if k in favourites else 1) for k in kinds]
        self.kinds = kinds

    def statement(self) -> None:
        """One statement, of a kind that has what it needs here."""
        self.left -= 1
        while not self.rng.choices(self.kinds, self.weights)[0](self):
            pass

    # Lines and names

    def write(self, line: str) -> None:
        self.lines.append("    " * self.indent + line)

    def fresh(self, prefix: str) -> str:
        return f"{prefix}{next(self.numbers)}"

    def careful(self) -> bool:
        return self.rng.random() >= self.daring

    def kind(self) -> str:
        return self.rng.choice("SVVMMMHW")

    def expr(self, kind: str, depth: int | None = None) -> Made:
        depth = self.rng.choice((1, 1, 2)) if depth is None else depth
        return expression(self.rng, self.scope, kind, depth, self.careful())

    def loss(self) -> Made | None:
        """Something to run backward from; a careful writer knows when there is nothing."""
        root = loss(self.rng, self.scope, self.careful(), self.rng.choice((1, 1, 2)))
        return root if root.grad or self.rng.random() < self.daring / 4 else None

    # Variables

    def keep(self, text: str, made: Made, kind: str, many: bool = False) -> None:
        """A variable now has this value."""
        grad = made.grad and not self.mode
        past = made.past | {next(self.numbers)} if grad and not made.leaf else frozenset()
        self.scope.variables.pop(text, None)
        self.scope.variables[text] = Variable(text, kind, grad, made.leaf and grad, past, many)

    def let(self, name: str, made: Made, kind: str, many: bool = False) -> None:
        """Write an assignment."""
        self.write(f"{name} = {made.text}")
        self.keep(name, made, kind, many)

    def target(self, written: bool = False) -> Variable | None:
        """A variable to assign again or to write in place."""
        found = [v for v in self.scope.variables.values() if not v.text.startswith("pair")]
        if not (written and self.rng.random() < self.daring / 2):
            found = [v for v in found if not v.leaf and not (written and v.many)]
        return self.rng.choice(found[-6:]) if found else None

    def in_place(self, text: str) -> None:
        """``+=``, an in-place op of the table, or a part that is assigned."""
        rng = self.rng
        old = self.scope.variables[text]
        roll = rng.random()
        made = Made("", old.grad, old.past, old.leaf)
        if roll < 0.35:
            value = self.expr(old.type, 1)
            if rng.random() < 0.4:
                value = Made(rng.choice(NUMBERS), False, frozenset())
            self.write(f"{text} {rng.choice(('+=', '+=', '-=', '*=', '*=', '/='))} {value.text}")
        elif roll < 0.6:
            spot, takes = rng.choice(SPOTS[old.type])
            value = self.expr(takes, 1) if takes != "n" else Made(rng.choice(NUMBERS), False, frozenset())
            self.write(spot.format(text, value.text))
        else:
            pool = by_result().get((old.type, True, rng.random() < 0.6)) or {}
            forms = pool[rng.choice(sorted(pool))] if pool else ()
            fitting = [f for f in forms if f.takes[0] == old.type]
            value = Made("", False, frozenset())
            if not fitting:
                self.write(f"{text}.mul_(2)")
            else:
                form = rng.choice(fitting)
                self.write(form.text.format(text, *(self.expr(t, 0).text for t in form.takes[1:])))
        self.keep(text, Made("", made.grad or value.grad, made.past | value.past, made.leaf), old.type, old.many)

    # Blocks

    @contextmanager
    def block(self, header: str, what: str = "", mode: str = "") -> Iterator[Scope]:
        """The lines written inside are indented. What was there before has, after it, the value it has inside."""
        self.write(header)
        began = len(self.lines)
        outer, before = self.scope, (self.mode, self.inside)
        self.scope = outer.copy()
        self.indent += 1
        self.mode, self.inside = mode or self.mode, (*self.inside, what)
        yield self.scope
        if len(self.lines) == began:
            self.write("pass")
        self.indent -= 1
        self.mode, self.inside = before
        for text, variable in self.scope.variables.items():
            if text in outer.variables:
                outer.variables[text] = variable
        self.scope = outer

    def body(self, header: str, most: int = 4, what: str = "", mode: str = "") -> None:
        """A block of random statements."""
        with self.block(header, what, mode):
            self.statements(most)

    def statements(self, most: int = 4) -> None:
        for _ in range(self.rng.randint(1, most)):
            self.statement()
